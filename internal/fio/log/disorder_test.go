package log

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ebscope/internal/result"
)

// Lines of one job are put in order where no time comes twice: a minute of 3,001 IOPS on average, the lowest 3,000, stays one.
func TestLinesInNoOrderArePutInOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	shuffled := minute()
	random.Shuffle(60, func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	reversed := minute()
	slices.Reverse(reversed)
	var mixed []string // reads and writes of each second
	for _, line := range minute() {
		mixed = append(mixed, line, strings.Replace(line, ", 0, 0", ", 1, 0", 1))
	}
	random.Shuffle(120, func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
	for what, c := range map[string]struct {
		lines []string
		mean  float64
	}{
		"shuffled":               {shuffled, 3001},
		"reversed":               {reversed, 3001},
		"the second half first":  {append(minute()[30:], minute()[:30]...), 3001},
		"reads and writes mixed": {mixed, 6002},
	} {
		t.Run(what, func(t *testing.T) {
			l := mustRead(t, "a_iops.1.log", strings.Join(c.lines, "\n")+"\n", Options{})
			j := Join([]*Log{l}, 0)
			ascending := slices.IsSortedFunc(j.IOPS, func(a, b result.Point) int { return int(a.End - b.End) })
			if len(j.IOPS) != 60 || !ascending || float64(j.Total.IOPS) != c.mean || l.Skipped != 0 || l.Window != second {
				t.Errorf("%d points, %v IOPS, windows of %v, %v", len(j.IOPS), j.Total.IOPS, l.Window, l.Notes)
			}
			if len(l.Notes) != 1 || !strings.Contains(l.Notes[0].Text, "were put in order") || l.Notes[0].Line == 0 {
				t.Errorf("notes %+v", l.Notes)
			}
		})
	}
}

// Two jobs whose lines are in no order are refused: nothing tells which line is of which.
func TestLinesOfJobsInNoOrderAreRefused(t *testing.T) {
	lines := append(minute(), minute()...)
	rand.New(rand.NewPCG(1, 2)).Shuffle(120, func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	_, err := ReadLog("a_iops.log", strings.NewReader(strings.Join(lines, "\n")+"\n"), Options{})
	if err == nil || !strings.Contains(err.Error(), "in no order") || !strings.Contains(err.Error(), "sort -n") {
		t.Error(err)
	}
}

// Jobs whose windows lie between each other's are jobs: 100 + 200 IOPS.
func TestJobsWithWindowsBetween(t *testing.T) {
	var lines []string
	for job := range 2 {
		for i := range 60 {
			lines = append(lines, fmt.Sprintf("%d, %d, 0, 0", 1000*(i+1)+500*job, 100*(job+1)))
		}
	}
	l := mustRead(t, "a_iops.log", strings.Join(lines, "\n")+"\n", Options{})
	if len(l.Tracks) != 2 || !strings.Contains(l.Notes[0].Text, "read as 2 jobs") {
		t.Errorf("%d tracks, %v", len(l.Tracks), l.Notes)
	}
}

// A log that was appended to itself has the rate of one, and says what was left out: 60 lines from line 61 on. Jobs that are
// held to one rate are as alike, and are two.
func TestAppendedToItself(t *testing.T) {
	l := mustRead(t, "a_iops.1.log", strings.Join(append(minute(), minute()...), "\n")+"\n", Options{})
	n := l.Notes[0]
	if got := Join([]*Log{l}, 0).Total.IOPS; got != 3001 || l.Lines != 60 || l.Skipped != 60 || len(l.Notes) != 1 || n.Line != 61 || !n.Skipped {
		t.Errorf("%v IOPS, %d lines, %d skipped, %+v", got, l.Lines, l.Skipped, l.Notes)
	}
	var held strings.Builder
	for range 2 {
		for i := range 60 {
			fmt.Fprintf(&held, "%d000, 300, 0, 0\n", i+1)
		}
	}
	if got := Join([]*Log{mustRead(t, "a_iops.log", held.String(), Options{})}, 0).Total.IOPS; got != 600 {
		t.Errorf("%v IOPS of two jobs that are held to 300 each", got)
	}
}
