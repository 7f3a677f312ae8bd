package log

import (
	"bytes"
	"fmt"
)

// irregular reads a line that is not as fio writes it, or skips it, and returns where the next begins.
func (w *worker) irregular(b block, start, number int) (next int) {
	text := b.buf[start:b.text]
	end := bytes.IndexByte(text, '\n')
	next = start + end + 1
	cut := end < 0
	if cut {
		next = b.text
	} else {
		text = text[:end]
	}
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return next
	}
	f, fault := split(text, w.head.kind)
	h := &w.head
	switch {
	case fault != "":
	case f.n != h.columns && (cut && f.n < h.columns || !h.holds(f.n)):
		fault = fmt.Sprintf("has another number of columns, %d, than most lines at the log's start, %d", f.n, h.columns)
	case f.stated != h.stated:
		fault = "does not state the unit of its value, or does so alone"
	}
	if fault != "" {
		w.skip(number, "skipped: %s: %s", excerpt(text), fault)
		return next
	}
	if f.n != h.columns {
		w.notes.other(number)
	}
	w.line(&f.column, number)
	return next
}

// skip notes that a line is not read.
func (w *worker) skip(line int, format string, arguments ...any) {
	w.notes.skip(line, format, arguments...)
	w.ordered.lost()
}

// wrongTimes notes the lines of an averaged log whose times are of no job.
func (w *worker) wrongTimes() {
	o := &w.ordered
	for _, s := range o.strays {
		w.notes.skip(s.number, "skipped: at %d ms, the value %d: time goes back or comes again there, and goes on as before", s.t, s.v)
	}
	w.notes.skipped += o.more
	w.lines -= int64(len(o.strays)) + o.more
	for _, c := range o.copies {
		w.notes.skip(c.number, "skipped: from here on, %d lines are those before once more, each time with each value: was the log appended to itself?", c.lines)
		w.lines -= c.lines
	}
}

// holds says whether a line of so many columns has those that matter where lines of the log have them. What else is
// behind them says nothing here, but of single I/Os the size.
func (h *head) holds(columns int) bool {
	switch {
	case h.peak >= 0 || h.direction < 0:
		return false
	case h.perIO && h.size >= 0:
		return columns > h.size
	default:
		return columns > h.direction
	}
}

const (
	// maxTime is longer than any job, so that a damaged line does not make all windows wide.
	maxTime = 400 * 24 * 3_600_000 // ms
	// earlier lines than the first are possible with times of day, of jobs that began at about the same time.
	earliest = 60_000 // ms
)

// when returns a line's time in ms since the log's start, and its direction. Where one is impossible it skips the line.
func (w *worker) when(column *[maxColumns]uint64, number int) (t uint64, d Direction, ok bool) {
	h := &w.head
	t, d = column[0], Unstated
	if h.origin != 0 || h.divisor != 1 {
		t /= h.divisor
		if start := h.origin / h.divisor; t >= start {
			t -= start
		} else if start-t <= earliest {
			t = 0
		} else {
			w.skip(number, "skipped: the time %d is before the log's start", column[0])
			return 0, 0, false
		}
	}
	if t > maxTime {
		w.skip(number, "skipped: the time %d is out of range", column[0])
		return 0, 0, false
	}
	if h.direction >= 0 {
		if column[h.direction] >= uint64(Unstated) {
			w.skip(number, "skipped: direction %d is none of 0 (read), 1 (write), 2 (trim) and 3 (sync)", column[h.direction])
			return 0, 0, false
		}
		d = Direction(column[h.direction])
	}
	return t, d, true
}

// line counts a line of any log but a histogram's.
func (w *worker) line(column *[maxColumns]uint64, number int) {
	h := &w.head
	t, d, ok := w.when(column, number)
	if !ok {
		return
	}
	v, peak := column[1], uint64(0)
	if h.peak >= 0 {
		peak = column[h.peak]
	}
	if (v|peak)>>maxValueBits != 0 {
		w.skip(number, "skipped: the value %d is out of range", max(v, peak))
		return
	}
	if !h.perIO && w.ordered.repeats(t, v, d) {
		w.skip(number, "skipped: %d, %d is the line before it once more", column[0], column[1])
		return
	}
	w.lines++
	if !h.perIO {
		w.ordered.add(t, v, peak, d, number)
		return
	}
	var size uint64
	if h.size >= 0 {
		size = column[h.size]
	}
	s := &w.sides[d]
	if s.latency == nil && h.kind.latency() {
		s.latency = new(histogram)
	}
	s.add(t, v, size)
}

// drop skips a block in which no line was good.
func (w *worker) drop(b block) {
	number := b.line
	for line := range bytes.Lines(b.buf[:b.text]) {
		if text := bytes.TrimSpace(line); len(text) > 0 {
			w.skip(number, "skipped: %s is no line of a log", excerpt(text))
		}
		number++
	}
}
