package log

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ebscope/internal/fio"
)

// corpus holds output of fio from public repositories.
const corpus = "../../../../shared/corpus"

// expectedLog is a row of logs.tsv.
type expectedLog struct {
	file, version string
	columns       int
	directions    string
	lines         int64
}

func corpusLogs(t *testing.T) (logs []expectedLog) {
	t.Helper()
	table, err := os.ReadFile(filepath.Join(corpus, "logs.tsv"))
	if errors.Is(err, os.ErrNotExist) {
		t.Skipf("no corpus of real results, which is no part of this repository; with one run: ln -s CORPUS %s", corpus)
	}
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range strings.Split(strings.TrimSpace(string(table)), "\n") {
		c := strings.Split(row, "\t")
		if i == 0 {
			continue
		}
		columns, _ := strconv.Atoi(c[5])
		lines, _ := strconv.ParseInt(c[7], 10, 64)
		logs = append(logs, expectedLog{c[0], c[4], columns, c[6], lines})
	}
	return logs
}

// sums is what a log adds up to in one direction.
type sums struct {
	Count         int64
	Sum, Min, Max float64
}

// naive adds up a log without histogram the plain way.
func naive(text string) map[Direction]sums {
	all := map[Direction]sums{}
	for line := range strings.SplitSeq(text, "\n") {
		c := strings.Split(strings.TrimSpace(line), ",")
		if len(c) < 3 {
			continue
		}
		v, _ := strconv.ParseFloat(strings.TrimSpace(c[1]), 64)
		d, _ := strconv.Atoi(strings.TrimSpace(c[2]))
		s, seen := all[Direction(d)]
		if !seen || v < s.Min {
			s.Min = v
		}
		s.Count, s.Sum, s.Max = s.Count+1, s.Sum+v, max(s.Max, v)
		all[Direction(d)] = s
	}
	return all
}

// totals adds up the tracks of a log, and checks them against their cells.
func totals(t *testing.T, l *Log) map[Direction]sums {
	t.Helper()
	all := map[Direction]sums{}
	for _, track := range l.Tracks {
		cells := sums{}
		for i, c := range track.Cells {
			if i > 0 && c.End < track.Cells[i-1].End {
				t.Errorf("%s: a cell ends at %v, after one at %v", l.File, c.End, track.Cells[i-1].End)
			}
			if i == 0 || c.Min < cells.Min {
				cells.Min = c.Min
			}
			cells.Count, cells.Sum, cells.Max = cells.Count+c.Count, cells.Sum+c.Sum, max(cells.Max, c.Max)
		}
		whole := sums{track.Count, track.Sum, track.Min, track.Max}
		if diff := cmp.Diff(cells, whole); diff != "" {
			t.Errorf("%s: the cells of %s are not the whole (-cells +whole):\n%s", l.File, track.Direction, diff)
		}
		s, seen := all[track.Direction]
		if !seen || track.Min < s.Min {
			s.Min = track.Min
		}
		s.Count, s.Sum, s.Max = s.Count+track.Count, s.Sum+track.Sum, max(s.Max, track.Max)
		all[track.Direction] = s
	}
	return all
}

func TestCorpus(t *testing.T) {
	for _, want := range corpusLogs(t) {
		t.Run(want.file, func(t *testing.T) {
			path := filepath.Join(corpus, "logs", want.file)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !Looks(want.file, text[:min(len(text), 4096)]) {
				t.Error("it does not look like a log")
			}
			options := Options{}
			if number, _, _ := strings.Cut(want.version, " "); !strings.Contains(number, "x") {
				if v, err := fio.ParseVersion("fio-" + number); err == nil {
					options.Version = &v
				}
			}
			l, err := ReadLog(path, strings.NewReader(string(text)), options)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s perIO=%v window=%v unit=%v tracks=%d notes=%v", l.Kind, l.PerIO, l.Window, l.Unit, len(l.Tracks), l.Notes)
			if l.Lines != want.lines || l.Skipped != 0 || l.Columns != want.columns {
				t.Errorf("%d lines, %d skipped, %d columns, want %d, 0 and %d", l.Lines, l.Skipped, l.Columns, want.lines, want.columns)
			}
			got := totals(t, l)
			for d := range Direction(directions) {
				_, has := got[d]
				if stated := strings.Contains(want.directions, strconv.Itoa(int(d))); has != stated {
					t.Errorf("%s: %v, want %v", d, has, stated)
				}
			}
			if l.Kind != Histogram {
				if diff := cmp.Diff(naive(string(text)), got); diff != "" {
					t.Errorf("sums differ (-naive +read):\n%s", diff)
				}
			}
		})
	}
}
