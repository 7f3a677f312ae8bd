package migration

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"ebscope/internal/ebs"
	"ebscope/internal/fleet"
)

// Options say what a plan is to be.
type Options struct {
	Catalog *ebs.Catalog
	Tool    string
	Rules   Rules
	// OptIn plans only volumes that ask for it; otherwise all but those that ask not to. Both ask by Mark.
	OptIn bool
	// Trim also plans gp3 volumes that have more than they use.
	Trim   bool
	Dearer Dearer
	// Select says whether a volume is looked at; nil takes all.
	Select func(*fleet.Row) bool
	// History has further changes of volumes, as journals recorded them: EC2 tells the latest only.
	History map[fleet.VolumeID][]time.Time
}

// Mark is the key of the tag of a volume, or of the annotation of a claim or PersistentVolume, that says with "true" or
// "false" whether it may be changed.
const Mark = "ebscope.dev/migrate"

// Dearer says what becomes of volumes that the recommended setting would make dearer.
type Dearer string

// The ways to treat them.
const (
	MoveDearer Dearer = "move"    // as recommended; the plan says by how much
	Cheaper    Dearer = "cheaper" // the cheaper setting where there is one
	Stay       Dearer = "stay"    // they are left out
)

// What comes by default.
const (
	DefaultBatch  = 500
	DefaultBudget = 5
)

// slots is how often EC2 lets a volume be changed within a rolling day.
const (
	slots      = 4
	slotPeriod = 24 * time.Hour
)

// Make plans for an inventory. The rows of the scan say what each volume should be.
func Make(inventory *fleet.Inventory, rows []fleet.Row, o Options) Plan {
	if o.Rules.BatchSize == 0 {
		o.Rules.BatchSize = DefaultBatch
	}
	p := Plan{Schema: Schema, Tool: o.Tool, Taken: inventory.Snapshot.Taken, Rules: o.Rules,
		Classes: []Class{}, Defaults: []DefaultClass{}, Templates: []TemplateChange{}, Steps: []Step{}}
	m := maker{options: o, taken: inventory.Snapshot.Taken, classes: map[classKey]Class{}}
	for i := range rows {
		r := &rows[i]
		if o.Select != nil && !o.Select(r) {
			continue
		}
		if e := inventory.Find(r.ID); e != nil {
			if s, planned := m.step(e, r); planned {
				p.Steps = append(p.Steps, s)
			}
		}
	}
	slices.SortFunc(p.Steps, func(a, b Step) int { return cmp.Compare(a.Volume, b.Volume) })
	batches(p.Steps, o.Rules.BatchSize, m.sets)
	p.Classes = append(p.Classes, m.neededClasses()...)
	for i := range inventory.Snapshot.Clusters {
		c := &inventory.Snapshot.Clusters[i]
		target := ""
		if d := defaultClass(c); d != nil {
			p.Defaults = append(p.Defaults, *d)
			target = d.To
		} else if now := c.DefaultClass(); now != nil {
			target = now.Name
		}
		p.Templates = append(p.Templates, templates(c, target)...)
	}
	p.Totals = totalsOf(p.Steps)
	p.MadeFrom = m.hash(p)
	return p
}

type classKey struct {
	cluster fleet.UID
	name    string
}

type maker struct {
	options Options
	taken   time.Time
	classes map[classKey]Class
	sets    map[fleet.VolumeID]string // the StatefulSet of a volume
}

// useOf is the cluster's side of a volume: the one with a claim where there are several. Nil where no cluster has it.
func useOf(e *fleet.Entry) *fleet.Use {
	for i := range e.Uses {
		if e.Uses[i].Claim != nil {
			return &e.Uses[i]
		}
	}
	if len(e.Uses) > 0 {
		return &e.Uses[0]
	}
	return nil
}

// step plans one volume, false where it can stay what it is.
func (m *maker) step(e *fleet.Entry, r *fleet.Row) (Step, bool) {
	choice := r.Recommendation.Choice
	switch {
	case r.Type == ebs.GP2:
	case r.Type == ebs.GP3 && m.options.Trim && r.Recommendation.Action == fleet.Modify && choice != nil:
	default:
		return Step{}, false
	}
	from, _ := e.Setting()
	s := Step{Volume: e.ID, Account: e.Account, Region: e.Region, Zone: r.Zone, From: from, To: from, MonthlyBefore: r.Monthly, Action: ByAWS, BlockedBy: []Block{}}
	if choice == nil {
		s.block(NotSold, "%s", r.Recommendation.Reason)
	} else {
		s.Cheaper = r.Recommendation.Cheaper
		if dearer := choice.Difference != nil && *choice.Difference > 0; dearer {
			switch {
			case m.options.Dearer == Stay:
				return Step{}, false
			case m.options.Dearer == Cheaper && s.Cheaper != nil:
				choice, s.Cheaper = s.Cheaper, nil
			}
		}
		s.To, s.MonthlyAfter, s.Difference = choice.Setting, choice.Monthly, choice.Difference
	}
	s.Before, s.After = m.performance(s.From), m.performance(s.To)
	m.way(e, &s)
	m.blocks(e, &s)
	return s, true
}

