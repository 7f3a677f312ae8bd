package output

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"ebscope/internal/lazy"
	"ebscope/internal/result"
)

// The names of the logs in a phase's directory, whatever the prefix.
var (
	iopsLog    = lazy.Regexp(`_iops(\.\d+)?\.log$`)
	latencyLog = lazy.Regexp(`_lat(\.\d+)?\.log$`)
)

// maxDifference is the share by which the mean of a series may differ from fio's summary before that is worth a warning.
const maxDifference = 0.1

// ReadPhase reads what fio wrote into a phase's directory. A JobError says that fio reported a failure; other errors
// name the file, and the line or the byte in it.
//
// The series have a point for each whole window of the phase. The first may be longer, for fio takes its first rate up
// to 150 ms after the start. Windows in which nothing completed are zero. The rest of a window at the end is left out.
func ReadPhase(dir string) (result.Measurement, error) {
	path := filepath.Join(dir, result.FioFile)
	f, err := os.Open(path)
	if err != nil {
		return result.Measurement{}, fmt.Errorf("fio's results: %w", err)
	}
	defer f.Close()
	document, err := ReadDocument(path, f)
	if err != nil {
		return result.Measurement{}, err
	}
	if err := document.Err(); err != nil {
		return result.Measurement{}, fmt.Errorf("%s: %w", path, err)
	}
	m, err := document.Measurement()
	if err != nil {
		return result.Measurement{}, fmt.Errorf("%s: %w", path, err)
	}
	milliseconds, err := strconv.ParseInt(document.option("log_avg_msec"), 10, 32)
	if err != nil || milliseconds <= 0 {
		m.Warnings = append(m.Warnings, result.Warning{Code: seriesMissing, Text: "fio did not average its logs (log_avg_msec), so there is no series"})
		return m, nil
	}
	m.Window = time.Duration(milliseconds) * time.Millisecond
	// A flush at the end, in which nothing is in flight, counts as time in the summary, and the series ends before it.
	flushed := document.option("end_fsync") == "1"
	s := span{jobs: whole32(document.option("numjobs")), told: document.runtime(), ran: document.ran(), flushed: flushed,
		alike: document.option("time_based") == "1", window: m.Window}
	if err := addSeries(&m, dir, s); err != nil {
		return result.Measurement{}, err
	}
	if mean, ok := meanRate(m.IOPS); ok && !flushed && math.Abs(mean-float64(m.Total.IOPS)) > maxDifference*float64(m.Total.IOPS) {
		m.Warnings = append(m.Warnings, result.Warning{Code: seriesDiffers,
			Text: fmt.Sprintf("the mean of the logged series is %.0f IOPS, fio's summary says %.0f; trust the summary", mean, float64(m.Total.IOPS))})
	}
	return m, nil
}

// addSeries reads the logs of jobs that ran for so long.
func addSeries(m *result.Measurement, dir string, s span) error {
	rateLogs, err := readLogs(dir, iopsLog(), m.Window, m.Window/2)
	if err != nil {
		return err
	}
	latencyLogs, err := readLogs(dir, latencyLog(), m.Window, 0)
	if err != nil {
		return err
	}
	if err := s.check(rateLogs, latencyLogs); err != nil {
		return err
	}
	rates, latencies := tracksOf(rateLogs), tracksOf(latencyLogs)
	// When the time is up, fio waits for the I/Os in flight. It does not count them, so that a window which reaches into
	// that wait reads too low, and takes them all for as slow as the last. A latency's time is that of an I/O after the
	// window's end, so it may be later.
	for i := range rates {
		rates[i] = rates[i].until(s.told + m.Window/100).exact(m.Window)
		if len(rates) == len(latencies) {
			rates[i] = s.stalled(rates[i], latencies[i])
		}
	}
	for i := range latencies {
		latencies[i] = latencies[i].until(s.told + m.Window/2).withoutRest(m.Window)
	}
	m.IOPS = iopsSeries(rates, latencies, m.Window)
	m.Latency = latencySeries(latencies, rates, m.Window)
	if m.Read != nil && m.Write != nil {
		m.ReadSeries, m.WriteSeries = seriesOf(rates, latencies, false, m.Window), seriesOf(rates, latencies, true, m.Window)
	}

	if rates == nil {
		m.Warnings = append(m.Warnings, result.Warning{Code: seriesMissing, Text: "fio wrote no log of IOPS"})
	}
	if latencies == nil {
		m.Warnings = append(m.Warnings, result.Warning{Code: latencyMissing, Text: "fio wrote no log of latency"})
	}
	return nil
}

// maxWindows bounds how many windows a log of so many lines may say that it took, for those without a line are filled
// in. A stall of an hour has 72,000 windows of 50 ms, and a week 12 million.
func maxWindows(lines int) time.Duration { return time.Duration(min(20_000_000, 100_000+100*lines)) }

// readLogs reads every log of a kind, by job; the result is nil where there is none.
func readLogs(dir string, kind *regexp.Regexp, window, apart time.Duration) (all []jobLog, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("fio's logs: %w", err)
	}
	for _, entry := range entries {
		if !kind.MatchString(entry.Name()) {
			continue
		}
		path := filepath.Join(dir, entry.Name())
		f, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("fio's logs: %w", err)
		}
		lines, err := ReadLog(path, f)
		f.Close()
		if err != nil {
			return nil, err
		}
		for _, line := range lines {
			if line.Time/window > maxWindows(len(lines)) {
				return nil, fmt.Errorf("%s: %v after the start is no time that so short a log can reach", path, line.Time)
			}
		}
		all = append(all, jobLogs(path, tracks(lines, apart))...)
	}
	return all, nil
}

func tracksOf(logs []jobLog) (all []track) {
	for _, l := range logs {
		all = append(all, l.tracks...)
	}
	return all
}

// meanRate is the mean of a series over time, and false where it is too short to say.
func meanRate(s result.Series) (float64, bool) {
	const enough = 10 // points: fio does not log the last, incomplete window
	if len(s) < enough {
		return 0, false
	}
	var sum float64
	var last time.Duration
	for _, p := range s {
		sum += p.Value * (p.End - last).Seconds()
		last = p.End
	}
	return sum / last.Seconds(), true
}
