package model

import (
	"math"
	"slices"
	"time"

	"ebscope/internal/units"
)

// Demand is a steady wish for I/O: operations as EBS counts them (see Volume.Cost), and the data that they move.
// Both must be finite and not negative.
type Demand struct {
	Operations units.IOPS
	Throughput units.Throughput
}

// Step is what happened while a fluid volume advanced.
type Step struct {
	// Throttled is how long I/O had to wait, Limit what it waited for last; QueueDepth where none did.
	Throttled time.Duration
	Limit     Limit
	// Dry says that I/O waited for credits, and DryAt when in the step that began.
	Dry   bool
	DryAt time.Duration
	// Spent says that I/O waited because the instance's burst had ended, and SpentAt when in the step that began.
	Spent   bool
	SpentAt time.Duration
}

// maxTanks is the longest chain: credits, operations and data of a volume, and baseline and maximum of both of its instance.
const maxTanks = 7

// Fluid is a volume in fluid form: the buckets of a Volume, fed by a steady demand instead of single I/Os. It advances
// through hours in one exact step, where a Volume would admit millions of I/Os. What the buckets do not let through waits
// in a backlog. New I/O is served before the backlog: that keeps the form piecewise linear, and where all I/O has one size
// the order changes neither balance nor backlog.
//
// A Fluid is a value of its own: a copy is another volume in the same state. It has its instance to itself.
type Fluid struct {
	mood mood
	// calm is the least rate of the buckets but that of credits: where they are full, a flow up to it leaves them so.
	calm    [2]float64
	backlog [2]float64
	tanks   [maxTanks]tank // credits first; an endless bucket where the volume has none
	n       int
	unit    float64 // bytes that count as one operation
	whole   bool    // I/O uses up data in whole units
	limits  *[maxTanks]Limit
	bursts  *[maxTanks]bool // the tanks that bursts of the instance draw on
}

// mood says in which of the states a volume is that it hardly ever leaves, and in which one rule does for a step.
type mood int

const (
	mixed  mood = iota
	rested      // nothing waits, and every bucket but that of credits is full: only credits move
	behind      // there are no credits, something waits, and the other buckets are full: only the backlog moves
)

// tank is a bucket that is filled and drained steadily.
type tank struct {
	level, capacity float64
	rate            float64 // per nanosecond
	kind            int
}

// credits is the place of the credit bucket, none that of no bucket.
const (
	none    = -1
	credits = 0
)

// endless is the level of a bucket that no time empties.
const endless = math.MaxFloat64

// NewFluid returns the fluid form of a volume, in the state that the volume and its instance have at time t.
func NewFluid(v *Volume, t time.Duration) Fluid {
	f := Fluid{n: 1, unit: float64(v.perf.AccountingUnit), whole: v.perf.WholeUnits, calm: [2]float64{math.Inf(1), math.Inf(1)}, limits: new([maxTanks]Limit), bursts: new([maxTanks]bool)}
	f.tanks[credits] = tank{level: endless, capacity: endless}
	all := v.buckets.all
	if v.instance != nil {
		all = append(all[:len(all):len(all)], v.instance.buckets.all...)
	}
	for _, b := range all {
		i := credits
		if b != v.credits {
			i, f.n = f.n, f.n+1
			f.calm[b.kind] = min(f.calm[b.kind], b.rate*(1+roundingError))
		}
		f.tanks[i] = tank{max(0, b.levelAt(t)), b.capacity, b.rate, b.kind}
		f.limits[i] = b.limit
		f.bursts[i] = v.instance != nil && slices.Contains(v.instance.bursts, b)
	}
	f.settle()
	return f
}

const (
	perNanosecond = 1e-9
	// roundingError is the share below which a difference is that of the arithmetic.
	roundingError = 1e-12
)

