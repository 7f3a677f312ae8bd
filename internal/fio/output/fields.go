package output

import (
	"slices"
	"time"
)

// job reads a job, and says whether it is one.
func (p *parser) job(nesting int) (job jobResult, isJob bool, err error) {
	job.line = p.line
	err = p.object(func(key string) (err error) {
		var x float64
		switch key {
		case "jobname":
			isJob = true
			job.name, err = p.string()
		case "hostname":
			job.host, err = p.string()
		case "groupid":
			x, err = p.number(key)
			job.group = int(x)
		case "error":
			x, err = p.number(key)
			job.failure = int64(x)
		case "job options":
			isJob = true
			job.options, err = p.options()
		case "read":
			isJob = true
			err = p.direction(&job.read)
		case "write":
			isJob = true
			err = p.direction(&job.write)
		case "trim":
			err = p.direction(&job.trim)
		case "mixed":
			isJob = true
			err = p.direction(&job.mixed)
		case "sync":
			err = p.direction(&job.sync)
		case "steadystate":
			err = p.steadyState(&job.steadyState)
		default:
			if isJob {
				err = p.skip(key)
			} else {
				err = p.search(nesting)
			}
		}
		return err
	})
	return job, isJob, err
}

// options reads options by name. It is never nil where there is an object.
func (p *parser) options() (map[string]string, error) {
	if p.next() != '{' {
		return nil, p.skip("")
	}
	options := map[string]string{}
	return options, p.object(func(key string) error {
		value, err := p.string()
		options[key] = value // the last of several holds, as it does in fio
		if err != nil {
			return err
		}
		return p.keep(64 + len(key))
	})
}

func (p *parser) direction(d *direction) error {
	if p.next() != '{' {
		return p.skip("")
	}
	return p.object(func(key string) (err error) {
		switch key {
		case "io_bytes":
			d.bytes, err = p.number(key)
		case "io_kbytes":
			d.kibibytes, err = p.number(key)
		case "bw":
			d.bw, err = p.number(key)
		case "bw_bytes":
			d.bwBytes, err = p.number(key)
		case "iops":
			d.iops, err = p.number(key)
		case "runtime":
			d.runtime, err = p.number(key)
		case "total_ios":
			d.ios, err = p.number(key)
		case "lat_ns":
			err = p.latency(&d.total, time.Nanosecond)
		case "lat": // fio 2
			err = p.latency(&d.total, time.Microsecond)
		case "clat_ns":
			err = p.latency(&d.clat, time.Nanosecond)
		case "clat":
			err = p.latency(&d.clat, time.Microsecond)
		default:
			err = p.skip(key)
		}
		return err
	})
}

func (p *parser) latency(l *latency, unit time.Duration) error {
	if p.next() != '{' {
		return p.skip("")
	}
	*l = latency{unit: unit, n: -1}
	return p.object(func(key string) (err error) {
		switch key {
		case "min":
			l.min, err = p.number(key)
		case "max":
			l.max, err = p.number(key)
		case "mean":
			l.mean, err = p.number(key)
		case "N":
			l.n, err = p.number(key)
		case "percentile":
			l.percentiles, err = p.pairs()
		case "bins":
			l.bins, err = p.pairs()
		default:
			err = p.skip(key)
		}
		return err
	})
}

// pairs reads numbers by number, in ascending order. Of those with the same key the last holds.
func (p *parser) pairs() (pairs []pair, err error) {
	if p.next() != '{' {
		return nil, p.skip("")
	}
	sorted := true
	pairs = make([]pair, 0, 20) // as many percentiles as fio states
	err = p.object(func(key string) error {
		value, err := p.number(key)
		if err != nil {
			return err
		}
		x, isNumber := parse([]byte(key))
		if !isNumber {
			p.doubt("%.40q is no number: left out", key)
			return nil
		}
		sorted = sorted && (len(pairs) == 0 || pairs[len(pairs)-1].key < x)
		pairs = append(pairs, pair{x, value})
		return p.keep(32)
	})
	if !sorted {
		slices.SortStableFunc(pairs, func(a, b pair) int { return compare(a.key, b.key) })
		slices.Reverse(pairs)
		pairs = slices.CompactFunc(pairs, func(a, b pair) bool { return a.key == b.key })
		slices.Reverse(pairs)
	}
	return pairs, err
}

func (p *parser) steadyState(s *steadyState) error {
	if p.next() != '{' {
		return p.skip("")
	}
	return p.object(func(key string) (err error) {
		switch key {
		case "ss":
			s.criterion, err = p.string()
		case "attained":
			var x float64
			x, err = p.number(key)
			s.attained = x != 0
		default:
			err = p.skip(key)
		}
		return err
	})
}
