package migration

import (
	"fmt"

	"ebscope/internal/ebs"
	"ebscope/internal/fleet"
)

// Carried is how far a step was carried out.
type Carried string

// What of a step is there to be taken back.
const (
	Changed  Carried = "changed"  // the volume is what the plan made it
	Declined Carried = "declined" // the claim asks for a class that the volume cannot have
)

// Reverse is the plan that takes back what was carried out of another one, the last batch first: each volume gets the type,
// IOPS and throughput that were recorded.
func Reverse(p Plan, digest string, carried map[fleet.VolumeID]Carried, catalog *ebs.Catalog) Plan {
	back := Plan{Schema: Schema, Tool: p.Tool, Taken: p.Taken, MadeFrom: p.MadeFrom, ReverseOf: digest, Rules: p.Rules,
		Classes: []Class{}, Defaults: []DefaultClass{}, Templates: []TemplateChange{}, Steps: []Step{}}
	drivers, classes := map[classKey]string{}, map[classKey]Class{}
	for _, c := range p.Classes {
		drivers[classKey{c.ClusterUID, c.Name}] = c.Driver
	}
	last, grown, toGP2 := 0, 0, 0
	for i := range p.Steps {
		last = max(last, p.Steps[i].Batch)
	}
	for _, s := range p.Steps {
		how, done := carried[s.Volume]
		if !done {
			continue
		}
		r := s
		r.Batch, r.BlockedBy, r.SlotsUsed, r.Cheaper = last-s.Batch+1, []Block{}, 0, nil
		if how == Declined {
			r.To, r.Class, r.FromClass, r.Withdraw = s.From, s.FromClass, s.Class, true
			r.After, r.MonthlyAfter, r.Difference = s.Before, s.MonthlyBefore, zero(s.MonthlyBefore)
			back.Steps = append(back.Steps, r)
			continue
		}
		r.From, r.To, r.Before, r.After = s.To, s.From, s.After, s.Before
		r.MonthlyBefore, r.MonthlyAfter, r.Difference = s.MonthlyAfter, s.MonthlyBefore, nil
		if s.Difference != nil {
			d := -*s.Difference
			r.Difference = &d
		}
		if s.To.SizeGiB > s.From.SizeGiB {
			grown++
			r.To.SizeGiB = s.To.SizeGiB
			// What the larger volume costs is not in the plan.
			r.MonthlyAfter, r.Difference = nil, nil
		}
		if r.To.Type == ebs.GP2 {
			r.To.IOPS = int64(catalog.Performance(r.To.Config(catalog)).Baseline)
			toGP2++
		}
		if s.Action == ByClass {
			class := ClassFor(drivers[classKey{s.ClusterUID, s.Class}], r.To)
			class.Cluster, class.ClusterUID = s.Cluster, s.ClusterUID
			classes[classKey{s.ClusterUID, class.Name}] = class
			r.Class, r.FromClass = class.Name, s.Class
		}
		back.Steps = append(back.Steps, r)
	}
	for _, c := range classes {
		back.Classes = append(back.Classes, c)
	}
	sortClasses(back.Classes)
	back.Totals = totalsOf(back.Steps)
	back.Notes = notes(len(back.Steps), toGP2, grown, len(p.Defaults))
	return back
}

func zero(known *fleet.Money) *fleet.Money {
	if known == nil {
		return nil
	}
	return new(fleet.Money)
}

// notes say what taking back cannot do.
func notes(steps, toGP2, grown, defaults int) []string {
	all := []string{}
	if steps > 0 {
		all = append(all, "Each change back uses one more of the 4 that AWS allows a volume within 24 hours, and waits until the one before is completed.")
	}
	if toGP2 > 0 {
		all = append(all, fmt.Sprintf("%d volumes become gp2 again. The credits that they had are lost; whether a volume that becomes gp2 begins with a full bucket is not documented, so count on an empty one: the baseline, no burst.", toGP2))
	}
	if grown > 0 {
		all = append(all, fmt.Sprintf("%d volumes were made larger and stay so: EBS cannot shrink a volume.", grown))
	}
	if defaults > 0 {
		all = append(all, "The default StorageClass stays as the plan set it: it decides on new volumes only.")
	}
	return all
}
