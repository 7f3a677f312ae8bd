package analyze

import (
	"fmt"
	"math"

	"ebscope/internal/result"
)

const (
	// littlesLaw and seriesTotal are how far a figure may lie from what follows from others, as a share.
	littlesLaw  = 0.05
	seriesTotal = 0.1
)

// checks holds the figures of a phase against each other.
func (s subject) checks(p Phase, m result.Measurement) []Check {
	checks := []Check{}
	add := func(code string, expected, measured, tolerance float64, text string) {
		checks = append(checks, Check{
			Code: code, Phase: p.Name, Volume: p.Volume, Expected: expected, Measured: measured,
			OK: math.Abs(measured-expected) <= tolerance*expected, Text: text,
		})
	}
	// An application that keeps to a rate leaves places empty.
	if p.Latency != nil && p.IOPS.FioMean > 0 && m.Total.IOs > 0 && s.phase.RateIOPS == 0 {
		outstanding := float64(s.phase.Outstanding())
		// At the start and the end of a phase its queue is not full.
		edges := 2 * outstanding / float64(m.Total.IOs)
		text := fmt.Sprintf("mean %s = %d outstanding ÷ %s IOPS", p.Latency.Kind, s.phase.Outstanding(), amount(p.IOPS.FioMean))
		if p.Latency.Kind == "clat" {
			text += "; clat leaves out submission"
		}
		think := milliseconds(s.phase.ThinkTime)
		if think > 0 {
			text += fmt.Sprintf(", less %s ms of think time", amount(think))
		}
		add("littles-law", 1000*outstanding/p.IOPS.FioMean-think, p.Latency.Mean, max(littlesLaw, edges), text)
	}
	if samples, _ := clean(m.IOPS); len(samples) > 0 && p.IOPS.FioMean > 0 {
		add("series-total", p.IOPS.FioMean, statisticsOf(samples).mean, seriesTotal, "mean of the IOPS series = IOPS of the summary")
	}
	return checks
}
