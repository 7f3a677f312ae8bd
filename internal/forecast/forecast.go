// Package forecast says what a volume will make of a load to come: when its burst credits run out, how long and by what
// it is then held back, and how much waits. A load is a sequence of stretches of steady I/O; the fluid form of the model
// takes each in one exact step, so that months, and fleets, take no time.
package forecast

import (
	"iter"
	"time"

	"ebscope/internal/model"
	"ebscope/internal/units"
)

// Load is a steady rate of I/O: I/Os as an application issues them, and the data that they move.
type Load struct {
	IOPS       units.IOPS
	Throughput units.Throughput
}

// Of returns the load of a rate of I/Os of one size.
func Of(iops units.IOPS, block units.Bytes) Load {
	return Load{iops, units.Throughput(iops) * units.Throughput(block)}
}

// Interval is a load that lasts for a while.
type Interval struct {
	Length time.Duration
	Load   Load
}

// Outcome is what becomes of a volume under a load.
type Outcome struct {
	Length time.Duration
	// Empty says that I/O had to wait for credits, and EmptyAt when that first happened.
	Empty   bool
	EmptyAt time.Duration
	// BurstSpent says that I/O had to wait because the instance's burst had ended, and BurstSpentAt when that first happened.
	BurstSpent   bool
	BurstSpentAt time.Duration
	// Throttled is how long I/O had to wait, and HeldBy what it waited for.
	Throttled time.Duration
	HeldBy    []Held
	// Asked counts the operations of the load, Delayed those of them that came while others waited. Waiting is what is not
	// served at the end, Peak the most that ever waited, at the end of an interval.
	Asked, Delayed, Waiting, Peak units.Ops
	// Lowest and Last are the credits as a share of the bucket: the least at the end of an interval, and those at the end
	// of the load. Both are 1 where there is no bucket.
	Lowest, Last float64
	// Highest is the load with the most operations.
	Highest Load
	highest units.IOPS // as operations
	fastest units.Throughput
}

// Held is the time for which one limit held I/O back. Where several did within a step, it counts for the last.
type Held struct {
	Limit model.Limit
	For   time.Duration
}

// Track follows a volume through a load.
type Track struct {
	volume model.Fluid
	curve  *Curve
	out    Outcome
}

// NewTrack starts with a volume in the state that it has. A curve, which may be nil, is drawn meanwhile.
func NewTrack(volume model.Fluid, curve *Curve) *Track {
	waiting, _ := volume.Backlog() // of a load before
	return &Track{volume: volume, curve: curve, out: Outcome{Lowest: volume.Balance(), Last: volume.Balance(), Waiting: waiting, Peak: waiting}}
}

// Run follows a volume through a whole load.
func Run(volume model.Fluid, load iter.Seq[Interval]) Outcome {
	t := NewTrack(volume, nil)
	for i := range load {
		t.Add(i)
	}
	return t.Outcome()
}

// Outcome returns what has come out so far.
func (t *Track) Outcome() Outcome { return t.out }

// Add follows the volume through one more interval.
func (t *Track) Add(i Interval) {
	demand := t.volume.Demand(i.Load.IOPS, i.Load.Throughput)
	t.out.fastest = max(t.out.fastest, i.Load.Throughput)
	if demand.Operations > t.out.highest {
		t.out.Highest, t.out.highest = i.Load, demand.Operations
	}
	if t.curve == nil {
		t.advance(i.Length, demand)
	} else {
		for left := i.Length; left > 0; {
			part := min(left, t.curve.room())
			t.curve.add(part, demand.Operations, t.advance(part, demand), t.out.Last)
			left -= part
		}
	}
	t.out.Peak = max(t.out.Peak, t.out.Waiting)
}

// advance takes one step and returns the operations that were served in it, a second.
func (t *Track) advance(length time.Duration, demand model.Demand) units.IOPS {
	waited := t.out.Waiting
	step := t.volume.Advance(length, demand)
	asked := units.Ops(float64(demand.Operations) * length.Seconds())
	t.out.Asked += asked
	t.out.Last = t.volume.Balance()
	t.out.Lowest = min(t.out.Lowest, t.out.Last)
	if step.Throttled > 0 {
		t.throttle(step, demand)
	}
	t.out.Length += length
	return units.IOPS(float64(asked+waited-t.out.Waiting) / length.Seconds())
}

func (t *Track) throttle(step model.Step, demand model.Demand) {
	if step.Dry && !t.out.Empty {
		t.out.Empty, t.out.EmptyAt = true, t.out.Length+step.DryAt
	}
	if step.Spent && !t.out.BurstSpent {
		t.out.BurstSpent, t.out.BurstSpentAt = true, t.out.Length+step.SpentAt
	}
	if step.Dry {
		t.out.Lowest = 0
	}
	t.out.Throttled += step.Throttled
	t.out.Delayed += units.Ops(float64(demand.Operations) * step.Throttled.Seconds())
	t.out.Waiting, _ = t.volume.Backlog()
	for i := range t.out.HeldBy {
		if t.out.HeldBy[i].Limit == step.Limit {
			t.out.HeldBy[i].For += step.Throttled
			return
		}
	}
	t.out.HeldBy = append(t.out.HeldBy, Held{step.Limit, step.Throttled})
}
