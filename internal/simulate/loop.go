package simulate

import (
	"math"
	"math/rand/v2"
	"time"

	"ebscope/internal/result"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

// never is later than any I/O.
const never = time.Duration(math.MaxInt64)

// loop runs one phase.
type loop struct {
	phase  workload.Phase
	disk   *disk
	blocks int64 // of the phase's size in the test file
	random *rand.Rand
	record *recorder

	sequential bool
	writing    bool // the I/O that is issued

	start, deadline time.Duration
	left            int64 // I/Os to issue at most
	issued          int64
	interval        float64 // nanoseconds between two I/Os at the application's rate; zero: no rate
	flight          *flight // when each of the I/Os in flight leaves its place to the next
	end             time.Duration
	credits         *result.Credits
	dry             *time.Duration
}

// newLoop prepares a phase that starts at a time. Like fio, it stops to issue at its deadline, or after one pass over
// the file, and waits for what is in flight.
func newLoop(p workload.Phase, d *disk, fileSize units.Bytes, start time.Duration, random *rand.Rand, record *recorder) *loop {
	l := &loop{
		phase: p, disk: d, blocks: int64((fileSize + p.BlockSize - 1) / p.BlockSize), random: random, record: record, sequential: !p.Pattern.Random(),
		start: start, deadline: start + p.Duration, left: math.MaxInt64, end: start + p.Duration,
	}
	if p.Duration == 0 {
		l.left, l.deadline = l.blocks, never
	}
	if p.RateIOPS > 0 {
		l.interval = float64(time.Second) / float64(p.RateIOPS)
	}
	l.flight = newFlight(int(min(int64(p.Outstanding()), l.left)), start)
	if d.bursts() {
		l.credits = &result.Credits{Start: d.credits(start)}
	}
	return l
}

// next returns when the next I/O is issued: when its place is free and the application's rate allows it. It is never
// where the phase issues no more.
func (l *loop) next() time.Duration {
	at := l.flight.earliest()
	if l.interval > 0 {
		at = max(at, l.start+time.Duration(float64(l.issued)*l.interval))
	}
	if at >= l.deadline || l.left == 0 {
		return never
	}
	return at
}

// issue sends the next I/O at time t.
func (l *loop) issue(t time.Duration) {
	read := !l.phase.Pattern.Mixed() || l.random.IntN(100) < l.phase.ReadPercent
	l.writing = l.phase.Pattern.WritesOnly() || !read
	admission := l.disk.serve(l, t)
	if admission.dry && l.dry == nil {
		dry := admission.at - l.start
		l.dry = &dry
	}
	at := admission.at
	l.record.add(at-l.start, at-t, read)
	l.issued++
	l.left--
	l.end = max(l.end, at)
	l.flight.replace(at + l.phase.ThinkTime)
}

// offset is where in the test file the next I/O goes. Jobs that read or write in sequence each go through all of it.
func (l *loop) offset() units.Bytes {
	block := l.issued % l.blocks
	switch {
	case !l.sequential:
		block = l.random.Int64N(l.blocks)
	case l.phase.Duration > 0:
		block = l.issued / int64(l.phase.Jobs) % l.blocks
	}
	return units.Bytes(block) * l.phase.BlockSize
}

func (l *loop) result() Phase {
	p := Phase{Start: l.start, End: l.end, Credits: l.credits, Dry: l.dry}
	p.Measurement = l.record.measurement(p.End - l.start)
	if p.Credits != nil {
		p.Credits.End = l.disk.credits(p.End)
	}
	return p
}
