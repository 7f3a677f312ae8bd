package alarm

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"ebscope/internal/cloud"
	"ebscope/internal/ebs"
	"ebscope/internal/fleet"
	"ebscope/internal/result"
)

// Options say which alarms a fleet should have.
type Options struct {
	Catalog *ebs.Catalog
	Warn    time.Duration // before credits run out
	Kinds   []Kind
	Actions []string // ARNs, of SNS topics say, that an alarm calls
}

// New says which alarms the volumes and instances of a fleet should have, and what has to change for that. peaks gives
// what was observed of a volume, nil where nothing was.
func New(inventory *fleet.Inventory, peaks func(fleet.VolumeID) *fleet.Observed, o Options) Plan {
	s := &inventory.Snapshot
	p := planner{inventory: inventory, peaks: peaks, options: o, wanted: map[key]bool{}, plan: Plan{
		Schema: Schema, Tool: s.Tool, Taken: s.Taken, WarnS: o.Warn.Seconds(),
		Alarms: []Wanted{}, Delete: []Removal{}, Without: []Without{}, Warnings: []result.Warning{}, Missing: []fleet.Missing{},
	}}
	for _, m := range s.Missing {
		if m.Cluster == "" { // alarms are about accounts
			p.plan.Missing = append(p.plan.Missing, m)
		}
	}
	p.options.Actions = slices.Sorted(slices.Values(o.Actions))
	elsewhere := 0
	for i := range inventory.Entries {
		if e := &inventory.Entries[i]; e.Volume == nil {
			elsewhere++
		} else {
			p.volume(e)
		}
	}
	for i := range s.Regions {
		p.instances(&s.Regions[i])
		p.remove(&s.Regions[i])
	}
	if elsewhere > 0 {
		p.warn("not-in-account", "%d volumes of clusters are in no account and region that was read: they get no alarm, and alarms on them stay.", elsewhere)
	}
	slices.SortFunc(p.plan.Alarms, func(a, b Wanted) int {
		return cmp.Or(cmp.Compare(a.Account, b.Account), cmp.Compare(a.Region, b.Region), cmp.Compare(a.Alarm.Name, b.Alarm.Name))
	})
	slices.SortFunc(p.plan.Delete, func(a, b Removal) int {
		return cmp.Or(cmp.Compare(a.Account, b.Account), cmp.Compare(a.Region, b.Region), cmp.Compare(a.Name, b.Name))
	})
	return p.plan
}

// key is an alarm within all accounts.
type key struct {
	account      fleet.AccountID
	region, name string
}

type planner struct {
	inventory *fleet.Inventory
	peaks     func(fleet.VolumeID) *fleet.Observed
	options   Options
	wanted    map[key]bool
	existing  map[key]*fleet.Alarm
	plan      Plan
}

func (p *planner) warn(code, format string, arguments ...any) {
	p.plan.Warnings = append(p.plan.Warnings, result.Warning{Code: code, Text: fmt.Sprintf(format, arguments...)})
}

// volume adds the alarms of a volume that lives on credits.
func (p *planner) volume(e *fleet.Entry) {
	if !Credits(e.Volume.Type) || goes(e.Volume.State) {
		return
	}
	perf := p.options.Catalog.Performance(e.Volume.Config(p.options.Catalog))
	id := string(e.ID)
	if perf.Bursts() || perf.BurstsData() {
		if l, ok := volumeLevel(perf, p.peaks(e.ID), p.options.Warn); ok {
			a := balance(base(BurstBalance, id, map[string]string{volumeDimension: id}, p.options.Actions), l.percent, volumePeriod)
			p.want(e.Account, e.Region, BurstBalance, id, a, l)
		} else {
			p.without(e.Account, e.Region, id, BurstBalance, "even with all its credits it does not last %v at its peak: ask for a shorter warning", p.options.Warn)
		}
	}
	instance, kind := p.attachedTo(e)
	if instance == "" || !p.checks(kind) {
		return
	}
	for _, k := range []Kind{IOPSExceeded, ThroughputExceeded} {
		both := map[string]string{volumeDimension: id, instanceDimension: string(instance)} // with one alone there is no data
		p.want(e.Account, e.Region, k, id, exceeded(base(k, id, both, p.options.Actions)), level{because: fmt.Sprintf("I/O is held back for %d min", heldBackFor)})
	}
}

