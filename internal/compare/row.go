package compare

import (
	"fmt"
	"math"
	"slices"
	"time"

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

// rows compares every figure that both phases have.
func (p pair) rows() []Row {
	p = p.aligned()
	total := func(m result.Measurement) *result.Direction { return &m.Total }
	read := func(m result.Measurement) *result.Direction { return m.Read }
	write := func(m result.Measurement) *result.Direction { return m.Write }
	if !p.a.mixed() || !p.b.mixed() {
		return append(append(p.rates("", total), p.steady()...), p.latencies("", total)...)
	}
	// What a read takes says little about a write, and of both together nothing.
	rows := append(p.rates("", total), p.steady()...)
	rows = append(rows, append(p.rates("read", read), p.latencies("read", read)...)...)
	return append(rows, append(p.rates("write", write), p.latencies("write", write)...)...)
}

// aligned leaves out as much of the start of each run as the longest first sample holds: fio closes it late where windows
// are short, and with it goes a part of a short burst.
func (p pair) aligned() pair {
	var start time.Duration
	phases := []*Phase{&p.a, &p.b}
	if max(1, p.a.Compress) != max(1, p.b.Compress) {
		return p
	}
	for _, phase := range phases {
		for _, r := range phase.Runs {
			if all := r.all(); len(all) > 0 {
				start = max(start, all[0].to)
			}
		}
	}
	for _, phase := range phases {
		phase.Runs = slices.Clone(phase.Runs)
		for i := range phase.Runs {
			phase.Runs[i].start = start
		}
	}
	return p
}

func (p Phase) mixed() bool {
	for _, r := range p.Runs {
		if r.Read == nil || r.Write == nil {
			return false
		}
	}
	return true
}

// direction picks reads, writes or both of a measurement.
type direction func(result.Measurement) *result.Direction

func (p pair) rates(name string, of direction) []Row {
	a, b := p.a.iops(of), p.b.iops(of)
	rows := []Row{p.row(IOPS, "IOPS", name, a, b)}
	throughput := func(p Phase, f figure) figure {
		// The data of an I/O is the same throughout, so the rate of data goes as that of I/Os.
		return f.scaled(func(r Run) float64 {
			d := of(r.Measurement)
			if d.IOs == 0 {
				return 0
			}
			return d.Bytes.MiB() / float64(d.IOs)
		}, p.Runs)
	}
	if a, b := throughput(p.a, a), throughput(p.b, b); a.value > 0 && b.value > 0 {
		rows = append(rows, p.row(Throughput, "MiB/s", name, a, b))
	}
	return rows
}

// iops of a direction: the mean of the series, which counts both directions, times the direction's share of all I/Os;
// where there is no series, the summary's.
func (p Phase) iops(of direction) figure {
	return p.figure(func(r Run) (float64, *estimate) {
		d := of(r.Measurement)
		if e, ok := rate(r.windows(), r.Levels); ok && r.Total.IOs > 0 {
			return e.value * float64(d.IOs) / float64(r.Total.IOs), &e
		}
		return float64(d.IOPS), nil
	})
}

// steady compares the last levels, where a level changed on either side.
func (p pair) steady() []Row {
	a, okA := p.a.steady(rate)
	b, okB := p.b.steady(rate)
	if !okA || !okB || !p.a.changes() && !p.b.changes() {
		return nil
	}
	rows := []Row{p.row(IOPS, "IOPS", "", a, b)}
	a, okA = p.a.steady(latency)
	b, okB = p.b.steady(latency)
	if okA && okB && p.unlike() == "" {
		rows = append(rows, p.row(LatencyMean, "ms", "", a, b))
	}
	for i := range rows {
		rows[i].Part = Steady
	}
	return rows
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

// unlike says why latencies cannot be compared, empty where they can.
func (p pair) unlike() string {
	a, b := p.a.Runs[0].Total.Latency, p.b.Runs[0].Total.Latency
	if a.Samples > 0 && b.Samples > 0 && a.Kind != b.Kind {
		return fmt.Sprintf("one side has %s, the other %s: latency with and without submission", a.Kind, b.Kind)
	}
	return ""
}

func (p pair) latencies(name string, of direction) []Row {
	if p.unlike() != "" || !p.a.timed(of) || !p.b.timed(of) {
		return nil
	}
	rows := []Row{p.row(LatencyMean, "ms", name, p.a.meanLatency(of), p.b.meanLatency(of))}
	for _, m := range []struct {
		metric  Metric
		percent float64
	}{{LatencyP50, 50}, {LatencyP95, 95}, {LatencyP99, 99}} {
		a, okA := p.a.percentile(of, m.percent)
		b, okB := p.b.percentile(of, m.percent)
		if okA && okB {
			rows = append(rows, p.row(m.metric, "ms", name, a, b))
		}
	}
	// Of a maximum, one run tells nothing.
	longest := func(r Run) (float64, *estimate) { return milliseconds(of(r.Measurement).Latency.Max), nil }
	return append(rows, p.row(LatencyMax, "ms", name, p.a.figure(longest), p.b.figure(longest)))
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

// meanLatency is that of all I/Os; the series says how it wavered. In a mixed phase it counts both directions, and
// says nothing of one.
func (p Phase) meanLatency(of direction) figure {
	return p.figure(func(r Run) (float64, *estimate) {
		mean := milliseconds(of(r.Measurement).Latency.Mean)
		e, ok := latency(r.windows(), r.Levels)
		if !ok || r.Read != nil && r.Write != nil {
			return mean, nil
		}
		return mean, &e
	})
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
	whole := merged(parts)
	if value, ok := percentile(whole, percent); ok {
		f.value = value // of the runs' percentiles there is only a median
	}
	d := distribution{Latency: whole}
	for _, r := range p.Runs {
		windows := r.windows()
		if e, ok := latency(windows, r.Levels); ok {
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

// row holds a figure of b against that of a.
func (p pair) row(metric Metric, unit, name string, a, b figure) Row {
	r := Row{Phase: p.a.Name, AVolume: p.a.Volume, BVolume: p.b.Volume, Metric: metric, Direction: name,
		BlockSize: int64(p.a.Workload.BlockSize), Unit: unit, A: a.value, B: b.value}
	if p.b.Name != p.a.Name {
		r.BPhase = p.b.Name
	}
	r.ALow, r.AHigh = a.interval()
	r.BLow, r.BHigh = b.interval()
	if a.value > 0 {
		ratio := b.value / a.value
		r.Ratio = &ratio
	}
	r.test(a, b)
	return r
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
