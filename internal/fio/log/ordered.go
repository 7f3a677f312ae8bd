package log

import "time"

// ordered takes an averaged log apart, of which every line is kept. Where several jobs share a file, their lines follow
// one another, so that time goes back at each new job, or comes again.
type ordered struct {
	tracks  []*line
	present [directions]*line // the present job's
	last    uint64
	window  uint64 // ms, 0 unknown
	rates   bool   // of IOPS or bandwidth
	jobs    int    // that began behind the first
	back    int    // the number of the line at which the first of them did
}

// line is one direction of one job. When it gets too long, its windows are joined in pairs.
type line struct {
	direction Direction
	cells     []Cell
	per       int64 // lines that a cell holds
	// Of the last line, in ms and the log's unit.
	time, value uint64
}

// maxCells bounds what is held of an averaged log: 45 days of reads and writes, a line a second.
const maxCells = 1 << 18

// repeats says whether a line is the one before it in its direction once more, which no second job explains.
func (o *ordered) repeats(t, v uint64, d Direction) bool {
	p := o.present[d]
	return p != nil && p.time == t && p.value == v
}

// add takes a line. The peak is the largest value of its window, or the same as the value.
func (o *ordered) add(t, v, peak uint64, d Direction, number int) {
	end := time.Duration(t) * time.Millisecond
	p := o.present[d]
	if t < o.last && !o.late(t) || p != nil && o.again(p, end) {
		o.present = [directions]*line{}
		p = nil
		if o.jobs++; o.jobs == 1 {
			o.back = number
		}
	}
	o.last = t
	if p == nil {
		p = &line{direction: d, per: 1}
		if n := len(o.tracks); n > 0 {
			p.per = o.tracks[n-1].per
		}
		o.present[d] = p
		o.tracks = append(o.tracks, p)
	}
	p.time, p.value = t, v
	p.add(Cell{End: end, Count: 1, Sum: float64(v), Min: float64(v), Max: float64(max(v, peak))})
	if len(p.cells) > max(maxCells/len(o.tracks), 1024) {
		for _, t := range o.tracks {
			t.coarsen()
		}
	}
}

// late says whether a line is so little earlier than the one before that it is only of the other direction.
func (o *ordered) late(t uint64) bool { return o.last-t <= o.window/4 }

// again says whether a line is of the same window as the one before it. Of latencies, fio logs the rest of a window when
// a job ends; of rates it does not.
func (o *ordered) again(p *line, end time.Duration) bool {
	apart := end - p.cells[len(p.cells)-1].End
	return apart < 0 || o.rates && apart < time.Duration(o.window)*time.Millisecond/2
}

func (l *line) add(c Cell) {
	if n := len(l.cells); n > 0 && l.cells[n-1].Count < l.per {
		l.cells[n-1].join(c)
		return
	}
	l.cells = append(l.cells, c)
}

// join adds a later cell.
func (c *Cell) join(o Cell) {
	c.End = max(c.End, o.End)
	c.Count += o.Count
	c.Sum += o.Sum
	c.Min, c.Max = min(c.Min, o.Min), max(c.Max, o.Max)
}

// coarsen joins cells in pairs.
func (l *line) coarsen() {
	l.per *= 2
	for i, c := range l.cells {
		if i%2 == 0 {
			l.cells[i/2] = c
		} else {
			l.cells[i/2].join(c)
		}
	}
	l.cells = l.cells[:(len(l.cells)+1)/2]
}

// list returns the tracks in the form of the result, by direction.
func (o *ordered) list() (all []Track) {
	for d := range Direction(directions) {
		for _, l := range o.tracks {
			if l.direction != d {
				continue
			}
			t := Track{Direction: d}
			for _, c := range l.cells {
				t.append(c)
			}
			all = append(all, t)
		}
	}
	return all
}
