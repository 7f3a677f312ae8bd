package log

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ebscope/internal/result"
)

// What is odd about a log is said, with its line, and what can be read of it is.
func TestOdd(t *testing.T) {
	const row = "1000, 3000, 0, 0\n"
	for _, c := range []struct {
		what, text     string
		lines, skipped int64
		line           int // of the first note
		note           string
	}{
		{"time goes back", "1000, 30, 0, 0\n2000, 31, 0, 0\n1000, 32, 0, 0\n2000, 33, 0, 0\n", 4, 0, 3, "time goes back at line 3: read as 2 jobs"},
		{"each line twice", strings.Repeat("1000, 30, 0, 0\n", 2) + strings.Repeat("2000, 30, 0, 0\n", 2), 2, 2, 2, "once more"},
		{"one line over and over", strings.Repeat(row, 600), 1, 599, 2, "once more"},
		{"zeros at the end", row + "2000, 3000, 0, 0\n" + strings.Repeat("\x00", 4096), 2, 1, 3, "is no number"},
		{"zeros in the middle", row + strings.Repeat("\x00", 100_000) + "\n2000, 3000, 0, 0\n", 2, 1, 2, "skipped"},
		{"columns from three to five", row[:13] + "\n2000, 3001, 0\n3000, 3002, 0, 0, 0\n", 3, 0, 3, "1 of its lines have another number of columns than the 3"},
		{"columns from five to three", "1000, 3002, 0, 0, 0\n2000, 3002, 0, 0, 0\n3000, 3001, 0\n4000, 3001, 0\n", 4, 0, 1, "2 of its lines have another number of columns than the 3"},
		{"columns from four to two", row + "2000, 1, 0, 0\n3000, 3001\n", 2, 1, 3, "another number of columns, 2, than most lines at the log's start, 4"},
		{"spaces between columns", row + "2000 3001 0 0\n3000, 3002, 0, 0\n", 2, 1, 2, "has spaces between its columns instead of commas"},
		{"no time", "0, 30, 0, 0\n0, 31, 0, 0\n0, 32, 0, 0\n", 3, 0, 0, "at 0 ms"},
		{"trims only", "1000, 30, 2, 0\n2000, 30, 2, 0\n", 2, 0, 0, "trims or flushes only"},
	} {
		t.Run(c.what, func(t *testing.T) {
			l := mustRead(t, "a_iops.1.log", c.text, Options{})
			note, line := "", 0
			if len(l.Notes) > 0 {
				note, line = l.Notes[0].Text, l.Notes[0].Line
			}
			if l.Lines != c.lines || l.Skipped != c.skipped || line != c.line || !strings.Contains(note, c.note) || (note == "") != (c.note == "") {
				t.Errorf("%d lines, %d skipped, line %d, notes %v", l.Lines, l.Skipped, line, l.Notes[:min(len(l.Notes), 2)])
			}
		})
	}
}

// Trims are no part of the total, but take time: a line a second, two lines.
func TestTrimsAloneTakeTime(t *testing.T) {
	j := Join([]*Log{mustRead(t, "a_iops.1.log", "1000, 30, 2, 0\n2000, 30, 2, 0\n", Options{})}, 0)
	if j.Total.Runtime != 2*second || j.Total.IOPS != 0 || j.DirectionOf[Trim].IOPS != 30 {
		t.Errorf("%+v, trims %+v", j.Total, j.DirectionOf[Trim])
	}
}

func TestUnusableSaysWhy(t *testing.T) {
	for text, want := range map[string]string{
		"\n1000, 30, 7, 0\n":                         "line 2 has the direction 7",
		"1000; 30; 0; 0\n2000; 30; 0; 0\n":           "line 1 has semicolons",
		"time, value, direction, size\na, b, c, d\n": "line 1 the time is no number",
	} {
		_, err := ReadLog("a_iops.1.log", strings.NewReader(text), Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// 1,000 I/Os a second for 200.05 s: with cells of 4 ms, the last window's length is unknown, and it is left out.
func TestLastWindow(t *testing.T) {
	var b strings.Builder
	const last = 200_050 // ms: cells are of 4 ms
	for at := range last {
		fmt.Fprintf(&b, "%d, 500000, 0, 4096\n", at)
	}
	j := Join([]*Log{mustRead(t, "a_clat.1.log", b.String(), Options{})}, 0)
	slices.SortFunc(j.IOPS, func(a, b result.Point) int { return int(a.Value - b.Value) })
	if low := j.IOPS[0]; low.Value < 990 || j.Window < 50*time.Millisecond {
		t.Errorf("%v IOPS at %v with windows of %v, want 1,000", low.Value, low.End, j.Window)
	}
}
