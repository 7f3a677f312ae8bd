package log

import (
	"cmp"
	"slices"
	"time"
)

// ordered takes an averaged log apart, of which every line is kept. Where several jobs share a file, their lines follow
// one another, or take turns, so that time goes back or comes again. A line with a wrong time does that too. So a line goes
// to the job that it continues, and which jobs are some is told at the end.
type ordered struct {
	jobs   []*lane
	recent *lane // of the line before
	sides  int   // of all jobs
	per    int64 // lines that a cell holds
	window uint64
	rates  bool  // of IOPS or bandwidth
	turns  int   // lines of the same window as the one before, but of another job
	backs  int64 // lines that continue no job
	back   int   // the number of the first line of the second job, once that is told
	strays []stray
	more   int64    // strays that are not held
	sorted bool     // the lines of one job were in no order, and have been put in it
	copies []copied // jobs that are left out
}

// lane is what may be the lines of one job.
type lane struct {
	sides       [directions]*line
	first, last uint64 // ms
	count       int64  // lines
	named       []stray
}

// stray is a line with a time that is of no job.
type stray struct {
	number     int
	t, v, peak uint64
	direction  Direction
}

// cell is the line as a window.
func (s stray) cell() Cell {
	return Cell{
		End: time.Duration(s.t) * time.Millisecond, Count: 1, Sum: float64(s.v), Min: float64(s.v), Max: float64(max(s.v, s.peak)),
	}
}

// line is one direction of one job. When it gets too long, its windows are joined in pairs.
type line struct {
	direction Direction
	cells     []Cell
	held      Cell // the last one, which is not among them yet
	// Of the last line, and of the one before: in ms and the log's unit.
	time, value, before uint64
	number              int
	gap                 gap
}

// gap says why windows between two lines may be missing though they were logged.
type gap uint8

const (
	skipped gap = 1 << iota // a line between them was skipped
	between                 // there are lines of what may be other jobs
)

const (
	// maxCells bounds what is held of an averaged log: 45 days of reads and writes, a line a second.
	maxCells = 1 << 18
	maxLanes = 1 << 12
	// maxStrays is how many lines may be out of order in a log that is put in order.
	maxStrays = 1 << 16
)

// repeats says whether a line is the one before it in its direction once more, which no second job explains, unless jobs
// take turns.
func (o *ordered) repeats(t, v uint64, d Direction) bool {
	if o.recent == nil || o.turns > 2 {
		return false
	}
	p := o.recent.sides[d]
	return p != nil && p.time == t && p.value == v
}

// lost notes that a line was skipped: the window that it was of is not known.
func (o *ordered) lost() { o.recent.mark(skipped) }

func (j *lane) mark(g gap) {
	if j == nil {
		return
	}
	for _, p := range j.sides {
		if p != nil {
			p.gap |= g
		}
	}
}

// add takes a line. The peak is the largest value of its window, or the same as the value.
func (o *ordered) add(t, v, peak uint64, d Direction, number int) {
	if o.per == 0 {
		o.per = 1
	}
	this := stray{number: number, t: t, v: v, peak: peak, direction: d}
	j := o.continued(t, d)
	if j == nil && o.withdraw(t, d) {
		j = o.recent
	}
	if j == nil {
		if o.backs++; len(o.jobs) > maxLanes {
			o.discard(this)
			o.lost()
			return
		}
		j = &lane{first: t}
		o.jobs = append(o.jobs, j)
	}
	if r := o.recent; r != nil && j != r {
		j.mark(between)
		if max(t, r.last)-min(t, r.last) <= o.window/2 {
			o.turns++
		}
	}
	o.recent = j
	j.last = max(j.last, t)
	if j.count++; len(j.named) < maxNotes {
		j.named = append(j.named, this)
	}
	p := j.sides[d]
	if p == nil {
		p = &line{direction: d}
		j.sides[d] = p
		o.sides++
	}
	p.push(o.per)
	p.before, p.time, p.value, p.number = p.time, t, v, number
	p.held = this.cell()
	p.held.gap, p.gap = p.gap, 0
	if len(p.cells) > max(maxCells/o.sides, 1024) {
		o.per *= 2
		for _, j := range o.jobs {
			for _, p := range j.sides {
				if p != nil {
					p.coarsen()
				}
			}
		}
	}
}

