// Package output reads what fio wrote: its JSON, its terse lines and its averaged logs.
package output

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"ebscope/internal/fio"
)

// Document is a JSON document of fio, and the text that fio wrote around it.
type Document struct {
	Version string // as fio states it, such as "fio-3.33"
	// Messages are the lines of text before and after the document: fio prints errors and notices into it.
	Messages []string

	options map[string]string // that hold for all jobs
	jobs    []jobResult
	disks   []disk
	at      float64 // when it was written, in ms since 1970
	line    int     // where it begins
	terse   bool    // lines instead of JSON
}

// jobResult is one job, or one group of jobs, as far as it is used.
type jobResult struct {
	name, host        string
	group             int
	failure           int64             // the operating system's code
	options           map[string]string // nil where it states none
	read, write, trim direction
	mixed             direction // reads and writes together, with unified_rw_reporting
	sync              direction
	steadyState       steadyState
	line              int
}

// direction is what was done one way. What is not stated is zero.
type direction struct {
	bytes       float64 // in KiB in fio 2: see inBytes
	kibibytes   float64 // of the same
	bw          float64 // KiB/s
	bwBytes     float64 // bytes/s, more exact, not in every version
	iops        float64
	runtime     float64 // ms
	ios         float64
	total, clat latency
}

// latency is in its own unit.
type latency struct {
	unit           time.Duration // zero where there is none
	min, max, mean float64
	n              float64 // negative where it is not stated
	percentiles    []pair
	bins           []pair // with json+
}

// pair is a percentile with its latency, or a bin's latency with its count.
type pair struct{ key, value float64 }

type steadyState struct {
	criterion string
	attained  bool
}

// ReadDocument reads fio's JSON as our own runs have it: one document, of which nothing is missing. Text may stand
// before and after it. The name is that of the file, for errors.
func ReadDocument(name string, r io.Reader) (Document, error) {
	p, err := find(name, r)
	if err != nil {
		return Document{}, err
	}
	if len(p.notes) > 0 {
		return Document{}, fmt.Errorf("%s:%d: %s; restore the file from a copy, or run the benchmark anew", name, p.notes[0].Line, p.notes[0].Text)
	}
	switch len(p.documents) {
	case 0:
		return Document{}, p.nothing()
	case 1:
		return p.documents[0], nil
	default:
		return Document{}, fmt.Errorf("%s holds more than one document of fio; give each a file of its own", name)
	}
}

// nothing is the error where a text holds no results. It says what is there instead.
func (p *parser) nothing() error {
	const expected = "expected fio's JSON (--output-format=json or json+) or its terse lines (--minimal)"
	switch {
	case p.offset() == 0:
		return fmt.Errorf("%s is empty: fio was killed before it could write its results", p.name)
	case p.people:
		return fmt.Errorf("%s holds fio's output for people, which rounds; %s", p.name, expected)
	case len(p.all) == 0:
		return fmt.Errorf("%s holds no results of fio; %s", p.name, expected)
	}
	return fmt.Errorf("%s holds no results of fio; it says: %s; %s", p.name, strings.Join(p.all[:min(len(p.all), 3)], "; "), expected)
}

// JobError says that a job of fio failed, though fio wrote results.
type JobError struct {
	Code int      // of the operating system; some engines have negative codes of their own
	Text []string // what fio said
}

func (e *JobError) Error() string {
	text := fmt.Sprintf("fio's job failed with error %d", e.Code)
	if len(e.Text) > 0 {
		text += ": " + strings.Join(e.Text[:min(len(e.Text), 3)], "; ")
	}
	return text
}

// Err returns a JobError for the first job that failed, and nil where all succeeded.
func (d Document) Err() error {
	for _, job := range d.jobs {
		if job.failure != 0 {
			return &JobError{Code: job.code(), Text: d.Messages}
		}
	}
	return nil
}

// code is the job's error: fio prints its 32-bit codes without their sign.
func (j jobResult) code() int { return int(int32(j.failure)) }

// option returns what all jobs were told, or what the first was told for itself.
func (d Document) option(name string) string {
	if value, ok := d.jobs[0].options[name]; ok {
		return value
	}
	return d.options[name]
}

// runtime returns how long the jobs were told to run at most, without a unit in seconds.
func (d Document) runtime() time.Duration {
	const forEver = time.Duration(math.MaxInt64 / 2)
	if limit := duration(d.option("runtime")); limit > 0 {
		return min(limit, forEver)
	}
	return forEver
}

// ran returns how long the longest job ran.
func (d Document) ran() time.Duration {
	var ms float64
	for _, job := range d.jobs {
		ms = max(ms, job.runtime())
	}
	return time.Duration(min(max(0, ms), math.MaxInt64/2/float64(time.Millisecond)) * float64(time.Millisecond))
}

// isBefore says whether the document is known to come from a version before the one given.
func (d Document) isBefore(other fio.Version) bool {
	v, err := fio.ParseVersion(d.Version)
	return err == nil && !v.AtLeast(other)
}

// finish completes a document whose reading ended, well or not.
func (p *parser) finish(d Document, err error) {
	number := len(p.documents) + 1
	var f *fault
	if errors.As(err, &f) {
		p.leftOut(number, "%v in the middle of the document; whole jobs before that: %d", f, len(d.jobs))
	} else if len(d.jobs) == 0 {
		p.leftOut(number, "the document has no jobs")
	}
	if len(d.jobs) == 0 {
		return
	}
	d.Messages, p.said = p.said, nil
	d.settle()
	if last := len(p.documents) - 1; last >= 0 && (d.repeats(p.documents[last]) || d.continues(p.documents[last])) {
		d.Messages = append(p.documents[last].Messages, d.Messages...)
		p.documents = p.documents[:last]
	}
	p.documents = append(p.documents, d)
}

// continues says whether the document is a later state of the same run, as fio writes it with --status-interval: from
// one to the other its jobs have run for as long as the clock has. Another run just like it would have begun anew.
func (d Document) continues(earlier Document) bool {
	if d.at == 0 || earlier.at == 0 || d.Version != earlier.Version || len(d.jobs) != len(earlier.jobs) {
		return false
	}
	for i, job := range d.jobs {
		before := earlier.jobs[i]
		ran := before.runtime()
		slack := min(ran/2, 1500) // ms
		if job.name != before.name || ran == 0 || job.runtime() <= ran || math.Abs(job.runtime()-ran-(d.at-earlier.at)) > slack {
			return false
		}
	}
	return true
}

func (j jobResult) runtime() float64 {
	return max(j.read.runtime, j.write.runtime, j.trim.runtime, j.mixed.runtime)
}

// settle corrects what older versions wrote otherwise.
func (d *Document) settle() {
	// The percentiles of the total latency stood under the name of the completion latency.
	if !d.isBefore(fio.TotalLatencyPercentiles) {
		return
	}
	for i := range d.jobs {
		job := &d.jobs[i]
		if !on(merged(d.options, job.options), "lat_percentiles") {
			continue
		}
		for _, dir := range []*direction{&job.read, &job.write, &job.trim, &job.mixed} {
			if dir.total.unit == dir.clat.unit && !dir.total.known() {
				dir.total.percentiles, dir.clat.percentiles = dir.clat.percentiles, nil
				dir.total.bins, dir.clat.bins = dir.clat.bins, nil
			}
		}
	}
}
