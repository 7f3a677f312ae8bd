package log

import (
	"bytes"
	"math"
	"slices"
	"time"
)

const (
	headSize  = 64 << 10
	headLines = 4096 // enough to tell a log's form by
)

// head is the form of a log, told from its first lines.
type head struct {
	kind    Kind
	columns int
	// The columns in which things stand, -1 where they do not.
	peak, direction, size int
	stated                bool // latencies have a unit and are read in ns
	perIO                 bool
	window                uint64 // ms
	unit                  time.Duration
	reason                string // why the unit is what it is
	told                  bool   // by the version or the user, not by the lines
	thousandth            bool   // times and latencies show one clock, with a thousand units of a latency in one of a time
	origin                uint64 // the time at which the log begins, in its own unit
	divisor               uint64 // of its own unit, to ms
	share                 float64
	bins                  binning
	odd                   string // what about the clock is worth a note
}

// examine tells the form of a log from its start, and false where it has no line of one. It sets the kind where that is
// empty and the lines say it.
func examine(text []byte, kind *Kind) (head, bool) {
	h := head{peak: -1, direction: -1, size: -1, divisor: 1}
	if *kind == Histogram || *kind == "" {
		if bins, all, ok := histogramForm(text); ok {
			*kind = Histogram
			h.kind, h.columns, h.bins, h.unit, h.perIO, h.share = Histogram, bins.count+3, bins, bins.unit, true, 1
			h.direction = 2 // where histogramLine puts it
			h.reason = "its number of bins"
			h.clock(all[0].column[0], 0)
			h.window = rounded(h.spacing(all)) // the first line is the end of a window too
			h.clock(all[0].column[0], h.window)
			return h, true
		}
	}
	if *kind == Histogram {
		return h, false
	}
	h.kind = *kind
	var all []fields
	tried := 0
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if tried++; tried > headLines {
			break
		}
		if f, fault := split(line, *kind); fault == "" {
			all = append(all, f)
		}
	}
	h.columns = usual(all)
	all = slices.DeleteFunc(all, func(f fields) bool { return f.n != h.columns })
	h.place(all)
	all = slices.DeleteFunc(all, func(f fields) bool { return h.direction >= 0 && f.column[h.direction] >= uint64(Unstated) })
	if len(all) == 0 {
		return h, false
	}
	h.share = float64(len(all)) / float64(min(tried, headLines))
	h.stated = all[0].stated
	all = slices.DeleteFunc(all, func(f fields) bool { return f.stated != h.stated })
	h.clock(all[0].column[0], 0)
	spacing := h.spacing(all)
	h.perIO = h.single(all, spacing)
	if *kind == "" && h.perIO && everyValue(all, 1) {
		*kind, h.kind = IOPS, IOPS
	}
	if !h.perIO {
		h.window = rounded(spacing)
	}
	h.clock(all[0].column[0], h.window)
	if h.kind.latency() {
		h.unit, h.reason = h.latencyUnit(all)
	}
	return h, true
}

// plain says whether lines are what fio writes for each I/O by default, perhaps with more columns.
func (h *head) plain() bool {
	return h.perIO && h.origin == 0 && h.divisor == 1 && h.peak < 0 && h.columns >= 4
}

// usual is how many columns most lines have.
func usual(all []fields) int {
	var counts [maxColumns + 1]int
	for _, f := range all {
		counts[f.n]++
	}
	return slices.Index(counts[:], slices.Max(counts[:]))
}

// place tells which column holds what. The third is the direction, or, with log_window_value=both, the maximum, behind
// which the direction follows. Versions that know this option always write a priority, so six columns at least.
func (h *head) place(all []fields) {
	if h.columns >= 3 {
		h.direction = 2
	}
	if h.columns >= 6 {
		both := 0
		for _, f := range all {
			if f.column[2] >= uint64(Unstated) && f.column[2] >= f.column[1] && f.column[3] < uint64(Unstated) {
				both++
			}
		}
		if both > len(all)/2 {
			h.peak, h.direction = 2, 3
		}
	}
	if h.columns > h.direction+1 && h.direction >= 0 {
		h.size = h.direction + 1
	}
}

// clock tells the unit of the first column by its size, and where its zero is. fio writes ms since the job's start, or,
// with log_unix_epoch, since 1970: then there are 1e11 at least, which counted from a job's start were three years.
// Larger numbers can only be µs or ns since 1970. Other clocks (log_alternate_epoch) show in a first line that is over an
// hour, and many windows, behind the start.
func (h *head) clock(first, window uint64) {
	const hour = 3_600_000
	h.divisor, h.origin, h.odd = 1, 0, ""
	switch {
	case first >= 1e17:
		h.divisor, h.origin = 1e6, first
	case first >= 1e14:
		h.divisor, h.origin = 1e3, first
	case first >= 1e11:
		h.origin = first
	case first > hour && first > 10*window:
		h.origin = first
		h.odd = "its clock does not start with the job; times count from the first line"
	}
	h.origin -= min(h.origin, window*h.divisor)
}

// epoch is the time of day at which the log begins, zero where it does not say.
func (h *head) epoch() time.Time {
	if h.origin < 1e11 || h.odd != "" {
		return time.Time{}
	}
	return time.UnixMilli(int64(h.origin / h.divisor)).UTC()
}

// spacing returns the times in ms between a line and the one before it of the same direction, in ascending order.
func (h *head) spacing(all []fields) (spacing []uint64) {
	var last [directions]uint64
	var seen [directions]bool
	for _, f := range all {
		d := h.side(&f)
		t := f.column[0] / h.divisor
		if seen[d] && t >= last[d] {
			spacing = append(spacing, t-last[d])
		}
		last[d], seen[d] = t, true
	}
	slices.Sort(spacing)
	return spacing
}

// side is the direction of a line.
func (h *head) side(f *fields) Direction {
	if h.direction < 0 {
		return Unstated
	}
	return Direction(f.column[h.direction])
}

// single tells whether each line is an I/O. fio writes a block size of 0 into averaged logs and 1 as the rate of an I/O.
// Where neither is there, I/Os come several in a ms, or irregularly.
func (h *head) single(all []fields, spacing []uint64) bool {
	if h.peak >= 0 {
		return false
	}
	if h.kind == IOPS && !everyValue(all, 1) {
		return false
	}
	if h.size >= 0 {
		for _, f := range all {
			if f.column[h.size] > 0 {
				return true
			}
		}
		// Lines of one time are left when averaging ends.
		return len(spacing) >= 10 && spacing[len(spacing)/2] == 0
	}
	if len(spacing) < 3 {
		return false
	}
	middle := spacing[len(spacing)/2]
	irregular := 0
	for _, s := range spacing {
		if math.Abs(float64(s)-float64(middle)) > max(2, 0.1*float64(middle)) {
			irregular++
		}
	}
	return middle < 5 || irregular > len(spacing)/4
}

func everyValue(all []fields, value uint64) bool {
	return !slices.ContainsFunc(all, func(f fields) bool { return f.column[1] != value })
}

// rounded is the window that lines are apart by: their median distance, which is a ms off now and then. Of two in the
// middle it is the shorter, for where a line is missing, the distance is twice the window.
func rounded(spacing []uint64) uint64 {
	const round = 10
	if len(spacing) == 0 {
		return 0
	}
	middle := spacing[(len(spacing)-1)/2]
	if near := (middle + round/2) / round * round; 100*max(near, middle)-100*min(near, middle) <= middle {
		return near
	}
	return middle
}
