package output

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"strconv"
	"time"

	"ebscope/internal/result"
)

// kinds of latency, as in result.Latency.
const (
	total      = "lat"
	completion = "clat"
)

// kind says which latency of the document has percentiles; the same is then used for every figure, so that a mean and
// a percentile can be compared. Where neither has any, it is the total.
func (d Document) kind() string {
	for _, job := range d.jobs {
		for _, dir := range []direction{job.Read, job.Write} {
			if dir.TotalIOs > 0 && !dir.Lat.known() && dir.Clat.known() {
				return completion
			}
		}
	}
	return total
}

func (l latency) known() bool {
	for key := range l.Percentile {
		if !padding(key) {
			return true
		}
	}
	return false
}

// padding says whether a percentile is none: old versions fill their list up with "0.00".
func padding(key string) bool {
	percent, err := strconv.ParseFloat(key, 64)
	return err == nil && percent == 0
}

// convert reads a latency of so many I/Os.
func (l latency) convert(kind string, ios int64) (result.Latency, error) {
	out := result.Latency{Kind: kind, Samples: ios}
	if l.N != nil {
		out.Samples = *l.N
	}
	if !count(out.Samples) {
		return result.Latency{}, fmt.Errorf("the count N of %s_ns is %d", kind, out.Samples)
	}
	if out.Samples == 0 {
		return result.Latency{Kind: kind}, nil
	}
	var err error
	ns := func(what string, x float64) time.Duration {
		if !(x >= 0 && x < math.MaxInt64) && err == nil {
			err = fmt.Errorf("%s of %s_ns is %v", what, kind, x)
			return 0
		}
		return time.Duration(math.Round(x))
	}
	out.Min, out.Max, out.Mean = ns("min", l.Min), ns("max", l.Max), ns("mean", l.Mean)
	for key, value := range l.Percentile {
		if padding(key) {
			continue
		}
		percent, parseErr := strconv.ParseFloat(key, 64)
		if parseErr != nil || !(percent > 0 && percent <= 100) {
			return result.Latency{}, fmt.Errorf("%s_ns has the percentile %q", kind, key)
		}
		out.Percentiles = append(out.Percentiles, result.Percentile{Percent: percent, Value: ns("percentile "+key, value)})
	}
	slices.SortFunc(out.Percentiles, func(a, b result.Percentile) int { return compare(a.Percent, b.Percent) })
	for key, n := range l.Bins {
		at, parseErr := strconv.ParseInt(key, 10, 64)
		if parseErr != nil || at < 0 || !count(n) {
			return result.Latency{}, fmt.Errorf("%s_ns has the bin %q: %d", kind, key, n)
		}
		if n > 0 {
			out.Bins = append(out.Bins, result.Bin{At: time.Duration(at), Count: n})
		}
	}
	slices.SortFunc(out.Bins, func(a, b result.Bin) int { return compare(a.At, b.At) })
	return out, err
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
