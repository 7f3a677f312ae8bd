package output

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"ebscope/internal/lazy"
	"ebscope/internal/result"
)

// Read reads every result of fio in a text: JSON documents wherever they stand, and terse lines. There is a reading for
// each job, or group of jobs that was reported as one. Notes say what was skipped, and repeat the text beside a result;
// that beside a job that failed is the text of its failure. Where there are no results, but errors that fio printed, the one
// reading is of a failure. Read fails where nothing is of use, and says what was expected and what is there.
//
// The name is that of the file, for readings, notes and errors. Whatever the text, it takes memory only for what it
// keeps, and stops where that is too much.
func Read(name string, r io.Reader) ([]result.Reading, []result.Note, error) {
	p, err := find(name, r)
	if err != nil {
		return nil, p.notes, err
	}
	var readings []result.Reading
	for i, d := range p.documents {
		source := result.Source{File: name, Line: d.line, Document: i + 1}
		if d.Err() == nil {
			p.remarks(i+1, d)
		}
		for _, job := range d.jobs {
			reading, doubts := d.reading(source, job)
			readings = append(readings, reading)
			for _, text := range doubts {
				p.line = job.line
				p.leftOut(i+1, "%s: unknown", text)
			}
		}
	}
	switch {
	case len(readings) > 0:
		return readings, p.notes, nil
	case len(p.notes) > 0:
		return nil, p.notes, fmt.Errorf("%s:%d: %s; expected fio's JSON with at least one whole job", name, p.notes[0].Line, p.notes[0].Text)
	}
	if failed, ok := failure(p.all); ok {
		failed.Source = result.Source{File: name, Line: 1}
		return []result.Reading{failed}, nil, nil
	}
	return nil, nil, p.nothing()
}

// remarks notes what the program said beside a result that it calls good.
func (p *parser) remarks(number int, d Document) {
	p.line = d.line
	for _, text := range d.Messages {
		p.note(number, false, "%s", text)
	}
}

// reading is what the document says of one of its jobs, and which of its figures cannot be.
func (d Document) reading(source result.Source, job jobResult) (result.Reading, []string) {
	source.Line = job.line
	out := result.Reading{
		Source: source, Tool: d.Version, Host: job.host, Job: job.name, Group: job.group,
		Workload:    stated(d.options, job.options),
		Measurement: result.Measurement{Source: d.Version},
		Disks:       disksOf(job.host, d.disks),
	}
	if out.Tool == "" {
		out.Tool = "fio"
	}
	if n := whole32(out.Workload.Options["numjobs"]); n > 1 && out.Workload.Options["group_reporting"] != "0" && d.single(job) {
		out.Workload.Jobs = n // group_reporting on the command line is in no job's options
	}
	var r review
	one := Document{Version: d.Version, options: d.options, jobs: []jobResult{job}}
	some := one.measure(&out.Measurement, &r)
	if job.trim.some() {
		trim := job.trim.convert(one, fmt.Sprintf("job %q, trim", job.name), one.kind(), &r)
		out.Trim = &trim
	}
	if job.sync.ios > 0 || job.sync.total.n > 0 {
		sync := job.sync.convert(one, fmt.Sprintf("job %q, sync", job.name), total, &r)
		out.Sync = &sync
	}
	if job.steadyState.criterion != "" {
		out.SteadyState = &result.SteadyState{Criterion: job.steadyState.criterion, Attained: job.steadyState.attained}
	}
	switch {
	case job.failure != 0:
		out.Failure = &result.Failure{Code: job.code(), Text: d.Messages}
	case !some && out.Trim == nil:
		r.warn(noIO, "fio states no reads, writes or trims%s", quote(d.Messages))
	}
	out.Warnings = append(out.Warnings, r.warnings...)
	return out, r.doubts
}

// single says whether the document has one entry of a job's name. Of clones that are not reported as one it has several.
func (d Document) single(job jobResult) bool {
	n := 0
	for _, other := range d.jobs {
		if other.name == job.name && other.host == job.host {
			n++
		}
	}
	return n == 1
}

// What fio prints of errors and of itself.
var (
	errorCode     = lazy.Regexp(`\berr=\s*(-?\d{1,10})/`)
	verifyFailure = lazy.Regexp(`^verify: bad|: verify failed|^fio: verify`)
	jobLine       = lazy.Regexp(`^(.+): \(g=(\d{1,9})\): rw=(\w+)`)
	versionLine   = lazy.Regexp(`^fio-\d+\.\d\S*$`)
)

// failure makes a reading of the errors in what fio printed, if there are any.
func failure(said []string) (reading result.Reading, failed bool) {
	reading.Tool = "fio"
	reading.Failure = &result.Failure{Text: said}
	for _, line := range said {
		if m := errorCode().FindStringSubmatch(line); m != nil && strings.Trim(m[1], "0") != "" {
			failed = true
			if reading.Failure.Code == 0 {
				reading.Failure.Code, _ = strconv.Atoi(m[1])
			}
		}
		failed = failed || verifyFailure().MatchString(line)
		if m := jobLine().FindStringSubmatch(line); m != nil && reading.Job == "" {
			reading.Job, reading.Workload.Pattern = m[1], m[3]
			reading.Group, _ = strconv.Atoi(m[2])
		}
		if versionLine().MatchString(line) {
			reading.Tool = line
		}
	}
	reading.Measurement.Source = reading.Tool
	return reading, failed
}