// attachedTo returns the instance that has a volume, and its type where that is known.
func (p *planner) attachedTo(e *fleet.Entry) (id fleet.InstanceID, kind string) {
	if e.Instance != nil {
		return e.Instance.ID, e.Instance.Type
	}
	for _, a := range e.Volume.Attachments {
		id = cmp.Or(id, a.Instance)
	}
	return id, ""
}

// checks says whether volumes on instances of the type have exceeded checks: on all but those on Xen.
func (p *planner) checks(kind string) bool {
	limits, err := p.options.Catalog.Instance(kind)
	return err != nil || limits.Hypervisor != "xen"
}

// instances adds the alarms of those instances of a region that have volumes, and bursts.
func (p *planner) instances(r *fleet.Region) {
	attached := map[fleet.InstanceID]bool{}
	for i := range r.Volumes {
		for _, a := range r.Volumes[i].Attachments {
			attached[a.Instance] = true
		}
	}
	for i := range r.Instances {
		instance := &r.Instances[i]
		limits, err := p.options.Catalog.Instance(instance.Type)
		if !attached[instance.ID] || goes(instance.State) || err != nil {
			continue
		}
		for _, of := range []struct {
			kind   Kind
			bursts bool
		}{{IOBalance, limits.BaselineIOPS < limits.MaximumIOPS}, {ByteBalance, limits.BaselineThroughput < limits.MaximumThroughput}} {
			if !of.bursts {
				continue
			}
			id := string(instance.ID)
			l, ok := instanceLevel(p.options.Warn)
			if !ok {
				p.without(r.Account, r.Name, id, of.kind, "an instance holds its maximum for 30 min, too short for a warning of %v", p.options.Warn)
				continue
			}
			a := balance(base(of.kind, id, map[string]string{instanceDimension: id}, p.options.Actions), l.percent, instancePeriod)
			p.want(r.Account, r.Name, of.kind, id, a, l)
		}
	}
}

// want adds an alarm, held against the one that there is.
func (p *planner) want(account fleet.AccountID, region string, k Kind, subject string, a fleet.Alarm, l level) {
	if !slices.Contains(p.options.Kinds, k) {
		return
	}
	at := key{account, region, a.Name}
	w := Wanted{Action: Create, Account: account, Region: region, Kind: k, Subject: subject, Because: l.because, WarningS: l.warnS, WarningAtBurstS: l.warnBurstS, Alarm: a}
	if now := p.alarms()[at]; now != nil {
		w.Alarm = keeping(now, &a)
		switch {
		case !ours(now):
			p.without(account, region, subject, k, "an alarm of the name %s is there, and is not ebscope's: rename or delete it", a.Name)
			return
		case Same(now, &w.Alarm):
			w.Action = Keep
		default:
			was := settings(now)
			w.Action, w.Was = Update, &was
		}
	}
	p.wanted[at] = true
	p.plan.Alarms = append(p.plan.Alarms, w)
}

func (p *planner) without(account fleet.AccountID, region, subject string, k Kind, format string, arguments ...any) {
	if slices.Contains(p.options.Kinds, k) {
		p.plan.Without = append(p.plan.Without, Without{account, region, subject, k, fmt.Sprintf(format, arguments...)})
	}
}

// alarms are all that there are, by where and what they are.
func (p *planner) alarms() map[key]*fleet.Alarm {
	if p.existing == nil {
		p.existing = map[key]*fleet.Alarm{}
		for i := range p.inventory.Snapshot.Regions {
			r := &p.inventory.Snapshot.Regions[i]
			for j := range r.Alarms {
				p.existing[key{r.Account, r.Name, r.Alarms[j].Name}] = &r.Alarms[j]
			}
		}
	}
	return p.existing
}

// goes says whether a volume or an instance in a state is gone, or about to be.
func goes(state string) bool {
	return slices.Contains([]string{"deleting", "deleted", "error", "shutting-down", "terminated"}, state)
}

