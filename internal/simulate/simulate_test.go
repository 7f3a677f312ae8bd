package simulate_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ebscope/internal/ebs"
	"ebscope/internal/simulate"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

func shipped(t *testing.T, name string) workload.Profile {
	t.Helper()
	p, err := workload.Shipped(ebs.Embedded(), name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func run(t *testing.T, p workload.Profile, compress float64) map[string]simulate.Phase {
	t.Helper()
	phases, err := simulate.Run(t.Context(), ebs.Embedded(), p, compress, nil)
	if err != nil {
		t.Fatal(err)
	}
	byID := map[string]simulate.Phase{}
	for i, phase := range phases {
		byID[p.Phases[i].ID()] = phase
	}
	return byID
}

// near checks a figure to a share of the expected one.
func near(t *testing.T, what string, got, want, share float64) {
	t.Helper()
	if !(math.Abs(got-want) <= share*want) {
		t.Errorf("%s: %.4g, want %.4g ± %.1f %%", what, got, want, 100*share)
	}
}

func ms(d time.Duration) float64 { return d.Seconds() * 1000 }

func percentile(t *testing.T, p simulate.Phase, percent float64) float64 {
	t.Helper()
	d, ok := p.Measurement.Total.Latency.Percentile(percent)
	if !ok {
		t.Fatalf("no p%v", percent)
	}
	return ms(d)
}

// Every row of the table in docs/model.md: what was measured on AWS, 1 % for rates and 4 % for latencies.
func TestReproducesTheMeasuredRun(t *testing.T) {
	got := run(t, shipped(t, "gp2-vs-gp3"), 1)
	for id, want := range map[string]float64{
		"gp3-randread-qd32":  3005,
		"gp3-randwrite-qd32": 3025,
		"gp2-randwrite-qd32": 602.0,
		"gp3-randread-qd1":   1 / 563.94e-6,
		"gp2-randread-qd1":   604,
		"gp3-seqread-qd8":    127.1,
		"gp3-seqwrite-qd8":   125.8,
		"gp2-seqread-qd8":    130.1,
		"gp2-seqwrite-qd8":   128.8,
	} {
		total := got[id].Measurement.Total
		rate := float64(total.IOPS)
		if strings.Contains(id, "seq") {
			rate = total.Throughput.MiBps()
		}
		near(t, id, rate, want, 0.0015)
	}
	for _, tt := range []struct {
		id      string
		percent float64
		want    float64 // ms
	}{
		{"gp2-randwrite-qd32", 50, 10.7}, // 32 ÷ 3,000
		{"gp2-randwrite-qd32", 95, 106.7},
		{"gp2-randread-qd1", 95, 3.33}, // 1 ÷ 300
		{"gp3-randread-qd1", 50, 0.569},
		{"gp3-randread-qd1", 95, 0.627},
		{"gp3-randread-qd1", 99, 0.872},
	} {
		near(t, tt.id, percentile(t, got[tt.id], tt.percent), tt.want, 0.01)
	}
	near(t, "gp2 qd1 mean", ms(got["gp2-randread-qd1"].Measurement.Total.Latency.Mean), 1.656, 0.002)
	// Half of the reads came before the credits were gone, so the median is still that of the device.
	near(t, "gp2 qd1 p50", percentile(t, got["gp2-randread-qd1"], 50), 0.602, 0.04)

	for _, id := range []string{"gp2-randread-qd32", "gp3-randread-qd32"} {
		near(t, id+" first sample", got[id].Measurement.IOPS[0].Value, 6000, 0.0002)
	}
	series := got["gp2-randread-qd32"].Measurement.IOPS
	// (5.4 M − 3,000) ÷ 2,700 = 1,998.9 s: 0.9 s at 3,000 and 0.1 s at 300 is 2,700 + 30, less 32 in flight at 10.7 ms.
	for second, want := range map[int]float64{1997: 3000, 1998: 2700, 1999: 300, 2500: 300} {
		if v := series[second].Value; math.Abs(v-want) > 1.5 {
			t.Errorf("second %d → %d: %v I/Os, want %v", second, second+1, v, want)
		}
	}
	near(t, "cliff", got["gp2-randread-qd32"].Dry.Seconds(), 1998.9, 1e-4)
	if n := len(series); n != 2700 {
		t.Errorf("%d samples of 1 s in 2,700 s", n)
	}
}

// The same run 60 times sooner: the same rates, a cliff at (90,000 − 50) ÷ 2,700 = 33.315 s.
func TestCompressedRun(t *testing.T) {
	got := run(t, shipped(t, "gp2-vs-gp3"), 60)
	near(t, "cliff", got["gp2-randread-qd32"].Dry.Seconds(), 33.315, 1e-4)
	near(t, "gp3 randread", float64(got["gp3-randread-qd32"].Measurement.Total.IOPS), 3005, 0.001)
	near(t, "gp2 randwrite", float64(got["gp2-randwrite-qd32"].Measurement.Total.IOPS), 601, 0.06)
	near(t, "gp2 qd1", float64(got["gp2-randread-qd1"].Measurement.Total.IOPS), 603, 0.01)
	near(t, "gp2 seqread", got["gp2-seqread-qd8"].Measurement.Total.Throughput.MiBps(), 130.1, 0.002)
	// First 50 ms: 50 from the bucket that is 1/60 s deep, and 150.
	near(t, "first sample", got["gp3-randread-qd32"].Measurement.IOPS[0].Value, 4000, 0.01)
	// It rested for two gaps of 7.5 ms and for the 2.01 s of writes on gp3.
	credits := got["gp2-randwrite-qd32"].Credits
	if math.Abs(float64(credits.Start)-607.6) > 1 || credits.End > 1e-3 {
		t.Errorf("credits %+v, want 300 × (2.0104 s + 2 × 7.5 ms) = 607.6 at the start and none at the end", *credits)
	}
}

// profileOf has one volume, "v", and one phase on it that starts 2 s after a layout of eight I/Os: the rate buckets are
// full again by then.
func profileOf(instance string, volume ebs.Volume, phase workload.Phase) workload.Profile {
	layout := workload.Phase{Name: "layout", Volume: "v", Pattern: workload.Write, BlockSize: 256 * units.KiB, QueueDepth: 8, Jobs: 1}
	phase.Volume = "v"
	phase.Rest += 2 * time.Second
	return workload.Profile{
		Name: "test", Instance: instance, Region: "us-east-1", FileSize: 2 * units.MiB,
		Volumes: []workload.Volume{{Name: "v", Config: volume, Balance: 1}}, Phases: []workload.Phase{layout, phase},
	}
}

func gp3(iops units.IOPS, mibps float64) ebs.Volume {
	return ebs.Volume{Type: ebs.GP3, Size: 1000 * units.GiB, IOPS: iops, Throughput: units.Throughput(mibps) * units.MiBPerSecond}
}

// An instance holds its maximum of 4,750 Mbps for as long as (4,750 − 1,150) Mbps × 30 min = 810 GB last. 250 MiB/s is
// 262.14 MB/s, 118.39 above the baseline of 143.75: 6,842 s, then 137.1 MiB/s.
func TestInstanceBurstEnds(t *testing.T) {
	p := profileOf("m5.xlarge", gp3(3000, 250), workload.Phase{
		Name: "read", Pattern: workload.Read, BlockSize: units.MiB, QueueDepth: 8, Jobs: 1, Duration: 8000 * time.Second})
	series := run(t, p, 1)["v-read"].Measurement.IOPS
	for second, want := range map[int]float64{100: 250, 6830: 250, 6855: 137.1, 7999: 137.1} {
		if v := series[second].Value; math.Abs(v-want) > 1 {
			t.Errorf("second %d: %v MiB/s, want %v", second, v, want)
		}
	}
}

func TestLayoutIsOnePass(t *testing.T) {
	p := profileOf("", gp3(3000, 125), workload.Phase{Name: "read", Pattern: workload.Read, BlockSize: 4 * units.KiB, QueueDepth: 1, Jobs: 1})
	p.FileSize = units.GiB
	p.Phases[0] = workload.Phase{Name: "layout", Volume: "v", Pattern: workload.Write, BlockSize: 3 * units.MiB, QueueDepth: 2, Jobs: 3}
	m := run(t, p, 1)["v-layout"].Measurement
	// 1,024 MiB ÷ 3 MiB, rounded up.
	if m.Total.IOs != 342 {
		t.Errorf("%d I/Os, want 342", m.Total.IOs)
	}
	// 125 MiB at once, (1,026 − 125) ÷ 125 = 7.208 s.
	near(t, "runtime", m.Total.Runtime.Seconds(), 7.208, 1e-6)
	if len(m.IOPS) != 7 {
		t.Errorf("%d samples, want the 7 whole ones", len(m.IOPS))
	}
}

func TestMixedPattern(t *testing.T) {
	p := profileOf("", gp3(4000, 125), workload.Phase{
		Name: "mixed", Pattern: workload.RandRW, ReadPercent: 70, BlockSize: 4 * units.KiB, QueueDepth: 4, Jobs: 8, Duration: 20 * time.Second})
	m := run(t, p, 1)["v-mixed"].Measurement
	if m.Read == nil || m.Write == nil {
		t.Fatal("reads and writes are not apart")
	}
	if m.Read.IOs+m.Write.IOs != m.Total.IOs || m.Total.Latency.Samples != m.Total.IOs {
		t.Errorf("%d reads and %d writes of %d", m.Read.IOs, m.Write.IOs, m.Total.IOs)
	}
	near(t, "reads", float64(m.Read.IOs)/float64(m.Total.IOs), 0.7, 0.01)
	// 4 × 8 = 32 in flight at 4,000 a second.
	near(t, "p50", percentile(t, simulate.Phase{Measurement: m}, 50), 8, 0.01)
}

// Rest earns: an empty 100 GiB volume has 300 × 12 credits after 12 s.
func TestRestAndBalance(t *testing.T) {
	p := profileOf("", ebs.Volume{Type: ebs.GP2, Size: 100 * units.GiB}, workload.Phase{
		Name: "read", Pattern: workload.RandRead, BlockSize: 4 * units.KiB, QueueDepth: 1, Jobs: 1, Duration: 10 * time.Second, Rest: 10 * time.Second})
	p.Volumes[0].Balance = 0
	got := run(t, p, 1)
	// 12 s after the layout, which took its eight operations from nothing.
	phase := got["v-read"]
	if rested := phase.Start - got["v-layout"].End; rested != 12*time.Second || math.Abs(float64(phase.Credits.Start)-3600) > 1e-6 {
		t.Errorf("started %v after the layout with %v credits, want 12 s and 3,600", rested, phase.Credits.Start)
	}
	// Depth 1 is 1,773 a second: dry after 3,600 ÷ (1,773 − 300) = 2.44 s.
	near(t, "dry", phase.Dry.Seconds(), 2.44, 0.01)
}

func TestRepeatable(t *testing.T) {
	p := shipped(t, "gp2-vs-gp3")
	if diff := cmp.Diff(run(t, p, 120), run(t, p, 120)); diff != "" {
		t.Errorf("two runs differ:\n%s", diff)
	}
}

// Ten times the I/Os must not take ten times the allocations.
func TestNoAllocationPerIO(t *testing.T) {
	allocations := func(d time.Duration) float64 {
		p := profileOf("m5.xlarge", gp3(3000, 125), workload.Phase{
			Name: "read", Pattern: workload.RandRead, BlockSize: 4 * units.KiB, QueueDepth: 32, Jobs: 1, Duration: d})
		return testing.AllocsPerRun(3, func() {
			if _, err := simulate.Run(t.Context(), ebs.Embedded(), p, 1, nil); err != nil {
				t.Fatal(err)
			}
		})
	}
	short, long := allocations(10*time.Second), allocations(100*time.Second)
	if long > short+30 {
		t.Errorf("%v allocations for 33,000 I/Os, %v for 303,000", short, long)
	}
}

func TestRefusals(t *testing.T) {
	good := shipped(t, "gp2-vs-gp3")
	bad := good
	bad.Phases = nil
	for name, tt := range map[string]struct {
		profile  workload.Profile
		compress float64
		want     string
	}{
		"profile":  {bad, 1, "needs at least one volume and one phase"},
		"stretch":  {good, 0.5, "compress 0.5 must be a number from 1 up"},
		"NaN":      {good, math.NaN(), "compress NaN"},
		"infinite": {good, math.Inf(1), "compress +Inf"},
	} {
		_, err := simulate.Run(t.Context(), ebs.Embedded(), tt.profile, tt.compress, nil)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one that says %q", name, err, tt.want)
		}
	}
}

func BenchmarkRun(b *testing.B) {
	p, err := workload.Shipped(ebs.Embedded(), "gp2-vs-gp3")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	var ios int64
	for b.Loop() {
		phases, err := simulate.Run(b.Context(), ebs.Embedded(), p, 1, nil)
		if err != nil {
			b.Fatal(err)
		}
		for _, phase := range phases {
			ios += phase.Measurement.Total.IOs
		}
	}
	b.ReportMetric(float64(ios)/b.Elapsed().Seconds()/1e6, "MIO/s")
}
