package analyze_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ebscope/internal/analyze"
	"ebscope/internal/ebs"
	"ebscope/internal/result"
)

// After a stall a bucket lets through what came in meanwhile. At K = 60 its depth is 50 operations: in 150 ms
// 3,000 × 0.1575 + 50 + 32 in flight = 554 may be served, 3,695 a second.
func TestAboveLimitAllowsWhatBucketsAllow(t *testing.T) {
	for name, tt := range map[string]struct {
		values []float64
		want   bool
	}{
		"after a stall":       {levels(3000, 1, 1000, 8, 3376, 3, 1000, 10), false},
		"more than the depth": {levels(3000, 1, 1000, 8, 3800, 3, 1000, 10), true},
		"for long":            {levels(3000, 1, 3376, 200), true},
	} {
		run, measured := handMade(gp3base, small, "", 50*time.Millisecond, tt.values...)
		run.Compress = 60
		got := codes(analyze.Run(ebs.Embedded(), run, measured, nil).Phases[0].Warnings)
		if slices.Contains(got, "above-limit") != tt.want {
			t.Errorf("%s: warnings %v, want one of a rate above the limits: %v", name, got, tt.want)
		}
	}
}

// fio 3.33 on a file: 256 I/Os in 819 ms, of which the last 200 or so went to the flush at the end, when the latest sample
// was at 614 ms. So the mean latency lies between 614 ÷ 256 = 2.398 ms and 819 ÷ 256 = 3.199 ms. It was 2.476.
func TestLittlesLawOfALayout(t *testing.T) {
	for mean, want := range map[time.Duration]analyze.Check{
		2476 * time.Microsecond: {Expected: 2.476, OK: true},
		2300 * time.Microsecond: {Expected: 2.398, OK: true},
		1200 * time.Microsecond: {Expected: 2.398},
		3600 * time.Microsecond: {Expected: 3.199},
	} {
		// The series' own mean: 256 ÷ 0.614 s = 417.
		run, measured := handMade(gp3base, layout, "", 614*time.Millisecond/10, levels(417, 10)...)
		m := &measured[0].Total
		m.IOs, m.Runtime, m.IOPS = 256, 819*time.Millisecond, 312.576
		m.Latency = result.Latency{Kind: "lat", Samples: 256, Mean: mean}
		checks := analyze.Run(ebs.Embedded(), run, measured, nil).Checks
		law, total := checks[0], checks[1]
		if law.OK != want.OK || !strings.Contains(law.Text, "÷ 313 to 417 IOPS; fio counts the flush") {
			t.Errorf("%v: %+v, want ok %v", mean, law, want.OK)
		}
		near(t, "expected latency", law.Expected, want.Expected, 0.001)
		if !total.OK {
			t.Errorf("the series ends before the flush, yet %+v", total)
		}
	}
}