// needed is what has to be read of a region before an alarm can be called needless; "" stands for all of it.
var needed = []string{"ec2:DescribeVolumes", "ec2:DescribeInstances", "cloudwatch:DescribeAlarms", ""}

// remove adds the alarms of a region that are ebscope's and no longer wanted.
func (p *planner) remove(r *fleet.Region) {
	for _, m := range p.plan.Missing {
		if slices.Contains(needed, m.Operation) && m.Account == r.Account && m.Region == r.Name {
			p.warn("nothing-deleted", "%s: %s could not be read, so nobody knows which alarms are needed no more: none is deleted.", r.Name, cmp.Or(m.Operation, "it"))
			return
		}
	}
	instances := map[fleet.InstanceID]bool{}
	for i := range r.Instances {
		instances[r.Instances[i].ID] = !goes(r.Instances[i].State)
	}
	for i := range r.Alarms {
		a := &r.Alarms[i]
		k, subject, made := kindOf(a)
		if !made || !ours(a) || p.wanted[key{r.Account, r.Name, a.Name}] {
			continue
		}
		p.plan.Delete = append(p.plan.Delete, Removal{r.Account, r.Name, k, subject, a.Name, p.needless(k, subject, instances)})
	}
}

// needless says why an alarm is needed no more.
func (p *planner) needless(k Kind, subject string, instances map[fleet.InstanceID]bool) string {
	if k == IOBalance || k == ByteBalance {
		switch {
		case !instances[fleet.InstanceID(subject)]:
			return "the instance is gone"
		case !slices.Contains(p.options.Kinds, k):
			return "alarms of this kind were not asked for"
		default:
			return "the instance has no volumes, or no balance that can run out"
		}
	}
	e := p.inventory.Find(fleet.VolumeID(subject))
	switch {
	case e == nil || e.Volume == nil || goes(e.Volume.State):
		return "the volume is gone"
	case !Credits(e.Volume.Type):
		return fmt.Sprintf("the volume is %s now", e.Volume.Type)
	case !slices.Contains(p.options.Kinds, k):
		return "alarms of this kind were not asked for"
	case k == BurstBalance:
		return "the volume has no credits that can run out, or too few for the warning"
	default:
		return "the volume is not attached to an instance that has this check"
	}
}

// ours says whether an alarm may be ebscope's. A saved snapshot has no tags of alarms; they are looked at before one is
// changed in any case.
func ours(a *fleet.Alarm) bool {
	_, tagged := a.Tags[cloud.AlarmTag]
	return tagged || a.Tags == nil
}

// Same says whether two alarms do the same.
func Same(a, b *fleet.Alarm) bool { return reflect.DeepEqual(settings(a), settings(b)) }

// keeping is an alarm as it is wanted, with what people have added to the one that is there: CloudWatch replaces an alarm as a
// whole. Nobody can tell an action that was added by hand from one of an earlier plan, so that none is taken away.
func keeping(now, wanted *fleet.Alarm) fleet.Alarm {
	a := *wanted
	a.Actions = union(wanted.Actions, now.Actions)
	a.OKActions = union(wanted.OKActions, now.OKActions)
	a.NoDataActions = union(wanted.NoDataActions, now.NoDataActions)
	a.Description, a.Silenced = cmp.Or(now.Description, wanted.Description), now.Silenced
	return a
}

func union(a, b []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b))))
}

// settings is an alarm without what CloudWatch adds, in one form.
func settings(a *fleet.Alarm) fleet.Alarm {
	s := *a
	s.ARN, s.State, s.Tags = "", "", nil
	for _, list := range []*[]string{&s.Actions, &s.OKActions, &s.NoDataActions} {
		*list = slices.Sorted(slices.Values(*list))
	}
	s.Dimensions = maps.Clone(a.Dimensions)
	s.MissingData = cmp.Or(s.MissingData, missing) // CloudWatch's default
	s.DatapointsToAlarm = cmp.Or(s.DatapointsToAlarm, s.EvaluationPeriods)
	return s
}
