package compare

import (
	"fmt"
	"path"
	"strings"
	"time"

	"ebscope/internal/analyze"
	"ebscope/internal/result"
)

// OfReadings makes a subject of what any tool wrote, which was analyzed: the document has a phase for each reading. Jobs that
// ran side by side under one name are one phase; what was run several times alike are repeats of one.
func OfReadings(name string, readings []result.Reading, document analyze.Document) Subject {
	s := Subject{Name: name, Target: string(document.Run.Target)}
	for from := 0; from < len(readings); {
		to := from + 1
		for to < len(readings) && besides(readings[from], readings[to]) {
			to++
		}
		s.add(phaseOf(readings[from:to], document.Phases[from]))
		from = to
	}
	return s
}

// besides says whether two jobs ran side by side under one name.
func besides(a, b result.Reading) bool {
	return a.Source.File == b.Source.File && a.Source.Document == b.Source.Document && a.Source.Document > 0 && a.Group == b.Group && a.Job == b.Job
}

// add adds a phase, or its run to the phase that it repeats.
func (s *Subject) add(p Phase) {
	for i := range s.Phases {
		if q := &s.Phases[i]; q.repeatedBy(p) {
			q.Runs = append(q.Runs, p.Runs...)
			return
		}
	}
	s.Phases = append(s.Phases, p)
}

// repeatedBy says whether another phase is the same, on the same file, as far as is known.
func (p Phase) repeatedBy(q Phase) bool {
	return p.Unfit == "" && q.Unfit == "" && p.Name == q.Name && p.Workload == q.Workload && p.Options != nil && q.Options != nil &&
		p.Options["filename"] == q.Options["filename"] && p.Options["directory"] == q.Options["directory"] && len(pair{p, q}.differences()) == 0
}

// phaseOf makes a phase of jobs that ran side by side; found is what was found of the first.
func phaseOf(jobs []result.Reading, found analyze.Phase) Phase {
	r := jobs[0]
	stated := r.Workload
	w := Workload{stated.Pattern, stated.BlockSize, stated.QueueDepth, max(stated.Jobs, len(jobs))}
	p := Phase{Name: r.Job, Workload: w, Options: stated.Options, Facts: readingFacts(r, w)}
	if p.Name == "" {
		p.Name = strings.TrimSuffix(path.Base(r.Source.File), path.Ext(r.Source.File))
	}
	for _, job := range jobs {
		if job.Failure != nil {
			p.Unfit = strings.TrimSuffix(fmt.Sprintf(failed+" with error %d: %s", job.Failure.Code, strings.Join(job.Failure.Text[:min(1, len(job.Failure.Text))], "")), ": ")
			return p
		}
	}
	run := Run{Measurement: r.Measurement}
	if stated.Duration > 0 {
		run.Duration = stated.Duration + stated.RampTime
	}
	if len(jobs) == 1 {
		run.Levels = levels(found)
	} else {
		run.Measurement = sum(jobs)
	}
	run.distrust(found)
	if run.Total.IOPS <= 0 && len(run.IOPS) == 0 {
		p.Unfit = "it has no rate"
		return p
	}
	p.Runs = []Run{run}
	return p
}

// distrust drops a series that contradicts the summary, which counts every I/O.
func (r *Run) distrust(found analyze.Phase) {
	for _, w := range found.Warnings {
		if w.Code == "series-differs" {
			r.IOPS, r.Latency, r.Levels = nil, nil, nil
		}
	}
}

func levels(found analyze.Phase) (all []Level) {
	for _, segment := range found.Segments {
		all = append(all, Level{seconds(segment.FromS), seconds(segment.ToS)})
	}
	return all
}

func readingFacts(r result.Reading, w Workload) []Fact {
	stated := r.Workload
	reads, size, direct, ramp := 0, "", "", ""
	if stated.ReadPercent != nil {
		reads = *stated.ReadPercent
	}
	if stated.Size > 0 {
		size = stated.Size.String()
	}
	if stated.Direct != nil {
		direct = fmt.Sprint(*stated.Direct)
	}
	if stated.Options != nil || stated.RampTime > 0 {
		ramp = stated.RampTime.String()
	}
	return append(workloadFacts(w, reads, stated.Duration),
		facts("ioengine", stated.Engine, "direct", direct, "size", size, "ramp_time", ramp, "rate", stated.Rate, "tool", r.Tool)...)
}

// sum adds up jobs that ran side by side. Their series are added where they have the same windows; else there is none.
func sum(jobs []result.Reading) result.Measurement {
	m := result.Measurement{Source: jobs[0].Measurement.Source, Window: jobs[0].Window}
	var total, read, write []result.Direction
	series := make([]result.Series, len(jobs))
	for i, job := range jobs {
		total = append(total, job.Total)
		if job.Read != nil && job.Write != nil {
			read, write = append(read, *job.Read), append(write, *job.Write)
		}
		series[i] = job.IOPS
	}
	m.Total = result.Together(total)
	if len(read) == len(jobs) {
		r, w := result.Together(read), result.Together(write)
		m.Read, m.Write = &r, &w
	}
	m.IOPS = added(series, m.Window)
	return m
}

func added(series []result.Series, window time.Duration) result.Series {
	var out result.Series
	for i, p := range series[0] {
		for _, s := range series[1:] {
			if len(s) != len(series[0]) || (s[i].End-p.End).Abs() > window/2 {
				return nil
			}
			p.Value += s[i].Value
		}
		out = append(out, p)
	}
	return out
}
