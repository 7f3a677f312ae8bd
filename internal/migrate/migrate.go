// Package migrate carries out plans of internal/migration: it writes a journal before every change, sends a change once,
// waits until EBS has completed it, and reads the volume back. Whatever ends the program, the next run goes on from the
// journal.
package migrate

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"ebscope/internal/cloud"
	"ebscope/internal/cluster"
	"ebscope/internal/fleet"
	"ebscope/internal/migration"
)

// Cloud is what is asked of AWS.
type Cloud interface {
	Volumes(ctx context.Context, region string, ids []fleet.VolumeID) ([]fleet.Volume, error)
	// Modifications are the latest of each volume.
	Modifications(ctx context.Context, region string, ids []fleet.VolumeID) ([]fleet.Modification, error)
	// ModifyVolume sends a change once; its errors are those of internal/cloud.
	ModifyVolume(ctx context.Context, region string, c cloud.Change) (fleet.Modification, error)
}

// Cluster is what is asked of a cluster.
type Cluster interface {
	EnsureAttributesClass(ctx context.Context, class fleet.AttributesClass) (made bool, err error)
	EnsureStorageClass(ctx context.Context, class fleet.StorageClass) (made bool, err error)
	SetDefaultClass(ctx context.Context, name string) (was []string, err error)
	// ChangeClaim may be sent again: a claim that asks for it already stays as it is.
	ChangeClaim(ctx context.Context, change cluster.ClaimChange) (cluster.ClaimState, error)
	ClaimState(ctx context.Context, namespace, name string) (cluster.ClaimState, error)
}

// Options say how a plan is carried out.
type Options struct {
	// InFlight is how many volumes may be under change at once.
	InFlight int
	// Poll is the time between two looks at the volumes under change.
	Poll time.Duration
	// Settle is the first pause between the reads for a change whose answer was lost; they double.
	Settle time.Duration
	// RetryFailed tries volumes again that failed in an earlier run.
	RetryFailed bool
	// Account is the one that Cloud asks; steps of others are left. Empty: any.
	Account fleet.AccountID
	// Tell hears what happens, never twice at once. It may be nil.
	Tell func(Event)
	Now  func() time.Time // by which the maintenance window is judged; nil: time.Now
}

// Event is something that happened. Volume is empty where it is about the whole.
type Event struct {
	Volume  fleet.VolumeID
	Step    *migration.Step
	Kind    Kind
	Outcome Outcome
	Text    string
}

// What comes by default.
const (
	DefaultInFlight = 500
	DefaultPoll     = 15 * time.Second
	DefaultSettle   = time.Second
)

// senders is how many changes are sent at once, at most.
const senders = 16

// run is a plan while it is carried out.
type run struct {
	plan     *migration.Plan
	options  Options
	cloud    Cloud
	clusters map[fleet.UID]Cluster
	journal  *Journal
	flights  map[fleet.VolumeID]*flight
	pace     pace
	polled   time.Time
	// objectsRefused counts classes that a cluster declined to make, or to make the default.
	objectsRefused int
	withoutClass   map[classOf]bool // VolumeAttributesClasses that a cluster declined to make

	mu     sync.Mutex
	failed int // volumes, in this run and before
}

// flight is a change under way.
type flight struct {
	step   *migration.Step
	before time.Time // when the modification before it began
	misses int       // looks that did not find it, or not yet as it should be
}

// Error types of Apply.
type (
	// BudgetError says that too many volumes failed.
	BudgetError struct{ Failed, Budget int }
	// PartError says that not all of the plan could be done.
	PartError struct{ Failed, Refused, Postponed, Left, Objects int }
)

func (e *BudgetError) Error() string {
	return fmt.Sprintf("stopped: %d volumes failed, and the plan allows %d; no further one is begun. Look at `ebscope migrate status`, and go on with --retry-failed, or go back with `ebscope migrate rollback`", e.Failed, e.Budget)
}

func (e *PartError) Error() string {
	text := "not all is done:"
	for _, part := range []struct {
		n    int
		what string
	}{{e.Failed, "volumes failed"}, {e.Refused, "volumes are no longer what the plan was made for"}, {e.Postponed, "volumes have to wait"},
		{e.Left, "volumes are left"}, {e.Objects, "classes could not be made, or be made the default"}} {
		if part.n > 0 {
			text += fmt.Sprintf(" %d %s,", part.n, part.what)
		}
	}
	return strings.TrimSuffix(text, ",") + "; `ebscope migrate status` says more of the volumes"
}

// Apply carries out a plan, or goes on with it. It returns nil where every step that is not blocked is done, a BudgetError
// or PartError where it is not, or a class could not be made, and any other error where it had to end early: done again it goes on.
func Apply(ctx context.Context, plan *migration.Plan, c Cloud, clusters map[fleet.UID]Cluster, journal *Journal, o Options) error {
	if o.InFlight <= 0 {
		o.InFlight = DefaultInFlight
	}
	if o.Poll <= 0 {
		o.Poll = DefaultPoll
	}
	if o.Settle <= 0 {
		o.Settle = DefaultSettle
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	r := &run{plan: plan, options: o, cloud: c, clusters: clusters, journal: journal, flights: map[fleet.VolumeID]*flight{}, pace: newPace(),
		withoutClass: map[classOf]bool{}}
	if err := r.objects(ctx); err != nil {
		return err
	}
	if err := r.resume(ctx); err != nil {
		return err
	}
	if err := r.batches(ctx); err != nil {
		return err
	}
	return r.result()
}

// tell passes on what happened.
func (r *run) tell(e Event) {
	if r.options.Tell == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.options.Tell(e)
}

// end records how a step ended.
func (r *run) end(s *migration.Step, o Outcome, until time.Time, format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	if err := r.journal.write(Entry{Kind: Ended, Volume: s.Volume, Outcome: o, Until: until, Text: text}); err != nil {
		return err
	}
	if o == Failed || o == Infeasible {
		r.mu.Lock()
		r.failed++
		r.mu.Unlock()
	}
	r.tell(Event{Volume: s.Volume, Step: s, Kind: Ended, Outcome: o, Text: text})
	return nil
}

// spent says whether the failure budget is.
func (r *run) spent() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed > r.plan.Rules.FailureBudget
}

// result says how the whole ended.
func (r *run) result() error {
	t := Count(r.plan, r.journal)
	switch {
	case r.spent():
		return &BudgetError{t.Failed + t.Infeasible, r.plan.Rules.FailureBudget}
	case t.Done+t.Already < t.Steps || r.objectsRefused > 0:
		return &PartError{Failed: t.Failed + t.Infeasible, Refused: t.Refused, Postponed: t.Postponed, Left: t.Pending + t.UnderWay, Objects: r.objectsRefused}
	}
	return nil
}

// wait pauses, and ends early with the context.
func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
