package intake

import (
	"cmp"
	"fmt"
	"path"
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
	l, err := log.ReadLog(p.name, p.r, log.Options{})
	if err != nil {
		if c.ctx.Err() == nil {
			c.skip(p.name, "%s", strings.TrimPrefix(err.Error(), p.name+": "))
		}
		return
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
// the same job.
func (c *collector) join() {
	c.disown()
	jobs := numbered(c.readings)
	mine := map[int][]logFile{} // by index of the reading
	var alone [][]logFile
	for _, l := range c.logs {
		i, why := jobOf(l, jobs, c.readings)
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
			join(&c.readings[i], logs)
			for _, l := range logs {
				c.notes = append(c.notes, notesOf(l, c.readings[i])...)
			}
		}
	}
	for _, logs := range alone {
		r := orphan(logs)
		join(&r, logs)
		for _, l := range logs {
			c.notes = append(c.notes, l.Notes...)
		}
		c.readings = append(c.readings, r)
	}
}

// notesOf leaves out what the document beside a log answers: the unit of its latencies, and its kind.
func notesOf(l logFile, r result.Reading) []result.Note {
	if unitOf(l, r) == 0 {
		return l.Notes
	}
	return filter(l.Notes, func(n result.Note) bool { return n.Skipped || !strings.HasPrefix(n.Text, "its latencies are in µs") })
}

// unitOf is the unit of a log's latencies, as the log shows it, or the version that wrote the document beside it.
func unitOf(l logFile, r result.Reading) time.Duration {
	if l.Unit != 0 {
		return l.Unit
	}
	version, err := fio.ParseVersion(r.Tool)
	switch {
	case err != nil:
		return 0
	case version.AtLeast(fio.Version{Major: 3}):
		return time.Nanosecond
	default:
		return time.Microsecond
	}
}

// join adds what logs say to a reading.
func join(r *result.Reading, logs []logFile) {
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

// numbers are the job numbers, from 1, that fio gave to the jobs of a reading; zero where they are not known.
type numbers struct{ first, last int }

func (n numbers) has(job int) bool { return n.first <= job && job <= n.last }

// numbered counts the jobs of each document, as fio does for the names of logs: clones of a group one by one.
func numbered(readings []result.Reading) []numbers {
	all := make([]numbers, len(readings))
	type document struct {
		file   string
		number int
		host   string
	}
	next := map[document]int{}
	for i, r := range readings {
		d := document{r.Source.File, r.Source.Document, r.Host}
		n := max(1, r.Workload.Jobs)
		all[i] = numbers{next[d] + 1, next[d] + n}
		next[d] += n
		if r.Workload.Jobs == 0 { // a group of nobody knows how many
			all[i].last = 1 << 30
		}
	}
	return all
}

// jobOf returns the index of the reading that a log belongs to, −1 for none. Where everything but the content says so, it
// also says what is against it.
func jobOf(l logFile, jobs []numbers, readings []result.Reading) (index int, why string) {
	var near []int
	for i, r := range readings {
		if r.Failure == nil && path.Dir(slashed(r.Source.File)) == path.Dir(l.name.Prefix) && (l.name.Host == "" || l.name.Host == r.Host) {
			near = append(near, i)
		}
	}
	ours := func(such func(result.Reading) bool) []int {
		return slices.DeleteFunc(slices.Clone(near), func(i int) bool { return !such(readings[i]) })
	}
	prefix := path.Base(l.name.Prefix)
	found := ours(func(r result.Reading) bool { return slices.Contains(prefixes(r, l.Kind), prefix) })
	if len(found) == 0 {
		found = ours(func(r result.Reading) bool { return stem(r.Source.File) == prefix })
	}
	if l.name.Job > 0 {
		found = slices.DeleteFunc(found, func(i int) bool { return !jobs[i].has(l.name.Job) })
	}
	if len(found) != 1 {
		return -1, "" // of none, or of several, which nothing tells apart
	}
	return found[0], against(l, readings[found[0]])
}

// prefixes are those that a job's options give to its logs of a kind.
func prefixes(r result.Reading, kind log.Kind) (all []string) {
	options := map[log.Kind][]string{
		log.IOPS: {"write_iops_log"}, log.Bandwidth: {"write_bw_log"}, log.Histogram: {"write_hist_log"},
		log.Total: {"write_lat_log"}, log.Completion: {"write_lat_log"}, log.Submission: {"write_lat_log"},
	}
	for _, option := range options[kind] {
		value, stated := r.Workload.Options[option]
		switch {
		case !stated:
		case value == "": // fio takes the job's name
			all = append(all, r.Job)
		default:
			all = append(all, path.Base(slashed(value)))
		}
	}
	return all
}

// stem is a file's name without its ending.
func stem(file string) string {
	name := path.Base(strings.ReplaceAll(slashed(file), ":", "/"))
	return strings.TrimSuffix(name, path.Ext(name))
}

// against says why a log cannot be of a job, "" where it can.
func against(l logFile, r result.Reading) string {
	for _, t := range l.Tracks {
		if does := directions(r.Workload.Pattern); t.Count > 0 && does != nil && !slices.Contains(does, t.Direction) {
			return fmt.Sprintf("it logs %v, the job does %s", t.Direction, r.Workload.Pattern)
		}
	}
	end, runtime := endOf(l), r.Total.Runtime
	if runtime <= 0 || end <= 0 {
		return ""
	}
	slack := max(2*time.Second, runtime/10) + 2*l.Window
	if end < runtime-slack || end > runtime+r.Workload.RampTime+slack {
		return fmt.Sprintf("it ends after %v, the job after %v", end.Round(time.Millisecond), runtime.Round(time.Millisecond))
	}
	return ""
}

// directions are those of a pattern; nil where it is not known.
func directions(pattern string) []log.Direction {
	switch strings.TrimPrefix(pattern, "rand") {
	case "read":
		return []log.Direction{log.Read, log.Sync, log.Unstated}
	case "write":
		return []log.Direction{log.Write, log.Sync, log.Unstated}
	case "trim":
		return []log.Direction{log.Trim, log.Sync, log.Unstated}
	default:
		return nil
	}
}

// endOf is the time of a log's last line.
func endOf(l logFile) (end time.Duration) {
	for _, t := range l.Tracks {
		if n := len(t.Cells); n > 0 {
			end = max(end, t.Cells[n-1].End)
		}
	}
	return end
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
