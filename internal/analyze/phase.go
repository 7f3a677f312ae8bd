package analyze

import (
	"math"
	"time"

	"ebscope/internal/ebs"
	"ebscope/internal/result"
	"ebscope/internal/simulate"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

// subject is what is known about a phase without its result.
type subject struct {
	phase    workload.Phase // compressed
	perf     ebs.Performance
	instance *ebs.Instance // as the phase has it to itself
	whole    *ebs.Instance // with all that runs on it
	usage                  // of an I/O
	ceilings []ceiling
	compress float64
	striped  bool // RAID 0 over several volumes
	restored bool // from a snapshot: what is touched first is slow
	balance  balance
	inFlight float64 // I/Os on average, where no queue depth is stated; zero where that is not known either
}

// subject returns what is known about the phase of an index, which has the given instance to itself.
func (a *analysis) subject(i int, instance *ebs.Instance) subject {
	p := a.profile.Phases[i]
	perf := performanceOf(a.catalog, a.profile, p)
	each := usageOfDisk(perf, a.profile, p)
	s := subject{
		phase: p, perf: perf, instance: instance, whole: a.instance, usage: each,
		ceilings: ceilings(perf, p, each, instance), compress: a.run.Compress,
	}
	_, s.striped = a.profile.Stripe(p.Volume)
	s.restored = a.profile.Members(p.Volume)[0].Restored != nil
	if perf.Bursts() {
		s.balance = balanceOf(a.run.Phases[i].Credits)
	}
	return s
}

// phase analyzes the phase of the given index and adds it, with its checks, to the document.
func (a *analysis) phase(s subject, i int, m *result.Measurement, predicted *simulate.Phase) {
	record := a.run.Phases[i]
	p := Phase{
		Name: s.phase.Name, Volume: s.phase.Volume, State: string(record.State),
		RW: string(s.phase.Pattern), BlockSize: int64(s.phase.BlockSize), QueueDepth: s.phase.QueueDepth, Jobs: s.phase.Jobs,
		DurationS: s.phase.Duration.Seconds(),
		Segments:  []Segment{}, LimitedBy: []LimitShare{}, Warnings: []result.Warning{},
	}
	if s.perf.Bursts() {
		p.Credits = &Credits{Capacity: float64(s.perf.Credits) / s.compress, Start: s.balance.start, End: s.balance.end}
	}
	if predicted != nil {
		p.Expected = s.expect(*predicted, m)
	}
	if m == nil {
		if record.Error != "" {
			p.Warnings = append(p.Warnings, result.Warning{Code: "failed", Text: record.Error})
		}
		a.document.Phases = append(a.document.Phases, p)
		return
	}
	s.measure(&p, *m)
	s.judgeBeyond(&p, *m)
	a.document.Phases = append(a.document.Phases, p)
	a.document.Checks = append(a.document.Checks, s.checks(p, *m)...)
}

// measure fills in what a measurement says.
func (s subject) measure(p *Phase, m result.Measurement) {
	samples, dropped := clean(m.IOPS)
	samples = during(samples, s.phase.Duration)
	total := summary(m.Total)
	p.ThroughputMiBps = total.throughput.MiBps()
	p.Latency = latency(m.Total.Latency)
	var c course
	if len(samples) > 1 {
		c = s.course(samples)
		s.find(p, c)
	} else {
		p.IOPS = IOPS{Mean: total.iops}
		if total.runtime > 0 {
			p.Verdict, p.Summary = s.judgeShort(total, m.Window)
		}
	}
	p.IOPS.FioMean = total.iops
	p.Read, p.Write = direction(m.Read, p.IOPS, total), direction(m.Write, p.IOPS, total)
	p.Warnings = append(p.Warnings, m.Warnings...)
	p.Warnings = append(p.Warnings, s.warnings(*p, c, total, len(samples), dropped)...)
}

// find fills in what the series says.
func (s subject) find(p *Phase, c course) {
	s.level(p, c)
	s.conclude(p, c)
}

// level fills in the levels of a course, and what held them.
func (s subject) level(p *Phase, c course) {
	plain := statisticsOf(c.rest)
	for _, l := range c.levels {
		p.Segments = append(p.Segments, Segment{l.from.Seconds(), l.to.Seconds(), l.mean, l.min, l.max})
	}
	p.IOPS = IOPS{Mean: plain.mean, Min: &plain.min, Max: &plain.max}
	p.LimitedBy = limitedBy(c, s.ceilings)
}

// conclude fills in the fall and the verdict.
func (s subject) conclude(p *Phase, c course) {
	f, fell := findFall(c, s.ceilings)
	if !fell {
		p.Verdict, p.Summary = s.judge(c, nil)
		if p.Verdict == BurstOnly || p.Verdict == BurstThenBaseline {
			p.Burst = creditsOf(sustainable(s.ceilings))
		}
		return
	}
	p.Cliff = s.cliff(f)
	if f.cause == GP2Credits {
		p.Credits.InferredStart = known(inferredCredits(c, f, s.operations, float64(s.perf.Baseline)))
	}
	p.Verdict, p.Summary = s.judge(c, &f)
	if p.Verdict == BurstThenBaseline {
		p.Burst = f.cause
	}
}

func (s subject) cliff(f fall) *Cliff {
	return &Cliff{
		AtS: f.at.Seconds(), AtSUncompressed: f.at.Seconds() * s.compress,
		BeforeIOPS: f.before.typical, AfterIOPS: f.after.typical, DropPercent: 100 * f.drop(), Cause: f.cause,
	}
}

// expect reads a prediction with the same methods as a measurement, so that what they do to a figure cancels out.
// measured is nil where there is none.
func (s subject) expect(predicted simulate.Phase, measured *result.Measurement) *Expected {
	var p Phase
	p.Credits = &Credits{}
	m := predicted.Measurement
	switch {
	case measured != nil && len(measured.IOPS) > 1:
		m.IOPS = joined(m.IOPS, measured.IOPS[0].End)
	case measured != nil:
		m.IOPS = nil
	}
	if s.perf.Bursts() {
		s.balance = balanceOf(predicted.Credits)
	}
	s.measure(&p, m)
	e := &Expected{IOPSMean: p.IOPS.Mean, IOPSFioMean: p.IOPS.FioMean, ThroughputMiBps: p.ThroughputMiBps}
	if l := p.Latency; l != nil {
		value := func(percentile *float64) float64 {
			if percentile == nil {
				return 0
			}
			return *percentile
		}
		e.LatencyMeanMS, e.LatencyP50MS, e.LatencyP95MS, e.LatencyP99MS = l.Mean, value(l.P50), value(l.P95), value(l.P99)
	}
	if p.Cliff != nil {
		e.CliffAtS = &p.Cliff.AtS
	}
	ofVolume := p.Cliff == nil || p.Cliff.Cause == GP2Credits || p.Cliff.Cause == HDDCredits
	if p.Verdict == BurstThenBaseline && ofVolume && predicted.Dry != nil {
		e.CliffAtS = known(predicted.Dry.Seconds()) // exactly
	}
	return e
}

// totals is a summary in which every number is one.
type totals struct {
	ios        int64
	iops       float64
	throughput units.Throughput
	runtime    time.Duration
}

func summary(d result.Direction) totals {
	return totals{
		ios: max(0, d.IOs), iops: possible(float64(d.IOPS)),
		throughput: units.Throughput(possible(float64(d.Throughput))), runtime: max(0, d.Runtime),
	}
}

// direction describes the reads or the writes of a mixed phase.
func direction(d *result.Direction, whole IOPS, total totals) *Direction {
	if d == nil {
		return nil
	}
	part := summary(*d)
	out := &Direction{IOPS: IOPS{Mean: part.iops, FioMean: part.iops}, ThroughputMiBps: part.throughput.MiBps(), Latency: latency(d.Latency)}
	if whole.Min == nil { // there is no series to share
		return out
	}
	share := 0.0
	switch {
	case total.ios > 0 && part.ios > 0:
		share = min(1, float64(part.ios)/float64(total.ios))
	case total.iops > 0 && part.iops > 0: // of averages, nobody counts the I/Os
		share = min(1, part.iops/total.iops)
	default:
		return out
	}
	out.IOPS.Mean, out.IOPS.Min, out.IOPS.Max = whole.Mean*share, known(*whole.Min*share), known(*whole.Max*share)
	return out
}

// latency is nil where none was measured.
func latency(l result.Latency) *Latency {
	if l.Samples <= 0 && l.Mean <= 0 {
		return nil
	}
	percentile := func(percent float64) *float64 {
		if d, ok := l.Percentile(percent); ok {
			return known(milliseconds(d))
		}
		return nil
	}
	return &Latency{
		Kind: l.Kind, Mean: milliseconds(l.Mean), Max: milliseconds(l.Max),
		P50: percentile(50), P95: percentile(95), P99: percentile(99),
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// possible returns a rate or an amount, and zero for what cannot be one.
func possible(x float64) float64 {
	if p := known(x); p != nil {
		return *p
	}
	return 0
}

// known returns an amount, and nil for what cannot be one.
func known(x float64) *float64 {
	const absurd = 1e18
	if math.IsNaN(x) || x < 0 || x > absurd {
		return nil
	}
	return &x
}
