package forecast

import (
	"fmt"
	"iter"
	"time"

	"ebscope/internal/ebs"
	"ebscope/internal/model"
	"ebscope/internal/units"
)

// Longest is the longest time that a forecast looks ahead. Beyond it no load stays the same.
const Longest = 10 * 366 * 24 * time.Hour

// Pattern is a load that comes again and again: a peak, then less.
type Pattern struct {
	Every, For time.Duration // a peak of that length begins so often
	Peak, Then Load
}

// Validate names what is wrong with the times of a pattern.
func (p Pattern) Validate() error {
	if p.Every < time.Second || p.Every > Longest {
		return fmt.Errorf("a pattern comes again every %v: use a second up to ten years", p.Every)
	}
	if p.For <= 0 || p.For > p.Every {
		return fmt.Errorf("a peak of %v every %v: it must be longer than zero and no longer than the time from one to the next", p.For, p.Every)
	}
	return nil
}

// Over repeats the pattern for a time. The last repetition may be cut.
func (p Pattern) Over(length time.Duration) iter.Seq[Interval] {
	return func(yield func(Interval) bool) {
		for length > 0 {
			for _, i := range [...]Interval{{p.For, p.Peak}, {p.Every - p.For, p.Then}} {
				i.Length = min(i.Length, length)
				if i.Length > 0 && !yield(i) {
					return
				}
				length -= i.Length
			}
		}
	}
}

// TimeToEmpty returns how long a volume in its present state lasts under a constant load, and false where that is for
// ever (or for centuries). Without an instance it is AWS's formula, balance ÷ (demand − baseline): demand counts up to the burst
// rate, and what the rate bucket holds beyond it, a second's worth, is left out.
func TimeToEmpty(volume model.Fluid, perf ebs.Performance, load Load) (time.Duration, bool) {
	demand := volume.Demand(load.IOPS, load.Throughput)
	share := 1.0
	if demand.Operations > perf.Burst {
		share = float64(perf.Burst / demand.Operations)
	}
	if demand.Throughput > perf.Throughput {
		share = min(share, float64(perf.Throughput/demand.Throughput))
	}
	demand.Operations *= units.IOPS(share)
	demand.Throughput *= units.Throughput(share)
	step := volume.Advance(200*365*24*time.Hour, demand)
	return step.DryAt, step.Dry
}

// TimeToRefill returns how long an empty credit bucket takes to fill at rest: capacity ÷ baseline; false where there is none.
func TimeToRefill(perf ebs.Performance) (time.Duration, bool) {
	seconds := float64(perf.Credits) / float64(perf.Baseline)
	if perf.BurstsData() {
		seconds = float64(perf.DataCredits) / float64(perf.BaselineThroughput)
	}
	return time.Duration(seconds * float64(time.Second)), seconds > 0
}

// AlarmThreshold returns the share of the bucket at which an alarm on the balance leaves a time of warning: that time ÷
// the time in which the load empties a full bucket. It is false where the load never does, or does so sooner.
func AlarmThreshold(full model.Fluid, perf ebs.Performance, load Load, warn time.Duration) (share float64, ok bool) {
	lasts, ends := TimeToEmpty(full, perf, load)
	if !ends || lasts < warn {
		return 0, false
	}
	return warn.Seconds() / lasts.Seconds(), true
}
