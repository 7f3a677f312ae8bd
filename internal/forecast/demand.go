package forecast

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"ebscope/internal/units"
)

// Columns of a demand series. The first three are required.
const (
	timeColumn       = "time"
	operationsColumn = "operations"
	bytesColumn      = "bytes"
	volumeColumn     = "volume"
	typeColumn       = "type"
	sizeColumn       = "size"
)

// Sample is an interval of a demand series, as it stood in one line of a file.
type Sample struct {
	Interval
	// Volume, Type and Size are as written, empty where the series has no such column.
	Volume, Type, Size string
	Line               int
}

// LineError is a fault in a line of a demand series.
type LineError struct {
	Line int
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }
func (e *LineError) Unwrap() error { return e.Err }

// Series reads demand as CSV with a header. Each line is an interval: the time at which it begins (RFC 3339 with a zone, or
// Unix seconds), the operations and the bytes in it. The lines of a volume are evenly spaced and in order; with a column
// volume, those of several volumes may be mixed. With idle, missing lines count as rest; else they are an error.
//
// The sequence ends with its first error, a *LineError where it lies in a line.
func Series(r io.Reader, idle bool) iter.Seq2[Sample, error] {
	return func(yield func(Sample, error) bool) {
		s := series{lines: csv.NewReader(r), idle: idle, volumes: map[string]*pending{}, yield: yield}
		s.lines.TrimLeadingSpace = true
		s.lines.ReuseRecord = true
		if err := s.read(); err != nil && !errors.Is(err, errStopped) {
			yield(Sample{}, err)
		}
	}
}

// errStopped says that nobody wants more.
var errStopped = errors.New("stopped")

type series struct {
	lines   *csv.Reader
	idle    bool
	column  map[string]int
	volumes map[string]*pending
	order   []*pending
	yield   func(Sample, error) bool
}

// pending is a volume's latest line. How long its interval is, the next line says.
type pending struct {
	Sample
	operations, bytes float64
	at                time.Time
	spacing           time.Duration // zero until the second line
}

func (s *series) read() error {
	if err := s.header(); err != nil {
		return err
	}
	for {
		fields, err := s.lines.Read()
		if errors.Is(err, io.EOF) {
			return s.finish()
		}
		if errors.Is(err, csv.ErrFieldCount) {
			err = fmt.Errorf("%d fields, but the header names %d columns", len(fields), s.lines.FieldsPerRecord)
			line, _ := s.lines.FieldPos(0)
			return &LineError{line, err}
		}
		if err != nil {
			return lineError(err)
		}
		line, _ := s.lines.FieldPos(0)
		if err := s.add(fields, line); err != nil {
			if at := (*LineError)(nil); errors.Is(err, errStopped) || errors.As(err, &at) {
				return err
			}
			return &LineError{line, err}
		}
	}
}

func lineError(err error) error {
	var parse *csv.ParseError
	if errors.As(err, &parse) {
		return &LineError{parse.Line, parse.Err}
	}
	return fmt.Errorf("read the demand: %w", err)
}

func (s *series) header() error {
	fields, err := s.lines.Read()
	if errors.Is(err, io.EOF) {
		return &LineError{1, errors.New("the file is empty; it needs a header: time,operations,bytes")}
	}
	if err != nil {
		return lineError(err)
	}
	known := []string{timeColumn, operationsColumn, bytesColumn, volumeColumn, typeColumn, sizeColumn}
	s.column = map[string]int{}
	for i, name := range fields {
		name = strings.TrimSpace(strings.TrimPrefix(name, "\ufeff")) // spreadsheets mark UTF-8 so
		if !slices.Contains(known, name) {
			return &LineError{1, fmt.Errorf("unknown column %q; the columns are %s", name, strings.Join(known, ", "))}
		}
		if _, twice := s.column[name]; twice {
			return &LineError{1, fmt.Errorf("column %q is there twice", name)}
		}
		s.column[name] = i
	}
	for _, name := range known[:3] {
		if _, ok := s.column[name]; !ok {
			return &LineError{1, fmt.Errorf("column %q is missing; a series has time, operations and bytes", name)}
		}
	}
	return nil
}

// text returns a field, empty where the series has no such column.
func (s *series) text(fields []string, column string) string {
	if i, ok := s.column[column]; ok {
		return strings.TrimSpace(fields[i])
	}
	return ""
}

func (s *series) add(fields []string, line int) error {
	at, err := parseTime(s.text(fields, timeColumn))
	if err != nil {
		return err
	}
	operations, err := parseAmount(operationsColumn, s.text(fields, operationsColumn))
	if err != nil {
		return err
	}
	bytes, err := parseAmount(bytesColumn, s.text(fields, bytesColumn))
	if err != nil {
		return err
	}
	if bytes > 0 && operations == 0 {
		return fmt.Errorf("%s bytes without an operation", units.Thousands(bytes))
	}
	if bytes > operations*float64(LargestIO) {
		return fmt.Errorf("%s bytes in %s operations are more than %v each", units.Thousands(bytes), units.Thousands(operations), LargestIO)
	}
	now := Sample{Volume: s.text(fields, volumeColumn), Type: s.text(fields, typeColumn), Size: s.text(fields, sizeColumn), Line: line}
	if _, named := s.column[volumeColumn]; named && now.Volume == "" {
		return errors.New("no name in column volume")
	}
	p := s.volumes[now.Volume]
	if p == nil {
		if err := checkSize(now.Size); err != nil {
			return err
		}
		now.Volume = strings.Clone(now.Volume)
		p = &pending{}
		s.volumes[now.Volume] = p
		s.order = append(s.order, p)
	} else if err := s.close(p, now, at); err != nil {
		return err
	}
	// The reader uses the memory of its fields again.
	now.Type, now.Size = keep(p.Type, now.Type), keep(p.Size, now.Size)
	now.Volume = keep(p.Volume, now.Volume)
	p.Sample, p.operations, p.bytes, p.at = now, operations, bytes, at
	return nil
}

