package output

import (
	"fmt"
	"math"
	"slices"
	"time"

	"ebscope/internal/result"
)

// kinds of latency, as in result.Latency.
const (
	total      = "lat"
	completion = "clat"
)

// kind says which latency of the document has percentiles; the same is then used for every figure, so that a mean and
// a percentile can be compared. Where neither has any, it is the total, unless only the other was measured.
func (d Document) kind() string {
	for _, job := range d.jobs {
		for _, dir := range []direction{job.read, job.write, job.mixed, job.trim} {
			if dir.some() && !dir.total.known() && (dir.clat.known() || dir.clat.measured() && !dir.total.measured()) {
				return completion
			}
		}
	}
	return total
}

// measured says whether fio timed anything: with gtod_reduce and the like it leaves zeros.
func (l latency) measured() bool {
	return l.unit > 0 && l.n != 0 && (l.n > 0 || l.max != 0 || l.mean != 0 || l.known())
}

// known says whether it has percentiles. Old versions fill their list up with "0.00".
func (l latency) known() bool {
	return slices.ContainsFunc(l.percentiles, func(p pair) bool { return p.key != 0 })
}

// convert reads a latency of so many I/Os; where names it in doubts.
func (l latency) convert(where, kind string, samples float64, r *review) result.Latency {
	if !l.measured() {
		return result.Latency{Kind: kind}
	}
	if !(samples >= 0 && samples < 1<<53) {
		r.doubt("%s: N is %v, out of range", where, samples)
		return result.Latency{Kind: kind}
	}
	unknown := func(x float64) bool { return !(x >= 0 && x*float64(l.unit) < math.MaxInt64) }
	at := func(what string, of, x float64) time.Duration {
		if unknown(x) {
			if of > 0 {
				what = fmt.Sprintf("%s %v", what, of)
			}
			r.doubt("%s: %s is %v, out of range", where, what, x)
			return 0
		}
		return time.Duration(math.Round(x * float64(l.unit)))
	}
	out := result.Latency{Kind: kind, Samples: int64(samples), Min: at("min", 0, l.min), Max: at("max", 0, l.max), Mean: at("mean", 0, l.mean)}
	last := 0.0
	for _, p := range l.percentiles {
		switch {
		case p.key == 0:
		case p.key < 0 || p.key > 100:
			r.doubt("%s: %v is no percentile", where, p.key)
		case p.key <= last:
			r.doubt("%s: the percentile %v does not stand in its place", where, p.key)
		default:
			last = p.key
			if value := at("percentile", p.key, p.value); !unknown(p.value) {
				out.Percentiles = append(out.Percentiles, result.Percentile{Percent: p.key, Value: value})
			}
		}
	}
	for _, b := range l.bins {
		if !(b.key >= 0 && b.value >= 0 && b.value < 1<<53) {
			r.doubt("%s: the bin %v holds %v I/Os", where, b.key, b.value)
			continue
		}
		if unknown(b.key) {
			at("a bin", 0, b.key)
			continue
		}
		bin := result.Bin{At: at("a bin", 0, b.key), Count: int64(b.value)}
		if last := len(out.Bins) - 1; last >= 0 && out.Bins[last].At == bin.At { // by rounding
			out.Bins[last].Count += bin.Count
		} else if bin.Count > 0 {
			out.Bins = append(out.Bins, bin)
		}
	}
	return out
}

func compare[T int64 | float64 | time.Duration](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	default:
		return 0
	}
}
