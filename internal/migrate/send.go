package migrate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"ebscope/internal/cloud"
	"ebscope/internal/cluster"
	"ebscope/internal/ebs"
	"ebscope/internal/fleet"
	"ebscope/internal/migration"
)

// known is what EC2 says of some volumes.
type known struct {
	volumes map[fleet.VolumeID]fleet.Volume
	changes map[fleet.VolumeID]fleet.Modification
}

// read asks EC2 for volumes and their latest modifications. These come first: a modification that is completed by then
// shows in the volume.
func (r *run) read(ctx context.Context, steps []*migration.Step) (known, error) {
	k := known{map[fleet.VolumeID]fleet.Volume{}, map[fleet.VolumeID]fleet.Modification{}}
	regions := map[string][]fleet.VolumeID{}
	for _, s := range steps {
		regions[s.Region] = append(regions[s.Region], s.Volume)
	}
	for region, ids := range regions {
		changes, err := r.cloud.Modifications(ctx, region, ids)
		if err != nil {
			return k, err
		}
		for _, m := range changes {
			if latest, ok := k.changes[m.Volume]; !ok || m.Start.After(latest.Start) {
				k.changes[m.Volume] = m
			}
		}
		volumes, err := r.cloud.Volumes(ctx, region, ids)
		if err != nil {
			return k, err
		}
		for _, v := range volumes {
			k.volumes[v.ID] = v
		}
	}
	return k, nil
}

func same(a, b fleet.Setting) bool {
	catalog := ebs.Embedded()
	return a.Config(catalog) == b.Config(catalog)
}

func underChange(m fleet.Modification) bool { return m.State == "modifying" || m.State == "optimizing" }

// start begins some steps, and returns those that AWS throttled.
func (r *run) start(ctx context.Context, steps []*migration.Step) (back []*migration.Step, err error) {
	k, err := r.read(ctx, steps)
	if err != nil {
		return steps, err
	}
	var (
		all     sync.WaitGroup
		mu      sync.Mutex
		first   error
		waiting = make(chan struct{}, senders)
	)
	width, _ := r.pace.state()
	for range senders - width {
		waiting <- struct{}{} // fewer at once
	}
	for _, s := range steps {
		waiting <- struct{}{}
		mu.Lock()
		stop := first != nil
		mu.Unlock()
		inWindow, _ := r.plan.Rules.Window.Opens(r.options.Now())
		if _, until := r.pace.state(); stop || !inWindow || r.spent() || ctx.Err() != nil || time.Now().Before(until) {
			<-waiting
			mu.Lock()
			back = append(back, s)
			mu.Unlock()
			continue
		}
		all.Go(func() {
			defer func() { <-waiting }()
			f, again, err := r.one(ctx, s, k)
			mu.Lock()
			defer mu.Unlock()
			if f != nil {
				r.flights[s.Volume] = f
			}
			if again {
				back = append(back, s)
			}
			if err != nil && first == nil {
				first = err
			}
		})
	}
	all.Wait()
	return back, first
}

