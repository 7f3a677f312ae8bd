package emulate

import (
	"time"

	"ebscope/internal/model"
	"ebscope/internal/units"
)

// volume decides when each I/O completes. The host's lock guards it.
type volume struct {
	name    string
	host    *Host
	model   *model.Volume
	latency *sampler
	end     units.Bytes // where the last I/O ended
	waiter  waiter

	failAfter time.Duration // as in Config

	// overhead is what the kernel and FUSE add to an I/O outside of our sight. It is taken off the service latency, so
	// that a program sees the profile's latency. Admission times are left alone.
	overhead time.Duration
	// probe is the time that every I/O takes while the overhead is being measured.
	probe time.Duration
	// served is what has gone through the volume's hands, charged or not, with the time that it was meant to stay there.
	served tally

	// late is how late the latest completion was where the machine stalled, and zero elsewhere.
	late time.Duration

	counters Stats
	released bool // the volume is detached: nothing waits any longer
}

const (
	// stall is a lateness that no sleep on a running machine has: the machine, this program or its disk stood still.
	stall = 5 * time.Millisecond
	// maxBehind bounds what is made up for: a machine that never keeps up is not let run ahead later for seconds.
	maxBehind = 250 * time.Millisecond
)

// tally is a number of I/Os and the time that they took together.
type tally struct {
	ios  int64
	time time.Duration
}

func tallyOf(times []time.Duration) (t tally) {
	for _, d := range times {
		t = t.plus(tally{1, d})
	}
	return t
}

func (t tally) mean() time.Duration { return t.time / time.Duration(max(1, t.ios)) }

func (t tally) plus(more tally) tally { return tally{t.ios + more.ios, t.time + more.time} }

func (t tally) since(earlier tally) tally { return tally{t.ios - earlier.ios, t.time - earlier.time} }

// request is one I/O on its way.
type request struct {
	write   bool
	size    units.Bytes
	arrived time.Time
	due     time.Time // when it is to complete
	charged bool
	failed  bool // with EIO
}

// arrive takes in an I/O and says when it is to complete.
func (v *volume) arrive(write bool, offset, size units.Bytes) request {
	v.host.mu.Lock()
	defer v.host.mu.Unlock()
	// Under the lock, so that the model sees arrivals in order.
	now := time.Now()
	r := request{write: write, size: size, arrived: now, due: now}
	if v.released {
		return r
	}
	if v.probe > 0 {
		r.due = now.Add(v.probe)
		return r
	}
	t, running := v.host.clock.arrive(now)
	if !running {
		return r
	}
	if r.failed = v.failAfter > 0 && t >= v.failAfter; r.failed {
		return r
	}
	// After a stall of the machine, which is none of the volume's, an I/O counts from when its program would have made it
	// had the one before come back in time.
	behind := min(v.late, maxBehind, t-v.host.clock.elapsed)
	t -= behind
	admission := v.admit(t, offset, size)
	done := max(admission.At, t+max(0, v.latency.draw(write, size)-v.overhead))
	v.host.clock.completes(done)
	r.due, r.charged = now.Add(done-t-behind), true
	v.counters.InFlight++
	v.counters.Limit = admission.Limit
	return r
}

// reordered is how far I/Os of one sequential transfer arrive from where the one before them ended: programs have several
// in flight, and FUSE hands them over in any order.
const reordered = units.MiB

// admit asks the model, and finds out whether the I/O goes on where the last one ended.
func (v *volume) admit(t time.Duration, offset, size units.Bytes) model.Admission {
	away := offset - v.end
	v.end = offset + size
	if -reordered <= away && away <= reordered {
		return v.model.AdmitSequential(t, size)
	}
	return v.model.Admit(t, size)
}

// complete waits until the I/O is due, and counts it.
func (v *volume) complete(r request) {
	v.waiter.wait(r.due)
	v.host.mu.Lock()
	defer v.host.mu.Unlock()
	v.served.ios++
	v.served.time += max(0, r.due.Sub(r.arrived))
	if !r.charged {
		return
	}
	late := time.Since(r.due)
	if late <= stall {
		late = 0
	}
	// I/Os that one stall held up come back less and less late.
	v.counters.Stalled += max(0, late-v.late)
	v.late = late
	v.counters.InFlight--
	cost := units.Ops(v.model.Cost(r.size))
	if r.write {
		v.counters.Writes += cost
		v.counters.WrittenBytes += r.size
	} else {
		v.counters.Reads += cost
		v.counters.ReadBytes += r.size
	}
}

// release lets every waiting and later I/O through and takes the volume off its host.
func (v *volume) release() {
	v.host.mu.Lock()
	defer v.host.mu.Unlock()
	if !v.released {
		v.released = true
		v.waiter.release()
		delete(v.host.volumes, v.name)
	}
}

func (v *volume) stats() Stats {
	v.host.mu.Lock()
	defer v.host.mu.Unlock()
	s := v.counters
	s.Clock = v.host.clock.read(time.Now())
	// A last I/O may overdraw the bucket; a balance below zero would mean nothing to a reader.
	s.Credits, s.CreditCapacity = max(0, v.model.Credits(s.Clock)), v.model.CreditCapacity()
	return s
}

func (v *volume) setCredits(fraction float64) {
	v.host.mu.Lock()
	defer v.host.mu.Unlock()
	v.model.SetCredits(v.host.clock.read(time.Now()), fraction)
}

func (v *volume) setProbe(d time.Duration) {
	v.host.mu.Lock()
	defer v.host.mu.Unlock()
	v.probe = d
}

func (v *volume) setJitter(j time.Duration) {
	v.host.mu.Lock()
	defer v.host.mu.Unlock()
	v.latency.setJitter(j)
}

func (v *volume) setOverhead(d time.Duration) {
	v.host.mu.Lock()
	defer v.host.mu.Unlock()
	v.overhead = d
}

func (v *volume) tally() tally {
	v.host.mu.Lock()
	defer v.host.mu.Unlock()
	return v.served
}
