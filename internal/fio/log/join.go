package log

import (
	"fmt"
	"math"
	"slices"
	"time"

	"ebscope/internal/result"
	"ebscope/internal/units"
)

// Joined is what the logs of one job, or of jobs that ran side by side, say together.
type Joined struct {
	Window time.Duration // of most points of the series, 0 unknown
	// IOPS are of reads and writes together. Of averaged logs the points begin where all logs have.
	IOPS   result.Series
	IOPSOf map[Direction]result.Series
	// Throughput is in MiB/s, of reads and writes of averaged logs.
	Throughput  result.Series
	Latency     result.Series // in ms, of reads and writes; each has its rate as weight
	LatencyOf   map[Direction]result.Series
	LatencyMap  *result.LatencyMap // of reads and writes; nil where the logs hold only means
	Total       result.Direction   // of reads and writes
	DirectionOf map[Direction]result.Direction
}

// Join joins logs. The block size is what the job states, 0 where it varies or is unknown: with it, a log of bandwidth
// tells IOPS where no other does. Of two kinds of latency, the total is taken.
func Join(logs []*Log, blockSize units.Bytes) Joined {
	j := Joined{
		IOPSOf: map[Direction]result.Series{}, LatencyOf: map[Direction]result.Series{},
		DirectionOf: map[Direction]result.Direction{},
	}
	rates, single := rateParts(logs, blockSize)
	latencies := latencyParts(logs)
	rateSeries := sumRates
	j.Window = averaging(rates)
	if single {
		rateSeries, j.Window = countRates, seriesWidth(rates)
	}
	latencySeries := func(all []part) result.Series {
		if len(all) > 0 && all[0].Width > 0 && all[0].log.Kind != Histogram {
			return singleLatencies(all, max(j.Window, seriesWidth(latencies)))
		}
		return meanLatencies(all, rates, max(j.Window, averaging(all)))
	}
	if len(rates) == 0 {
		j.Window = averaging(latencies)
	}
	j.IOPS, j.Latency, j.LatencyMap = rateSeries(served(rates), j.Window), latencySeries(served(latencies)), latencyMap(served(latencies))
	bandwidths := parts(averaged(logs), Bandwidth)
	j.Throughput = sumRates(scaled(served(bandwidths), 1.0/1024), averaging(bandwidths)) // of KiB/s
	j.Total = summary(served(rates), served(latencies), served(bandwidths), j.IOPS, single)
	for d := range Direction(directions) {
		r, l, b := of(rates, d), of(latencies, d), of(bandwidths, d)
		if len(r)+len(l)+len(b) == 0 {
			continue
		}
		j.IOPSOf[d], j.LatencyOf[d] = rateSeries(r, j.Window), latencySeries(l)
		j.DirectionOf[d] = summary(r, l, b, j.IOPSOf[d], single)
	}
	if j.Total.Runtime == 0 { // trims or flushes alone, which are no part of the total, take time all the same
		for _, d := range j.DirectionOf {
			j.Total.Runtime = max(j.Total.Runtime, d.Runtime)
		}
	}
	return j
}

// summary is what logs say of a direction as a whole. Averaged logs count no I/Os.
func summary(rates, latencies, bandwidths []part, series result.Series, single bool) (d result.Direction) {
	d.Runtime = max(ending(rates), ending(latencies), ending(bandwidths))
	d.Latency = distribution(latencies)
	d.IOPS = units.IOPS(mean(series))
	d.Throughput = units.Throughput(mean(sumRates(bandwidths, averaging(bandwidths)))) * units.Throughput(units.KiB)
	if single {
		for _, p := range rates {
			d.IOs += p.Count
			d.Bytes += p.Bytes
		}
	} else {
		d.IOs = d.Latency.Samples
	}
	if seconds := d.Runtime.Seconds(); seconds > 0 && single {
		d.IOPS = units.IOPS(float64(d.IOs) / seconds)
		d.Throughput = units.Throughput(float64(d.Bytes) / seconds)
	}
	return d
}

// mean is the mean of a series over time.
func mean(s result.Series) float64 {
	var sum float64
	var last time.Duration
	for _, p := range s {
		sum += p.Value * (p.End - last).Seconds()
		last = p.End
	}
	if last == 0 {
		return 0
	}
	return sum / last.Seconds()
}

// maxDifference is the share by which the mean of logs may differ from a summary before that is worth a warning.
const maxDifference = 0.1

// AddTo adds to a reading what it does not have. Where it has a summary of its own, that stands, and a warning says if
// the logs differ from it.
func (j Joined) AddTo(r *result.Reading) {
	if len(r.IOPS) == 0 && len(j.IOPSOf[Read]) > 0 && len(j.IOPSOf[Write]) > 0 {
		r.ReadSeries, r.WriteSeries = j.series(Read), j.series(Write)
	}
	if len(r.IOPS) == 0 {
		r.IOPS, r.Window = j.IOPS, j.Window
	}
	if len(r.IOPS) == 0 && len(r.Throughput) == 0 {
		r.Throughput = j.Throughput
	}
	if len(r.Latency) == 0 {
		r.Latency = j.Latency
	}
	if r.LatencyMap == nil {
		r.LatencyMap = j.LatencyMap
	}
	switch {
	case r.Total.IOPS == 0 && r.Total.IOs == 0:
		r.Total, r.Summed = j.Total, true
		r.Read, r.Write, r.Trim, r.Sync = j.direction(Read), j.direction(Write), j.direction(Trim), j.direction(Sync)
		if r.Read == nil || r.Write == nil {
			r.Read, r.Write = nil, nil // the total says it all
		}
	default:
		if stated, logged := float64(r.Total.IOPS), mean(j.IOPS); len(j.IOPS) > 0 && math.Abs(logged-stated) > maxDifference*stated {
			r.Warnings = append(r.Warnings, result.Warning{Code: "series-differs",
				Text: fmt.Sprintf("the mean of the logged series is %.0f IOPS, the summary says %.0f; trust the summary", logged, stated)})
		}
		if l := r.Total.Latency; l.Samples == 0 && l.Mean == 0 && len(l.Percentiles) == 0 {
			r.Total.Latency = j.Total.Latency
		} else if len(l.Percentiles) == 0 {
			j.spreadTo(r)
		}
	}
}

// spreadTo gives a reading the distribution of its latency that it lacks, whose mean stands.
func (j Joined) spreadTo(r *result.Reading) {
	stated, logged := r.Total.Latency, j.Total.Latency
	if len(logged.Bins) == 0 {
		return
	}
	if logged.Kind == stated.Kind {
		r.Total.Latency.Bins, r.Total.Latency.Percentiles = logged.Bins, logged.Percentiles
	} else {
		r.Total.Latency = logged
		if logged.Kind == string(Completion) {
			r.Total.Latency.Submitted = stated.Mean
		}
	}
	r.Warnings = slices.DeleteFunc(r.Warnings, func(w result.Warning) bool { return w.Code == result.PercentilesMissing })
	if logged.Samples < r.Total.IOs {
		r.Warnings = append(r.Warnings, result.Warning{Code: "percentiles-of-logs", Text: fmt.Sprintf(
			"percentiles are of the %d of %d I/Os that the logs hold: fio leaves out the last, incomplete window", logged.Samples, r.Total.IOs)})
	}
}

func (j Joined) series(d Direction) result.DirectionSeries {
	return result.DirectionSeries{IOPS: j.IOPSOf[d], Latency: j.LatencyOf[d]}
}

func (j Joined) direction(d Direction) *result.Direction {
	if all, ok := j.DirectionOf[d]; ok {
		return &all
	}
	return nil
}
