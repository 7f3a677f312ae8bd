package log

import (
	"math"
	"slices"
	"time"

	"ebscope/internal/result"
)

// percents are the percentiles that fio lists by default, and the median's neighbours.
var percents = []float64{1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99}

// merged joins the histograms of tracks, which must have one unit. It is nil where one has none.
func merged(all []part) *histogram {
	if len(all) == 0 {
		return nil
	}
	whole := new(histogram)
	for _, p := range all {
		if p.histogram == nil || p.log.Unit != all[0].log.Unit {
			return nil
		}
		whole.add(p.histogram)
	}
	return whole
}

// distribution is the latency of all I/Os of tracks in ms. Without histograms only the mean of means is known, weighted by
// the number of lines.
func distribution(all []part) (l result.Latency) {
	if len(all) == 0 {
		return l
	}
	l.Kind = string(all[0].log.Kind)
	if all[0].log.Kind == Histogram {
		l.Kind = string(Completion)
	}
	ms := func(x float64) time.Duration { return time.Duration(math.Round(x * float64(time.Millisecond))) }
	var sum, count, least, most float64
	for i, p := range all {
		sum, count = sum+p.Sum, count+float64(p.Count)
		if i == 0 || p.Min < least {
			least = p.Min
		}
		most = max(most, p.Max)
	}
	l.Mean = ms(sum / max(count, 1))
	h := merged(all)
	if h == nil {
		return l
	}
	l.Samples, l.Min, l.Max = int64(count), ms(least), ms(most)
	unit := float64(all[0].log.Unit)
	for bin, n := range h.bins {
		if n > 0 {
			l.Bins = append(l.Bins, result.Bin{At: time.Duration(math.Round(binMiddle(bin) * unit)), Count: n})
		}
	}
	next, within := 0, int64(0)
	for _, bin := range l.Bins {
		within += bin.Count
		for ; next < len(percents) && float64(within) >= percents[next]/100*float64(l.Samples); next++ {
			l.Percentiles = append(l.Percentiles, result.Percentile{Percent: percents[next], Value: bin.At})
		}
	}
	return l
}

// latencyMap is how latencies were spread over time, nil where the logs do not tell. It has the rows that are used.
func latencyMap(all []part) *result.LatencyMap {
	h := merged(all)
	if h == nil || len(h.times) == 0 {
		return nil
	}
	first, last := rows, -1
	for i := range h.times {
		for row, n := range h.times[i] {
			if n > 0 {
				first, last = min(first, row), max(last, row)
			}
		}
	}
	if last < 0 {
		return nil
	}
	m := &result.LatencyMap{}
	for row := first; row <= last; row++ {
		up := float64(binStart((row + 1) << rowBits))
		m.UpTo = append(m.UpTo, time.Duration(up*float64(all[0].log.Unit))-1)
	}
	for i := range h.times {
		m.Ends = append(m.Ends, time.Duration(i+1)*time.Millisecond<<h.shift)
		m.Counts = append(m.Counts, append([]int64(nil), h.times[i][first:last+1]...))
	}
	if all[0].log.Kind == Histogram {
		return byWindow(m, all[0].log.Window)
	}
	return m
}

// byWindow makes the columns of a map as long as the windows of a histogram's lines, each of which is in the column of its
// end. Windows without I/Os have empty columns.
func byWindow(m *result.LatencyMap, window time.Duration) *result.LatencyMap {
	out := &result.LatencyMap{UpTo: m.UpTo}
	add := func(end time.Duration, counts []int64) {
		out.Ends, out.Counts = append(out.Ends, end), append(out.Counts, counts)
	}
	for i, end := range m.Ends {
		if !slices.ContainsFunc(m.Counts[i], func(n int64) bool { return n > 0 }) {
			continue
		}
		last, begin := len(out.Ends)-1, time.Duration(0)
		if last >= 0 {
			begin = out.Ends[last]
		}
		if last >= 0 && end-begin < window/2 {
			out.Ends[last] = end
			addTo(out.Counts[last], m.Counts[i])
			continue
		}
		if window > 0 && (end-begin)/window < mapColumns {
			for at := begin + window; end-at > window/2; at += window {
				add(at, make([]int64, len(m.UpTo)))
			}
		}
		add(end, m.Counts[i])
	}
	return out
}
