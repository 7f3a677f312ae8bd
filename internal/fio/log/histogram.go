package log

import "math/bits"

// Latencies are counted in the bins of fio's stat.h: each octave has 64, so that a bin's middle is within 0.8 % of what it
// holds, and up to 127 each value has its own. fio's range ends at 17 s in ns; here it goes on to the largest value read.
const (
	octaveBits = 6
	octave     = 1 << octaveBits
	groups     = maxValueBits - octaveBits + 1
	binCount   = groups * octave

	// maxValueBits bounds values: 4.9 hours in ns. Sums of windows stay far from overflowing.
	maxValueBits = 44
)

// binOf returns the bin of a value.
func binOf(v uint64) int {
	e := bits.Len64(v|octave) - octaveBits - 1
	return e<<octaveBits + int(v>>e)
}

// binStart returns the smallest value of a bin.
func binStart(bin int) uint64 {
	if bin < 2*octave {
		return uint64(bin)
	}
	e := bin>>octaveBits - 1
	return uint64(octave+bin&(octave-1)) << e
}

// binMiddle is the value that stands for a bin, as in fio.
func binMiddle(bin int) float64 {
	if bin < 2*octave {
		return float64(bin)
	}
	return float64(binStart(bin)+binStart(bin+1)) / 2
}

const (
	// A heat map has four rows an octave, and columns that double in width so that they stay few.
	rowBits    = octaveBits - 2
	rows       = binCount >> rowBits
	mapColumns = 512
)

// histogram counts latencies, in all and by time.
type histogram struct {
	bins  [binCount]int64
	shift uint // a column of the map is 2^shift ms
	times [][rows]int64
}

// column returns the map's column of a time, after making room for it.
func (h *histogram) column(t uint64) *[rows]int64 {
	for t>>h.shift >= mapColumns {
		h.coarsen()
	}
	if i := int(t >> h.shift); i >= len(h.times) {
		if i >= cap(h.times) {
			room := 1 << 5 // for a short log
			if i >= room {
				room = mapColumns
			}
			h.times = append(make([][rows]int64, 0, room), h.times...)
		}
		h.times = h.times[:i+1]
	}
	return &h.times[t>>h.shift]
}

// coarsen joins columns in pairs.
func (h *histogram) coarsen() {
	h.shift++
	for i := range h.times {
		if i%2 == 0 {
			h.times[i/2] = h.times[i]
		} else {
			addTo(h.times[i/2][:], h.times[i][:])
		}
	}
	half := (len(h.times) + 1) / 2
	clear(h.times[half:])
	h.times = h.times[:half]
}

// add joins another histogram.
func (h *histogram) add(o *histogram) {
	addTo(h.bins[:], o.bins[:])
	for h.shift < o.shift {
		h.coarsen()
	}
	for i := range o.times {
		addTo(h.column(uint64(i) << o.shift)[:], o.times[i][:])
	}
}

func addTo(sums, more []int64) {
	for i, n := range more {
		sums[i] += n
	}
}
