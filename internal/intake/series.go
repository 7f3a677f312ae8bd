package intake

import (
	"cmp"
	"slices"
	"time"

	"ebscope/internal/fio/log"
	"ebscope/internal/result"
	"ebscope/internal/units"
)

// attach adds the series of a job's logs to its reading.
func attach(r *result.Reading, logs []logFile) {
	of := func(kinds ...log.Kind) (all []logFile) {
		for _, kind := range kinds {
			for _, l := range logs {
				if l.Kind == kind && len(all) == 0 || l.Kind == kind && all[0].Kind == kind {
					all = append(all, l)
				}
			}
		}
		return all
	}
	if rates := of(log.IOPS); rates != nil {
		r.Window, r.IOPS = summed(rates, 1)
	} else if rates := of(log.Bandwidth); rates != nil && rates[0].PerIO {
		r.Window, r.IOPS = summed(rates, 1) // each line is an I/O
	} else if size := blockSize(*r); rates != nil && size > 0 {
		r.Window, r.IOPS = summed(rates, float64(units.KiB)/float64(size))
	} else if latencies := of(log.Total, log.Completion); latencies != nil && latencies[0].PerIO {
		r.Window, r.IOPS = summed(latencies, 1)
	}
	if latencies := of(log.Total, log.Completion); latencies != nil {
		if unit := unitOf(latencies[0], *r); unit > 0 {
			r.Latency = meanLatency(latencies, unit, *r)
			if r.Window == 0 {
				r.Window = latencies[0].Window
			}
		}
	}
}

// blockSize is the mean size of an I/O, or the stated one; zero where neither is known.
func blockSize(r result.Reading) units.Bytes {
	if r.Total.IOs > 0 && r.Total.Bytes > 0 {
		return r.Total.Bytes / units.Bytes(r.Total.IOs)
	}
	return r.Workload.BlockSize
}

// value is a rate or a latency of one direction of one job, that stands for so much.
type value struct {
	end       time.Duration
	direction log.Direction
	value     float64
	weight    float64
}

// summed adds up the rates of jobs and directions by window, each times a factor. Where a job both reads and writes, a
// window that only one of them has a line for has no known sum.
func summed(logs []logFile, factor float64) (time.Duration, result.Series) {
	if logs[0].PerIO {
		return counted(logs)
	}
	window := logs[0].Window
	var values []value
	seen := map[log.Direction]bool{}
	for _, l := range logs {
		for _, t := range served(l) {
			seen[t.Direction] = true
			for _, c := range t.Cells {
				values = append(values, value{end: c.End, direction: t.Direction, value: c.Mean() * factor})
			}
		}
	}
	var series result.Series
	windows(values, window, func(end time.Duration, values []value) {
		var sum float64
		here := map[log.Direction]bool{}
		for _, v := range values {
			sum += v.value
			here[v.direction] = true
		}
		if len(here) == len(seen) {
			series = append(series, result.Point{End: end, Value: sum})
		}
	})
	return window, series
}

// served are the tracks of reads and writes: trims and flushes are no part of a total.
func served(l logFile) (all []log.Track) {
	for _, t := range l.Tracks {
		if (t.Direction == log.Read || t.Direction == log.Write || t.Direction == log.Unstated) && len(t.Cells) > 0 {
			all = append(all, t)
		}
	}
	return all
}

// windows groups values by window: those of jobs and directions are a few milliseconds apart at most, windows much more.
func windows(values []value, window time.Duration, each func(end time.Duration, values []value)) {
	slices.SortStableFunc(values, func(a, b value) int { return cmp.Compare(a.end, b.end) })
	for from := 0; from < len(values); {
		to := from + 1
		for to < len(values) && values[to].end-values[from].end < max(1, window/2) {
			to++
		}
		each(values[to-1].end, values[from:to])
		from = to
	}
}

