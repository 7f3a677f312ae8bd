package intake

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"ebscope/internal/fio/log"
	"ebscope/internal/result"
)

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

// jobsOf returns the indexes of the readings that a log may belong to, by its name.
func jobsOf(l logFile, jobs []numbers, readings []result.Reading) []int {
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
	return found
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
