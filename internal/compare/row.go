package compare

import (
	"fmt"
	"slices"
	"time"

	"ebscope/internal/result"
)

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
// are short, and with it goes a part of a short burst. It keeps only levels that noise cannot have made.
func (p pair) aligned() pair {
	var longest time.Duration
	phases := []*Phase{&p.a, &p.b}
	for _, phase := range phases {
		phase.Runs = slices.Clone(phase.Runs)
		for i := range phase.Runs {
			r := &phase.Runs[i]
			r.start = r.first(phase.Compress)
			longest = max(longest, r.start)
		}
	}
	alike := max(1, p.a.Compress) == max(1, p.b.Compress)
	for _, phase := range phases {
		for i := range phase.Runs {
			r := &phase.Runs[i]
			if alike {
				r.start = longest
			}
			r.Levels = joined(r.windows(), r.Levels)
		}
	}
	return p
}

// cut is how much of the start of both sides is left out, where that is more than a run's own first sample, and the figure
// therefore another than in the run's own analysis; else zero.
func (p pair) cut() time.Duration {
	const late = 1.1 // times its length; fio closes most windows a little late
	p = p.aligned()
	for _, phase := range []Phase{p.a, p.b} {
		for _, r := range phase.Runs {
			if first := r.first(phase.Compress); first > 0 && float64(r.start) > late*float64(first) {
				return r.start
			}
		}
	}
	return 0
}

func (p Phase) mixed() bool {
	for _, r := range p.Runs {
		if r.Read == nil || r.Write == nil {
			return false
		}
	}
	return true
}

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
	series := p.a.logged() && p.b.logged() // else the two means would not be of the same part of a phase
	rows := []Row{p.row(LatencyMean, "ms", name, p.a.meanLatency(of, series), p.b.meanLatency(of, series))}
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

// row holds a figure of b against that of a.
func (p pair) row(metric Metric, unit, name string, a, b figure) Row {
	r := Row{Phase: p.a.Name, AVolume: p.a.Volume, BVolume: p.b.Volume, Metric: metric, Direction: name,
		BlockSize: int64(p.a.Workload.BlockSize), Unit: unit, A: a.value, B: b.value, fromSeries: a.series != nil || b.series != nil}
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