// one looks at a volume and sends its change. It returns the change that is then under way, if any, and whether it is to be
// tried again.
func (r *run) one(ctx context.Context, s *migration.Step, k known) (*flight, bool, error) {
	latest := k.changes[s.Volume]
	if r.options.Account != "" && s.Account != "" && s.Account != r.options.Account {
		return nil, false, r.end(s, Refused, time.Time{}, "the volume belongs to account %s, and the credentials to %s", s.Account, r.options.Account)
	}
	v, there := k.volumes[s.Volume]
	if !there {
		return nil, false, r.end(s, Refused, time.Time{}, "the volume does not exist any more")
	}
	kube := r.clusters[s.ClusterUID]
	if kube == nil && s.Action == migration.ByClass {
		return nil, false, r.end(s, Refused, time.Time{}, "no connection to cluster %s; name its context", s.Cluster)
	}
	if s.Action == migration.ByClass && r.withoutClass[classOf{s.ClusterUID, s.Class}] {
		return nil, false, r.end(s, Refused, time.Time{}, "VolumeAttributesClass %s is not what the plan needs, and cannot be changed: delete it where no claim uses it, and apply the plan again", s.Class)
	}
	if kube != nil && s.ClaimUID != "" {
		claim, why, err := claimOf(ctx, s, kube)
		switch {
		case err != nil:
			return nil, true, err
		case why != "":
			return nil, false, r.end(s, Refused, time.Time{}, "%s", why)
		case s.Action == migration.ByClass && !s.Withdraw && claim.InForce(s.Class) && same(v.Setting, s.To) && !underChange(latest):
			return nil, false, r.end(s, Already, time.Time{}, "the volume is %v already, by class %s", v.Setting, s.Class)
		}
	}
	switch {
	case underChange(latest) && same(latest.Target, s.To) && s.Action == migration.ByAWS:
		// Already on its way there, sent by a run whose journal is gone, or by somebody else.
		if err := r.journal.write(Entry{Kind: Intent, Volume: s.Volume, Before: latest.Start.Add(-time.Nanosecond)}); err != nil {
			return nil, false, err
		}
		return &flight{step: s, before: latest.Start.Add(-time.Nanosecond)}, false, nil
	case underChange(latest) && s.Action == migration.ByClass && same(latest.Target, s.To):
		// Likewise; letting the claim ask for its class, again perhaps, changes nothing twice.
	case underChange(latest) && !s.Withdraw:
		return nil, false, r.end(s, Postponed, time.Time{}, "the volume is %s to %v since %s, by another change", latest.State, latest.Target, latest.Start.UTC().Format(time.RFC3339))
	case same(v.Setting, s.To) && s.Action == migration.ByAWS && r.ours(s, latest):
		if err := r.sent(&flight{step: s}, latest.Start); err != nil {
			return nil, false, err
		}
		return nil, false, r.end(s, Done, time.Time{}, "%v", v.Setting)
	case same(v.Setting, s.To) && s.Action == migration.ByAWS:
		return nil, false, r.end(s, Already, time.Time{}, "the volume is %v already", v.Setting)
	case !same(v.Setting, s.From) && !same(v.Setting, s.To):
		return nil, false, r.end(s, Refused, time.Time{}, "the volume is %v, and the plan was made for %v: plan anew", v.Setting, s.From)
	case v.State != "in-use" && v.State != "available":
		return nil, false, r.end(s, Postponed, time.Time{}, "the volume is %s", v.State)
	}
	if err := r.journal.write(Entry{Kind: Intent, Volume: s.Volume, Before: latest.Start}); err != nil {
		return nil, false, err
	}
	f := &flight{step: s, before: latest.Start}
	if s.Action == migration.ByClass {
		return r.byClass(ctx, f, kube)
	}
	return r.byAWS(ctx, f)
}

// ours says whether a modification is one that an earlier run meant to make, and took for lost.
func (r *run) ours(s *migration.Step, m fleet.Modification) bool {
	state, known := r.journal.State(s.Volume)
	return known && state.Kind == NotMade && (&flight{step: s, before: state.Before}).is(m)
}

// claimOf reads a step's claim, and says in what it is not the one that was planned for; "" where it is.
func claimOf(ctx context.Context, s *migration.Step, kube Cluster) (claim cluster.ClaimState, why string, err error) {
	namespace, name, _ := strings.Cut(s.Claim, "/")
	claim, err = kube.ClaimState(ctx, namespace, name)
	switch {
	case err != nil && ofObject(err):
		return claim, "claim " + s.Claim + " does not exist any more", nil
	case err != nil:
		return claim, "", err
	case claim.UID != s.ClaimUID:
		return claim, fmt.Sprintf("claim %s is another one than was planned for (UID %s, not %s): plan anew", s.Claim, claim.UID, s.ClaimUID), nil
	}
	return claim, "", nil
}

func change(f *flight) cloud.Change {
	return cloud.Change{Volume: f.step.Volume, Target: f.step.To, Before: f.before}
}

// byAWS sends a change to EC2.
func (r *run) byAWS(ctx context.Context, f *flight) (*flight, bool, error) {
	m, err := r.cloud.ModifyVolume(ctx, f.step.Region, change(f))
	s := f.step
	var rate *cloud.RateError
	switch {
	case err == nil:
		r.pace.taken()
		return f, false, r.sent(f, m.Start)
	case errors.As(err, &rate):
		return nil, false, r.end(s, Postponed, rate.Until, "%v", err)
	case errors.Is(err, cloud.ErrUncertain), errors.Is(err, cloud.ErrBusy), ctx.Err() != nil:
		return r.uncertain(ctx, f, err)
	case errors.Is(err, cloud.ErrThrottled):
		r.pace.throttled(time.Now())
		r.tell(Event{Kind: Begin, Volume: s.Volume, Step: s, Text: "AWS throttles changes; it goes on more slowly"})
		return nil, true, r.journal.write(Entry{Kind: NotMade, Volume: s.Volume, Text: "throttled"})
	case errors.Is(err, cloud.ErrInvalid), errors.Is(err, cloud.ErrNoCredentials), errors.Is(err, cloud.ErrUnreachable), errors.Is(err, cloud.ErrDenied):
		// Not this volume's fault, and no better with the next one.
		return nil, true, errors.Join(r.journal.write(Entry{Kind: NotMade, Volume: s.Volume, Text: err.Error()}), err)
	case errors.Is(err, cloud.ErrNoVolume):
		return nil, false, r.end(s, Refused, time.Time{}, "%v", err)
	default:
		return nil, false, r.end(s, Failed, time.Time{}, "%v", err)
	}
}

