package log

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ebscope/internal/result"
)

// minute is a log of a line a second for a minute: 20 times 3001, 3002 and 3000 IOPS, which are 3,001 on average.
func minute() (lines []string) {
	for i := 1; i <= 60; i++ {
		lines = append(lines, fmt.Sprintf("%d000, %d, 0, 0", i, 3000+i%3))
	}
	return lines
}

// A line whose time is wrong is not the first of a second job. What it was of is not known, and is no stall.
func TestWrongTimes(t *testing.T) {
	for _, c := range []struct {
		what  string
		lines []string
		wrong []int // lines
		// Points, of which none is below 3,000: 60, less the seconds that are not known.
		points int
	}{
		{"as it should be", minute(), nil, 60},
		{"the last time comes again", append(minute(), "60000, 2990, 0, 0"), []int{61}, 60},
		{"a time comes again", with(minute(), 30, "29000, 3000, 0, 0"), []int{30}, 59},
		{"two lines changed places", with(with(minute(), 30, "31000, 3001, 0, 0"), 31, "30000, 3000, 0, 0"), []int{31}, 59},
		{"one is two lines early", with(with(with(minute(), 30, "32000, 3002, 0, 0"), 31, "30000, 3000, 0, 0"), 32, "31000, 3001, 0, 0"), []int{30}, 59},
		{"one is of the start", with(minute(), 30, "5, 3000, 0, 0"), []int{30}, 59},
		{"one is of the first second", with(minute(), 30, "1000, 2999, 0, 0"), []int{30}, 59},
		{"one is far ahead", with(minute(), 30, "90000, 3000, 0, 0"), []int{30}, 59},
		{"no number", with(minute(), 30, "30000, nan, 0, 0"), []int{30}, 59},
		{"below zero", with(with(minute(), 30, "30000, -5, 0, 0"), 31, "31000, -5, 0, 0"), []int{30, 31}, 58},
		// 2,500 ms and 500 ms are no jobs: five lines are left.
		{"short", []string{"1000, 3000, 0, 0", "2000, 3001, 0, 0", "3000, 3002, 0, 0", "2500, 3000, 0, 0", "4000, 3001, 0, 0", "500, 3000, 0, 0", "5000, 3001, 0, 0"}, []int{4, 6}, 5},
	} {
		t.Run(c.what, func(t *testing.T) {
			l := mustRead(t, "a_iops.1.log", strings.Join(c.lines, "\n")+"\n", Options{})
			var wrong []int
			for _, n := range l.Notes {
				if n.Skipped {
					wrong = append(wrong, n.Line)
				} else {
					t.Errorf("%+v", n)
				}
			}
			j := Join([]*Log{l}, 0)
			low := slices.MinFunc(j.IOPS, func(a, b result.Point) int { return int(a.Value - b.Value) })
			if !slices.Equal(wrong, c.wrong) || len(j.IOPS) != c.points || low.Value < 3000 || j.Total.IOPS < 3000.5 || j.Total.IOPS > 3001.5 {
				t.Errorf("lines %v were skipped; %d points from %v on, %v on average", wrong, len(j.IOPS), low, j.Total.IOPS)
			}
			if want := int64(len(c.lines) - len(c.wrong)); l.Lines != want || l.Skipped != int64(len(c.wrong)) {
				t.Errorf("%d lines and %d skipped, want %d", l.Lines, l.Skipped, want)
			}
		})
	}
}

func with(lines []string, number int, line string) []string {
	lines[number-1] = line
	return lines
}

// Jobs that share a log add up, whether their lines follow one another or take turns, and however long each runs.
func TestJobsShareALog(t *testing.T) {
	long := minute()
	var short, other, turns []string
	for i := 1; i <= 20; i++ {
		short = append(short, fmt.Sprintf("%d001, 1000, 0, 0", i))
	}
	for i, line := range minute() {
		other = append(other, fmt.Sprintf("%d000, %d, 0, 0", i+1, 3000+(i+2)%3))
		turns = append(turns, line, fmt.Sprintf("%d000, %d, 0, 0", i+1, 1000+i))
	}
	for _, c := range []struct {
		what         string
		lines        []string
		first, tenth float64 // IOPS
		last         time.Duration
	}{
		{"the longer first", append(minute(), short...), 4001, 4001, 60 * second},
		{"the shorter first", append(slices.Clone(short), long...), 4001, 4001, 60 * second},
		{"three", append(append(minute(), short...), other...), 7003, 7003, 60 * second},
		// 1 and 10 are 1 modulo 3: 3,001, with 1,000 in the first second and 1,009 in the tenth.
		{"taking turns", turns, 4001, 4010, 60 * second},
	} {
		t.Run(c.what, func(t *testing.T) {
			l := mustRead(t, "a_iops.log", strings.Join(c.lines, "\n")+"\n", Options{})
			j := Join([]*Log{l}, 0)
			if len(j.IOPS) != 60 || l.Skipped != 0 || l.Lines != int64(len(c.lines)) {
				t.Fatalf("%d points, %d lines and %d skipped, %v", len(j.IOPS), l.Lines, l.Skipped, l.Notes)
			}
			if j.IOPS[0].Value != c.first || j.IOPS[9].Value != c.tenth || j.IOPS[59].End != c.last {
				t.Errorf("%v, %v … %v", j.IOPS[0], j.IOPS[9], j.IOPS[59])
			}
		})
	}
}

// An hour of 3,000 I/Os a second: windows of 50 ms would be 72,000. 3,600 s ÷ 16,384 = 220 ms; the next double of 1 ms is 256.
func TestPointsOfALongLogAreBounded(t *testing.T) {
	all := []part{{Track: Track{Width: time.Millisecond, Count: 3000 * 3600, Cells: []Cell{{End: time.Hour, Count: 3000 * 3600}}}}}
	if got := seriesWidth(all); got != 256*time.Millisecond {
		t.Errorf("windows of %v", got)
	}
	for _, tt := range []struct {
		length time.Duration
		rate   int64
		want   time.Duration
	}{
		{10 * time.Minute, 1000, 128 * time.Millisecond}, // a hundred I/Os take 100 ms
		{8 * time.Hour, 3000, 256 * time.Millisecond},    // 16,384 points would be 1.76 s apart
		{8 * time.Hour, 300, 256 * time.Millisecond},     // fifty take 167 ms, a hundred 333
		{10 * time.Minute, 100, 512 * time.Millisecond},  // fifty take 500 ms
		{10 * time.Minute, 10, 512 * time.Millisecond},   // … and here 5 s, which would hide a dip
	} {
		count := tt.rate * int64(tt.length/time.Second)
		all := []part{{Track: Track{Width: time.Millisecond, Count: count, Cells: []Cell{{End: tt.length, Count: count}}}}}
		if got := seriesWidth(all); got != tt.want {
			t.Errorf("%v at %d IOPS: windows of %v, want %v", tt.length, tt.rate, got, tt.want)
		}
	}
}
