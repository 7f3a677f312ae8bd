package simulate

import (
	"math/bits"
	"time"

	"ebscope/internal/result"
)

// The histogram is log-linear like fio's: 64 bins for each doubling, so that a bin is at most 1.6 % wide.
const (
	binBits = 6
	binsPer = 1 << binBits
	bins    = (64 - binBits) * binsPer // for any latency that a time.Duration can hold
)

// percentiles are those that fio reports by default.
var percentiles = []float64{1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99}

type histogram struct {
	bins     [bins]int64
	count    int64
	sum      float64 // nanoseconds: depth 1,024 for a week overflows an integer
	min, max time.Duration
}

func (h *histogram) add(latency time.Duration) {
	h.bins[binOf(latency)]++
	if h.count == 0 || latency < h.min {
		h.min = latency
	}
	h.max = max(h.max, latency)
	h.count++
	h.sum += float64(latency)
}

// merge adds the content of another histogram.
func (h *histogram) merge(o *histogram) {
	if o.count == 0 {
		return
	}
	if h.count == 0 {
		h.min = o.min
	}
	h.min, h.max = min(h.min, o.min), max(h.max, o.max)
	h.count += o.count
	h.sum += o.sum
	for i, n := range o.bins {
		h.bins[i] += n
	}
}

func binOf(latency time.Duration) int {
	v := uint64(latency)
	// The bits below the leading seven are dropped; latencies under 128 ns have a bin for each nanosecond.
	dropped := max(0, bits.Len64(v)-binBits-1)
	return dropped*binsPer + int(v>>dropped)
}

// binMiddle is the latency that a bin stands for.
func binMiddle(bin int) time.Duration {
	if bin < 2*binsPer {
		return time.Duration(bin)
	}
	dropped := bin/binsPer - 1
	low := uint64(bin-dropped*binsPer) << dropped
	return time.Duration(low + 1<<dropped/2)
}

func (h *histogram) latency() result.Latency {
	l := result.Latency{Kind: "lat", Samples: h.count, Min: h.min, Max: h.max}
	if h.count == 0 {
		return l
	}
	l.Mean = time.Duration(h.sum / float64(h.count))
	var seen int64
	next := 0
	for bin, n := range h.bins {
		if n == 0 {
			continue
		}
		seen += n
		at := min(max(binMiddle(bin), h.min), h.max)
		l.Bins = append(l.Bins, result.Bin{At: at, Count: n})
		for next < len(percentiles) && float64(seen) >= percentiles[next]/100*float64(h.count) {
			l.Percentiles = append(l.Percentiles, result.Percentile{Percent: percentiles[next], Value: at})
			next++
		}
	}
	return l
}