// Demand returns what a rate of I/O asks of the volume. All I/O is taken to be random and to have its mean size.
func (f *Fluid) Demand(ios units.IOPS, throughput units.Throughput) Demand {
	d := Demand{Operations: ios, Throughput: throughput}
	if each := float64(throughput) / f.unit; each > float64(ios) && ios > 0 {
		d.Operations *= units.IOPS(math.Ceil(each/float64(ios) - roundingError))
	}
	if f.whole {
		d.Throughput = units.Throughput(float64(d.Operations) * f.unit)
	}
	return d
}

// Balance returns the credits that are left as a share of the bucket, 0 to 1; 1 where the volume has no credit bucket.
func (f *Fluid) Balance() float64 {
	if f.tanks[credits].capacity == endless {
		return 1
	}
	return f.tanks[credits].level / f.tanks[credits].capacity
}

// Backlog returns the operations and the data that wait.
func (f *Fluid) Backlog() (units.Ops, units.Bytes) {
	return units.Ops(f.backlog[operations]), units.Bytes(f.backlog[data])
}

// Advance lets a time pass in which the volume is asked for a steady rate of I/O.
func (f *Fluid) Advance(dt time.Duration, d Demand) Step {
	demand := [2]float64{operations: float64(d.Operations) * perNanosecond, data: float64(d.Throughput) * perNanosecond}
	if f.mood == rested && demand[operations] <= f.calm[operations] && demand[data] <= f.calm[data] {
		c := &f.tanks[credits]
		if level := c.level + (c.rate-demand[c.kind])*float64(dt); level >= 0 {
			if level > c.capacity { // min would also look for NaN
				level = c.capacity
			}
			c.level = level
			return Step{Limit: QueueDepth}
		}
	}
	if f.mood == behind && f.catchUp(float64(dt), demand) {
		return Step{Throttled: dt, Limit: f.limits[credits], Dry: true}
	}
	step := f.queue(float64(dt), demand)
	f.settle()
	return step
}

// settle finds the mood.
func (f *Fluid) settle() {
	f.mood = mixed
	for _, t := range f.tanks[credits+1 : f.n] {
		if t.level != t.capacity {
			return
		}
	}
	switch {
	case f.backlog == [2]float64{}:
		f.mood = rested
	case f.tanks[credits].level == 0:
		f.mood = behind
	}
}

// catchUp lets a volume serve what it earns, new I/O first, if it stays behind for the whole time.
func (f *Fluid) catchUp(length float64, demand [2]float64) bool {
	c := &f.tanks[credits]
	scarce, other := c.kind, 1-c.kind
	spare, waiting := (c.rate-demand[scarce])*length, f.backlog
	if spare <= 0 {
		share := c.rate / demand[scarce]
		if c.rate > f.calm[scarce] || demand[other]*share > f.calm[other] {
			return false
		}
		waiting[scarce] -= spare
		waiting[other] += demand[other] * (1 - share) * length
	} else {
		share := spare / waiting[scarce]
		if share >= 1-roundingError || c.rate > f.calm[scarce] || demand[other]*length+share*waiting[other] > f.calm[other]*length {
			return false
		}
		waiting[scarce] -= spare
		waiting[other] *= 1 - share
	}
	f.backlog = waiting
	return true
}

// queue advances from event to event: a bucket runs empty, or the backlog is gone. Between two events all rates are constant.
func (f *Fluid) queue(length float64, demand [2]float64) Step {
	step := Step{Limit: QueueDepth}
	throttled, passed := 0.0, 0.0 // nanoseconds, as all times below
	for passed < length {
		f.release()
		flow := f.flow(demand)
		left := f.untilEvent(length-passed, flow)
		if flow.holder != none {
			throttled += left
			step.Limit = f.limits[flow.holder]
			if flow.holder == credits && !step.Dry {
				step.Dry, step.DryAt = true, duration(passed)
			}
			if f.bursts[flow.holder] && !step.Spent {
				step.Spent, step.SpentAt = true, duration(passed)
			}
		}
		f.run(left, flow)
		if passed+left == passed && left < length-passed {
			continue // an event at this very instant
		}
		passed += left
	}
	step.Throttled = duration(throttled)
	return step
}

