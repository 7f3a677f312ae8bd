package log

import (
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
