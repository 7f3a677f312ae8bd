// Package log reads the logs of fio: of IOPS, bandwidth and latency, one line for each I/O or for each window, and
// histograms of completion latency. It reads a log of any size in constant memory, on several processors at once.
//
// Columns are, as fio's iolog.c writes them: time in ms; value (IOPS, KiB/s, or latency in ns, in µs before fio 3); with
// log_window_value=both the window's maximum; direction; block size; with log_offset the offset; the priority, since
// fio 3.17; with log_issue_time the time of issue. Fewer are read too, as scripts cut them out.
package log

import (
	"errors"
	"fmt"
	"io"
	"time"

	"ebscope/internal/fio"
	"ebscope/internal/result"
	"ebscope/internal/units"
)

// Kind is what a log holds.
type Kind string

// Kinds, by the end of the name that fio gives the file.
const (
	IOPS       Kind = "iops"
	Bandwidth  Kind = "bw"
	Total      Kind = "lat"  // latency from submission to completion
	Completion Kind = "clat" // latency without submission
	Submission Kind = "slat"
	Histogram  Kind = "clat_hist"
)

// latency says whether values are times.
func (k Kind) latency() bool {
	return k == Total || k == Completion || k == Submission || k == Histogram
}

// Direction is what an I/O does, in the number that fio gives it.
type Direction int

// Directions. Unstated is that of all lines of a log without the column.
const (
	Read Direction = iota
	Write
	Trim
	Sync
	Unstated
	directions int = iota
)

func (d Direction) String() string {
	return [directions]string{"reads", "writes", "trims", "syncs", "I/Os"}[d]
}

// Options is what the reader of a log knows beside the log. All of it may be left out.
type Options struct {
	Kind    Kind         // where neither the name nor the content would say
	Version *fio.Version // that wrote the log
	// Unit is that of latencies where the lines do not show it; 0 leaves them out.
	Unit    time.Duration
	Workers int // how many processors to use; 0 is all, up to eight
}

// Log is what one file holds.
type Log struct {
	File    string
	Kind    Kind // empty where neither the name nor the content says
	Job     int  // the job's number in the file's name, from 1; 0 where it has none
	Columns int
	// PerIO says that each line is an I/O. Otherwise a line is the mean of a window, and Window how long most windows
	// are. That is zero where too few lines show it.
	PerIO  bool
	Window time.Duration
	// Epoch is the first line's time where the log states times of day.
	Epoch time.Time
	// Unit is that of latencies, and 0 where nothing says which. Because says what did.
	Unit    time.Duration
	Because string
	// Mixed says that parts of the log are in different units of latency, whatever else tells one for the whole.
	Mixed bool
	// Lines were read, Skipped were not; empty lines are neither.
	Lines, Skipped int64
	// Tracks are in the order of directions; an averaged log of several jobs has some for each, in the order of jobs.
	Tracks []Track
	// Notes name what was skipped or read with doubt: the first few dozen, then a count.
	Notes []result.Note
}

// Track is one direction in a log: of all its I/Os, or of one job's windows.
type Track struct {
	Direction Direction
	Width     time.Duration // of the cells of single I/Os; 0 where each has its own
	Cells     []Cell        // in ascending time; windows without a line have none
	Count     int64         // lines, or I/Os in a histogram
	Sum       float64       // of values, in the log's unit
	Min, Max  float64       // in the log's unit
	Bytes     units.Bytes   // of all I/Os; 0 where the log does not state it
	histogram *histogram    // of latencies per I/O, and of clat_hist
}

// Cell is one window of a track. In an averaged log it is one line, or several where the log has more than can be held.
type Cell struct {
	End      time.Duration // since the job's start
	Count    int64
	Sum      float64 // in the log's unit
	Min, Max float64
	gap      gap // between it and the cell before
}

// Mean is the mean value of the window's lines.
func (c Cell) Mean() float64 { return c.Sum / float64(c.Count) }

// ReadLog reads a log. The name tells the kind, and names the file in notes and errors. An error means that nothing could
// be used; lines that could not are in the notes.
func ReadLog(name string, r io.Reader, o Options) (*Log, error) {
	return read(name, r, o, blockSize)
}

