package output

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
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
	at := func(what string, of, x float64) time.Duration {
		if !(x >= 0 && x*float64(l.unit) < math.MaxInt64) {
			if of > 0 {
				what = fmt.Sprintf("%s %v", what, of)
			}
			r.doubt("%s: %s is %v, out of range", where, what, x)
			return 0
		}
		return time.Duration(math.Round(x * float64(l.unit)))
	}
	out := result.Latency{Kind: kind, Samples: int64(samples), Min: at("min", 0, l.min), Max: at("max", 0, l.max), Mean: at("mean", 0, l.mean)}
	for _, p := range l.percentiles {
		switch {
		case p.key == 0:
		case p.key < 0 || p.key > 100:
			r.doubt("%s: %v is no percentile", where, p.key)
		default:
			out.Percentiles = append(out.Percentiles, result.Percentile{Percent: p.key, Value: at("percentile", p.key, p.value)})
		}
	}
	for _, b := range l.bins {
		if !(b.key >= 0 && b.value >= 0 && b.value < 1<<53) {
			r.doubt("%s: the bin %v holds %v I/Os", where, b.key, b.value)
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

// merge combines the latencies of I/Os that ran side by side. Percentiles come from the merged histogram, since those
// of the parts cannot be combined; without histograms the whole has none.
func merge(parts []result.Latency) result.Latency {
	parts = slices.DeleteFunc(slices.Clone(parts), func(l result.Latency) bool { return l.Samples == 0 })
	switch len(parts) {
	case 0:
		return result.Latency{Kind: total}
	case 1:
		return parts[0]
	}
	out := result.Latency{Kind: parts[0].Kind, Min: parts[0].Min}
	var sum float64
	bins := map[time.Duration]int64{}
	whole := true
	for _, l := range parts {
		out.Samples += l.Samples
		out.Min, out.Max = min(out.Min, l.Min), max(out.Max, l.Max)
		sum += float64(l.Mean) * float64(l.Samples)
		whole = whole && len(l.Bins) > 0
		for _, bin := range l.Bins {
			bins[bin.At] += bin.Count
		}
	}
	out.Mean = time.Duration(math.Round(sum / float64(out.Samples)))
	if !whole {
		return out
	}
	for _, at := range slices.Sorted(maps.Keys(bins)) {
		out.Bins = append(out.Bins, result.Bin{At: at, Count: bins[at]})
	}
	for _, p := range parts[0].Percentiles {
		out.Percentiles = append(out.Percentiles, result.Percentile{Percent: p.Percent, Value: percentile(out.Bins, p.Percent)})
	}
	return out
}

// percentile returns the first bin within which so many percent of the I/Os completed, as fio does.
func percentile(bins []result.Bin, percent float64) time.Duration {
	within := make([]int64, len(bins)) // I/Os up to and with each bin
	var sum int64
	for i, bin := range bins {
		sum += bin.Count
		within[i] = sum
	}
	i := sort.Search(len(bins), func(i int) bool { return float64(within[i]) >= percent/100*float64(sum) })
	return bins[min(i, len(bins)-1)].At
}