func (m *maker) performance(s fleet.Setting) Performance {
	if _, err := m.options.Catalog.VolumeType(s.Type); err != nil {
		return Performance{}
	}
	p := m.options.Catalog.Performance(s.Config(m.options.Catalog))
	return Performance{float64(p.Baseline), float64(p.Burst), p.Throughput.MiBps()}
}

// way finds how a volume is changed.
func (m *maker) way(e *fleet.Entry, s *Step) {
	u := useOf(e)
	if u == nil {
		s.Why = "no cluster that was read has the volume"
		return
	}
	s.Cluster, s.ClusterUID, s.PV = u.Cluster.Name, u.Cluster.UID, u.PV.Name
	if u.Claim != nil {
		s.Claim, s.ClaimUID, s.FromClass = u.Claim.Namespace+"/"+u.Claim.Name, u.Claim.UID, u.Claim.AttributesClass
	}
	if u.Set != nil {
		if m.sets == nil {
			m.sets = map[fleet.VolumeID]string{}
		}
		m.sets[e.ID] = string(u.Cluster.UID) + "/" + u.Set.Namespace + "/" + u.Set.Name
	}
	if len(e.Uses) > 1 {
		s.Why = "several PersistentVolumes are the volume"
		return
	}
	if s.Why = whyNotByClass(u, s.To); s.Why != "" {
		return
	}
	s.Action = ByClass
	class := ClassFor(u.PV.Driver, s.To)
	class.Cluster, class.ClusterUID = u.Cluster.Name, u.Cluster.UID
	s.Class = class.Name
	for i := range u.Cluster.AttributesClasses {
		if there := &u.Cluster.AttributesClasses[i]; there.Name == class.Name {
			class.Exists = true
			if !class.same(there.Driver, there.Parameters) {
				s.block(ClassConflict, "cluster %s has a VolumeAttributesClass %s with other parameters: they cannot be changed; delete it, or rename it by making it anew", u.Cluster.Name, class.Name)
			}
		}
	}
	m.classes[classKey{u.Cluster.UID, class.Name}] = class
}

// same says whether a class of the cluster is this one.
func (c *Class) same(driver string, parameters map[string]string) bool {
	if driver != c.Driver || len(parameters) != len(c.Parameters) {
		return false
	}
	for key, value := range c.Parameters {
		if parameters[key] != value {
			return false
		}
	}
	return true
}

// blocks finds what keeps a volume from being changed.
func (m *maker) blocks(e *fleet.Entry, s *Step) {
	u := useOf(e)
	if e.Volume == nil {
		s.block(NotInAccount, "no account that was read has the volume, so that nobody could say whether it was changed")
	} else {
		switch v := e.Volume; {
		case v.State != "in-use" && v.State != "available":
			s.block(WrongState, "the volume is %s; it must be in-use or available", v.State)
		case v.MultiAttach:
			s.block(MultiAttach, "the volume can be attached to several instances, which gp3 cannot")
		}
	}
	m.modifications(e, s)
	marks := []string{}
	if e.Volume != nil {
		marks = append(marks, e.Volume.Tags[Mark])
	}
	if u != nil {
		marks = append(marks, u.PV.Annotations[Mark])
		if u.Claim != nil {
			marks = append(marks, u.Claim.Annotations[Mark])
			if u.Claim.Deleting {
				s.block(ClaimChanging, "claim %s is being deleted", s.Claim)
			}
			if change := u.Claim.Modify; change != nil && !withdrawn(u.Claim) {
				s.block(ClaimChanging, "claim %s is on its way to VolumeAttributesClass %s (%s)", s.Claim, change.Target, change.Status)
			}
		}
	}
	switch {
	case slices.ContainsFunc(marks, func(x string) bool { return isOneOf(x, "false", "no", "never") }):
		s.block(OptedOut, "%s=false keeps it as it is", Mark)
	case m.options.OptIn && !slices.ContainsFunc(marks, func(x string) bool { return isOneOf(x, "true", "yes") }):
		s.block(NotOptedIn, "it has no tag or annotation %s=true, which this plan asks for", Mark)
	}
}

