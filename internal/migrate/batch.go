package migrate

import (
	"context"
	"errors"
	"slices"
	"time"

	"ebscope/internal/cloud"
	"ebscope/internal/cluster"
	"ebscope/internal/migration"
)

// chunk is how many volumes are read before they are changed: as many as EC2 takes in one request.
const chunk = 200

// patience is how many looks in a row may fail.
const patience = 20

// batches goes through the plan, a batch after the other.
func (r *run) batches(ctx context.Context) error {
	steps := map[int][]*migration.Step{}
	last := 0
	for i := range r.plan.Steps {
		if s := &r.plan.Steps[i]; len(s.BlockedBy) == 0 {
			steps[s.Batch] = append(steps[s.Batch], s)
			last = max(last, s.Batch)
		}
	}
	for _, n := range sortedKeys(steps) {
		if err := r.batch(ctx, steps[n]); err != nil {
			return err
		}
		if r.spent() {
			return nil
		}
	}
	return nil
}

func sortedKeys(m map[int][]*migration.Step) []int {
	keys := make([]int, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// open says whether a step is still to be done.
func (r *run) open(s *migration.Step) bool {
	state, known := r.journal.State(s.Volume)
	switch {
	case !known || state.Kind == NotMade:
		return true
	case state.Kind != Ended:
		return false // under way
	case state.Outcome == Failed:
		return r.options.RetryFailed
	default:
		return state.Outcome == Postponed || state.Outcome == Refused
	}
}

// batch begins the steps of a batch and waits until all are done.
func (r *run) batch(ctx context.Context, steps []*migration.Step) error {
	var pending []*migration.Step
	for _, s := range steps {
		if _, flying := r.flights[s.Volume]; !flying && r.open(s) {
			pending = append(pending, s)
		}
	}
	misses, closed := 0, false
	for len(pending) > 0 || len(r.flights) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		if r.spent() {
			pending = nil // those under way are seen through
		}
		now := r.options.Now()
		open, opens := r.plan.Rules.Window.Opens(now)
		if !open && !closed && len(pending) > 0 {
			r.tell(Event{Kind: Begin, Outcome: Postponed, Text: "outside the maintenance window; it opens at " + opens.Format(time.RFC3339)})
		}
		closed = !open
		_, until := r.pace.state()
		room := r.options.InFlight - len(r.flights)
		var err error
		if open && len(pending) > 0 && room > 0 && !time.Now().Before(until) {
			n := min(room, chunk, len(pending))
			var back []*migration.Step
			back, err = r.start(ctx, pending[:n])
			pending = append(back, pending[n:]...)
		} else if err = wait(ctx, r.pause(len(pending) > 0 && room > 0 && open, until, len(pending) > 0 && len(r.flights) == 0 && !open, opens.Sub(now))); err != nil {
			return err
		}
		if err == nil && len(r.flights) > 0 && time.Since(r.polled) >= r.options.Poll {
			err = r.look(ctx)
			r.polled = time.Now()
		}
		switch {
		case err == nil:
			misses = 0
		case transient(err) && misses < patience:
			misses++
			r.tell(Event{Kind: Begin, Text: err.Error()})
			if err := wait(ctx, min(longestPause, time.Duration(misses)*r.options.Poll)); err != nil {
				return err
			}
		default:
			return err
		}
	}
	return nil
}

// pause is how long there is nothing to do.
func (r *run) pause(held bool, until time.Time, closed bool, opens time.Duration) time.Duration {
	switch {
	case closed:
		return max(0, min(opens, time.Minute)) // in small steps, as clocks are set and machines sleep
	case held:
		return max(0, min(time.Until(until), r.options.Poll))
	}
	return max(0, r.options.Poll-time.Since(r.polled))
}

// transient says whether an error may pass: nothing but reading failed.
func transient(err error) bool {
	if silent := (*cluster.UnreachableError)(nil); errors.As(err, &silent) {
		return true
	}
	return errors.Is(err, cloud.ErrThrottled) || errors.Is(err, cloud.ErrUnreachable)
}
