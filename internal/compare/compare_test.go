package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ebscope/internal/result"
	"ebscope/internal/units"
)

// course is a run of seconds, each with so many IOPS and some noise, at a depth of 32.
func course(seed uint64, noise float64, iops ...float64) Run {
	random := rand.New(rand.NewPCG(seed, 1))
	r := Run{Duration: time.Duration(len(iops)) * time.Second}
	var sum float64
	for i, x := range iops {
		x += noise * random.NormFloat64()
		sum += x
		end := time.Duration(i+1) * time.Second
		r.IOPS = append(r.IOPS, result.Point{End: end, Value: x})
		r.Latency = append(r.Latency, result.Point{End: end, Value: 32 / x * 1000})
	}
	mean := 32 * float64(len(iops)) / sum
	r.Window = time.Second
	r.Total = result.Direction{IOs: int64(sum), Bytes: units.Bytes(sum) * 4 * units.KiB, IOPS: units.IOPS(sum / float64(len(iops))),
		Latency: result.Latency{Kind: "lat", Samples: int64(sum), Mean: time.Duration(mean * float64(time.Second)), Max: time.Second}}
	return r
}

func constant(n int, x float64) []float64 {
	all := make([]float64, n)
	for i := range all {
		all[i] = x
	}
	return all
}

var random4k = Workload{"randread", 4 * units.KiB, 32, 1}

func of(name string, phases ...Phase) Subject { return Subject{Name: name, Phases: phases} }

func phase(name string, runs ...Run) Phase { return Phase{Name: name, Workload: random4k, Runs: runs} }

// find returns the row of a metric and a part.
func find(t *testing.T, d Document, metric Metric, part string) Row {
	t.Helper()
	for _, r := range d.Rows {
		if r.Metric == metric && r.Part == part {
			return r
		}
	}
	t.Fatalf("no row of %s %s", metric, part)
	return Row{}
}

func TestOneRunASide(t *testing.T) {
	a := of("a", phase("x", course(1, 30, constant(120, 3000)...)))
	for name, tt := range map[string]struct {
		b      Run
		proved bool
	}{
		"another run of the same": {course(2, 30, constant(120, 3000)...), false},
		// 2.5 % lower, which two runs of the same volume may be.
		"within the margin": {course(2, 30, constant(120, 2925)...), false},
		"ten percent lower": {course(2, 30, constant(120, 2700)...), true},
		// A standard error of 2,000 ÷ √119 = 183, 7 %.
		"lost in noise": {course(2, 2000, constant(120, 2900)...), false},
	} {
		r := find(t, Compare(a, []Subject{of("b", phase("x", tt.b))}, nil), IOPS, "")
		if r.Significant != tt.proved || r.Method != Bootstrap || r.PValue == nil || r.RatioLow == nil || *r.RatioLow > *r.Ratio || *r.RatioHigh < *r.Ratio {
			t.Errorf("%s: proved %v by %s, p %v, ratio %v (%v to %v)", name, r.Significant, r.Method, *r.PValue, *r.Ratio, *r.RatioLow, *r.RatioHigh)
		}
	}
}

// gp2 holds 3,000 IOPS for 80 of 120 s, then 300. Without the first sample (79 × 3,000 + 40 × 300) ÷ 119 = 2,092, which is
// 30 % below 3,000, and at its end 90 %.
func TestAfterTheFall(t *testing.T) {
	fell := course(3, 0, append(constant(80, 3000), constant(40, 300)...)...)
	fell.Levels = []Level{{time.Second, 80 * time.Second}, {80 * time.Second, 120 * time.Second}}
	steady := course(4, 0, constant(120, 3000)...)
	steady.Levels = []Level{{time.Second, 120 * time.Second}}
	thresholds, err := ParseThresholds("iops<-5%")
	if err != nil {
		t.Fatal(err)
	}
	d := Compare(of("gp3", phase("x", steady)), []Subject{of("gp2", phase("x", fell))}, thresholds)
	whole, last := find(t, d, IOPS, ""), find(t, d, IOPS, Steady)
	if math.Abs(*whole.Ratio-2092.4/3000) > 0.001 || !whole.Regression || math.Abs(*last.Ratio-0.1) > 1e-9 || !last.Regression || !d.Regression {
		t.Errorf("whole %v, last level %v, regression %v", *whole.Ratio, *last.Ratio, d.Regression)
	}
	// The fall is known to a second, half a second either way: 0.5 × 2,700 ÷ 119 = 11.3 of 2,092 IOPS, and 95 % of that.
	if wide := (*whole.RatioHigh - *whole.RatioLow) / *whole.Ratio; math.Abs(wide-0.95*2*11.34/2092) > 0.0005 {
		t.Errorf("the interval is %.4f wide, want %.4f", wide, 0.95*2*11.34/2092)
	}
	if r := find(t, d, LatencyMean, Steady); math.Abs(*r.Ratio-10) > 1e-9 {
		t.Errorf("latency of the last levels: %v times", *r.Ratio)
	}
}

