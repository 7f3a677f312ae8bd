package analyze

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"time"

	"ebscope/internal/ebs"
	"ebscope/internal/result"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

// Given is what is known of where results were measured. A part that is nil is not known.
type Given struct {
	Volume   *ebs.Volume // valid within the catalog
	Instance *ebs.Instance
}

// Readings analyzes results of any tool against the limits of a catalog: of the volume and the instance that are given,
// or else it looks for those that would explain what was measured. The document has a phase for each reading, in their
// order. Readings may hold anything: what cannot be is left out with a warning, and every number of the document is finite.
func Readings(catalog *ebs.Catalog, readings []result.Reading, notes []result.Note, given Given) Document {
	d := Document{
		Schema:  Schema,
		Run:     Identity{Target: result.Imported, Compress: 1, Complete: true},
		Volumes: []Volume{}, Phases: []Phase{}, Checks: []Check{}, Comparisons: []Comparison{}, Warnings: []result.Warning{}, Notes: notes,
	}
	if v := given.Volume; v != nil {
		d.Volumes = append(d.Volumes, describe(catalog, workload.Volume{Name: string(v.Type), Config: *v}))
	}
	instances := catalog.Instances()
	if given.Instance != nil {
		d.Run.Instance = given.Instance.Type
		instances = []ebs.Instance{*given.Instance}
	}
	all, limits := besides(readings), limitsOf(instances)
	for i, reading := range readings {
		r := newReader(catalog, given, reading, all[i])
		r.instances, r.instanceLimits = instances, limits
		p, checks := r.phase()
		d.Phases = append(d.Phases, p)
		d.Checks = append(d.Checks, checks...)
	}
	rounded(reflect.ValueOf(&d))
	return d
}

// reader analyzes one reading.
type reader struct {
	subject
	catalog *ebs.Catalog
	given   Given
	// What it may have been measured from: the instance that is given, or all of the catalog.
	instances      []ebs.Instance
	instanceLimits []instanceLimit
	reading        result.Reading
	members        []string // of a RAID
	beside         beside
	total          totals
	pace           pace
}

func newReader(catalog *ebs.Catalog, given Given, r result.Reading, b beside) reader {
	stated := r.Workload
	rd := reader{catalog: catalog, given: given, reading: r, members: raid(r.Disks), beside: b, total: summary(r.Total), pace: paceOf(r)}
	rd.subject = subject{compress: 1, usage: usage{operations: 1}, instance: b.ofInstance(given.Instance), whole: given.Instance, phase: workload.Phase{
		Name: r.Job, Pattern: workload.Pattern(stated.Pattern), BlockSize: observed(r), QueueDepth: max(0, stated.QueueDepth), Jobs: max(0, stated.Jobs),
		Duration: stated.Duration + stated.RampTime, ThinkTime: thinkTime(stated), RateIOPS: rd.pace.total(stated.Pattern),
	}}
	if stated.Duration <= 0 {
		rd.subject.phase.Duration = 0 // no end is known
		if rd.total.runtime > 0 {
			rd.subject.phase.Duration = rd.total.runtime + max(r.Window, time.Millisecond)
		}
	}
	if n := inFlight(r.Total); n != nil {
		rd.inFlight = *n
	}
	switch {
	case given.Volume != nil:
		rd.perf = b.of(together(catalog.Performance(*given.Volume), max(1, len(rd.members))))
		rd.subject.phase.Volume = string(given.Volume.Type)
		rd.usage = usageOf(rd.perf, rd.subject.phase)
		rd.ceilings = ceilings(rd.perf, rd.subject.phase, rd.usage, rd.instance)
	case given.Instance != nil:
		rd.ceilings = instanceCeilings(*rd.instance, rd.operationsOf(ebs.GP3), rd.subject.phase.BlockSize)
	}
	return rd
}

// phase returns what the document says of the reading, and its checks.
func (r reader) phase() (Phase, []Check) {
	stated := r.reading.Workload
	p := Phase{
		Name: r.reading.Job, Volume: r.subject.phase.Volume, State: string(result.Done),
		RW: stated.Pattern, BlockSize: max(0, int64(stated.BlockSize)), QueueDepth: r.subject.phase.QueueDepth, Jobs: r.subject.phase.Jobs,
		DurationS: max(0, stated.Duration).Seconds(), Segments: []Segment{}, LimitedBy: []LimitShare{}, Warnings: []result.Warning{},
		Foreign: &Foreign{
			Source: r.reading.Source, Tool: r.reading.Tool, Host: r.reading.Host, Group: r.reading.Group, Engine: stated.Engine,
			Members: r.members, Changes: []Change{}, Candidates: []Candidate{},
			AllowedIOPS: known(highest(r.ceilings)),
		},
	}
	if runtime := r.total.runtime.Seconds(); runtime > 0 {
		p.RuntimeS = &runtime
		if p.DurationS == 0 {
			p.DurationS = runtime
		}
	}
	if r.perf.Bursts() {
		p.Credits = &Credits{Capacity: float64(r.perf.Credits)}
	}
	if failure := r.reading.Failure; failure != nil {
		r.fail(&p, *failure)
		return p, nil
	}
	p.Outstanding = inFlight(r.reading.Total)
	p.Trim, p.Sync = alone(r.reading.Trim, r.total.runtime), alone(r.reading.Sync, r.total.runtime)
	p.Modes = modes(r.reading.Total.Latency.Bins)
	r.judgeReading(&p)
	checks := r.checks(p, r.reading.Measurement)
	for i := range checks {
		checks[i].Source = &p.Source
	}
	return p, checks
}

