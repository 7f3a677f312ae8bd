// Package simulate runs a profile on model volumes in virtual time, I/O by I/O: the prediction that a measured run is
// held against, and a benchmark where there is nothing to measure.
//
// It is a closed loop, as fio's is: each phase keeps its number of I/Os in flight and issues the next one as soon as
// one completes, unless the application thinks first or keeps to a rate of its own. An I/O completes when the model
// admits it, but never before its service latency has passed.
package simulate

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"ebscope/internal/ebs"
	"ebscope/internal/result"
	"ebscope/internal/workload"
)

// Source is what simulated measurements name as their origin.
const Source = "model"

// Phase is the prediction for one phase of a profile. Its times are those of the compressed run.
type Phase struct {
	// Start and End are the first issue and the last completion, on the clock that all volumes share. A phase with a
	// duration does not end before it is over.
	Start, End  time.Duration
	Measurement result.Measurement
	// Credits is the burst balance at Start and End, of a stripe that of all its volumes together; nil where there is no
	// credit bucket.
	Credits *result.Credits
	// Dry is when, counted from Start, the first I/O had to wait for credits; nil where none did.
	Dry *time.Duration
}

// Progress hears, a few times a second, how much of the stated time of all phases is simulated.
type Progress func(done, total time.Duration)

// Run simulates the profile, which is stated uncompressed, within the limits of a catalog, with every time constant
// divided by compress. Volumes rest, and earn credits, while others are measured. The result has a phase for each of the
// profile's, and is the same each time. It fails on a profile or a compress below 1 that is not valid, and when ctx is cancelled. progress may be nil.
func Run(ctx context.Context, catalog *ebs.Catalog, profile workload.Profile, compress float64, progress Progress) ([]Phase, error) {
	if err := profile.Validate(catalog); err != nil {
		return nil, fmt.Errorf("simulate profile %s: %w", profile.Name, err)
	}
	if !(compress >= 1) || math.IsInf(compress, 1) {
		return nil, fmt.Errorf("simulate profile %s: compress %v must be a number from 1 up", profile.Name, compress)
	}
	disks, err := newDisks(catalog, profile, compress)
	if err != nil {
		return nil, fmt.Errorf("simulate profile %s: %w", profile.Name, err)
	}
	profile = profile.Compressed(compress)
	r := run{progress: progress}
	for _, p := range profile.Phases {
		r.total += p.Duration
	}
	// Any seed does; a fixed one makes predictions repeatable.
	random := rand.New(rand.NewPCG(1, 2))
	window := workload.Window(compress)
	var clock time.Duration
	phases := make([]Phase, 0, len(profile.Phases))
	for i, group := range profile.Groups() {
		if i > 0 {
			clock += profile.Gap
		}
		clock += group[0].Rest
		loops := make([]*loop, len(group))
		for j, p := range group {
			loops[j] = newLoop(p, disks[p.Volume], profile.FileSize, clock, random, newRecorder(p, window))
		}
		if err := r.group(ctx, loops); err != nil {
			return nil, fmt.Errorf("simulate profile %s: %w", profile.Name, err)
		}
		for _, l := range loops {
			p := l.result()
			phases = append(phases, p)
			clock = max(clock, p.End)
		}
	}
	return phases, nil
}

// run is a simulation on its way.
type run struct {
	progress    Progress
	done, total time.Duration // stated time of phases
}

// pulse is the number of I/Os between two looks at the outside world, a few milliseconds.
const pulse = 1 << 16

// group runs loops that start together to their end, issuing their I/Os in the order of time.
func (r *run) group(ctx context.Context, loops []*loop) error {
	for n := 0; ; n++ {
		first, at := loops[0], loops[0].next()
		for _, l := range loops[1:] {
			if t := l.next(); t < at {
				first, at = l, t
			}
		}
		if n%pulse == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			r.report(loops[0].phase.Duration, at-loops[0].start)
		}
		if at == never {
			break
		}
		first.issue(at)
	}
	for _, l := range loops {
		r.done += l.phase.Duration
	}
	return nil
}

// report says how far the run has come when a phase has run for a time.
func (r *run) report(duration, elapsed time.Duration) {
	if r.progress != nil {
		r.progress(r.done+min(duration, elapsed), r.total)
	}
}
