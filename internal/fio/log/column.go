package log

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// maxColumns is how many a log has that is no histogram: one more than fio writes with every option.
const maxColumns = 8

// fields is a line taken apart, as it stands.
type fields struct {
	column [maxColumns]uint64
	n      int
	stated bool // the value has a unit of time, and is in ns
}

// split takes a line apart that may be of any form. It is for the first lines, and for those that are not as fio writes
// them. The fault says what is wrong, and is empty where nothing is.
func split(line []byte, kind Kind) (f fields, fault string) {
	if len(line) > maxLine {
		return f, fmt.Sprintf("is longer than %d KiB", maxLine>>10)
	}
	if bytes.IndexByte(line, ',') < 0 {
		switch {
		case bytes.IndexByte(line, ';') > 0:
			return f, "has semicolons between its columns instead of commas"
		case len(bytes.Fields(line)) > 1 && len(bytes.Trim(line, "0123456789. \t\r\n")) == 0:
			return f, "has spaces between its columns instead of commas"
		}
	}
	for rest, more := line, true; more; f.n++ {
		var text []byte
		text, rest, more = bytes.Cut(rest, []byte{','})
		text = bytes.TrimSpace(text)
		if f.n == maxColumns {
			return f, fmt.Sprintf("has more than %d columns", maxColumns)
		}
		value, stated, fault := column(text, f.n, kind)
		if fault != "" {
			return f, fault
		}
		f.column[f.n] = value
		f.stated = f.stated || stated && f.n == 1 && kind.latency()
	}
	if f.n < 2 {
		return f, "has one column"
	}
	return f, ""
}

// scales are the units that people write behind a time, a rate and a bandwidth, in fio's: ms, and KiB/s.
var (
	milliseconds = map[string]float64{"s": 1e3, "sec": 1e3, "ms": 1, "msec": 1, "us": 1e-3, "usec": 1e-3, "µs": 1e-3, "ns": 1e-6, "nsec": 1e-6}
	rates        = map[string]float64{"iops": 1, "k": 1e3, "kiops": 1e3, "m": 1e6}
	bandwidths   = map[string]float64{
		"b/s": 1.0 / 1024, "kib/s": 1, "mib/s": 1 << 10, "gib/s": 1 << 20,
		"kb/s": 1e3 / 1024, "mb/s": 1e6 / 1024, "gb/s": 1e9 / 1024,
	}
)

// columnNames are what faults are said of.
var columnNames = [...]string{"the time", "the value", "the third column", "the fourth column", "the fifth column or a later one"}

// column reads one number, the index of which tells what it is. A latency with a unit becomes ns.
func column(text []byte, index int, kind Kind) (value uint64, stated bool, fault string) {
	what := columnNames[min(index, len(columnNames)-1)]
	digits := bytes.IndexFunc(text, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	switch {
	case len(text) == 0:
		return 0, false, what + " is missing"
	case text[0] == '-':
		return 0, false, what + " is negative"
	case digits < 0:
		digits = len(text)
	case digits == 0:
		return 0, false, what + " is no number"
	}
	if digits == len(text) && bytes.IndexByte(text, '.') < 0 {
		v, err := strconv.ParseUint(string(text), 10, 64)
		if err != nil {
			return 0, false, what + " is out of range"
		}
		return v, false, ""
	}
	if index >= 4 { // a priority is hexadecimal with log_prio
		v, err := strconv.ParseUint(strings.TrimPrefix(string(text), "0x"), 16, 64)
		if err != nil {
			return 0, false, what + " is no number"
		}
		return v, false, ""
	}
	x, err := strconv.ParseFloat(string(text[:digits]), 64)
	if err != nil || !(x < math.MaxUint64) {
		return 0, false, what + " is no number"
	}
	scale, unit := 1.0, strings.ToLower(strings.TrimSpace(string(text[digits:])))
	if unit != "" {
		known := false
		switch {
		case index == 0:
			scale, known = milliseconds[unit]
		case index == 1 && kind.latency():
			scale, known = milliseconds[unit]
			scale *= float64(time.Millisecond)
		case index == 1 && kind == Bandwidth:
			scale, known = bandwidths[unit]
		case index == 1 && kind == IOPS:
			scale, known = rates[unit]
		}
		if !known {
			return 0, false, fmt.Sprintf("%s has the unit %.20q", what, unit)
		}
	}
	if x = math.Round(x * scale); !(x < 1<<63) {
		return 0, false, what + " is out of range"
	}
	return uint64(x), unit != "", ""
}

// excerpt quotes the start of a line.
func excerpt(text []byte) string {
	const most = 60
	text, _, _ = bytes.Cut(text, []byte{'\n'})
	text = bytes.TrimSuffix(text, []byte{'\r'})
	if len(text) > most {
		return strconv.Quote(string(text[:most])) + "…"
	}
	return strconv.Quote(string(text))
}

// firstFault says what is wrong with the first line of a text that is not empty, and which it is.
func firstFault(text []byte, kind Kind) (fault string, number int) {
	for line := range bytes.Lines(text) {
		number++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		f, fault := split(line, kind)
		if fault == "" && f.n > 2 && f.column[2] >= uint64(Unstated) {
			fault = fmt.Sprintf("has the direction %d, none of 0 (read), 1 (write), 2 (trim) and 3 (sync)", f.column[2])
		}
		return fault, number
	}
	return "", 0
}