// judgeReading fills in the figures and what follows from them.
func (r reader) judgeReading(p *Phase) {
	m := r.reading.Measurement
	samples, _ := clean(m.IOPS)
	samples = during(samples, r.subject.phase.Duration)
	if text := r.contradicted(samples); text != "" {
		m.IOPS, samples = nil, nil
		m.Warnings = slices.DeleteFunc(slices.Clone(m.Warnings), func(w result.Warning) bool { return w.Code == seriesDiffers })
		p.Warnings = append(p.Warnings, result.Warning{Code: seriesDiffers, Text: text})
	}
	r.measure(p, m)
	if r.reading.Summed {
		p.unstated()
	}
	if r.total.iops == 0 && len(samples) == 1 { // a log of one line, without a summary
		p.IOPS = IOPS{Mean: samples[0].iops}
	}
	level := 0.0 // that was held over a series
	if p.IOPS.Max != nil && *p.IOPS.Max > 0 {
		c := r.course(samples)
		r.judgeCourse(p, c)
		r.tellStalls(p, c)
		if main := mainLevel(c); r.beyond(c, r.total) > 0 && main > highest(r.ceilings)*(1+near) {
			r.judgeAbove(p, main)
		}
		level = steadyLevel(*p, c)
	} else {
		r.judgeMean(p)
	}
	p.Warnings = append(p.Warnings, r.doubts(*p)...)
	if r.given.Volume == nil {
		r.explain(p, level)
	} else {
		r.ofAnother(p)
	}
	if len(samples) == 0 {
		r.judgeThroughput(p)
	}
	p.Advice = r.advice(*p)
}

// unstated takes back what a summary would state.
func (p *Phase) unstated() {
	p.IOPS.FioMean = 0
	for _, d := range []*Direction{p.Read, p.Write} {
		if d != nil {
			d.IOPS.FioMean = 0
		}
	}
}

// seriesDiffers is the code of the warning that a log and its summary contradict each other, whoever finds it first.
const seriesDiffers = "series-differs"

// contradicted says that a series and the summary cannot both be true; it is "" where they agree. The summary counts every
// I/O, and is trusted.
func (r reader) contradicted(samples []sample) string {
	const enough = 10 // samples: fio leaves out the last, incomplete window
	if len(samples) < enough || r.total.iops == 0 {
		return ""
	}
	mean := statisticsOf(samples).mean
	if math.Abs(mean-r.total.iops) <= seriesTotal*r.total.iops {
		return ""
	}
	return fmt.Sprintf("The log's mean over time is %s IOPS, the summary says %s, %.0f %% apart: the summary counts every I/O and is trusted, the log is left out of the findings.",
		amount(mean), amount(r.total.iops), 100*math.Abs(mean/r.total.iops-1))
}

// observed is the mean size of an I/O, or else the stated one; zero where neither is known.
func observed(r result.Reading) units.Bytes {
	if r.Total.IOs > 0 && r.Total.Bytes > 0 {
		return (r.Total.Bytes + units.Bytes(r.Total.IOs)/2) / units.Bytes(r.Total.IOs)
	}
	if r.Total.IOPS > 0 && r.Total.Throughput > 0 {
		return units.Bytes(math.Round(possible(float64(r.Total.Throughput) / float64(r.Total.IOPS))))
	}
	return max(0, r.Workload.BlockSize)
}

// inFlight is the mean number of I/Os in flight by Little's law: IOPS × latency. It is nil where one of them is not known.
func inFlight(d result.Direction) *float64 {
	mean, _ := fromSubmission(d.Latency)
	n := possible(float64(d.IOPS) * mean.Seconds())
	if n == 0 || d.IOPS < 0 {
		return nil
	}
	return &n
}

func thinkTime(stated result.Stated) time.Duration {
	microseconds, err := strconv.ParseInt(stated.Options["thinktime"], 10, 32)
	if err != nil || microseconds < 0 {
		return 0
	}
	return time.Duration(microseconds) * time.Microsecond
}

// alone describes I/Os that are no part of the total. Of flushes fio states the number, but no rate: over the runtime of
// reads and writes, the number tells it.
func alone(d *result.Direction, runtime time.Duration) *Direction {
	if d == nil {
		return nil
	}
	t := summary(*d)
	if t.iops == 0 && t.runtime == 0 && runtime > 0 {
		return &Direction{IOPS: IOPS{Mean: float64(t.ios) / runtime.Seconds()}, Latency: latency(d.Latency)}
	}
	return &Direction{IOPS: IOPS{Mean: t.iops, FioMean: t.iops}, ThroughputMiBps: t.throughput.MiBps(), Latency: latency(d.Latency)}
}
