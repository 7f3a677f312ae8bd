package analyze_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ebscope/internal/analyze"
	"ebscope/internal/ebs"
	"ebscope/internal/result"
	"ebscope/internal/units"
	"ebscope/internal/workload"
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

// Two jobs do one I/O of half a millisecond at a time and think in between: 2 ÷ (100.5 ms) = 19.9 IOPS, 2 ÷ (500.5 ms) = 4.0.
// One that thinks for an hour does one I/O each in a minute, and no cycle is seen to its end: there is nothing to check.
func TestLittlesLawCountsThinkTime(t *testing.T) {
	for _, tt := range []struct {
		think string
		cycle float64 // ms; zero where none is seen
	}{{"100ms", 100.5}, {"500ms", 500.5}, {"1h", 0}} {
		p, err := workload.Parse(ebs.Embedded(), []byte(`
name: thinking
file_size: 1GiB
volumes:
  - {name: v, type: gp3, size: 100GiB}
phases:
  - {name: layout, volume: v, rw: write, block_size: 1MiB, queue_depth: 1}
  - {name: think, volume: v, rw: randread, block_size: 4KiB, queue_depth: 1, jobs: 2, duration: 60s, think_time: `+tt.think+`}
`))
		if err != nil {
			t.Fatal(err)
		}
		run, measured, predicted := simulated(t, p, 1)
		checks := analyze.Run(ebs.Embedded(), run, measured, predicted).Checks
		i := slices.IndexFunc(checks, func(c analyze.Check) bool { return c.Phase == "think" && c.Code == "littles-law" })
		switch {
		case tt.cycle == 0:
			if i >= 0 {
				t.Errorf("%s: %+v, want no check", tt.think, checks[i])
			}
		case i < 0 || !checks[i].OK:
			t.Errorf("%s: no check that holds in %+v", tt.think, checks)
		default:
			near(t, tt.think, checks[i].Measured, tt.cycle, 0.2)
			near(t, tt.think, checks[i].Expected, tt.cycle, 0.01*tt.cycle)
		}
	}
}

// fio 3.28, 12 jobs of libaio at depth 1 on ZFS, where submission takes nearly all the time: reads 3,294.7 IOPS × 0.246 ms,
// writes 2,208.4 × 5.057 ms of lat make 0.81 + 11.17 = 11.98 in flight, one for each job. By clat, 0.0012 and 0.0040 ms, it would be 0.013.
func TestLittlesLawTakesSubmissionIn(t *testing.T) {
	part := func(iops float64, ios int64, clat, lat time.Duration) result.Direction {
		return result.Direction{IOs: ios, IOPS: units.IOPS(iops), Bytes: units.Bytes(ios) * 256 * units.KiB, Runtime: 30011 * time.Millisecond,
			Latency: result.Latency{Kind: "clat", Samples: ios, Mean: clat, Max: time.Millisecond, Submitted: lat}}
	}
	r := foreign(1, time.Minute)
	r.Workload = result.Stated{Pattern: "randrw", BlockSize: 256 * units.KiB, Jobs: 12}
	r.Total = result.Together([]result.Direction{part(3294.725, 98878, 1239, 246_027), part(2208.357, 66275, 3997, 5_057_240)})
	p := one(t, analyze.Given{}, r)
	near(t, "I/Os in flight", *p.Outstanding, 11.98, 0.01)
	says(t, "depth", text(p.Warnings, "queue-depth-derived"), "about 12 I/Os outstanding (5,503 IOPS × 2.2 ms of lat)")
	says(t, "kind", text(p.Warnings, "without-submission"), "clat", "0.0023 ms", "with it (lat), the mean is 2.2 ms")
	// With the depth stated: 12 ÷ 5,503 IOPS = 2.18 ms.
	r.Workload.QueueDepth = 1
	law := readings(t, analyze.Given{}, r).Checks[0]
	if !law.OK || strings.Contains(law.Text, "clat") {
		t.Errorf("%+v", law)
	}
	near(t, "measured", law.Measured, 2.18, 0.01)
}
