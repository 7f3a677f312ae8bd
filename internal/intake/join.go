package intake

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ebscope/internal/fio"
	"ebscope/internal/fio/log"
	"ebscope/internal/result"
	"ebscope/internal/units"
)

// logFile is a log, and what its name says.
type logFile struct {
	*log.Log
	name log.Name
}

// log reads a log of fio.
func (c *collector) log(p piece) {
	l, err := log.ReadLog(p.name, p.r, log.Options{Unit: c.options.LatencyUnit, Workers: c.workers})
	if err != nil {
		if c.ctx.Err() == nil {
			c.skip(p.name, "%s", strings.TrimPrefix(err.Error(), p.name+": "))
		}
		return
	}
	if given := c.options.LatencyUnit; given != 0 && l.Unit != 0 && l.Unit != given {
		c.remark(p.name, "its latencies are in %s, for %s: the unit that was given is not used for it", log.UnitName(l.Unit), l.Because)
	}
	name, ok := log.ParseName(slashed(p.name))
	if !ok {
		name = log.Name{Prefix: slashed(p.name), Kind: l.Kind}
	}
	c.logs = append(c.logs, logFile{l, name})
}

// slashed gives a name one kind of separator, whatever system wrote it.
func slashed(name string) string { return strings.ReplaceAll(filepath.ToSlash(name), `\`, "/") }

// join gives each log to the job that wrote it. Logs of no job that is there are readings of their own, one for all logs of
// the same job. Of a log that jobs share, there is a reading of them all beside those of each.
func (c *collector) join() {
	c.disown()
	stated := c.readings
	jobs := numbered(stated)
	mine := map[int][]logFile{} // by index of the reading
	shared := map[string]int{}  // index of the reading of several jobs, by theirs
	var alone [][]logFile
	for _, l := range c.logs {
		i, why := -1, ""
		switch of := jobsOf(l, jobs, stated); {
		case len(of) == 1:
			i = of[0]
		case len(of) > 1 && l.name.Job == 0 && sideBySide(stated, of):
			key := fmt.Sprint(of, l.name.Prefix)
			if _, known := shared[key]; !known {
				shared[key] = len(c.readings)
				c.readings = append(c.readings, together(stated, of))
			}
			i = shared[key]
			if r := &c.readings[i]; r.Source.File == "" || l.Kind == log.IOPS {
				r.Source.File = l.File
			}
		}
		if i >= 0 {
			why = against(l, c.readings[i])
		}
		switch {
		case i >= 0 && why == "":
			mine[i] = append(mine[i], l)
			continue
		case i >= 0:
			c.remark(l.File, "is not of the job %q in %s: %s; it is shown by itself", c.readings[i].Job, c.readings[i].Source.File, why)
		}
		same := func(all []logFile) bool {
			o := all[0].name
			return o.Prefix == l.name.Prefix && o.Job == l.name.Job && o.Host == l.name.Host
		}
		if at := slices.IndexFunc(alone, same); at >= 0 {
			alone[at] = append(alone[at], l)
		} else {
			alone = append(alone, []logFile{l})
		}
	}
	for i := range c.readings {
		if logs := mine[i]; logs != nil {
			join(&c.readings[i], c.apart(logs, c.readings[i]))
			for _, l := range logs {
				c.notes = append(c.notes, notesOf(l, c.readings[i])...)
			}
		}
	}
	first := len(c.readings)
	for _, logs := range alone {
		r := orphan(logs)
		join(&r, c.strangers(logs))
		for _, l := range logs {
			c.notes = append(c.notes, l.Notes...)
		}
		c.readings = append(c.readings, r)
	}
	perhapsTogether(alone, c.readings[first:])
}

// notesOf leaves out what the document beside a log answers: the unit of its latencies, and that jobs share it.
func notesOf(l logFile, r result.Reading) []result.Note {
	answered := func(n result.Note) bool {
		return unitOf(l, r) != 0 && strings.HasPrefix(n.Text, "its latencies are in µs") ||
			r.Workload.Jobs > 1 && strings.Contains(n.Text, log.SharedLog)
	}
	return filter(l.Notes, func(n result.Note) bool { return n.Skipped || !answered(n) })
}

// unitOf is the unit of a log's latencies, as the log shows it, or the version that wrote the document beside it, or else
// the user.
func unitOf(l logFile, r result.Reading) time.Duration {
	if l.Mixed || l.Unit != 0 && l.Because != log.Given {
		return l.Unit
	}
	version, err := fio.ParseVersion(r.Tool)
	switch {
	case err != nil:
		return l.Unit
	case version.AtLeast(fio.Version{Major: 3}):
		return time.Nanosecond
	default:
		return time.Microsecond
	}
}

// join adds what logs say to a reading.
func join(r *result.Reading, logs []logFile) {
	if len(logs) == 0 {
		return
	}
	all := make([]*log.Log, len(logs))
	for i, l := range logs {
		l.Unit = unitOf(l, *r)
		all[i] = l.Log
	}
	log.Join(all, blockSize(*r)).AddTo(r)
}

// blockSize is the mean size of an I/O, or the stated one; zero where neither is known.
func blockSize(r result.Reading) units.Bytes {
	if r.Total.IOs > 0 && r.Total.Bytes > 0 {
		return r.Total.Bytes / units.Bytes(r.Total.IOs)
	}
	return r.Workload.BlockSize
}

// orphan is a reading of logs alone.
func orphan(logs []logFile) result.Reading {
	slices.SortStableFunc(logs, func(a, b logFile) int { return cmp.Compare(a.File, b.File) })
	first := logs[0]
	for _, l := range logs {
		if l.Kind == log.IOPS {
			first = l
		}
	}
	return result.Reading{
		Source: result.Source{File: first.File}, Tool: "fio", Host: first.name.Host,
		Measurement: result.Measurement{Source: "fio"},
	}
}
