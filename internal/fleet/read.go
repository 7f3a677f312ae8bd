package fleet

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"ebscope/internal/forecast"
)

// The most that a file may have. The largest accounts have some hundred thousand volumes.
const (
	maxLine  = 16 << 20 // bytes
	maxLines = 10_000_000
)

// Reader reads a saved snapshot, strictly: a field that is not known, or a line out of order, is an error, which says in
// which line it lies.
type Reader struct {
	lines *bufio.Scanner
	n     int // lines read
	// ahead is the line after the facts, nil at the end.
	ahead    *line
	snapshot Snapshot
	seen     map[string]bool // keys of what must be there once
}

// Open reads a snapshot up to its metrics.
func Open(r io.Reader) (*Reader, error) {
	f := &Reader{lines: bufio.NewScanner(r), seen: map[string]bool{}}
	f.lines.Buffer(make([]byte, 0, 1<<16), maxLine)
	l, err := f.next()
	if err != nil {
		return nil, err
	}
	if l == nil || l.Header == nil {
		return nil, f.wrong(fmt.Errorf("this is no snapshot; the first line of one has the schema %s", Schema))
	}
	if err := f.header(*l.Header); err != nil {
		return nil, f.wrong(err)
	}
	for {
		if f.ahead, err = f.next(); err != nil {
			return nil, err
		}
		if f.ahead == nil || f.ahead.Metrics != nil || f.ahead.Missing != nil || f.ahead.End != nil {
			return f, nil
		}
		if err := f.fact(*f.ahead); err != nil {
			return nil, f.wrong(err)
		}
	}
}

// Snapshot returns what was read. What is missing is known once Metrics has returned.
func (f *Reader) Snapshot() Snapshot { return f.snapshot }

// Metrics reads the rest and hands over the metrics, a volume at a time.
func (f *Reader) Metrics(each func(Metrics) error) error {
	for {
		l := f.ahead
		switch {
		case l == nil:
			return f.wrong(errors.New("the snapshot ends here: it was cut short; take it again"))
		case l.Metrics != nil:
			if err := f.metrics(*l.Metrics); err != nil {
				return f.wrong(err)
			}
			if err := each(*l.Metrics); err != nil {
				return err
			}
		case l.Missing != nil:
			f.snapshot.Missing = append(f.snapshot.Missing, *l.Missing)
		case l.End != nil:
			return f.end(*l.End)
		default:
			return f.wrong(errors.New("out of order: regions and clusters come before metrics"))
		}
		var err error
		if f.ahead, err = f.next(); err != nil {
			return err
		}
	}
}

func (f *Reader) header(h header) error {
	if h.Schema != Schema {
		if strings.HasPrefix(h.Schema, "ebscope.snapshot/") {
			return fmt.Errorf("the snapshot has the form %s, and this version reads %s; take it again, or use the version that took it", h.Schema, Schema)
		}
		return fmt.Errorf("schema %q is not that of a snapshot, %s", h.Schema, Schema)
	}
	f.snapshot = Snapshot{Tool: h.Tool, Taken: h.Taken}
	if h.Window != nil {
		w := *h.Window
		if w.Step <= 0 || w.Points <= 0 || w.Points > maxPoints || w.Start.IsZero() {
			return fmt.Errorf("the window of the metrics has %d points of %v; it needs 1 to %d, and a start", w.Points, w.Step, maxPoints)
		}
		f.snapshot.Window = w
	}
	return nil
}

func (f *Reader) metrics(m Metrics) error {
	if err := f.once("metrics of", m.Volume); err != nil {
		return err
	}
	for _, s := range m.all() {
		if len(s) > f.snapshot.Window.Points {
			return fmt.Errorf("a metric of %s has %d points, the window %d", m.Volume, len(s), f.snapshot.Window.Points)
		}
	}
	return nil
}

func (f *Reader) end(e end) error {
	if e.Lines != f.n-1 {
		return f.wrong(fmt.Errorf("the snapshot had %d lines and has %d: some are lost; take it again", e.Lines, f.n-1))
	}
	if more, err := f.next(); err != nil || more != nil {
		return f.wrong(errors.New("something follows the end of the snapshot"))
	}
	return nil
}

// next returns the next line, nil at the end of the file.
func (f *Reader) next() (*line, error) {
	if !f.lines.Scan() {
		err := f.lines.Err()
		switch {
		case errors.Is(err, bufio.ErrTooLong):
			f.n++
			return nil, f.wrong(fmt.Errorf("longer than %d MiB: this is no snapshot", maxLine>>20))
		case err != nil:
			return nil, fmt.Errorf("read the snapshot: %w", err)
		}
		return nil, nil
	}
	f.n++
	if f.n > maxLines {
		return nil, f.wrong(fmt.Errorf("a snapshot has at most %d lines", maxLines))
	}
	var l line
	d := json.NewDecoder(bytes.NewReader(f.lines.Bytes()))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		return nil, f.wrong(fmt.Errorf("not a line of a snapshot: %w", err))
	}
	if rest, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, f.wrong(fmt.Errorf("not a line of a snapshot: %v follows the object", rest))
	}
	if n := l.set(); n != 1 {
		return nil, f.wrong(fmt.Errorf("not a line of a snapshot: it says %d things, not one", n))
	}
	return &l, nil
}

func (f *Reader) wrong(err error) error {
	return fmt.Errorf("read the snapshot: %w", &forecast.LineError{Line: max(1, f.n), Err: err})
}