func TestRepeatedRuns(t *testing.T) {
	runs := func(rates ...float64) (all []Run) {
		for _, x := range rates {
			all = append(all, Run{Measurement: result.Measurement{Total: result.Direction{IOs: 100, Bytes: 100 * 4 * units.KiB, IOPS: units.IOPS(x)}}})
		}
		return all
	}
	a := of("a", phase("x", runs(100, 101, 102, 103)...))
	d := Compare(a, []Subject{of("b", phase("x", runs(90, 91, 92, 93)...)), of("c", phase("x", runs(90, 91)...))}, nil)
	r := d.Rows[0]
	// Medians 91.5 and 101.5; ratios from 90 ÷ 103 to 93 ÷ 100; p = 2 ÷ 70.
	if r.Method != MannWhitney || !r.Significant || r.A != 101.5 || r.B != 91.5 || math.Abs(*r.PValue-2.0/70) > 1e-9 || *r.RatioLow != 90.0/103 || *r.RatioHigh != 0.93 {
		t.Errorf("%+v", r)
	}
	for _, r := range d.Rows {
		if r.Subject == "c" && (r.Method != Untested || r.Significant || r.PValue != nil) {
			t.Errorf("two runs without a series against four: %+v", r)
		}
	}
}

func TestMatching(t *testing.T) {
	on := func(volume, name string) Phase {
		return Phase{Name: name, Volume: volume, Workload: random4k, Runs: []Run{course(1, 0, constant(20, 100)...)}}
	}
	other := func(p Phase, w Workload) Phase { p.Workload = w; return p }
	failed := on("v", "bad")
	failed.Unfit, failed.Runs = "it failed: no space", nil
	write := Workload{"write", units.MiB, 8, 1}
	for name, tt := range map[string]struct {
		a, b  []Phase
		pairs []string
		left  int
	}{
		"by name":               {[]Phase{on("gp2", "x")}, []Phase{on("gp3", "x")}, []string{"gp2 x – gp3 x"}, 0},
		"by name and volume":    {[]Phase{on("gp3", "x"), on("gp2", "x")}, []Phase{on("gp2", "x"), on("gp3", "x")}, []string{"gp3 x – gp3 x", "gp2 x – gp2 x"}, 0},
		"by workload":           {[]Phase{on("v", "x"), other(on("v", "y"), write)}, []Phase{other(on("v", "w"), write), on("v", "r")}, []string{"v x – v r", "v y – v w"}, 0},
		"ambiguous":             {[]Phase{on("v", "x"), on("v", "y")}, []Phase{on("v", "z")}, nil, 3},
		"a failed one":          {[]Phase{failed}, []Phase{on("v", "bad")}, nil, 2},
		"the only one":          {[]Phase{other(on("", "x"), Workload{})}, []Phase{other(on("", "y"), Workload{})}, []string{" x –  y"}, 0},
		"unknown workloads":     {[]Phase{other(on("", "x"), Workload{})}, []Phase{other(on("", "y"), Workload{}), other(on("", "z"), Workload{})}, nil, 3},
		"a volume that is left": {[]Phase{on("gp2", "x"), on("gp3", "x")}, []Phase{on("gp2", "x")}, []string{"gp2 x – gp2 x"}, 1},
	} {
		pairs, left := match(of("a", tt.a...), of("b", tt.b...))
		var got []string
		for _, p := range pairs {
			got = append(got, p.a.Volume+" "+p.a.Name+" – "+p.b.Volume+" "+p.b.Name)
		}
		if diff := cmp.Diff(tt.pairs, got); diff != "" || len(left) != tt.left {
			t.Errorf("%s: %d left out, want %d\n%s", name, len(left), tt.left, diff)
		}
	}
}

func TestDifferences(t *testing.T) {
	a, b := phase("x"), phase("x")
	a.Facts, b.Facts = facts("size", "1 GiB", "runtime", "1m0s", "direct", "", "rate", "rate_iops=5"), facts("size", "10 GiB", "runtime", "1m0s", "direct", "true", "rate", "rate_iops=6")
	a.Options = map[string]string{"bs": "4k", "invalidate": "0", "filename": "/a", "norandommap": "", "rate_iops": "5"}
	b.Options = map[string]string{"bs": "4096", "filename": "/b", "end_fsync": "1", "rate_iops": "6"}
	want := []difference{
		{"size", "1 GiB", "10 GiB"},            // a runtime is the same
		{"rate", "rate_iops=5", "rate_iops=6"}, // and not the option once more
		{"direct", unstated, "true"},
		{"end_fsync", unset, "1"}, {"invalidate", "0", unset}, {"norandommap", "set", unset},
	}
	if diff := cmp.Diff(want, pair{a, b}.differences(), cmp.AllowUnexported(difference{})); diff != "" {
		t.Error(diff)
	}
	b.Options = nil
	if got := (pair{a, b}).differences(); len(got) != 3 {
		t.Errorf("options of one side only: %v", got)
	}
}