func (r *run) sent(f *flight, start time.Time) error {
	if err := r.journal.write(Entry{Kind: Sent, Volume: f.step.Volume, Start: start}); err != nil {
		return err
	}
	r.tell(Event{Volume: f.step.Volume, Step: f.step, Kind: Sent})
	return nil
}

// uncertain finds out what became of a change whose answer was lost, or that EC2 refused because another one is under way:
// that other one may be this one.
func (r *run) uncertain(ctx context.Context, f *flight, why error) (*flight, bool, error) {
	if err := ctx.Err(); err != nil {
		return nil, true, err // the next run finds out
	}
	found, err := r.find(ctx, []*flight{f})
	switch {
	case err != nil:
		return nil, true, err
	case len(found) > 0:
		return f, false, r.sent(f, found[f.step.Volume].Start)
	case errors.Is(why, cloud.ErrBusy):
		return nil, false, r.end(f.step, Postponed, time.Time{}, "%v", why)
	}
	// It would be under way by now. Should it come about all the same, EC2 refuses the second one.
	return nil, true, r.journal.write(Entry{Kind: NotMade, Volume: f.step.Volume, Text: "the request was lost"})
}

// readsForCertainty is how often a change is looked for before it counts as not made: EC2's reads may lag behind.
const readsForCertainty = 6

// find looks for changes that may have been made.
func (r *run) find(ctx context.Context, flights []*flight) (map[fleet.VolumeID]fleet.Modification, error) {
	found := map[fleet.VolumeID]fleet.Modification{}
	pause := r.options.Settle
	for n := 1; len(flights) > 0; n++ {
		regions := map[string][]fleet.VolumeID{}
		for _, f := range flights {
			regions[f.step.Region] = append(regions[f.step.Region], f.step.Volume)
		}
		latest := map[fleet.VolumeID]fleet.Modification{}
		for region, ids := range regions {
			changes, err := r.cloud.Modifications(ctx, region, ids)
			if err != nil {
				return nil, err
			}
			for _, m := range changes {
				latest[m.Volume] = m
			}
		}
		var left []*flight
		for _, f := range flights {
			if m, ok := latest[f.step.Volume]; ok && f.is(m) {
				found[f.step.Volume] = m
			} else {
				left = append(left, f)
			}
		}
		if flights = left; n == readsForCertainty || len(flights) == 0 {
			break
		}
		if err := wait(ctx, pause); err != nil {
			return nil, err
		}
		pause *= 2
	}
	return found, nil
}

// is says whether a modification is this change.
func (f *flight) is(m fleet.Modification) bool {
	return same(m.Target, f.step.To) && m.Start.After(f.before)
}

// byClass lets the claim ask for the class. That may be sent again at any time.
func (r *run) byClass(ctx context.Context, f *flight, kube Cluster) (*flight, bool, error) {
	s := f.step
	namespace, name, _ := strings.Cut(s.Claim, "/")
	c := cluster.ClaimChange{Namespace: namespace, Name: name, UID: s.ClaimUID, From: s.FromClass, To: s.Class}
	if s.To.SizeGiB > s.From.SizeGiB {
		c.SizeBytes = s.To.SizeGiB << 30
	}
	_, err := kube.ChangeClaim(ctx, c)
	switch {
	case err == nil:
		return f, false, r.sent(f, time.Time{})
	case ofObject(err):
		return nil, false, r.end(s, Refused, time.Time{}, "%v", err)
	default:
		return nil, true, err // the intent stands: the next run sends it again
	}
}

// resume takes up what an earlier run left: what may have been sent is looked for before anything is.
func (r *run) resume(ctx context.Context) error {
	var byAWS []*flight
	for i := range r.plan.Steps {
		s := &r.plan.Steps[i]
		state, known := r.journal.State(s.Volume)
		if !known {
			continue
		}
		if state.Kind == Ended && (state.Outcome == Infeasible || state.Outcome == Failed && !r.options.RetryFailed) {
			r.failed++
		}
		f := &flight{step: s, before: state.Before}
		switch {
		case !state.UnderWay():
		case state.Kind == Sent:
			r.flights[s.Volume] = f
		case s.Action == migration.ByClass:
			// ChangeClaim is safe to send again.
			if err := r.journal.write(Entry{Kind: NotMade, Volume: s.Volume, Text: "not known whether the claim was changed"}); err != nil {
				return err
			}
		default:
			byAWS = append(byAWS, f)
		}
	}
	found, err := r.find(ctx, byAWS)
	if err != nil {
		return err
	}
	for _, f := range byAWS {
		if m, made := found[f.step.Volume]; made {
			r.flights[f.step.Volume] = f
			err = r.sent(f, m.Start)
		} else {
			err = r.journal.write(Entry{Kind: NotMade, Volume: f.step.Volume, Text: "the earlier run ended before it was sent"})
		}
		if err != nil {
			return err
		}
	}
	return nil
}