// withdrawn says whether a claim asks no more for what its driver has refused for good: csi-resizer leaves that in the status.
func withdrawn(c *fleet.Claim) bool {
	return c.Modify.Status == "Infeasible" && c.Modify.Target != c.AttributesClass
}

func isOneOf(text string, values ...string) bool {
	return slices.Contains(values, strings.ToLower(text))
}

// modifications looks at the changes that were made before.
func (m *maker) modifications(e *fleet.Entry, s *Step) {
	var starts []time.Time
	for i, change := range e.Modifications {
		if i == 0 && (change.State == "modifying" || change.State == "optimizing") {
			s.block(UnderChange, "the volume is %s since %s (%d %%): it can be changed once that is completed", change.State, change.Start.UTC().Format(time.RFC3339), change.Progress)
		}
		if change.State != "failed" {
			starts = append(starts, change.Start)
		}
	}
	for _, start := range m.options.History[e.ID] {
		if !slices.ContainsFunc(starts, start.Equal) {
			starts = append(starts, start)
		}
	}
	used, free := slotsUsed(starts, m.taken)
	s.SlotsUsed = used
	if s.SlotsUsed >= slots {
		s.block(NoSlot, "the volume was changed %d times within 24 hours, which is the most that AWS allows: a slot frees up at %s", s.SlotsUsed, free.UTC().Format(time.RFC3339))
		s.BlockedBy[len(s.BlockedBy)-1].Until = free
	}
}

// slotsUsed counts the changes within the day before a time, and says when one of four is free again.
func slotsUsed(starts []time.Time, at time.Time) (used int, free time.Time) {
	recent := slices.DeleteFunc(slices.Clone(starts), func(t time.Time) bool { return !t.After(at.Add(-slotPeriod)) })
	slices.SortFunc(recent, time.Time.Compare)
	if len(recent) < slots {
		return len(recent), at
	}
	return len(recent), recent[len(recent)-slots].Add(slotPeriod)
}

func (s *Step) block(code BlockCode, format string, args ...any) {
	s.BlockedBy = append(s.BlockedBy, Block{Code: code, Text: fmt.Sprintf(format, args...)})
}

// batches numbers the batches. No two volumes of a StatefulSet are in one: a volume that is optimizing may be slower, and a
// set that keeps copies of its data does without one of them at a time.
func batches(steps []Step, size int, sets map[fleet.VolumeID]string) {
	fill := []int{}
	open := 0 // the first batch with room
	next := map[string]int{}
	for i := range steps {
		s := &steps[i]
		if len(s.BlockedBy) > 0 {
			continue
		}
		b, set := open, sets[s.Volume]
		if set != "" {
			b = max(open, next[set])
		}
		for b < len(fill) && fill[b] >= size {
			b++
		}
		for len(fill) <= b {
			fill = append(fill, 0)
		}
		fill[b]++
		s.Batch = b + 1
		if set != "" {
			next[set] = b + 1
		}
		for open < len(fill) && fill[open] >= size {
			open++
		}
	}
	// A set with many volumes leaves batches that only it needs: none of them is empty, as each has one of the set.
}

func (m *maker) neededClasses() []Class {
	all := make([]Class, 0, len(m.classes))
	for _, c := range m.classes {
		all = append(all, c)
	}
	sortClasses(all)
	return all
}

func sortClasses(all []Class) {
	slices.SortFunc(all, func(a, b Class) int {
		return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.ClusterUID, b.ClusterUID), cmp.Compare(a.Name, b.Name))
	})
}

// hash is over what the plan took from the snapshot.
func (m *maker) hash(p Plan) string {
	type fact struct {
		Volume        fleet.VolumeID
		Region        string
		Cluster, UID  fleet.UID
		PV, FromClass string
		From          fleet.Setting
		Action        Action
		Blocked       []Block
	}
	h := sha256.New()
	e := json.NewEncoder(h)
	write := func(x any) { _ = e.Encode(x) } // into a hash: it cannot fail
	for i := range p.Steps {
		s := &p.Steps[i]
		write(fact{s.Volume, s.Region, s.ClusterUID, s.ClaimUID, s.PV, s.FromClass, s.From, s.Action, s.BlockedBy})
	}
	write(p.Classes)
	write(p.Defaults)
	write(p.Templates)
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}
