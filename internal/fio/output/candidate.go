package output

import (
	"bytes"
	"slices"

	"ebscope/internal/lazy"
)

// candidate reads an object. It is a document of fio where it says so or has jobs; others are searched for documents.
func (p *parser) candidate(nesting int) error {
	d := Document{line: p.line}
	was := p.inside
	defer func() { p.inside = was }()
	err := p.object(func(key string) (err error) {
		switch key {
		case "fio version":
			p.inside = true
			d.Version, err = p.string()
		case "timestamp_ms":
			d.at, err = p.number(key)
		case "global options":
			d.options, err = p.options()
		case "jobs", "client_stats":
			err = p.jobs(&d, nesting)
		case "disk_util":
			d.disks, err = p.disks()
		case "log", "message", "MESSAGE", "msg": // a collector of logs wraps each line
			err = p.collect(nesting)
		default:
			err = p.search(nesting)
		}
		return err
	})
	if d.Version != "" || len(d.jobs) > 0 {
		p.finish(d, err)
	}
	return err
}

// collect takes a line of text that came in an object of its own, unless it holds a document by itself.
func (p *parser) collect(nesting int) error {
	if p.next() != '"' || nesting > 0 {
		return p.search(nesting)
	}
	text, err := p.quoted(maxEmbedded)
	if err != nil {
		return err
	}
	switch n := len(p.collected); {
	case n > maxEmbedded: // as was noted
		return nil
	case n == 0:
		p.from = p.line
	case n+len(text) > maxEmbedded:
		p.leftOut(0, "more than %d MiB of text in log lines: the rest is left out", maxEmbedded>>20)
	}
	p.collected = append(p.collected, text...)
	if !slices.Contains(text, '\n') {
		p.collected = append(p.collected, '\n')
	}
	return nil
}

// jobs reads the list of jobs. The sum that fio adds for several clients is left out.
func (p *parser) jobs(d *Document, nesting int) error {
	if p.next() != '[' {
		return p.search(nesting)
	}
	const sum = "All clients"
	others := 0
	err := p.array(func() error {
		if p.next() != '{' {
			others++
			return p.search(nesting)
		}
		job, isJob, err := p.job(nesting)
		if err != nil || !isJob {
			return err
		}
		p.inside = true
		d.jobs = append(d.jobs, job)
		return p.keep(2 << 10)
	})
	if others > 0 && len(d.jobs) > 0 {
		p.doubt("the list of jobs has %d elements beside the %d that are jobs: left out", others, len(d.jobs))
	}
	isSum := func(j jobResult) bool { return j.name == sum && j.host != "" }
	isPart := func(j jobResult) bool { return !isSum(j) }
	if slices.ContainsFunc(d.jobs, isPart) {
		d.jobs = slices.DeleteFunc(d.jobs, isSum)
	}
	return err
}

// packedInStrings is the start of an array of strings that hold documents.
var packedInStrings = lazy.Regexp(`^\[\s*"(?:\s|\\[nrt])*\{`)

// opensStrings says whether the bracket that comes next begins such an array, at the start of a line.
func (p *parser) opensStrings() bool {
	return len(bytes.TrimSpace(p.current)) == 0 && packedInStrings().Match(p.more(2*maxPrefix))
}
