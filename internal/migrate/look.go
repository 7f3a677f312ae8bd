package migrate

import (
	"context"
	"strings"
	"sync"
	"time"

	"ebscope/internal/cluster"
	"ebscope/internal/fleet"
	"ebscope/internal/lazy"
	"ebscope/internal/migration"
)

// enoughMisses is how many looks may not find a change, or find the volume otherwise than it should be by then, before that
// counts as an answer: EC2's reads may lag behind.
const enoughMisses = 5

// look looks at all changes under way.
func (r *run) look(ctx context.Context) error {
	steps := make([]*migration.Step, 0, len(r.flights))
	for i := range r.plan.Steps { // in the plan's order
		if f := r.flights[r.plan.Steps[i].Volume]; f != nil {
			steps = append(steps, f.step)
		}
	}
	k, err := r.read(ctx, steps)
	if err != nil {
		return err
	}
	claims, err := r.claims(ctx, steps)
	if err != nil {
		return err
	}
	for _, s := range steps {
		f := r.flights[s.Volume]
		var over bool
		if s.Action == migration.ByClass {
			over, err = r.lookByClass(f, k, claims[s.Volume])
		} else {
			over, err = r.lookByAWS(f, k)
		}
		if err != nil {
			return err
		}
		if over {
			delete(r.flights, s.Volume)
		}
	}
	return nil
}

// lookByAWS says whether a change is over.
func (r *run) lookByAWS(f *flight, k known) (over bool, err error) {
	s := f.step
	v, there := k.volumes[s.Volume]
	m, any := k.changes[s.Volume]
	switch {
	case !there:
		if f.misses++; f.misses < enoughMisses {
			return false, nil
		}
		return true, r.end(s, Refused, time.Time{}, "the volume does not exist any more")
	case any && f.is(m) && m.State == "failed":
		return true, r.end(s, Failed, time.Time{}, "EBS began the change and gave it up: %s", m.Message)
	case any && f.is(m) && underChange(m):
		f.misses = 0
		return false, nil
	case same(v.Setting, s.To) && (!any || f.is(m)):
		// EC2 forgets a modification some time after it is completed.
		if !any {
			if f.misses++; f.misses < enoughMisses {
				return false, nil
			}
		}
		return true, r.end(s, Done, time.Time{}, "%v", v.Setting)
	}
	if f.misses++; f.misses < enoughMisses {
		return false, nil
	}
	if any && !f.is(m) && m.Start.After(f.before) {
		return true, r.end(s, Refused, time.Time{}, "somebody changed the volume to %v at %s", m.Target, m.Start.UTC().Format(time.RFC3339))
	}
	return true, r.end(s, Failed, time.Time{}, "EC2 says that the change is completed, and the volume is %v", v.Setting)
}

// claims reads the claims of steps by class.
func (r *run) claims(ctx context.Context, steps []*migration.Step) (map[fleet.VolumeID]answer, error) {
	var (
		all   sync.WaitGroup
		mu    sync.Mutex
		first error
		slots = make(chan struct{}, senders)
		found = map[fleet.VolumeID]answer{}
	)
	for _, s := range steps {
		kube := r.clusters[s.ClusterUID]
		if s.Action != migration.ByClass || kube == nil {
			continue
		}
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			namespace, name, _ := strings.Cut(s.Claim, "/")
			state, err := kube.ClaimState(ctx, namespace, name)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				found[s.Volume] = answer{state, true}
			case ofObject(err):
				found[s.Volume] = answer{}
			case first == nil:
				first = err
			}
		})
	}
	all.Wait()
	return found, first
}

// answer is a claim, there being one.
type answer struct {
	cluster.ClaimState
	there bool
}

// lookByClass says whether a change by class is over: the claim says that it is in force, EBS has completed it, and the
// volume is what it should be.
func (r *run) lookByClass(f *flight, k known, claim answer) (over bool, err error) {
	s := f.step
	v, m := k.volumes[s.Volume], k.changes[s.Volume]
	switch {
	case r.clusters[s.ClusterUID] == nil:
		return true, nil // it stays under way, for a run that has a connection
	case !claim.there || claim.UID != s.ClaimUID:
		return true, r.end(s, Refused, time.Time{}, "claim %s does not exist any more", s.Claim)
	case claim.AttributesClass != s.Class:
		return true, r.end(s, Refused, time.Time{}, "somebody let claim %s ask for class %q", s.Claim, claim.AttributesClass)
	case s.Withdraw && (claim.Modify == nil || claim.Withdrawn() && s.Class == ""):
		return true, r.end(s, Done, time.Time{}, "the claim asks for what it has; the volume is %v", v.Setting)
	case claim.Infeasible():
		// A change of before may have left that, until csi-resizer takes this one up.
		if f.misses++; !claim.Modifying() && f.misses < enoughMisses {
			return false, nil
		}
		return true, r.end(s, Infeasible, time.Time{}, "the driver refuses it for good (%s). The volume is %v still; `ebscope migrate rollback` lets the claim ask for what it had", reason(claim), v.Setting)
	case s.Withdraw:
		return false, nil
	case r.tooOften(claim.Reason()):
		return true, r.end(s, Postponed, timeIn(claim.Reason()), "AWS allows 4 changes within 24 hours, and the volume had them (%s). The cluster tries again by itself", claim.Reason())
	case !claim.InForce(s.Class) || underChange(m) || !same(v.Setting, s.To):
		if claim.InForce(s.Class) && !underChange(m) {
			if f.misses++; f.misses >= enoughMisses {
				return true, r.end(s, Failed, time.Time{}, "the claim says that class %s is in force, and the volume is %v", s.Class, v.Setting)
			}
		}
		return false, nil
	}
	if f.is(m) { // the time by which the slots of the volume are counted
		if err := r.journal.write(Entry{Kind: Sent, Volume: s.Volume, Start: m.Start}); err != nil {
			return true, err
		}
	}
	return true, r.end(s, Done, time.Time{}, "%v", v.Setting)
}

func reason(claim answer) string {
	if why := claim.Reason(); why != "" {
		return why
	}
	return "the claim does not say why"
}

// tooOften recognises in the driver's words that the volume was changed too often. They stay in the claim while the driver
// tries again: once the slot is free they are of the attempt before.
func (r *run) tooOften(why string) bool {
	if !strings.Contains(why, "VolumeModificationRateExceeded") && !strings.Contains(why, "maximum modification rate") {
		return false
	}
	until := timeIn(why)
	return until.IsZero() || until.After(r.options.Now())
}

var timeInText = lazy.Regexp(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)

func timeIn(text string) time.Time {
	t, err := time.Parse(time.RFC3339, timeInText().FindString(text))
	if err != nil {
		return time.Time{}
	}
	return t
}