// continued finds the job that a line goes on with, nil where there is none: the one of the line before, if that had some
// lines already, or else the one that came closest to the line's time.
func (o *ordered) continued(t uint64, d Direction) (best *lane) {
	const some = 3
	if r := o.recent; r != nil && (len(o.jobs) == 1 || r.count >= some && t-r.last <= o.window*3/2) && o.continues(r, t, d) {
		return r
	}
	for _, j := range o.jobs {
		if o.continues(j, t, d) && (best == nil || j.last > best.last || j.last == best.last && j.count > best.count) {
			best = j
		}
	}
	return best
}

// continues says whether a line can be of a job. It may be a little earlier than one of the other direction. Of latencies,
// fio logs the rest of a window when a job ends, at the same time; of rates it does not.
func (o *ordered) continues(j *lane, t uint64, d Direction) bool {
	if t+o.window/4 < j.last {
		return false
	}
	p := j.sides[d]
	switch {
	case p == nil:
		return true
	case o.rates:
		return t >= p.time+(o.window+1)/2
	default:
		return t >= p.time
	}
}

// withdraw takes back the last line of a direction where that had run ahead of its time: the present line is the next
// after the one before it.
func (o *ordered) withdraw(t uint64, d Direction) bool {
	const next = 5 // half windows
	if o.recent == nil {
		return false
	}
	p := o.recent.sides[d]
	if p == nil || p.held.Count == 0 || p.before == 0 || t <= p.before || 2*(t-p.before) > next*o.window || 2*(p.time-t) <= 3*o.window {
		return false
	}
	o.discard(stray{number: p.number, t: p.time, v: p.value, peak: uint64(p.held.Max), direction: d})
	o.recent.named = slices.DeleteFunc(o.recent.named, func(s stray) bool { return s.number == p.number })
	o.recent.count--
	p.held, p.time = Cell{}, p.before
	p.gap |= skipped
	o.recent.last = 0
	for _, p := range o.recent.sides {
		if p != nil {
			o.recent.last = max(o.recent.last, p.time)
		}
	}
	return true
}

func (o *ordered) discard(s stray) {
	if len(o.strays) < maxStrays {
		o.strays = append(o.strays, s)
	} else {
		o.more++
	}
}

// push moves the held line to the others.
func (l *line) push(per int64) {
	switch n := len(l.cells); {
	case l.held.Count == 0:
	case n > 0 && l.cells[n-1].Count < per:
		l.cells[n-1].join(l.held)
	default:
		l.cells = append(l.cells, l.held)
	}
}

// join adds a later cell.
func (c *Cell) join(o Cell) {
	c.End = max(c.End, o.End)
	c.Count += o.Count
	c.Sum += o.Sum
	c.Min, c.Max = min(c.Min, o.Min), max(c.Max, o.Max)
	c.gap |= o.gap
}

// coarsen joins cells in pairs.
func (l *line) coarsen() {
	for i, c := range l.cells {
		if i%2 == 0 {
			l.cells[i/2] = c
		} else {
			l.cells[i/2].join(c)
		}
	}
	l.cells = l.cells[:(len(l.cells)+1)/2]
}

// list returns the tracks in the form of the result, by direction. Where jobs take turns, what is between the lines of one
// is no wrong time.
func (o *ordered) list() (all []Track) {
	for d := range Direction(directions) {
		for _, j := range o.jobs {
			l := j.sides[d]
			if l == nil {
				continue
			}
			l.push(o.per)
			l.held = Cell{}
			for _, s := range o.strays { // it may be the time that is right, and the place that is not
				at := time.Duration(s.t)*time.Millisecond + 1
				i, _ := slices.BinarySearchFunc(l.cells, at, func(c Cell, at time.Duration) int { return cmp.Compare(c.End, at) })
				if i < len(l.cells) {
					l.cells[i].gap |= skipped
				}
			}
			t := Track{Direction: d}
			for _, c := range l.cells {
				if len(o.strays) == 0 {
					c.gap &^= between
				}
				t.append(c)
			}
			if len(t.Cells) > 0 {
				all = append(all, t)
			}
		}
	}
	return all
}
