package result

import (
	"maps"
	"math"
	"slices"
	"time"
)

// Together sums directions, or jobs, that ran side by side.
func Together(parts []Direction) Direction {
	var out Direction
	var latencies []Latency
	for _, p := range parts {
		out.IOs += p.IOs
		out.Bytes += p.Bytes
		out.Runtime = max(out.Runtime, p.Runtime)
		out.IOPS += p.IOPS
		out.Throughput += p.Throughput
		latencies = append(latencies, p.Latency)
	}
	out.Latency = Merged(latencies)
	return out
}

// Merged combines the latencies of several lots of I/Os. Percentiles come from the merged histogram, since those of the
// parts cannot be combined; where a part has no histogram the whole has none.
func Merged(parts []Latency) Latency {
	parts = slices.DeleteFunc(slices.Clone(parts), func(l Latency) bool { return l.Samples == 0 })
	switch len(parts) {
	case 0:
		return Latency{Kind: "lat"}
	case 1:
		return parts[0]
	}
	out := Latency{Kind: parts[0].Kind, Min: parts[0].Min}
	var sum, submitted float64
	bins := map[time.Duration]int64{}
	whole := true
	for _, l := range parts {
		out.Samples += l.Samples
		out.Min, out.Max = min(out.Min, l.Min), max(out.Max, l.Max)
		sum += float64(l.Mean) * float64(l.Samples)
		submitted += float64(l.Submitted) * float64(l.Samples)
		whole = whole && len(l.Bins) > 0
		for _, bin := range l.Bins {
			bins[bin.At] += bin.Count
		}
	}
	out.Mean = time.Duration(math.Round(sum / float64(out.Samples)))
	if !slices.ContainsFunc(parts, func(l Latency) bool { return l.Submitted == 0 }) {
		out.Submitted = time.Duration(math.Round(submitted / float64(out.Samples)))
	}
	if !whole {
		return out
	}
	for _, at := range slices.Sorted(maps.Keys(bins)) {
		out.Bins = append(out.Bins, Bin{At: at, Count: bins[at]})
	}
	for _, p := range parts[0].Percentiles {
		out.Percentiles = append(out.Percentiles, Percentile{Percent: p.Percent, Value: Rank(out.Bins, p.Percent/100)})
	}
	return out
}

// Rank returns the first of some bins within which a share of all I/Os, 0 to 1, completed, as fio does.
func Rank(bins []Bin, share float64) time.Duration {
	var total, seen int64
	for _, bin := range bins {
		total += bin.Count
	}
	const rounding = 1e-12 // of the share: 55 of 100 are 55 %
	for _, bin := range bins {
		if seen += bin.Count; float64(seen) >= (share-rounding)*float64(total) {
			return bin.At
		}
	}
	return bins[len(bins)-1].At
}
