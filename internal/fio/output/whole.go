package output

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// jobLog is the log of one job, which may share its file with others.
type jobLog struct {
	path   string
	end    time.Duration // of the last line
	tracks []track       // of its reads and of its writes
}

// jobLogs takes the tracks of a file apart by job.
func jobLogs(path string, tracks []track) (all []jobLog) {
	for job := range slices.Chunk(tracks, 2) {
		l := jobLog{path: path, tracks: job}
		for _, t := range job {
			if n := len(t); n > 0 {
				l.end = max(l.end, t[n-1].Time)
			}
		}
		all = append(all, l)
	}
	return all
}

// span is the time of a phase that its logs are to cover.
type span struct {
	jobs    int           // how many write logs
	told    time.Duration // how long the jobs were told to run at most
	ran     time.Duration // how long they ran; zero where that is not known
	flushed bool          // it ends with a flush, in which nothing is logged
	alike   bool          // all jobs end at the same time: when they were told to
	window  time.Duration
}

// slack is how much of a phase a log may lack at its end. fio drops the last window of rates, and takes them late on a busy
// machine: two windows of 50 ms were seen to be missing at the end, and 0.38 s between two lines (fio 3.33).
func (s span) slack() time.Duration { return 2*s.window + 500*time.Millisecond }

// until is when the last window of a phase ends that fio takes a rate of.
func (s span) until() time.Duration { return min(s.told, s.ran) }

// check finds logs that were cut off: what is left of them may tell the opposite of what was measured. Each I/O writes to
// the log of latencies by itself, and what is left in its last window is written when the job ends, so that this log
// shows how far that of rates must reach. Only a stall to the end can keep rates out of it.
func (s span) check(rates, latencies []jobLog) error {
	if err := errors.Join(s.complete(rates), s.complete(latencies)); err != nil {
		return err
	}
	for _, l := range latencies {
		if err := s.covered(l, latencies); err != nil {
			return err
		}
	}
	if len(latencies) != len(rates) { // which belong together is unknown; there may be none
		for _, r := range rates {
			if err := s.covered(r, rates); err != nil {
				return err
			}
		}
		return nil
	}
	for i, r := range rates {
		l := latencies[i]
		if r.end > l.end+s.slack() {
			return shorter(l, fmt.Sprintf("%s goes on to %v", r.path, r.end))
		}
		goesOn := func(t track) bool { return len(t.between(r.end+s.window/2, s.told)) > 1 }
		if min(l.end, s.told) > r.end+s.slack() && slices.ContainsFunc(l.tracks, goesOn) {
			return shorter(r, fmt.Sprintf("%s goes on to %v", l.path, l.end))
		}
	}
	return nil
}

// complete looks for jobs that are not in the logs at all. Jobs of a file can be told apart where each has several lines.
func (s span) complete(logs []jobLog) error {
	const enough = 3 // lines
	if len(logs) == 0 || len(logs) >= s.jobs {
		return nil
	}
	for _, l := range logs {
		if !slices.ContainsFunc(l.tracks, func(t track) bool { return len(t) >= enough }) {
			return nil
		}
	}
	last := logs[len(logs)-1]
	return fmt.Errorf("%s: the logs have the lines of %d jobs, but %d ran: %s", last.path, len(logs), s.jobs, advice)
}

// advice is what to do about a log that was cut off.
const advice = "the end of the log is missing, and nothing can be said of the phase without it; restore the file from a copy, or run the benchmark anew"

// covered holds a log against how long fio ran. I/Os that are further apart than windows may leave as much out at the end
// as between two of them.
func (s span) covered(l jobLog, all []jobLog) error {
	if s.ran == 0 || s.flushed {
		return nil
	}
	end := l.end
	if !s.alike {
		for _, other := range all {
			end = max(end, other.end)
		}
	}
	var apart time.Duration
	for _, t := range l.tracks {
		apart = max(apart, t.widest())
	}
	if s.until() > end+s.slack()+apart-min(apart, s.window) {
		return shorter(l, fmt.Sprintf("fio ran for %v", s.ran))
	}
	return nil
}

func shorter(l jobLog, than string) error {
	return fmt.Errorf("%s ends at %v, but %s: %s", l.path, l.end, than, advice)
}

// widest is the longest time between two lines, or before the first.
func (t track) widest() (apart time.Duration) {
	var last time.Duration
	for _, line := range t {
		apart = max(apart, line.Time-last)
		last = line.Time
	}
	return apart
}

// between returns the lines after one time and no later than another.
func (t track) between(after, until time.Duration) track {
	from, _ := slices.BinarySearchFunc(t, after+1, byTime)
	to, _ := slices.BinarySearchFunc(t, until+1, byTime)
	return t[min(from, to):to]
}

// stalled adds the windows of a stall that lasts to the end, for which fio logs no rate: those in which the log of latencies
// has no line either.
func (s span) stalled(rates, completed track) track {
	if len(rates) == 0 || s.flushed {
		return rates
	}
	end := rates[len(rates)-1].Time
	until := s.until()
	if after := completed.between(end+s.window/2, s.told); len(after) > 0 {
		until = min(until, after[0].Time)
	}
	if until <= end+s.slack() {
		return rates
	}
	for at := end + s.window; at <= until; at += s.window {
		rates = append(rates, Line{Time: at, Write: rates[0].Write})
	}
	return rates
}
