// Package model is the one model of EBS performance limits in ebscope: a chain of token buckets for a volume, and
// another for the instance that it is attached to. The emulated volumes, the simulation and the expectations that a
// measured run is held against all use it.
//
// It is pure: elapsed time is an argument, and no clock is read. An I/O is admitted, first come first served, as soon
// as every bucket of the chain has enough for it. Rate buckets are one second deep: that depth is what explains the
// first one-second sample of 6,000 I/Os that both volume types show on AWS (see docs/model.md).
package model

import (
	"math"
	"time"

	"ebscope/internal/ebs"
	"ebscope/internal/units"
)

// Limit names the limit that holds an I/O back, as results and reports spell it.
type Limit string

// The limits. QueueDepth means that no bucket holds the workload back: latency and queue depth alone set its rate.
const (
	VolumeBurstIOPS    Limit = "volume-burst-iops"    // gp2 while credits last
	VolumeBaselineIOPS Limit = "volume-baseline-iops" // gp2 without credits, and every type without provisioned IOPS
	VolumeIOPS         Limit = "volume-iops"          // provisioned
	VolumeThroughput   Limit = "volume-throughput"    // HDD: while credits last
	InstanceIOPS       Limit = "instance-iops"
	InstanceThroughput Limit = "instance-throughput"
	QueueDepth         Limit = "queue-depth"

	VolumeBaselineThroughput Limit = "volume-baseline-throughput" // HDD without credits
)

// HeldIOPS names the limit on the IOPS that a volume holds for ever.
func HeldIOPS(perf ebs.Performance) Limit {
	if perf.Provisioned {
		return VolumeIOPS
	}
	return VolumeBaselineIOPS
}

// RateDepth is the depth of the rate buckets. Source: measured, docs/model.md.
const RateDepth = time.Second

// InstanceBurst is how long an instance type with burst holds its maximum, from a full bucket. AWS documents "30
// minutes at least once every 24 hours"; that the bucket is (maximum − baseline) × 30 min and refills at the
// baseline is the usual inference, not documentation.
const InstanceBurst = 30 * time.Minute

// Admission is the answer to one I/O.
type Admission struct {
	At    time.Duration // when the I/O may complete, never before it was asked for
	Limit Limit         // what held it back; QueueDepth where nothing did
}

// Volume is the state of one volume's buckets. It is not safe for concurrent use.
type Volume struct {
	perf     ebs.Performance
	buckets  chain
	credits  *bucket // the one of buckets that holds credits: operations of gp2, data of an HDD; nil where there are none
	instance *Instance
}

// NewVolume returns a volume with full buckets whose clock stands at zero. A compress of K divides every time constant by K: the
// capacity of the credit bucket and the depth of the rate buckets shrink, rates stay. 1 is an uncompressed volume.
// instance may be nil.
func NewVolume(perf ebs.Performance, compress float64, instance *Instance) *Volume {
	v := &Volume{perf: perf, instance: instance}
	depth := RateDepth.Seconds() / compress
	limit := HeldIOPS(perf)
	if perf.Bursts() {
		limit = VolumeBurstIOPS
		v.credits = newBucket(VolumeBaselineIOPS, operations, float64(perf.Credits)/compress, float64(perf.Baseline))
		v.buckets.all = append(v.buckets.all, v.credits)
	}
	if perf.BurstsData() {
		v.credits = newBucket(VolumeBaselineThroughput, data, float64(perf.DataCredits)/compress, float64(perf.BaselineThroughput))
		v.buckets.all = append(v.buckets.all, v.credits)
	}
	v.buckets.all = append(v.buckets.all,
		newBucket(limit, operations, float64(perf.Burst)*depth, float64(perf.Burst)),
		newBucket(VolumeThroughput, data, float64(perf.Throughput)*depth, float64(perf.Throughput)))
	return v
}

// Admit asks for an I/O of the given size at time t and takes its cost from the buckets. Calls must not go back in
// time by more than the time they queue: an I/O is never admitted before the one that came before it.
func (v *Volume) Admit(t time.Duration, size units.Bytes) Admission { return v.admit(t, size, false) }

// AdmitSequential is Admit for an I/O that goes on where the one before it ended. It costs an HDD volume less.
func (v *Volume) AdmitSequential(t time.Duration, size units.Bytes) Admission {
	return v.admit(t, size, true)
}

func (v *Volume) admit(t time.Duration, size units.Bytes, sequential bool) Admission {
	cost := [...]float64{operations: v.perf.Operations(size, sequential), data: float64(v.perf.Data(size, sequential))}
	asked := Admission{At: t, Limit: QueueDepth}
	if v.instance != nil {
		transferred := cost
		transferred[data] = float64(size)
		asked = v.instance.buckets.admit(asked, transferred)
	}
	return v.buckets.admit(asked, cost)
}

// WaitedForCredits says whether it was spent credits that held an I/O back.
func (v *Volume) WaitedForCredits(a Admission) bool {
	return v.credits != nil && a.Limit == v.credits.limit
}

// Cost returns how many operations a random I/O of the given size counts as.
func (v *Volume) Cost(size units.Bytes) float64 { return v.perf.Operations(size, false) }

// Credits returns the balance of I/O credits at time t, zero where the volume has none.
func (v *Volume) Credits(t time.Duration) units.Ops {
	if !v.perf.Bursts() {
		return 0
	}
	return units.Ops(v.credits.levelAt(t))
}

// CreditCapacity returns the capacity for I/O credits after compression, zero where the volume has none.
func (v *Volume) CreditCapacity() units.Ops {
	if !v.perf.Bursts() {
		return 0
	}
	return units.Ops(v.credits.capacity)
}

