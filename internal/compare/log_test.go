package compare

import (
	"math"
	"strings"
	"testing"
	"time"

	"ebscope/internal/result"
)

// An averaged log alone counts no I/Os, and is tested all the same. Without the first second, a burst on A's side: 2,700 ÷ 3,000.
func TestAveragedLogAlone(t *testing.T) {
	a, b := course(1, 0, append([]float64{6000}, constant(119, 3000)...)...), course(2, 0, constant(120, 2700)...)
	for _, r := range []*Run{&a, &b} {
		r.Latency = nil
		r.Total = result.Direction{IOPS: r.Total.IOPS}
	}
	d := Compare(of("a", phase("x", a)), []Subject{of("b", phase("x", b))}, nil)
	if r := find(t, d, IOPS, ""); r.A != 3000 || r.B != 2700 || r.Method != Bootstrap || !r.Significant {
		t.Errorf("%v against %v by %s, proved %v", r.A, r.B, r.Method, r.Significant)
	}
	// Of 3,000 IOPS 1,000 are reads: a third of the series on either side.
	for _, r := range []*Run{&a, &b} {
		r.Total.IOPS, r.Read, r.Write = 3000, &result.Direction{IOPS: 1000}, &result.Direction{IOPS: 2000}
	}
	d = Compare(of("a", phase("x", a)), []Subject{of("b", phase("x", b))}, nil)
	for _, r := range d.Rows {
		if r.Metric == IOPS && r.Direction == "read" && (math.Abs(r.A-1000) > 1e-9 || math.Abs(r.B-900) > 1e-9 || !r.Significant) {
			t.Errorf("reads: %v against %v, proved %v", r.A, r.B, r.Significant)
		}
	}
	if len(d.Rows) != 3 {
		t.Errorf("%d rows, want all, reads and writes: %+v", len(d.Rows), d.Rows)
	}
}

// The windows of a per-I/O log are short: of 100 ms each, the first 10 hold the bucket's burst and are left out together. Of a run
// that was compressed 5 times they are 2, and of windows longer than a second it is the first.
func TestFirstSecondOfShortWindows(t *testing.T) {
	windows := func(length time.Duration) (r Run) {
		for i := range 100 {
			value := 100.0
			if i < 10 {
				value = 500
			}
			r.IOPS = append(r.IOPS, result.Point{End: time.Duration(i+1) * length, Value: value})
		}
		return r
	}
	for _, tt := range []struct {
		length   time.Duration
		compress float64
		want     time.Duration
		mean     float64
	}{
		{100 * time.Millisecond, 0, time.Second, 100},
		{100 * time.Millisecond, 5, 200 * time.Millisecond, (8*500 + 90*100) / 98.0},
		{2 * time.Second, 1, 2 * time.Second, (9*500 + 90*100) / 99.0},
		// 40 ms of the eighth window are left, of 500, and two more of it: (0.04 + 2 × 0.13) × 500 and 90 × 0.13 × 100 in 12 s.
		{130 * time.Millisecond, 1, time.Second, (0.3*500 + 11.7*100) / 12},
	} {
		p := phase("x", windows(tt.length))
		p.Compress = tt.compress
		r := pair{p, p}.aligned().a.Runs[0]
		if e, _ := rate(r.windows(), nil); r.start != tt.want || math.Abs(e.value-tt.mean) > 1e-9 {
			t.Errorf("windows of %v, compressed %v times: from %v, mean %v; want %v, %v", tt.length, tt.compress, r.start, e.value, tt.want, tt.mean)
		}
	}
}

// What no series tests counts for a gate as it is, and the text says so.
func TestUntestedRegressionIsSaid(t *testing.T) {
	for name, tt := range map[string]struct {
		row  Row
		said bool
	}{
		"untested": {row("x", IOPS, 0.9, Untested, false), true},
		"proved":   {row("x", IOPS, 0.9, Bootstrap, true), false},
	} {
		thresholds, err := ParseThresholds("iops<-5%")
		if err != nil {
			t.Fatal(err)
		}
		d := Document{Rows: []Row{tt.row}}
		d.judge(thresholds)
		if len(d.Regressions) != 1 || strings.Contains(d.Regressions[0], "nothing to test it by") != tt.said {
			t.Errorf("%s: %q", name, d.Regressions)
		}
	}
}

// A latency that goes from one level to the other but twice in 120 s shows but few independent values: its percentiles are not
// proved to differ, and no gate closes on them.
func TestPercentilesOfSlowLatency(t *testing.T) {
	slow := func(high float64) Run {
		r := course(1, 0, constant(120, 500)...)
		for i := range r.Latency {
			if i/40 == 1 {
				r.Latency[i].Value *= high
			}
		}
		r.Total.Latency.Min, r.Total.Latency.Bins = 60*time.Millisecond, []result.Bin{{At: 64 * time.Millisecond, Count: 80}, {At: time.Duration(64*high) * time.Millisecond, Count: 40}}
		return r
	}
	thresholds, err := ParseThresholds("p99>+10%")
	if err != nil {
		t.Fatal(err)
	}
	d := Compare(of("a", phase("x", slow(2))), []Subject{of("b", phase("x", slow(3)))}, thresholds)
	r := find(t, d, LatencyP99, "")
	if math.Abs(*r.Ratio-1.5) > 1e-9 || r.Method != WindowRanks || r.Significant || r.PValue == nil || *r.PValue != 1 || r.N[0] >= leastWindows || d.Regression {
		t.Errorf("%+v, regression %v", r, d.Regression)
	}
}
