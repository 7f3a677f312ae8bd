package compare

import (
	"fmt"
	"math"
	"slices"
)

// test fills in how a row's difference was tested, and what came of it.
func (r *Row) test(a, b figure) {
	r.N, r.Method = [2]int{len(a.runs), len(b.runs)}, Untested
	margin := rateMargin
	if !r.Metric.HigherIsBetter() {
		margin = latencyMargin
	}
	few := ""
	if len(a.runs) > 1 || len(b.runs) > 1 {
		few = fmt.Sprintf("%d and %d runs are too few for a test of runs, which takes %d of each; ", len(a.runs), len(b.runs), neededRuns)
	}
	switch {
	case slices.Min(a.runs) <= 0 || slices.Min(b.runs) <= 0:
		r.Text = "a figure of zero has no ratio"
	case enough(len(a.runs), len(b.runs)):
		r.Method, r.Text = MannWhitney, fmt.Sprintf("Mann-Whitney U test of %d and %d runs", len(a.runs), len(b.runs))
		r.conclude(repeated(a.runs, b.runs))
	case a.series != nil && b.series != nil && a.series.long() && b.series.long():
		n, m := len(a.series.deviations), len(b.series.deviations)
		r.Method, r.N, r.Margin = Bootstrap, [2]int{n, m}, r.within(margin, a, b)
		r.Text = fmt.Sprintf("%smoving-block bootstrap of %d and %d windows, prewhitened; p is for more than %.0f %%, by which two runs of the same volume can differ",
			few, n, m, 100*r.Margin)
		r.conclude(bootstrap(*a.series, *b.series, r.Margin))
	case a.distribution != nil && b.distribution != nil && a.distribution.testable() && b.distribution.testable():
		n, m := int(a.distribution.windows), int(b.distribution.windows)
		r.Method, r.N, r.Margin = WindowRanks, [2]int{n, m}, r.within(margin, a, b)
		if min(a.distribution.windows, b.distribution.windows) < leastWindows {
			r.Text = fmt.Sprintf("%slatency wavers so slowly, or I/Os crowd so much, that the series are worth %d and %d independent windows: fewer than %d prove nothing",
				few, n, m, leastWindows)
			r.conclude(outcome{math.NaN(), math.NaN(), 1})
			return
		}
		r.Text = fmt.Sprintf("%sranks in the histogram, each of %d and %d windows as one observation; p is for more than %.0f %%, by which two runs of the same volume can differ",
			few, n, m, 100*r.Margin)
		r.conclude(ranks(*a.distribution, *b.distribution, r.Metric.percent(), r.Margin))
	default:
		r.Text = few + "there is no series, or too short a one, so nothing is proved"
	}
}

func (e estimate) long() bool { return len(e.deviations) >= leastWindows }

// within is the margin, or how far the runs of one side lie apart where that is more.
func (r *Row) within(margin float64, a, b figure) float64 {
	return max(margin, spread(a.runs), spread(b.runs))
}

func (m Metric) percent() float64 {
	switch m {
	case LatencyP50:
		return 50
	case LatencyP95:
		return 95
	default:
		return 99
	}
}

func (r *Row) conclude(o outcome) {
	r.RatioLow, r.RatioHigh = finite(o.low), finite(o.high)
	r.PValue = finite(o.p)
	r.Significant = r.PValue != nil && o.p < level
}