// counted counts the lines of logs in which each is an I/O. The last window is left out, for it may not be a whole one.
func counted(logs []logFile) (time.Duration, result.Series) {
	end, width := time.Duration(0), time.Duration(0)
	for _, l := range logs {
		end = max(end, endOf(l))
		for _, t := range served(l) {
			width = max(width, widthOf(t))
		}
	}
	// About a second, or less where there are few of them; a multiple of the cells, which are powers of two of a ms.
	window := 1024 * time.Millisecond
	for window > time.Millisecond && end/window < 16 {
		window /= 2
	}
	window = max(window, width)
	var series result.Series
	counts := make([]int64, end/window)
	for _, l := range logs {
		for _, t := range served(l) {
			for _, c := range t.Cells {
				if i := int((c.End - 1) / window); i < len(counts) {
					counts[i] += c.Count
				}
			}
		}
	}
	for i, n := range counts {
		series = append(series, result.Point{End: time.Duration(i+1) * window, Value: float64(n) / window.Seconds()})
	}
	return window, series
}

// widthOf is the width of a track's cells, the largest power of two of milliseconds that all their ends are multiples of.
func widthOf(t log.Track) time.Duration {
	width := time.Duration(1) << 40 * time.Millisecond
	for _, c := range t.Cells {
		for c.End%width != 0 && width > time.Millisecond {
			width /= 2
		}
	}
	return width
}

// meanLatency is the mean of jobs and directions by window in ms, each weighted with its share of all I/Os.
func meanLatency(logs []logFile, unit time.Duration, r result.Reading) (series result.Series) {
	weights := map[log.Direction]float64{log.Read: 1, log.Write: 1, log.Unstated: 1}
	if r.Read != nil && r.Write != nil {
		weights[log.Read], weights[log.Write] = float64(r.Read.IOPS), float64(r.Write.IOPS)
	}
	var values []value
	for _, l := range logs {
		for _, t := range served(l) {
			for _, c := range t.Cells {
				weight := weights[t.Direction]
				if l.PerIO {
					weight = float64(c.Count)
				}
				values = append(values, value{c.End, t.Direction, c.Mean() * float64(unit) / float64(time.Millisecond), weight})
			}
		}
	}
	windows(values, max(logs[0].Window, r.Window), func(end time.Duration, values []value) {
		var sum, total float64
		for _, v := range values {
			sum += v.value * v.weight
			total += v.weight
		}
		if total > 0 {
			series = append(series, result.Point{End: end, Value: sum / total})
		}
	})
	return series
}

// summarize fills in what logs without a document show of the whole: how long they are, and, where each line is an I/O,
// how many there were and how long they took.
func summarize(r *result.Reading, logs []logFile) {
	for _, l := range logs {
		r.Total.Runtime = max(r.Total.Runtime, endOf(l))
	}
	for _, l := range logs {
		if !l.PerIO {
			continue
		}
		var ios int64
		var bytes units.Bytes
		for _, t := range served(l) {
			ios += t.Count
			bytes += t.Bytes
		}
		if seconds := r.Total.Runtime.Seconds(); ios > r.Total.IOs && seconds > 0 {
			r.Total.IOs, r.Total.Bytes = ios, bytes
			r.Total.IOPS, r.Total.Throughput = units.IOPS(float64(ios)/seconds), units.Throughput(float64(bytes)/seconds)
		}
	}
	for _, kind := range []log.Kind{log.Total, log.Completion} {
		for _, l := range logs {
			if l.Kind == kind && l.Unit > 0 && r.Total.Latency.Kind == "" {
				r.Total.Latency = latencyOf(l)
			}
		}
	}
}

// latencyOf is what a log of latencies shows of them all. Means of windows hide the extremes, and so they are left out.
func latencyOf(l logFile) result.Latency {
	out := result.Latency{Kind: string(l.Kind)}
	var sum float64
	for _, t := range served(l) {
		sum += t.Sum
		out.Samples += t.Count
		if l.PerIO {
			out.Max = max(out.Max, time.Duration(t.Max*float64(l.Unit)))
		}
	}
	if out.Samples > 0 {
		out.Mean = time.Duration(sum / float64(out.Samples) * float64(l.Unit))
	}
	return out
}
