package output

import (
	"slices"
	"time"

	"ebscope/internal/result"
)

// track is the log of one direction of one job: at most one line for each window, in ascending time.
type track []Line

// tracks takes a log apart. Where several jobs share a file, their lines follow one another, so that time goes back
// at each new job, or, where the jobs were as short as a window, goes on by less than apart.
func tracks(lines []Line, apart time.Duration) []track {
	var out []track
	var job [2]track // the present job's reads and writes
	var last time.Duration
	for _, line := range lines {
		side := 0
		if line.Write {
			side = 1
		}
		if n := len(job[side]); line.Time < last || n > 0 && line.Time-job[side][n-1].Time < apart {
			out = append(out, job[:]...)
			job = [2]track{}
		}
		job[side] = append(job[side], line)
		last = line.Time
	}
	return append(out, job[:]...)
}

// withoutRest leaves out last lines that cover less than half a window: the rest that fio logs when a job ends holds
// too few I/Os to say much.
func (t track) withoutRest(window time.Duration) track {
	n := len(t)
	for n > 1 && t[n-1].Time-t[n-2].Time < window/2 {
		n--
	}
	return t[:n]
}

// until leaves out lines later than a time.
func (t track) until(end time.Duration) track {
	n := len(t)
	for n > 0 && t[n-1].Time > end {
		n--
	}
	return t[:n]
}

// exact corrects rates for how fio computes them. It divides the I/Os of a window by the window's length in whole
// milliseconds, rounded down, and so states rates too high: by 0.4 % on average with windows of 100 ms (fio 3.33).
// The times of the lines show the length of all windows together, and with it how much of a millisecond was dropped
// from each on average.
func (t track) exact(window time.Duration) track {
	if len(t) < 2 {
		return t
	}
	// The length that fio divided by is that between two lines or a millisecond less, for times are rounded down too.
	divisor := func(i int) time.Duration {
		between := t[i].Time - t[i-1].Time
		return min(max(window, between-time.Millisecond), between)
	}
	var divided time.Duration
	for i := 1; i < len(t); i++ {
		divided += divisor(i)
	}
	dropped := (t[len(t)-1].Time - t[0].Time - divided) / time.Duration(len(t)-1)
	out := slices.Clone(t)
	for i := range out {
		length := t[0].Time
		if i > 0 {
			length = divisor(i)
		}
		if length > 0 {
			out[i].Value *= float64(length) / float64(length+dropped)
		}
	}
	return out
}

// withStalls puts in the windows in which nothing completed, for which fio logs no rate. Where the log of latencies,
// which each I/O writes itself, has a line at that time, fio was only late to take the rate.
func (t track) withStalls(completed track, window time.Duration) track {
	var out track
	for i, line := range t {
		if i > 0 {
			for at := t[i-1].Time + window; line.Time-at > window/2; at += window {
				if !completed.within(at-window, at) {
					out = append(out, Line{Time: at, Write: line.Write})
				}
			}
		}
		out = append(out, line)
	}
	return out
}

// within says whether the track has a line after one time and no later than another.
func (t track) within(after, until time.Duration) bool {
	i, _ := slices.BinarySearchFunc(t, after+1, byTime)
	return i < len(t) && t[i].Time <= until
}

func byTime(l Line, when time.Duration) int { return compare(l.Time, when) }

// weighted is a value that stands for so many I/Os.
type weighted struct {
	Line
	weight float64
}

// windows groups values by window: those of reads, writes and jobs are a few milliseconds apart at most, windows much
// more. It calls each with the end of a window and its values.
func windows(values []weighted, window time.Duration, each func(end time.Duration, values []weighted)) {
	slices.SortStableFunc(values, func(a, b weighted) int { return compare(a.Time, b.Time) })
	for from := 0; from < len(values); {
		to := from + 1
		for to < len(values) && values[to].Time-values[from].Time < window/2 {
			to++
		}
		each(values[to-1].Time, values[from:to])
		from = to
	}
}

// iopsSeries sums the rates of all jobs and directions by window. The tracks of both logs are in the same order.
func iopsSeries(rates, latencies []track, window time.Duration) (series result.Series) {
	var values []weighted
	for i, t := range rates {
		if i < len(latencies) && len(latencies[i]) > 0 {
			t = t.withStalls(latencies[i], window)
		}
		for _, line := range t {
			values = append(values, weighted{Line: line})
		}
	}
	windows(values, window, func(end time.Duration, values []weighted) {
		var sum float64
		for _, v := range values {
			sum += v.Value
		}
		series = append(series, result.Point{End: end, Value: sum})
	})
	return series
}

// latencySeries is the mean of all jobs and directions by window, in milliseconds, each weighted with its rate.
func latencySeries(latencies, rates []track, window time.Duration) (series result.Series) {
	var values []weighted
	for i, t := range latencies {
		for _, line := range t {
			weight := 1.0 // where no rate was logged, there were hardly any I/Os
			if i < len(rates) {
				weight = max(weight, rates[i].at(line.Time, window))
			}
			values = append(values, weighted{line, weight})
		}
	}
	windows(values, window, func(end time.Duration, values []weighted) {
		var sum, weights float64
		for _, v := range values {
			sum += v.Value * v.weight
			weights += v.weight
		}
		series = append(series, result.Point{End: end, Value: sum / weights / float64(time.Millisecond)})
	})
	return series
}

// seriesOf is that of the reads or of the writes. The tracks of both logs are in the same order, or there are none of one.
func seriesOf(rates, latencies []track, writes bool, window time.Duration) result.DirectionSeries {
	of := func(all []track) (some []track) {
		for i, t := range all {
			if i%2 == 1 == writes { // tracks come in pairs of reads and writes
				some = append(some, t)
			}
		}
		return some
	}
	rates, latencies = of(rates), of(latencies)
	return result.DirectionSeries{IOPS: iopsSeries(rates, latencies, window), Latency: latencySeries(latencies, rates, window)}
}

// at returns the value of the line nearest to a time, zero where none is within a window.
func (t track) at(when, window time.Duration) float64 {
	i, _ := slices.BinarySearchFunc(t, when, byTime)
	nearest, value := window, 0.0
	for _, line := range t[max(0, i-1):min(len(t), i+1)] {
		if distance := (line.Time - when).Abs(); distance <= nearest {
			nearest, value = distance, line.Value
		}
	}
	return value
}
