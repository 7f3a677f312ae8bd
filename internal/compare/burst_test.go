package compare

import (
	"math"
	"testing"
	"time"

	"ebscope/internal/result"
)

// The first second of a run holds a burst, at a tenth of the latency: of 10 s it lowers the mean of all I/Os far more than of
// 60 s. Without it both take 64 ms: 32 in flight ÷ 500 IOPS.
func TestFirstSecondIsNoLatency(t *testing.T) {
	burst := func(seconds int) Run {
		r := course(1, 0, append([]float64{5000}, constant(seconds-1, 500)...)...)
		r.Total.Latency.Bins = []result.Bin{}
		return r
	}
	long, short := burst(60), burst(12)
	// 32 × 60 ÷ (5,000 + 59 × 500) = 55.7 ms, and 32 × 12 ÷ (5,000 + 11 × 500) = 36.6 ms.
	if ms := long.Total.Latency.Mean.Round(100 * time.Microsecond); ms != 55700*time.Microsecond {
		t.Fatalf("mean of all I/Os %v", ms)
	}
	r := find(t, Compare(of("a", phase("x", long)), []Subject{of("b", phase("x", short))}, nil), LatencyMean, "")
	if math.Abs(r.A-64) > 1e-6 || math.Abs(r.B-64) > 1e-6 || r.Significant || r.Method != Bootstrap {
		t.Errorf("%v against %v ms by %s, proved %v", r.A, r.B, r.Method, r.Significant)
	}
	// One side without a series: both give the mean of all I/Os, and nothing is tested.
	short.Latency = nil
	r = find(t, Compare(of("a", phase("x", long)), []Subject{of("b", phase("x", short))}, nil), LatencyMean, "")
	if math.Abs(r.A-55.65) > 0.01 || math.Abs(r.B-36.57) > 0.01 || r.Method != Untested {
		t.Errorf("%v against %v ms by %s", r.A, r.B, r.Method)
	}
}

// A constant series has an interval of no width: a difference within the margin of 5 % is none the less not proved.
func TestConstantSeriesWithinTheMargin(t *testing.T) {
	a, b := of("a", phase("x", course(1, 0, constant(60, 500)...))), of("b", phase("x", course(1, 0, constant(60, 480)...)))
	r := find(t, Compare(a, []Subject{b}, nil), LatencyMean, "") // 500 ÷ 480 = 1.042
	if r.Significant || math.Abs(*r.Ratio-1.0417) > 1e-4 || *r.RatioHigh-*r.RatioLow > 1e-6 {
		t.Errorf("%+v", r)
	}
}

// What was driven stands first, whatever else differs and for whichever subject.
func TestTargetDiffersFirst(t *testing.T) {
	run := course(1, 0, constant(20, 100)...)
	other := phase("x", run)
	other.Facts = facts("size", "2 GiB")
	base := phase("x", run)
	base.Facts = facts("size", "1 GiB")
	a := Subject{Name: "a", Target: "emulated", Compress: 60, Facts: facts(targetFact, "emulated"), Phases: []Phase{base}}
	b := Subject{Name: "b", Target: "emulated", Compress: 60, Facts: facts(targetFact, "emulated"), Phases: []Phase{other}}
	c := Subject{Name: "c", Target: "simulated", Compress: 1, Facts: facts(targetFact, "simulated"), Phases: []Phase{base}}
	d := Compare(a, []Subject{b, c}, nil)
	if len(d.Differences) != 2 || d.Differences[0].Option != targetFact || d.Differences[1].Option != "size" {
		t.Errorf("%+v", d.Differences)
	}
	if d.Subjects[0].Target != "emulated" || d.Subjects[0].Compress != 60 || d.Subjects[2].Target != "simulated" {
		t.Errorf("%+v", d.Subjects)
	}
}
