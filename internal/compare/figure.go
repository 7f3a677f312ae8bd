package compare

import (
	"math"

	"ebscope/internal/result"
)

// figure is a metric of one side.
type figure struct {
	value float64
	runs  []float64 // the metric of each run
	// What tests it where there are too few runs to test; nil where there is none.
	series       *estimate
	distribution *distribution
}

// direction picks reads, writes or both of a measurement.
type direction func(result.Measurement) *result.Direction

// iops of a direction: the mean of the series, which counts both directions, times the direction's share of them; where
// there is no series, the summary's.
func (p Phase) iops(of direction) figure {
	return p.figure(func(r Run) (float64, *estimate) {
		d := of(r.Measurement)
		if e, ok := rate(r.windows(), r.Levels); ok {
			return e.value * share(*d, r.Total), &e
		}
		return float64(d.IOPS), nil
	})
}

// share is a direction's share of the total: of the I/Os or, in averaged logs alone, which do not count them, of the rate.
func share(d, total result.Direction) float64 {
	switch {
	case total.IOs > 0:
		return float64(d.IOs) / float64(total.IOs)
	case total.IOPS > 0:
		return float64(d.IOPS / total.IOPS)
	default:
		return 1
	}
}

func (p Phase) changes() bool {
	for _, r := range p.Runs {
		if len(r.Levels) > 1 {
			return true
		}
	}
	return false
}

func (p Phase) steady(of func([]window, []Level) (estimate, bool)) (figure, bool) {
	known := true
	f := p.figure(func(r Run) (float64, *estimate) {
		e, ok := of(r.steady(r.windows()), nil)
		known = known && ok
		return e.value, &e
	})
	return f, known
}

// timed says whether latency was measured.
func (p Phase) timed(of direction) bool {
	for _, r := range p.Runs {
		if l := of(r.Measurement).Latency; l.Samples <= 0 || l.Mean <= 0 {
			return false
		}
	}
	return true
}

// meanLatency is that of the series, without its first sample, where one is wanted, and so of the I/Os by which it is
// tested; else that of all I/Os.
func (p Phase) meanLatency(of direction, series bool) figure {
	return p.figure(func(r Run) (float64, *estimate) {
		if !series {
			return milliseconds(of(r.Measurement).Latency.Mean), nil
		}
		e, _ := latency(r.windows(), r.Levels)
		return e.value, &e
	})
}

// logged says whether every run has a series of latency. In a mixed phase it counts both directions, and says nothing of one.
func (p Phase) logged() bool {
	for _, r := range p.Runs {
		if _, ok := latency(r.windows(), r.Levels); !ok || r.Read != nil && r.Write != nil {
			return false
		}
	}
	return true
}

func (p Phase) percentile(of direction, percent float64) (figure, bool) {
	var parts []result.Latency
	known := true
	f := p.figure(func(r Run) (float64, *estimate) {
		l := of(r.Measurement).Latency
		parts = append(parts, l)
		value, ok := percentile(l, percent)
		known = known && ok
		return value, nil
	})
	whole := result.Merged(parts)
	if value, ok := percentile(whole, percent); ok {
		f.value = value // of the runs' percentiles there is only a median
	}
	d := distribution{Latency: whole}
	for _, r := range p.Runs {
		windows := r.windows()
		if e, ok := latency(windows, r.Levels); ok && e.long() {
			d.windows += independent(windows, e.deviations)
		}
	}
	f.distribution = &d
	return f, known
}

// figure takes a figure of every run. Its value is that of the only run, or the median; of several runs, the one nearest to
// the median says how it wavered.
func (p Phase) figure(of func(Run) (float64, *estimate)) figure {
	var f figure
	var series []*estimate
	for _, r := range p.Runs {
		value, e := of(r)
		f.runs, series = append(f.runs, value), append(series, e)
	}
	f.value, _, _ = median(f.runs)
	nearest := 0
	for i, x := range f.runs {
		if math.Abs(x-f.value) < math.Abs(f.runs[nearest]-f.value) {
			nearest = i
		}
	}
	if e := series[nearest]; e != nil {
		f.series = &estimate{f.value, e.deviations, e.jumps}
	}
	return f
}

// scaled multiplies the figure of each run.
func (f figure) scaled(by func(Run) float64, runs []Run) figure {
	out := figure{}
	for i, x := range f.runs {
		out.runs = append(out.runs, x*by(runs[i]))
	}
	out.value, _, _ = median(out.runs)
	if f.series != nil {
		out.series = &estimate{out.value, f.series.deviations, f.series.jumps}
	}
	return out
}

func (f figure) interval() (low, high *float64) {
	if len(f.runs) < 2 {
		return nil, nil
	}
	_, l, h := median(f.runs)
	low, high = finite(l), finite(h)
	if low == nil || high == nil {
		return nil, nil
	}
	return low, high
}

// finite returns a number, and nil for what is none.
func finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}
