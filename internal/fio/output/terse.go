package output

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"ebscope/internal/lazy"
)

// terseStart is how a terse line begins: its version and, from 3 on, that of fio.
var terseStart = lazy.Regexp(`^(?:[345];fio-\d+\.\d[^;]*;|2;[^;]+;\d+;-?\d+;\d+;\d+;)`)

func isTerse(line string) bool {
	return len(line) > 2 && line[1] == ';' && line[0] >= '2' && line[0] <= '5' && terseStart().MatchString(line)
}

// The columns of a terse line for each direction: amount (KiB), bandwidth (KiB/s), IOPS and runtime (ms), four of the
// submission latency, four of the completion latency, its percentiles, four of the total latency and five of the
// bandwidth over time. Version 5 adds six, of bandwidth and IOPS over time. All latencies are in microseconds. Version 3
// has reads and writes; 4, 5 and later forms of 2 also have trims. With unified_rw_reporting there is one for all.
const (
	terseDirection   = 41
	terseDirection5  = terseDirection + 6
	terseCompletion  = 8
	tersePercentiles = 12
	terseTotal       = 32
	// Behind the directions: five of the processor, seven of queue depths, 22 of the spread of latencies, then nine for
	// each disk.
	terseRest = 34
	terseDisk = 9
)

// terse reads a terse line. Lines that follow one another are one document.
func (p *parser) terse(line string) {
	version, job, disks, err := terseJob(strings.Split(line, ";"))
	if err != nil {
		p.leftOut(0, "terse line: %v", err)
		return
	}
	if err := p.keep(len(line)); err != nil {
		p.leftOut(0, "left out: %v", err)
		return
	}
	job.line = p.line
	if n := len(p.documents); n > 0 && len(p.said) == 0 && p.documents[n-1].terse && p.documents[n-1].Version == version {
		p.documents[n-1].jobs = append(p.documents[n-1].jobs, job)
		return
	}
	p.documents = append(p.documents, Document{Version: version, Messages: p.said, jobs: []jobResult{job}, disks: disks, line: p.line, terse: true})
	p.said = nil
}

// columns reads numbers by column. The first that is none is kept as its error.
type columns struct {
	fields []string
	err    error
}

func (c *columns) number(i int) float64 {
	x, ok := parse([]byte(strings.TrimSuffix(c.fields[i], "%")))
	if !ok && c.err == nil {
		c.err = fmt.Errorf("column %d, %.40q, is no number", i+1, c.fields[i])
	}
	return x
}

func terseJob(fields []string) (version string, job jobResult, disks []disk, err error) {
	width, at := terseDirection, 4 // of the first direction
	if fields[0] != "2" {
		version, at = fields[1], 5
	}
	if fields[0] == "5" {
		width = terseDirection5
	}
	directions := terseDirections(fields, at, width)
	if directions == 0 {
		return "", job, nil, fmt.Errorf("%d columns; it was cut off, or is of a form that is not known", len(fields))
	}
	c := &columns{fields: fields}
	job.name, job.group, job.failure = fields[at-3], int(c.number(at-2)), int64(c.number(at-1))
	sides := []*direction{&job.read, &job.write, &job.trim}
	if directions == 1 {
		sides = []*direction{&job.mixed}
	}
	for i := range directions {
		*sides[i] = c.direction(at + i*width)
	}
	rest := at + directions*width + terseRest
	for ; rest+terseDisk <= len(fields) && strings.HasSuffix(fields[rest+terseDisk-1], "%"); rest += terseDisk {
		d := disk{}
		d.Name, d.Reads, d.Writes = fields[rest], int64(c.number(rest+1)), int64(c.number(rest+2))
		d.Utilization = c.number(rest + 8)
		disks = append(disks, d)
	}
	return version, job, disks, c.err
}

// terseDirections is how many directions a line has: the share of the processor comes behind them.
func terseDirections(fields []string, at, width int) int {
	for n := 1; n <= 3; n++ {
		end := at + n*width
		if end+terseRest > len(fields) {
			return 0
		}
		if strings.HasSuffix(fields[end], "%") && strings.HasSuffix(fields[end+1], "%") && !strings.HasSuffix(fields[end+2], "%") {
			return n
		}
	}
	return 0
}

func (c *columns) direction(at int) direction {
	const kib = 1024
	d := direction{
		bytes: c.number(at) * kib, kibibytes: c.number(at), bw: c.number(at + 1), iops: c.number(at + 2), runtime: c.number(at + 3),
		clat:  c.latency(at + terseCompletion),
		total: c.latency(at + terseTotal),
	}
	for _, field := range c.fields[at+tersePercentiles : at+terseTotal] {
		key, value, ok := strings.Cut(field, "%=")
		percent, okKey := parse([]byte(key))
		x, okValue := parse([]byte(value))
		if !ok || !okKey || !okValue {
			c.err = errors.Join(c.err, fmt.Errorf("%.40q is no percentile", field))
			return d
		}
		if percent > 0 {
			d.clat.percentiles = append(d.clat.percentiles, pair{percent, x})
		}
	}
	return d
}

func (c *columns) latency(at int) latency {
	return latency{unit: time.Microsecond, min: c.number(at), max: c.number(at + 1), mean: c.number(at + 2), n: -1}
}

// repeats says whether a document gives the same results as a terse one: fio writes both where it is told to.
func (d Document) repeats(terse Document) bool {
	if !terse.terse || terse.Version != d.Version || len(terse.jobs) != len(d.jobs) {
		return false
	}
	for i, job := range d.jobs {
		other := terse.jobs[i]
		if job.name != other.name || job.read.bw != other.read.bw || job.write.bw != other.write.bw || job.read.runtime != other.read.runtime {
			return false
		}
	}
	return true
}
