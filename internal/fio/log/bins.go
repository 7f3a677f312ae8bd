package log

import (
	"bytes"
	"slices"
	"time"
)

// binning is how a clat_hist log bins latencies: in fio's bins, of which 2^log_hist_coarseness are one column.
type binning struct {
	count  int // columns
	stride int // of fio's bins
	unit   time.Duration
}

// middle returns that of fio's bins which stands for all that are in one column.
func (b binning) middle(column int) int { return column*b.stride + b.stride/2 }

// most is how long all I/Os of a column can have waited by a time in ms, in the unit of the bins: no job has more than
// some thousand in flight. Damaged memory was seen in real logs.
func (b binning) most(t uint64) float64 {
	const inFlight = 4096
	return inFlight * float64(t+1) * float64(time.Millisecond) / float64(max(b.unit, 1))
}

// Groups of 64 bins that fio has had.
const (
	groupsOfMicroseconds = 19 // before fio 3
	groupsOfNanoseconds  = 29
	maxCoarseness        = 6
)

// binsOf tells the bins of so many columns, which must be a number that fio's options can give. Of other numbers of groups
// than fio has had, the unit is unknown.
func binsOf(count int) (binning, bool) {
	for c := range maxCoarseness + 1 {
		switch count << c {
		case groupsOfMicroseconds * octave:
			return binning{count, 1 << c, time.Microsecond}, true
		case groupsOfNanoseconds * octave:
			return binning{count, 1 << c, time.Nanosecond}, true
		}
	}
	return binning{count: count, stride: 1}, count%octave == 0 && count >= 2*octave && count <= binCount
}

// histogramForm finds the first lines of a clat_hist log: its bins, and the times and directions of the lines. A line of
// fewer bins than the coarsest log has is none.
func histogramForm(text []byte) (bins binning, all []fields, ok bool) {
	for line := range bytes.Lines(text) {
		count := bytes.Count(line, []byte{','}) - 2
		if count < groupsOfMicroseconds || len(all) > 0 && count != bins.count {
			continue
		}
		of, fits := binsOf(count)
		if !fits {
			continue
		}
		padded := append(bytes.Clone(bytes.TrimSpace(line)), make([]byte, slack)...)
		at, next, good := decimal(padded, 0)
		if !good {
			continue
		}
		side := bytes.TrimLeft(padded[next:], ", ")
		bins, all = of, append(all, fields{column: [maxColumns]uint64{at, 0, uint64(side[0] - '0')}, n: 3})
	}
	all = slices.DeleteFunc(all, func(f fields) bool { return f.column[2] >= uint64(Unstated) })
	return bins, all, len(all) > 0
}

// histograms reads the lines of a clat_hist log's block: time, direction, block size and counts.
func (w *worker) histograms(b block) {
	number := b.line
	for at := 0; at < b.text; number++ {
		end := b.text
		if i := bytes.IndexByte(b.buf[at:b.text], '\n'); i >= 0 {
			end = at + i + 1
		}
		if len(bytes.TrimSpace(b.buf[at:end])) > 0 {
			w.histogramLine(b.buf[:end+slack], at, end, number)
		}
		at = end
	}
}

func (w *worker) histogramLine(buf []byte, at, end, number int) {
	w.counts = w.counts[:0]
	start := at
	for at < end && len(w.counts) <= w.head.columns {
		value, next, ok := decimal(buf, at)
		if !ok || next > end {
			break
		}
		w.counts = append(w.counts, value)
		for at = next; at < end && (buf[at] == ',' || buf[at] == ' ' || buf[at] == '\r' || buf[at] == '\n'); {
			at++
		}
	}
	if at < end || len(w.counts) != w.head.columns {
		w.notes.skip(number, "skipped: %s has %d good columns, the lines before have %d", excerpt(buf[start:end]), len(w.counts), w.head.columns)
		return
	}
	column := [maxColumns]uint64{w.counts[0], 0, w.counts[1], w.counts[2]}
	t, d, ok := w.when(&column, number)
	if !ok {
		return
	}
	counts := w.counts[3:]
	dropped := 0
	for i, n := range counts {
		if float64(n)*binMiddle(w.head.bins.middle(i)) > w.head.bins.most(w.counts[0]-w.head.origin) {
			counts[i] = 0
			dropped++
		}
	}
	if dropped > 0 {
		w.notes.doubt(number, "%d counts are left out: so many I/Os cannot have waited so long", dropped)
	}
	w.lines++
	s := &w.sides[d]
	if s.latency == nil {
		s.latency = new(histogram)
	}
	s.addBins(max(t, 1)-1, counts, w.head.bins) // the time is the window's end
}

// addBins counts the I/Os of a window.
func (s *side) addBins(t uint64, counts []uint64, b binning) {
	h := s.latency
	times := h.column(t)
	var all window
	for i, n := range counts {
		if n == 0 {
			continue
		}
		bin := b.middle(i)
		v := uint64(binMiddle(bin))
		h.bins[bin] += int64(n)
		times[bin>>rowBits] += int64(n)
		all.join(window{count: n, sum: n * v, max: v, low: ^v})
	}
	if all.count > 0 {
		s.windows[s.grow(t)].join(all)
	}
}