// flow is how fast everything moves until the next event.
type flow struct {
	served  [2]float64 // through the buckets, per nanosecond
	growth  [2]float64 // of the backlog by new I/O, per nanosecond
	drained float64    // share of the present backlog that is served per nanosecond
	holder  int        // the bucket that holds I/O back, or none
}

// flow returns the rates of the present state: an empty bucket lets through what flows into it, another anything.
func (f *Fluid) flow(demand [2]float64) flow {
	limit, empty := [2]float64{math.Inf(1), math.Inf(1)}, [2]int{none, none}
	for i := range f.n {
		if kind := f.tanks[i].kind; f.tanks[i].level <= 0 && f.tanks[i].rate < limit[kind] {
			limit[kind], empty[kind] = f.tanks[i].rate, i
		}
	}
	share, now := 1.0, flow{holder: none}
	for kind := range demand {
		if demand[kind]*share > limit[kind] {
			share, now.holder = limit[kind]/demand[kind], empty[kind]
		}
	}
	waiting := f.backlog != [2]float64{}
	if share == 1 && waiting {
		now.drained = math.Inf(1)
		for kind := range demand {
			if f.backlog[kind] == 0 {
				continue
			}
			if drained := (limit[kind] - demand[kind]) / f.backlog[kind]; drained < now.drained {
				now.drained, now.holder = drained, empty[kind]
			}
		}
	}
	for kind := range demand {
		now.served[kind] = share * demand[kind]
		now.growth[kind] = demand[kind] - now.served[kind]
		if now.drained > 0 { // 0 × infinity is no rate
			now.served[kind] += now.drained * f.backlog[kind]
		}
	}
	return now
}

// release serves at once what of the backlog the buckets hold enough for. Afterwards the backlog is gone, or a bucket
// that it needs is empty.
func (f *Fluid) release() {
	share, holder := 1.0, none
	for i := range f.n {
		if waiting := f.backlog[f.tanks[i].kind]; waiting > 0 && f.tanks[i].level < share*waiting {
			share, holder = f.tanks[i].level/waiting, i
		}
	}
	if share <= 0 || f.backlog == [2]float64{} {
		return
	}
	for i := range f.n {
		f.tanks[i].level = max(0, f.tanks[i].level-share*f.backlog[f.tanks[i].kind])
	}
	if holder == none {
		f.backlog = [2]float64{}
		return
	}
	f.tanks[holder].level = 0
	for kind := range f.backlog {
		f.backlog[kind] *= 1 - share
	}
}

// untilEvent returns the time until a rate changes, at most the given number.
func (f *Fluid) untilEvent(length float64, now flow) float64 {
	if now.drained > 0 {
		length = min(length, 1/now.drained)
	}
	for i := range f.n {
		t := &f.tanks[i]
		if excess := now.served[t.kind] - t.rate; t.level > 0 && excess > 0 {
			length = min(length, t.level/excess)
		}
	}
	return length
}

// run moves everything for a time without events.
func (f *Fluid) run(length float64, now flow) {
	for i := range f.n {
		t := &f.tanks[i]
		served := now.served[t.kind]
		level := t.level + (t.rate-served)*length
		if served >= t.rate*(1-roundingError) && level <= t.capacity*roundingError {
			level = 0 // it ran empty, or stays so
		}
		t.level = min(level, t.capacity)
	}
	left := 1 - now.drained*length
	if left < roundingError {
		left = 0
	}
	for kind := range f.backlog {
		f.backlog[kind] = f.backlog[kind]*left + now.growth[kind]*length
	}
}

func duration(nanoseconds float64) time.Duration { return time.Duration(math.Round(nanoseconds)) }