// Latency with and without submission is not compared.
func TestUnlikeLatencies(t *testing.T) {
	a, b := course(1, 0, constant(20, 100)...), course(2, 0, constant(20, 100)...)
	b.Total.Latency.Kind = "clat"
	d := Compare(of("a", phase("x", a)), []Subject{of("b", phase("x", b))}, nil)
	for _, r := range d.Rows {
		if !r.Metric.HigherIsBetter() {
			t.Errorf("%s is compared", r.Metric)
		}
	}
	if len(d.Notes) != 1 {
		t.Errorf("notes: %q", d.Notes)
	}
}

// Rates leave out the first sample and what comes from a summary does not, which is said where both are there.
func TestFirstSampleIsSaid(t *testing.T) {
	logged, summary := course(1, 0, constant(20, 100)...), course(1, 0, constant(20, 100)...)
	summary.IOPS, summary.Latency = nil, nil
	noLatency := logged
	noLatency.Total.Latency = result.Latency{}
	for name, tt := range map[string]struct {
		run  Run
		said int
	}{
		"rates of a series, a maximum of all": {logged, 1},
		"all of a summary":                    {summary, 0},
		"all of a series":                     {noLatency, 0},
	} {
		d := Compare(of("a", phase("x", tt.run)), []Subject{of("b", phase("x", tt.run))}, nil)
		if len(d.Notes) != tt.said || tt.said == 1 && !strings.Contains(d.Notes[0], "first sample") {
			t.Errorf("%s: notes %q, want %d", name, d.Notes, tt.said)
		}
	}
}

// A series may hold anything; every number stays one.
func TestDamagedSeries(t *testing.T) {
	bad := course(1, 0, constant(30, 100)...)
	bad.IOPS[3].Value, bad.IOPS[4].Value, bad.IOPS[5].Value, bad.IOPS[7].End = math.NaN(), math.Inf(1), -5, time.Second
	bad.Latency[2].Value = math.Inf(1)
	zero := course(1, 0, constant(30, 0)...)
	for _, other := range []Run{bad, zero, {}} {
		d := Compare(of("a", phase("x", bad)), []Subject{of("b", phase("x", other))}, nil)
		for _, r := range d.Rows {
			for _, x := range []*float64{&r.A, &r.B, r.Ratio, r.RatioLow, r.RatioHigh, r.PValue} {
				if x != nil && finite(*x) == nil {
					t.Errorf("%s: %+v", r.Metric, r)
				}
			}
		}
	}
}

// A log states no workload, and has no name but its file's: the only one of each side is held against the other. Phases of known
// and different workloads are not.
func TestTheOnlyPhasesMatch(t *testing.T) {
	before, after := phase("before_iops", course(1, 0, constant(20, 1000)...)), phase("after_iops", course(1, 0, constant(20, 900)...))
	if d := Compare(of("a", before), []Subject{of("b", Phase{Name: "z", Workload: Workload{"write", 4 * units.KiB, 32, 1}, Runs: after.Runs})}, nil); len(d.Rows) > 0 {
		t.Errorf("reads against writes: %+v", d.Rows)
	}
	before.Workload, after.Workload = Workload{}, Workload{}
	r := find(t, Compare(of("a", before), []Subject{of("b", after)}, nil), IOPS, "")
	if math.Abs(*r.Ratio-0.9) > 1e-9 || r.Where() != "after_iops against before_iops" { // 900 ÷ 1,000
		t.Errorf("%s: %v", r.Where(), *r.Ratio)
	}
}

// Where one side's first sample is longer, both leave out as much: the other's figure is then not that of its own analysis, and
// a note says why. Of A, 5,000 IOPS in the second second go with the first: (5,000 + 58 × 500) ÷ 59 = 576 alone, 500 against B.
func TestLongerFirstSampleIsTold(t *testing.T) {
	a := course(1, 0, append([]float64{5000, 5000}, constant(58, 500)...)...)
	b := course(1, 0, append([]float64{5000, 5000}, constant(58, 500)...)...)
	said := func(d Document) bool {
		return slices.ContainsFunc(d.Notes, func(text string) bool {
			return strings.Contains(text, "The first samples of x are of different lengths")
		})
	}
	d := Compare(of("a", phase("x", a)), []Subject{of("b", phase("x", b))}, nil)
	if r := find(t, d, IOPS, ""); math.Abs(r.A-34000.0/59) > 0.01 || said(d) {
		t.Errorf("alike: A %v, notes %q", r.A, d.Notes)
	}
	b.IOPS = b.IOPS[1:] // its first sample holds two seconds
	b.Latency = nil
	d = Compare(of("a", phase("x", a)), []Subject{of("b", phase("x", b))}, nil)
	if r := find(t, d, IOPS, ""); math.Abs(r.A-500) > 0.01 || !said(d) {
		t.Errorf("unlike: A %v, notes %q", r.A, d.Notes)
	}
}
