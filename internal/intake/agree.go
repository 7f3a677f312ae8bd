package intake

import (
	"fmt"
	"math"
	"slices"
	"time"

	"ebscope/internal/fio/log"
	"ebscope/internal/result"
	"ebscope/internal/units"
)

const (
	// rateOff is how far the rate of logs may be from the summary's, and few the points of which it may be further away.
	rateOff, rateOffFew, few = 0.1, 0.5, 10
	// latencyOff is how many times a mean latency may be the summary's.
	latencyOff = 1.5
)

// apart takes out the logs that cannot be of a job, kind by kind, for what they hold is not what its summary says. All logs of
// a kind count, since jobs share a summary.
func (c *collector) apart(logs []logFile, r result.Reading) (rest []logFile) {
	why := map[log.Kind]string{}
	for _, kind := range []log.Kind{log.IOPS, log.Bandwidth, log.Total, log.Completion, log.Histogram} {
		var of []*log.Log
		for _, l := range logs {
			if l.Kind == kind {
				l.Unit = unitOf(l, r)
				of = append(of, l.Log)
			}
		}
		if len(of) > 0 {
			why[kind] = contradiction(kind, log.Join(of, blockSize(r)), of, r.Total)
		}
	}
	for _, l := range logs {
		if text := why[l.Kind]; text != "" {
			c.notes = append(c.notes, result.Note{
				Source: result.Source{File: l.File, Line: 1}, Skipped: true,
				Text: fmt.Sprintf("left out: %s, the summary of %q in %s says otherwise: are they of one run?", text, r.Job, r.Source.File),
			})
			continue
		}
		rest = append(rest, l)
	}
	return rest
}

// contradiction says what logs of a kind hold that the summary of their job excludes, "" where nothing is.
func contradiction(kind log.Kind, j log.Joined, of []*log.Log, stated result.Direction) string {
	var points int64
	for _, l := range of {
		for _, t := range l.Tracks {
			points = max(points, int64(len(t.Cells)))
		}
	}
	seconds := j.Total.Runtime.Seconds()
	// A runtime with a flush at its end makes the summary's rate lower, while the sum is right.
	rate := func(logged, stated, sum float64) bool {
		most := rateOff
		if points < few {
			most = rateOffFew
		}
		off := func(x, from float64) bool { return x > 0 && from > 0 && math.Abs(x-from) > most*from }
		return off(logged, stated) && (sum <= 0 || off(logged*seconds, sum))
	}
	switch l := j.Total.Latency; kind {
	case log.IOPS:
		if logged := j.Total.IOPS; rate(float64(logged), float64(stated.IOPS), float64(stated.IOs)) {
			return fmt.Sprintf("%.0f IOPS on average, and not %.0f", logged, stated.IOPS)
		}
	case log.Bandwidth:
		if logged := j.Total.Throughput; rate(float64(logged), float64(stated.Throughput), float64(stated.Bytes)) {
			return fmt.Sprintf("%s on average, and not %s", mibps(logged), mibps(stated.Throughput))
		}
	default:
		high, low := stated.Latency.Mean.Seconds(), stated.Latency.Mean.Seconds()
		switch {
		case l.Kind == "clat" && stated.Latency.Kind == "lat":
			low = 0 // submission may have taken most of it
		case l.Kind == "lat" && stated.Latency.Kind == "clat":
			if high = stated.Latency.Submitted.Seconds(); high == 0 {
				high = math.Inf(1)
			}
		}
		least, most := between(of, l.Mean)
		if l.Mean > 0 && stated.Latency.Mean > 0 && (least > latencyOff*high || most*latencyOff < low) {
			return fmt.Sprintf("a mean %s of %v, and not %v", l.Kind, l.Mean.Round(time.Microsecond), stated.Latency.Mean.Round(time.Microsecond))
		}
	}
	return ""
}

// between is what the mean latency of all I/Os lies between, in seconds. Means of windows do not count how many I/Os they
// are of.
func between(of []*log.Log, mean time.Duration) (least, most float64) {
	least = math.Inf(1)
	for _, l := range of {
		if l.PerIO {
			return mean.Seconds(), mean.Seconds()
		}
		for _, t := range l.Tracks {
			if t.Direction == log.Trim || t.Direction == log.Sync {
				continue
			}
			for _, cell := range t.Cells {
				x := cell.Mean() * l.Unit.Seconds()
				least, most = min(least, x), max(most, x)
			}
		}
	}
	return least, most
}

func mibps(t units.Throughput) string { return fmt.Sprintf("%.1f MiB/s", t.MiBps()) }

// strangers takes out the latencies of logs alone of which no rate is: they log writes, say, and the others reads.
func (c *collector) strangers(logs []logFile) (rest []logFile) {
	sides := func(l logFile) (all []log.Direction) {
		for _, t := range l.Tracks {
			all = append(all, t.Direction)
		}
		return all
	}
	var rates []log.Direction
	file := ""
	for _, l := range logs {
		if l.Kind == log.IOPS || l.Kind == log.Bandwidth {
			rates, file = append(rates, sides(l)...), l.File
		}
	}
	for _, l := range logs {
		its := sides(l)
		common := func(d log.Direction) bool { return d == log.Unstated || slices.Contains(rates, d) }
		if len(rates) > 0 && len(its) > 0 && !slices.Contains(rates, log.Unstated) && !slices.ContainsFunc(its, common) {
			c.notes = append(c.notes, result.Note{
				Source: result.Source{File: l.File, Line: 1}, Skipped: true,
				Text: fmt.Sprintf("left out: it logs %v, and %s logs %v: are they of one job?", its[0], file, rates[0]),
			})
			continue
		}
		rest = append(rest, l)
	}
	return rest
}
