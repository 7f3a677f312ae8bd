package analyze

import (
	"fmt"
	"math"
	"time"

	"ebscope/internal/result"
)

const (
	// littlesLaw and seriesTotal are how far a figure may lie from what follows from others, as a share.
	littlesLaw  = 0.05
	seriesTotal = 0.1
)

// fromSubmission is the mean latency that Little's law is about, from submission to completion, and its kind; without
// submission where nothing else is known.
func fromSubmission(l result.Latency) (mean time.Duration, kind string) {
	if l.Submitted > 0 {
		return l.Submitted, "lat"
	}
	return l.Mean, l.Kind
}

// checks holds the figures of a phase against each other.
func (s subject) checks(p Phase, m result.Measurement) []Check {
	checks := []Check{}
	add := func(code string, expected, measured, tolerance float64, text string) {
		if known(expected) == nil || known(measured) == nil {
			return // a figure that cannot be gives no other to hold against it
		}
		checks = append(checks, Check{
			Code: code, Phase: p.Name, Volume: p.Volume, Expected: expected, Measured: measured,
			OK: math.Abs(measured-expected) <= tolerance*expected, Text: text,
		})
	}
	slowest, fastest := p.IOPS.FioMean, s.busyRate(m)
	outstanding := float64(s.phase.Outstanding())
	// An application that keeps to a rate leaves places empty, and one that has not asked twice for each has no rate.
	if p.Latency != nil && slowest > 0 && outstanding > 0 && float64(m.Total.IOs) > outstanding && s.phase.RateIOPS == 0 {
		// At the start and the end of a phase its queue is not full.
		edges := 2 * outstanding / float64(m.Total.IOs)
		rates := amount(slowest)
		switch {
		case math.IsInf(fastest, 1):
			rates = "at least " + rates
		case fastest > slowest:
			rates += " to " + amount(fastest)
		}
		mean, kind := fromSubmission(m.Total.Latency)
		cycle, what := milliseconds(mean), kind
		if think := milliseconds(s.phase.ThinkTime); think > 0 {
			cycle += think
			what += fmt.Sprintf(" + %s ms of think time", amount(think))
		}
		text := fmt.Sprintf("mean %s = %d outstanding ÷ %s IOPS", what, s.phase.Outstanding(), rates)
		if fastest > slowest {
			text += "; fio counts the flush at the end as time"
		}
		if kind == "clat" {
			text += "; clat leaves out submission"
		}
		add("littles-law", within(cycle, 1000*outstanding/fastest, 1000*outstanding/slowest), cycle, max(littlesLaw, edges), text)
	}
	if samples, _ := clean(m.IOPS); len(samples) > 0 && slowest > 0 {
		mean := statisticsOf(samples).mean
		add("series-total", within(mean, slowest, fastest), mean, seriesTotal, "mean of the IOPS series = IOPS of the summary")
	}
	return checks
}

// busyRate is the highest IOPS of a phase while I/O was under way. That is fio's mean, but for a layout: fio counts the
// flush at its end as time too, in which nothing is in flight, and all that is known of its length is that it lies after
// the last sample.
func (s subject) busyRate(m result.Measurement) float64 {
	total := summary(m.Total)
	if !s.phase.Layout() {
		return total.iops
	}
	samples, _ := clean(m.IOPS)
	if len(samples) == 0 {
		return math.Inf(1)
	}
	return max(total.iops, possible(float64(total.ios)/samples[len(samples)-1].to.Seconds()))
}

// within returns what lies between two bounds and is nearest to a figure.
func within(x, low, high float64) float64 { return max(low, min(x, high)) }
