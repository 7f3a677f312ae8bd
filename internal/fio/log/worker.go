package log

import (
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
	probes  probes
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
			w.probes.look(b)
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
	w.probes.join(o.probes)
	for d := range o.sides {
		w.sides[d].join(&o.sides[d])
		o.sides[d] = side{} // memory is needed for the next
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
		w.sides[d] = side{} // the track has it all
	}
	return all
}

// parse reads the lines of a block. Most lines of a log of single I/Os are read by plain, those that are not as fio writes
// them by irregular.
func (w *worker) parse(b block) {
	var column [maxColumns]uint64
	plain := w.head.plain()
	for at, number := 0, b.line; at < b.text; number++ {
		if plain {
			if at, number = w.plain(b, at, number); at == b.text {
				return
			}
		}
		start, n, c := at, 0, byte(0)
		for n < maxColumns {
			value, end, ok := decimal(b.buf, at)
			if !ok {
				break
			}
			column[n] = value
			n++
			if c, at = b.buf[end], end+1; c != ',' {
				break
			}
			if b.buf[at] == ' ' {
				at++
			}
		}
		if c == '\r' {
			c = b.buf[at]
			at++
		}
		if c != '\n' || n != w.head.columns || w.head.stated {
			at = w.irregular(b, start, number)
			continue
		}
		w.line(&column, number)
	}
}

// plain reads lines from a place on, for as long as they are what fio writes by default for single I/Os: short numbers with
// a comma and a space between them. It returns the first line that is not, or the end.
//
// Where a number ends is known only after it was looked at, which would make each wait for the one before. So each is
// taken to be as long as in the line before, and that is corrected where it is not: the processor goes ahead.
func (w *worker) plain(b block, at, number int) (next, line int) {
	const (
		comma = ',' | ' '<<8
		two   = 0xFFFF       // masks of so many bytes
		three = 0xFFFF00FFFF // of five, but for the one in the middle
		last  = comma | '0'<<16 | '\n'<<24
		four  = 0xFFFFFFFF
	)
	buf, tail := b.buf, w.head.columns-4
	var timeLength, valueLength, sizeLength int
	var size, sizeText, sizeMask uint64
	first := number
	for at < b.text {
		// A time below 28 hours, and a value of at most 15 digits.
		t, n := digits(load(buf, at))
		if n != timeLength {
			timeLength = n
		}
		p := at + timeLength
		if n == 0 || load(buf, p)&two != comma {
			break
		}
		p += 2
		v, n := digits(load(buf, p))
		if n != valueLength {
			valueLength = n
		}
		p += valueLength
		if n == 0 {
			break
		}
		if n == 8 {
			if more, n := digits(load(buf, p)); n > 0 {
				v = v*powers[n] + more
				p += n
			}
		}
		// The direction is one digit.
		text := load(buf, p)
		if text&three != comma|comma<<24 {
			break
		}
		d := text>>16&0xFF - '0'
		p += 5
		if text = load(buf, p); (text^sizeText)&sizeMask != 0 || sizeMask == 0 {
			size, sizeLength = digits(text)
			sizeText, sizeMask = text, 1<<(8*min(sizeLength+1, 8))-1
			if sizeLength == 0 {
				break
			}
		}
		p += sizeLength
		for i := range tail {
			text := load(buf, p)
			if i == tail-1 && text&four == last {
				p += 3
				break
			}
			if text&two != comma {
				break
			}
			p += 2
			column := p
			for n = 8; n == 8; p += n {
				_, n = digits(load(buf, p))
			}
			if p == column {
				break
			}
		}
		s := &w.sides[min(d, uint64(Unstated))]
		if buf[p] != '\n' || v>>maxValueBits != 0 || s.windows == nil {
			break
		}
		s.add(t, v, size)
		at = p + 1
		number++
	}
	w.lines += int64(number - first)
	return at, number
}