// checkSize wants a size, where one is given, to have a unit.
func checkSize(text string) error {
	if text == "" {
		return nil
	}
	_, unitGiven, err := units.ParseSize(text, 1)
	if err == nil && !unitGiven {
		err = fmt.Errorf("size %q has no unit; write it like 100GiB", text)
	}
	return err
}

// keep returns the kept text where the new one is equal, else a copy.
func keep(kept, text string) string {
	if kept == text {
		return kept
	}
	return strings.Clone(text)
}

// close passes on a volume's latest line, now that the next one is known.
func (s *series) close(p *pending, next Sample, at time.Time) error {
	if next.Type != p.Type || next.Size != p.Size {
		return fmt.Errorf("volume %s was %s %s in line %d and is %s %s now; a volume keeps its type and size",
			p.Volume, p.Type, p.Size, p.Line, next.Type, next.Size)
	}
	apart := at.Sub(p.at)
	switch {
	case apart == 0:
		return fmt.Errorf("the time %s is that of line %d too", at.Format(time.RFC3339), p.Line)
	case apart < 0:
		return fmt.Errorf("the time %s lies before that of line %d, %s; sort the series by time", at.Format(time.RFC3339), p.Line, p.at.In(at.Location()).Format(time.RFC3339))
	case apart > Longest:
		return fmt.Errorf("%s lies more than ten years after line %d", at.Format(time.RFC3339), p.Line)
	}
	if p.spacing == 0 {
		p.spacing = apart
	}
	gap := apart - p.spacing
	switch {
	case gap < 0:
		return fmt.Errorf("%v after line %d, where the lines before are %v apart", apart, p.Line, p.spacing)
	case gap > 0 && !s.idle:
		return fmt.Errorf("a gap: %v after line %d, where the lines before are %v apart; --gaps idle takes it as rest", apart, p.Line, p.spacing)
	}
	if err := s.pass(p); err != nil {
		return err
	}
	if gap > 0 {
		rest := p.Sample
		rest.Interval = Interval{Length: gap}
		if !s.yield(rest, nil) {
			return errStopped
		}
	}
	return nil
}

func (s *series) pass(p *pending) error {
	seconds := p.spacing.Seconds()
	p.Interval = Interval{p.spacing, Load{units.IOPS(p.operations / seconds), units.Throughput(p.bytes / seconds)}}
	if p.Load.IOPS > MostIOPS {
		return &LineError{p.Line, fmt.Errorf("operations: %s in %v are more than %s a second", units.Thousands(p.operations), p.spacing,
			units.Thousands(MostIOPS))}
	}
	if !s.yield(p.Sample, nil) {
		return errStopped
	}
	return nil
}

// finish passes on the last line of every volume. Its interval is as long as the others.
func (s *series) finish() error {
	if len(s.order) == 0 {
		return &LineError{1, errors.New("there is no line after the header")}
	}
	for _, p := range s.order {
		if p.spacing == 0 {
			return &LineError{p.Line, errors.New("a series of one line: how long an interval is, the next line would say")}
		}
		if err := s.pass(p); err != nil {
			return err
		}
	}
	return nil
}

// Bounds on a load, far above what any volume or instance does: a typing mistake is not a load.
const (
	MostIOPS  = 1e9       // a second
	LargestIO = units.GiB // of one I/O
)

// largestAmount keeps rates within what can be computed: a thousand times what the largest volume moves in a year.
const largestAmount = 1e20

func parseAmount(column, text string) (float64, error) {
	x, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil || math.IsNaN(x):
		return 0, fmt.Errorf("%s %q is not a number", column, text)
	case x < 0:
		return 0, fmt.Errorf("%s %q is negative", column, text)
	case x > largestAmount:
		return 0, fmt.Errorf("%s %q is more than any volume takes", column, text)
	}
	return x, nil
}

// lastSecond is the year 2100. What lies beyond it, or before 1970, is a mistake, such as Unix milliseconds.
const lastSecond = 4_102_444_800

func parseTime(text string) (time.Time, error) {
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		if !(seconds >= 0 && seconds <= lastSecond) {
			return time.Time{}, fmt.Errorf("time %q: as a number it must be Unix seconds, up to the year 2100", text)
		}
		whole, part := math.Modf(seconds)
		return time.Unix(int64(whole), int64(math.Round(part*1e3)*1e6)).UTC(), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err == nil && (at.Unix() < 0 || at.Unix() > lastSecond) {
		return time.Time{}, fmt.Errorf("time %q does not lie between 1970 and 2100", text)
	}
	if err == nil {
		return at, nil
	}
	for _, form := range []string{"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04"} {
		if _, err := time.Parse(form, text); err == nil {
			return time.Time{}, fmt.Errorf("time %q has no time zone; write it like 2026-09-01T12:00:00Z or 2026-09-01T12:00:00+09:00", text)
		}
	}
	return time.Time{}, fmt.Errorf("time %q is neither RFC 3339, like 2026-09-01T12:00:00Z, nor Unix seconds", text)
}
