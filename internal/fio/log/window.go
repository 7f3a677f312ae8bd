package log

import (
	"math/bits"
	"time"

	"ebscope/internal/units"
)

// A direction has at most fewWindows, and at least half of it once the log is long enough, for as long as these are shorter
// than a quarter of a second. Those of a quarter, 2^quarter ms, become up to maxWindows before they are joined further.
//
// Of a stall, a window shows what it holds: one of about two windows' length or more leaves at least one of them all but
// empty. So each of a second is seen in logs of up to 18.6 hours, 2^17 windows of 512 ms. In longer ones, windows are of 1.024 s, and a stall of less
// than about 2 s may be split over two of them and missed; from 37.3 hours on of less than 4 s, and so on.
const (
	fewWindows = 1 << 15
	maxWindows = 1 << 17
	quarter    = 8
)

// window sums up the I/Os of one window. Its zero value is empty.
type window struct {
	count, sum, max uint64
	low             uint64 // the complement of the minimum, so that zero is larger than any
}

func (w *window) join(o window) {
	w.count += o.count
	sum, over := bits.Add64(w.sum, o.sum, 0)
	w.sum = sum | -over // at most what fits
	w.max, w.low = max(w.max, o.max), max(w.low, o.low)
}

// side is one direction of a log per I/O, binned into windows of 2^shift ms, which double as the log gets longer.
type side struct {
	windows []window
	shift   uint
	bytes   uint64
	latency *histogram
}

// add counts an I/O that completed at a time in ms.
func (s *side) add(t, v, size uint64) {
	i := t >> s.shift
	if i >= uint64(len(s.windows)) {
		i = s.grow(t)
	}
	w := &s.windows[i]
	w.count++
	w.sum += v
	w.max, w.low = max(w.max, v), max(w.low, ^v)
	s.bytes += size
	if h := s.latency; h != nil {
		bin := binOf(v)
		h.bins[bin]++
		c := t >> h.shift
		if c >= uint64(len(h.times)) {
			h.column(t)
			c = t >> h.shift
		}
		h.times[c][bin>>rowBits]++
	}
}

// grow makes room for a time and returns its window.
func (s *side) grow(t uint64) uint64 {
	for t>>s.shift >= s.most() {
		s.coarsen()
	}
	i := t >> s.shift
	if i >= uint64(len(s.windows)) {
		room := max(1<<10, 1<<bits.Len64(i)) // a power of two, which the bounds are, too
		s.windows = append(make([]window, 0, room), s.windows...)[:room]
	}
	return i
}

// most is how many windows of the present length there may be.
func (s *side) most() uint64 {
	if s.shift < quarter {
		return fewWindows
	}
	return maxWindows
}

// coarsen joins windows in pairs.
func (s *side) coarsen() {
	s.shift++
	for i, w := range s.windows {
		if i%2 == 0 {
			s.windows[i/2] = w
		} else {
			s.windows[i/2].join(w)
		}
	}
	half := (len(s.windows) + 1) / 2
	clear(s.windows[half:])
}

// join adds what another goroutine counted.
func (s *side) join(o *side) {
	for s.shift < o.shift {
		s.coarsen()
	}
	for i, w := range o.windows {
		if w.count > 0 {
			s.windows[s.grow(uint64(i)<<o.shift)].join(w)
		}
	}
	s.bytes += o.bytes
	switch {
	case o.latency == nil:
	case s.latency == nil:
		s.latency = o.latency
	default:
		s.latency.add(o.latency)
	}
}

// track returns the side in the form of the result. It is empty where there were no I/Os.
func (s *side) track(d Direction) Track {
	width := time.Millisecond << s.shift
	t := Track{Direction: d, Width: width, Bytes: units.Bytes(s.bytes), histogram: s.latency}
	used := 0
	for i := range s.windows {
		used += int(min(s.windows[i].count, 1))
	}
	t.Cells = make([]Cell, 0, used)
	for i, w := range s.windows {
		if w.count > 0 {
			t.append(Cell{
				End: time.Duration(i+1) * width, Count: int64(w.count),
				Sum: float64(w.sum), Min: float64(^w.low), Max: float64(w.max),
			})
		}
	}
	return t
}

// append adds a later cell, and counts it.
func (t *Track) append(c Cell) {
	if len(t.Cells) == 0 || c.Min < t.Min {
		t.Min = c.Min
	}
	t.Max = max(t.Max, c.Max)
	t.Count += c.Count
	t.Sum += c.Sum
	t.Cells = append(t.Cells, c)
}
