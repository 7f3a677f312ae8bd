package log

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"sync"
)

// maxWorkers bounds memory: each holds a few MiB.
const maxWorkers = 4

// worker reads blocks and counts what is in them. Logs per I/O have several, whose counts add up in any order.
type worker struct {
	head    head
	lines   int64
	notes   notes
	sides   [directions]side
	ordered ordered
	counts  []uint64 // of a histogram's line
}

func newWorker(h head) *worker {
	w := &worker{head: h}
	w.ordered.window, w.ordered.rates = h.window, !h.kind.latency()
	return w
}

// run reads a log from its first block on.
func (w *worker) run(src *source, first block, h head, workers int) error {
	before := w.notes
	*w = *newWorker(h)
	w.notes = before
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	workers = min(workers, maxWorkers)
	if !h.perIO {
		workers = 1 // the order of lines tells jobs apart
	}
	others := make([]*worker, workers-1)
	failures := make([]error, workers)
	var all sync.WaitGroup
	for i := range others {
		others[i] = newWorker(h)
		all.Go(func() { failures[i] = others[i].work(src, block{}) })
	}
	failures[workers-1] = w.work(src, first)
	all.Wait()
	for _, o := range others {
		w.join(o)
	}
	return errors.Join(failures...)
}

// work reads a block, and then all that the source has.
func (w *worker) work(src *source, b block) (err error) {
	for err == nil {
		if w.head.kind == Histogram {
			w.histograms(b)
		} else {
			w.parse(b)
		}
		b, err = src.next(b.buf)
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func (w *worker) join(o *worker) {
	w.lines += o.lines
	w.notes.join(o.notes)
	for d := range o.sides {
		w.sides[d].join(&o.sides[d])
	}
}

func (w *worker) tracks() (all []Track) {
	if !w.head.perIO {
		return w.ordered.list()
	}
	for d := range w.sides {
		if t := w.sides[d].track(Direction(d)); t.Count > 0 {
			all = append(all, t)
		}
	}
	return all
}

// parse reads the lines of a block. Lines as fio writes them are read here, others by irregular.
//
// A number's end is known only after it was looked at, which would make each number wait for the one before. So each is
// taken to be as long as that of the line before, and that is corrected where it is not: the processor goes ahead.
func (w *worker) parse(b block) {
	var column [maxColumns]uint64
	var lengths, more [maxColumns]int
	buf, columns, number := b.buf, w.head.columns, b.line
	if w.head.stated {
		columns = -1 // only irregular knows units
	}
	plain := w.head.plain()
	var lines int64
	for at := 0; at < b.text; number++ {
		start, n, c := at, 0, byte(0)
		for n < maxColumns {
			value, length := digits(binary.LittleEndian.Uint64(buf[at:]))
			if length != lengths[n] {
				lengths[n] = length
			}
			at += lengths[n]
			if length == 8 {
				low, length := digits(binary.LittleEndian.Uint64(buf[at:]))
				value = value*powers[length] + low
				if length != more[n] {
					more[n] = length
				}
				at += more[n]
				if length == 8 {
					break // sixteen digits or more are for irregular
				}
			} else if length == 0 {
				break
			}
			column[n] = value
			n++
			if c = buf[at]; c != ',' {
				break
			}
			if buf[at+1] == ' ' {
				at += 2
				continue
			}
			at++
		}
		if c == '\r' {
			at++
			c = buf[at]
		}
		if c != '\n' || n != columns {
			at = w.irregular(b, start, number)
			continue
		}
		at++
		if plain && column[0] <= maxTime && column[1]>>maxValueBits == 0 && column[2] < uint64(Unstated) {
			if s := &w.sides[column[2]]; s.windows != nil {
				s.add(column[0], column[1], column[3])
				lines++
				continue
			}
		}
		w.line(&column, number)
	}
	w.lines += lines
}

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
	case f.n < h.columns && (cut || f.n < 4) || f.n != h.columns && h.peak >= 0 || h.columns < 4 && f.n > h.columns:
		fault = "has another number of columns than the lines before"
	case f.stated != h.stated:
		fault = "does not state the unit of its value, or does so alone"
	}
	if fault != "" {
		w.notes.skip(number, "skipped: %s: %s", excerpt(text), fault)
		return next
	}
	w.line(&f.column, number)
	return next
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
	if h.origin != 0 {
		t /= h.divisor
		if start := h.origin / h.divisor; t >= start {
			t -= start
		} else if start-t <= earliest {
			t = 0
		} else {
			w.notes.skip(number, "skipped: the time %d is before the log's start", column[0])
			return 0, 0, false
		}
	}
	if t > maxTime {
		w.notes.skip(number, "skipped: the time %d is out of range", column[0])
		return 0, 0, false
	}
	if h.direction >= 0 {
		if column[h.direction] >= uint64(Unstated) {
			w.notes.skip(number, "skipped: direction %d is none of 0 (read), 1 (write), 2 (trim) and 3 (sync)", column[h.direction])
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
		w.notes.skip(number, "skipped: the value %d is out of range", max(v, peak))
		return
	}
	w.lines++
	if !h.perIO {
		w.ordered.add(t, v, peak, d)
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
			w.notes.skip(number, "skipped: %s is no line of a log", excerpt(text))
		}
		number++
	}
}