// DataCredits returns the balance of an HDD volume's credits at time t, zero where the volume has none.
func (v *Volume) DataCredits(t time.Duration) units.Bytes {
	if !v.perf.BurstsData() {
		return 0
	}
	return units.Bytes(v.credits.levelAt(t))
}

// DataCreditCapacity returns the capacity for an HDD volume's credits after compression, zero where the volume has none.
func (v *Volume) DataCreditCapacity() units.Bytes {
	if !v.perf.BurstsData() {
		return 0
	}
	return units.Bytes(v.credits.capacity)
}

// SetCredits sets the balance at time t to a fraction of the capacity, from 0 to 1.
func (v *Volume) SetCredits(t time.Duration, fraction float64) {
	if v.credits != nil {
		v.credits.at, v.credits.level = t, v.credits.capacity*min(max(fraction, 0), 1)
	}
}

// State is the fill of a volume's buckets at one instant, in the order of the chain. It can be stored and restored.
type State struct {
	At     time.Duration `json:"at_ns"`
	Levels []float64     `json:"levels"`
}

// State returns the volume's state at time t, or at its last admission if that is later.
func (v *Volume) State(t time.Duration) State { return v.buckets.state(t) }

// Restore puts the volume back into a state that a volume of the same configuration had. It returns false, and
// changes nothing, if the state is of another configuration.
func (v *Volume) Restore(s State) bool { return v.buckets.restore(s) }

// Instance is the state of the buckets that all volumes of one instance share. Not safe for concurrent use.
type Instance struct {
	buckets chain
	bursts  []*bucket // those of buckets that its bursts draw on
}

// NewInstance returns an instance with full buckets; compress is as for NewVolume.
func NewInstance(limits ebs.Instance, compress float64) *Instance {
	depth := RateDepth.Seconds() / compress
	burst := InstanceBurst.Seconds() / compress
	i := &Instance{}
	add := func(limit Limit, kind int, baseline, maximum float64) {
		if baseline < maximum {
			b := newBucket(limit, kind, (maximum-baseline)*burst, baseline)
			i.buckets.all, i.bursts = append(i.buckets.all, b), append(i.bursts, b)
		}
		i.buckets.all = append(i.buckets.all, newBucket(limit, kind, maximum*depth, maximum))
	}
	add(InstanceIOPS, operations, float64(limits.BaselineIOPS), float64(limits.MaximumIOPS))
	add(InstanceThroughput, data, float64(limits.BaselineThroughput), float64(limits.MaximumThroughput))
	return i
}

// State returns the instance's state at time t.
func (i *Instance) State(t time.Duration) State { return i.buckets.state(t) }

// Restore puts the instance back into a state; see Volume.Restore.
func (i *Instance) Restore(s State) bool { return i.buckets.restore(s) }

// What a bucket counts.
const (
	operations = iota
	data
)

// bucket is a token bucket with a continuous level.
type bucket struct {
	limit    Limit
	kind     int
	capacity float64
	rate     float64 // tokens a nanosecond
	level    float64 // at time at
	at       time.Duration
}

// newBucket returns a full bucket; rate is in tokens a second.
func newBucket(limit Limit, kind int, capacity, rate float64) *bucket {
	return &bucket{limit: limit, kind: kind, capacity: capacity, rate: rate / float64(time.Second), level: capacity}
}

func (b *bucket) levelAt(t time.Duration) float64 {
	if t <= b.at {
		return b.level
	}
	return min(b.capacity, b.level+float64(t-b.at)*b.rate)
}

// fill brings the level up to time t.
func (b *bucket) fill(t time.Duration) {
	if t > b.at {
		b.level, b.at = b.levelAt(t), t
	}
}

// wait returns for how long a bucket that is filled up to now lacks what an I/O costs. An I/O that costs more than the
// bucket can ever hold waits until it is full and then takes it below zero, so that the long-term rate still holds.
func (b *bucket) wait(cost float64) time.Duration {
	if b.level >= cost || b.level >= b.capacity {
		return 0
	}
	return time.Duration(math.Ceil((min(cost, b.capacity) - b.level) / b.rate))
}

// chain is a row of buckets that must all have enough, and its last admission, which the next cannot precede.
type chain struct {
	all  []*bucket
	last Admission
}

func (c *chain) admit(asked Admission, cost [2]float64) Admission {
	admitted := asked
	if c.last.At > asked.At {
		admitted = c.last
	}
	for _, b := range c.all {
		b.fill(admitted.At)
		if wait := b.wait(cost[b.kind]); wait > 0 {
			admitted = Admission{At: admitted.At + wait, Limit: b.limit}
		}
	}
	for _, b := range c.all {
		b.fill(admitted.At)
		b.level -= cost[b.kind]
	}
	c.last = admitted
	return admitted
}

func (c *chain) state(t time.Duration) State {
	t = max(t, c.last.At)
	s := State{At: t, Levels: make([]float64, len(c.all))}
	for i, b := range c.all {
		s.Levels[i] = b.levelAt(t)
	}
	return s
}

func (c *chain) restore(s State) bool {
	if len(s.Levels) != len(c.all) {
		return false
	}
	for i, b := range c.all {
		if s.Levels[i] > b.capacity || math.IsNaN(s.Levels[i]) {
			return false
		}
	}
	for i, b := range c.all {
		b.level, b.at = s.Levels[i], s.At
	}
	c.last = Admission{At: s.At, Limit: QueueDepth}
	return true
}
