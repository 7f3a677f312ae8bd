// Package compare holds runs, or files of results, against a baseline, and says of which differences there is proof. It
// matches phases, shows the options that differ, and tests every figure: by the Mann-Whitney U test where runs were
// repeated, by a bootstrap over the series where there is one run a side.
package compare

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ebscope/internal/result"
	"ebscope/internal/units"
)

// Subject is one side of a comparison: a run, a file, or several that repeat each other.
type Subject struct {
	Name   string
	Facts  []Fact // that hold for all phases
	Phases []Phase
	// Target is what was driven, empty where it is not known; Compress is how many times it was compressed, zero where it is not known.
	Target   string
	Compress float64
}

// Fact is something about a subject or a phase that a reader must know before comparing it. What is not known is no fact.
type Fact struct{ Name, Value string }

// Phase is a workload that a subject ran.
type Phase struct {
	Name, Volume string
	Workload     Workload
	Facts        []Fact
	Options      map[string]string // all options as the tool states them, nil where it does not
	Compress     float64           // how many times the run was compressed; zero means once
	// Unfit says why the figures are worth nothing: the phase failed, or was cut. It is empty where they count.
	Unfit string
	Runs  []Run // one for each repeat
}

// Workload is what was run. Zero is unknown.
type Workload struct {
	Pattern          string // fio's rw
	BlockSize        units.Bytes
	QueueDepth, Jobs int
}

// Run is what one run of a phase gave.
type Run struct {
	result.Measurement
	Duration time.Duration // for which it was to run; zero: unknown, or until its work was done
	Levels   []Level       // between which IOPS changed, in ascending time; none: unknown

	start time.Duration // what is compared begins no earlier
}

// Level is a stretch in which IOPS held.
type Level struct{ From, To time.Duration }

// Compare holds every subject but the first against the first, the baseline.
func Compare(baseline Subject, others []Subject, thresholds []Threshold) Document {
	d := Document{
		Schema: Schema, Subjects: []Side{side(baseline)}, Differences: []Difference{}, Rows: []Row{}, LeftOut: []LeftOut{},
		Regressions: []string{}, Notes: []string{}, Unjudged: []string{},
	}
	for _, other := range others {
		d.Subjects = append(d.Subjects, side(other))
		d.add(baseline, other)
	}
	if text := d.firstSample(); text != "" {
		d.Notes = append(d.Notes, text)
	}
	// What was driven matters before anything else that differs.
	slices.SortStableFunc(d.Differences, func(x, y Difference) int { return rank(x) - rank(y) })
	d.judge(thresholds)
	return d
}

// firstSample says which figures hold the first sample, where some do and others do not; else it is empty.
func (d *Document) firstSample() string {
	without := slices.ContainsFunc(d.Rows, func(r Row) bool { return r.fromSeries })
	with := slices.ContainsFunc(d.Rows, func(r Row) bool { return !r.fromSeries && !r.Metric.HigherIsBetter() })
	if !without || !with {
		return ""
	}
	return "Rates, and mean latencies that were logged, leave out the first sample of the series, which holds the one-off burst of a full rate bucket. " +
		"Other latencies, such as percentiles, are of all I/Os: a summary does not say when an I/O was."
}

// targetFact names the fact of what was driven.
const targetFact = "target"

func rank(x Difference) int {
	if x.Option == targetFact {
		return 0
	}
	return 1
}

func side(s Subject) Side {
	runs := 0
	for _, p := range s.Phases {
		runs = max(runs, len(p.Runs))
	}
	return Side{Name: s.Name, Runs: runs, Target: s.Target, Compress: s.Compress}
}

func (d *Document) add(baseline, other Subject) {
	pairs, left := match(baseline, other)
	d.LeftOut = append(d.LeftOut, left...)
	d.lost = append(d.lost, lost(baseline, other, pairs)...)
	for _, f := range differing(baseline.Facts, other.Facts) {
		d.differ("", "", baseline, other, f)
	}
	var cut []string
	var most time.Duration
	for _, pair := range pairs {
		if start := pair.cut(); start > 0 {
			cut, most = append(cut, strings.TrimSpace(pair.volume()+" "+pair.a.Name)), max(most, start)
		}
		for _, f := range pair.differences() {
			d.differ(pair.a.Name, pair.volume(), baseline, other, f)
		}
		if unlike := pair.unlike(); unlike != "" {
			d.Notes = append(d.Notes, fmt.Sprintf("Latencies of %s are not compared: %s.", pair.a.Name, unlike))
		}
		for _, row := range pair.rows() {
			row.Baseline, row.Subject = baseline.Name, other.Name
			d.Rows = append(d.Rows, row)
		}
	}
	if len(cut) > 0 {
		d.Notes = append(d.Notes, fmt.Sprintf("The first samples of %s are of different lengths on the two sides: both leave out as much as the longest holds, up to %v. "+
			"A figure may therefore differ from the one in the run's own analysis, or against another run.", strings.Join(cut, ", "), most.Round(time.Millisecond)))
	}
}