func read(name string, r io.Reader, o Options, size int) (*Log, error) {
	l := &Log{File: name, Kind: o.Kind}
	if n, ok := ParseName(name); ok {
		l.Job = n.Job
		if l.Kind == "" {
			l.Kind = n.Kind
		}
	}
	src := newSource(r)
	total := newWorker(head{})
	var begins string
	fault, at := "", 0
	for {
		first, err := src.next(nil)
		if errors.Is(err, io.EOF) {
			return nil, unusable(name, begins, fault, at)
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		if begins == "" && first.text > 0 {
			begins = excerpt(first.buf[:first.text])
			fault, at = firstFault(first.buf[:first.text], l.Kind)
		}
		h, ok := examine(first.buf[:first.text], &l.Kind)
		if !ok {
			total.drop(first)
			continue
		}
		if l.Kind == "" && !h.perIO { // I/Os can be counted whatever their values are
			return nil, nameless(name)
		}
		h.know(o.Version)
		h.assume(o.Unit)
		src.size = size
		l.describe(h)
		if err := total.run(src, first, h, o.Workers); err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		if total.lines == 0 {
			return nil, unusable(name, begins, fault, at)
		}
		if err := l.finish(total); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return l, nil
	}
}

// describe takes over what the first lines told.
func (l *Log) describe(h head) {
	l.Columns, l.PerIO, l.Epoch = h.columns, h.perIO, h.epoch()
	l.Window = time.Duration(h.window) * time.Millisecond
}

// finish takes over what was counted, and says what is in doubt. An error says why nothing can be told from it.
func (l *Log) finish(w *worker) error {
	if err := w.ordered.settle(); err != nil {
		return err
	}
	w.ordered.uncopy()
	w.wrongTimes()
	if !l.PerIO {
		l.Window = time.Duration(w.ordered.window) * time.Millisecond
	}
	l.Lines, l.Skipped = w.lines, w.notes.skipped+w.ordered.copied()
	l.Tracks = w.tracks()
	l.Notes = w.notes.list(l.File)
	doubt := func(format string, arguments ...any) {
		l.Notes = append(l.Notes, result.Note{Source: result.Source{File: l.File}, Text: fmt.Sprintf(format, arguments...)})
	}
	l.disorder(w.ordered, doubt)
	l.restarts(w, doubt)
	l.emptiness(doubt)
	if n := w.notes.uneven; n > 0 {
		doubt("%d of its lines have another number of columns than the %d of most at its start: read by those that they share", n, l.Columns)
		l.Notes[len(l.Notes)-1].Line = w.notes.unevenFrom
	}
	if w.head.odd != "" {
		doubt("%s", w.head.odd)
	}
	if w.head.direction < 0 && l.Kind != Histogram {
		doubt("no column states the direction, so that reads and writes cannot be told apart")
	}
	switch {
	case l.Kind == "":
		doubt("neither its name nor its lines say whether values are IOPS, bandwidth or latency; fio's names end in _iops, _bw, _lat, _clat or _slat, a job's number and .log")
	case l.Kind.latency():
		l.Mixed = w.head.oneUnit(&w.probes, doubt)
		l.Unit, l.Because = w.head.unit, w.head.reason
		switch {
		case l.Unit > 0 || l.Mixed:
		case w.head.thousandth:
			doubt("its times are in ms and its latencies in µs, as an fio before 3.0 writes them, or in µs and ns: nothing says which, so latencies are left out and times are taken for ms; --latency-unit us, or ns, says it")
		default:
			doubt("its latencies are in µs if an fio before 3.0 wrote it, else in ns: nothing says which, so they are left out; --latency-unit us, or ns, says it")
		}
	}
	return nil
}

// SharedLog is in the note on a log that is read as of several jobs because its time goes back. Whoever knows that the
// jobs are several can leave the note out.
const SharedLog = "jobs that share the log"

// disorder says how a log is read in which time goes back.
func (l *Log) disorder(o ordered, doubt func(string, ...any)) {
	switch n := len(o.jobs) - 1; {
	case o.sorted:
		doubt("time goes back at line %d, and later, but no time comes twice: its lines were put in order", o.back)
	case n <= 0:
		return
	default:
		doubt("time goes back at line %d: read as %d %s, their %s", o.back, n+1, SharedLog,
			map[bool]string{true: "rates are added", false: "latencies are averaged"}[o.rates])
	}
	l.Notes[len(l.Notes)-1].Line = o.back
}

// restarts says where the clock of a log of single I/Os starts anew, whose I/Os are counted together all the same.
func (l *Log) restarts(w *worker, doubt func(string, ...any)) {
	if !l.PerIO || l.Kind == Histogram {
		return
	}
	if at, n := w.probes.restarts(1000 * w.head.divisor); n > 0 {
		doubt("time goes back at %s: read as %d %s, their I/Os are counted together", at.place(), n+1, SharedLog)
		l.Notes[len(l.Notes)-1].Line = at.after.number
	}
}

// emptiness says why a log that was read tells no rate.
func (l *Log) emptiness(doubt func(string, ...any)) {
	timed, total := false, false
	for _, t := range l.Tracks {
		timed = timed || len(t.Cells) > 0 && t.Cells[len(t.Cells)-1].End > 0
		total = total || t.Direction != Trim && t.Direction != Sync
	}
	switch {
	case !timed:
		doubt("all its lines are at 0 ms, so that no rate can be told")
	case !total:
		doubt("it holds trims or flushes only, which are no part of the total")
	}
}

// nameless says how to tell the kind of a log, which neither its name nor its lines do.
func nameless(name string) error {
	return fmt.Errorf("%s: these are lines of a log of fio, but whether their values are IOPS, bandwidth or latency, only a name such as "+
		"fio's tells, …_iops.1.log, …_bw.1.log or …_lat.1.log (or _clat, _slat): save it under such a name, as run_iops.1.log, and analyze that file", name)
}

// unusable says what was expected instead of what a file begins with, and what is wrong with its first line.
func unusable(name, begins, fault string, line int) error {
	const form = `lines such as "1000, 3000, 0, 4096" (time in ms, value, direction, block size)`
	switch {
	case begins == "":
		return fmt.Errorf("%s is empty: a log of fio has %s", name, form)
	case fault == "":
		return fmt.Errorf("%s begins with %s: a log of fio has %s", name, begins, form)
	}
	return fmt.Errorf("%s begins with %s: line %d %s; a log of fio has %s", name, begins, line, fault, form)
}
