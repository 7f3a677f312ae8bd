package analyze_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ebscope/internal/analyze"
	"ebscope/internal/ebs"
	"ebscope/internal/model"
	"ebscope/internal/result"
	"ebscope/internal/simulate"
	"ebscope/internal/workload"
)

// simulated runs a profile in virtual time and returns it as a finished run.
func simulated(t *testing.T, p workload.Profile, compress float64) (result.Run, []*result.Measurement, []simulate.Phase) {
	t.Helper()
	phases, err := simulate.Run(t.Context(), ebs.Embedded(), p, compress, nil)
	if err != nil {
		t.Fatal(err)
	}
	run := result.Run{Form: result.Form, ID: "test", Target: result.Simulated, Compress: compress, Profile: p}
	measured := make([]*result.Measurement, len(phases))
	for i, spec := range p.Phases {
		run.Phases = append(run.Phases, result.Phase{
			Index: i + 1, Name: spec.Name, Volume: spec.Volume, Dir: result.PhaseDir(i+1, spec), State: result.Done, Credits: phases[i].Credits})
		measured[i] = &phases[i].Measurement
	}
	return run, measured, phases
}

// benchmark is the default profile; simulating it uncompressed takes a second, so that is done once.
var benchmark = sync.OnceValue(func() workload.Profile {
	p, err := workload.Shipped(ebs.Embedded(), "gp2-vs-gp3")
	if err != nil {
		panic(err)
	}
	return p
})

func phaseOf(t *testing.T, d analyze.Document, volume, name string) analyze.Phase {
	t.Helper()
	for _, p := range d.Phases {
		if p.Volume == volume && p.Name == name {
			return p
		}
	}
	t.Fatalf("no phase %s on %s", name, volume)
	return analyze.Phase{}
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: %v, want %v ± %v", what, got, want, tolerance)
	}
}

func codes(warnings []result.Warning) []string {
	var all []string
	for _, w := range warnings {
		all = append(all, w.Code)
	}
	return all
}

// checkBenchmark holds the analysis of the default profile against what docs/model.md derives; slack widens tolerances
// for noise.
func checkBenchmark(t *testing.T, d analyze.Document, slack float64) {
	t.Helper()
	p := phaseOf(t, d, "gp2", "randread-qd32")
	if p.Cliff == nil {
		t.Fatal("gp2 shows no cliff")
	}
	// (5.4 M − 3,000) ÷ 2,700 = 1,998.9 s.
	near(t, "cliff", p.Cliff.AtSUncompressed, 1998.9, 0.2+10*slack)
	near(t, "before", p.Cliff.BeforeIOPS, 3000, 1+30*slack)
	near(t, "after", p.Cliff.AfterIOPS, 300, 1+3*slack)
	near(t, "drop", p.Cliff.DropPercent, 90, 0.1+slack)
	if p.Cliff.Cause != analyze.GP2Credits || p.Verdict != analyze.BurstThenBaseline || len(p.Segments) != 2 {
		t.Errorf("cause %s, verdict %s, segments %+v", p.Cliff.Cause, p.Verdict, p.Segments)
	}
	if want := "3,000 IOPS for 33 min 19 s, then 300 IOPS: the burst credits were spent."; slack == 0 && p.Summary != want {
		t.Errorf("summary %q, want %q", p.Summary, want)
	}
	// 1,998.9 s of 2,700.
	shares := limits(p)
	near(t, "share of burst", shares[model.VolumeBurstIOPS], 0.740, 0.002+0.01*slack)
	near(t, "share of baseline", shares[model.VolumeBaselineIOPS], 0.260, 0.002+0.01*slack)
	near(t, "inferred credits", *p.Credits.InferredStart/p.Credits.Capacity, 1, 1e-4+0.01*slack)
	near(t, "expected cliff", *p.Expected.CliffAtS*d.Run.Compress, 1998.9, 0.2)

	p = phaseOf(t, d, "gp3", "randread-qd32")
	if p.Cliff != nil || p.Verdict != analyze.Sustained || len(p.Segments) != 1 || limits(p)[model.VolumeIOPS] != 1 {
		t.Errorf("gp3: cliff %v, verdict %s, segments %+v, limits %v", p.Cliff, p.Verdict, p.Segments, p.LimitedBy)
	}
	near(t, "gp3 mean", p.IOPS.Mean, 3000, 1+30*slack)
	near(t, "gp3 fio mean", p.IOPS.FioMean, 3005, 1)
	near(t, "gp3 mean latency", p.Latency.Mean, 10.65, 0.05)

	p = phaseOf(t, d, "gp2", "randread-qd1")
	if p.Cliff == nil || p.Verdict != analyze.BurstThenBaseline {
		t.Fatalf("gp2 at depth 1: cliff %v, verdict %s", p.Cliff, p.Verdict)
	}
	// 18,270 credits, spent at 1,773 − 300 a second: 12.4 s of 60.
	near(t, "fall at depth 1", p.Cliff.AtSUncompressed, 12.4, 0.25+slack)
	shares = limits(p)
	near(t, "share of queue depth", shares[model.QueueDepth], 0.207, 0.005+0.02*slack)
	near(t, "share of baseline", shares[model.VolumeBaselineIOPS], 0.793, 0.005+0.02*slack)
	near(t, "credits at depth 1", *p.Credits.InferredStart / *p.Credits.Start, 1, 0.01+0.03*slack)

	for volume, verdict := range map[string]analyze.Verdict{"gp3": analyze.Sustained, "gp2": analyze.BurstOnly} {
		for _, name := range []string{"layout", "seqread-qd8", "seqwrite-qd8"} {
			// gp2: 128 MiB/s are 512 operations a second, 212 more than it earns.
			if p := phaseOf(t, d, volume, name); p.Verdict != verdict || limits(p)[model.VolumeThroughput] != 1 || p.Cliff != nil {
				t.Errorf("%s %s: verdict %s, limits %v, cliff %v", volume, name, p.Verdict, p.LimitedBy, p.Cliff)
			}
		}
	}
	for _, c := range d.Checks {
		if !c.OK {
			t.Errorf("check failed: %+v", c)
		}
	}
	if want := 2 * len(d.Phases); len(d.Checks) != want {
		t.Errorf("%d checks, want %d", len(d.Checks), want)
	}
}

func limits(p analyze.Phase) map[model.Limit]float64 {
	shares := map[model.Limit]float64{}
	for _, l := range p.LimitedBy {
		shares[l.Limit] = l.Share
	}
	return shares
}

func TestBenchmark(t *testing.T) {
	for _, compress := range []float64{1, 60} {
		run, measured, predicted := simulated(t, benchmark(), compress)
		d := analyze.Run(ebs.Embedded(), run, measured, predicted)
		checkBenchmark(t, d, 0)
		for _, p := range d.Phases {
			if slices.Contains(codes(p.Warnings), "differs-from-model") {
				t.Errorf("%s on %s differs from its own prediction: %v", p.Name, p.Volume, p.Warnings)
			}
		}
		ratios := map[string]float64{}
		for _, c := range d.Comparisons {
			if c.A != "gp2" || c.B != "gp3" {
				t.Errorf("compared %s with %s, want gp2 with gp3", c.A, c.B)
			}
			ratios[c.Phase+" "+c.Metric] = c.Ratio
		}
		near(t, "ratio of IOPS", ratios["randread-qd32 iops"], 0.766, 0.003)
		near(t, "ratio of throughput", ratios["seqread-qd8 throughput"], 130.1/127.1, 0.001)
		near(t, "ratio of p99", ratios["randwrite-qd32 latency-p99"], 10, 0.1)
		if len(ratios) != 6*4 {
			t.Errorf("%d comparisons, want 4 metrics of 6 phases", len(ratios))
		}
	}
}

// What a measurement adds: samples that are a little off, one I/O that falls into the next window, a short stall.
func TestBenchmarkWithNoise(t *testing.T) {
	run, clean, predicted := simulated(t, benchmark(), 60)
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		measured := make([]*result.Measurement, len(clean))
		for i, m := range clean {
			noisy := *m
			noisy.IOPS = slices.Clone(m.IOPS)
			for j := range noisy.IOPS[1:] {
				value := &noisy.IOPS[j+1].Value
				*value *= 1 + 0.002*random.NormFloat64()
				if carried := 20 * float64(random.IntN(2)); *value > carried && j > 0 {
					*value -= carried
					noisy.IOPS[j].Value += carried
				}
			}
			if len(noisy.IOPS) > 100 {
				noisy.IOPS[60].Value *= 0.3
				noisy.IOPS[61].Value *= 0.5
			}
			measured[i] = &noisy
		}
		d := analyze.Run(ebs.Embedded(), run, measured, predicted)
		checkBenchmark(t, d, 1)
	}
}

func TestUnfinishedRun(t *testing.T) {
	run, measured, predicted := simulated(t, benchmark(), 120)
	run.Phases[2].State, run.Phases[2].Error = result.Failed, "fio exited with 1"
	run.Phases[3].State = result.Cut
	run.Phases[4].State = result.Pending
	resumed := result.Event{Code: "resumed", Text: "the run was cut and resumed"}
	run.Events = []result.Event{resumed, resumed}
	d := analyze.Run(ebs.Embedded(), run, measured[:6], predicted)
	if d.Run.Complete || !slices.Contains(codes(d.Warnings), "incomplete") {
		t.Errorf("complete %v, warnings %v", d.Run.Complete, d.Warnings)
	}
	if want := []string{"simulated", "compressed", "incomplete", "resumed"}; !slices.Equal(codes(d.Warnings)[:len(want)], want) {
		t.Errorf("warnings %v, want %v first", codes(d.Warnings), want)
	}
	if p := d.Phases[2]; p.Verdict != "" || p.IOPS.FioMean != 0 || p.Latency != nil || p.Expected == nil ||
		!cmp.Equal(p.Warnings, []result.Warning{{Code: "failed", Text: "fio exited with 1"}}) {
		t.Errorf("the failed phase has %+v", p)
	}
	if len(d.Phases) != len(run.Phases) {
		t.Errorf("%d phases of %d", len(d.Phases), len(run.Phases))
	}
	for _, c := range d.Comparisons {
		if c.Phase == "randread-qd32" || c.Phase == "randwrite-qd32" {
			t.Errorf("a phase without a result is compared: %+v", c)
		}
	}
}

func TestMixedPhase(t *testing.T) {
	phase := small
	phase.Pattern, phase.ReadPercent, phase.Duration = workload.RandRW, 70, 60*time.Second
	run, _ := handMade(gp3base, phase, "", time.Second)
	run, measured, predicted := simulated(t, laidOut(run), 1)
	p := phaseOf(t, analyze.Run(ebs.Embedded(), run, measured, predicted), "v", "phase")
	if p.Read == nil || p.Write == nil {
		t.Fatal("reads and writes are not apart")
	}
	near(t, "reads", p.Read.IOPS.Mean, 2100, 15)
	near(t, "writes", p.Write.IOPS.Mean, 900, 15)
	near(t, "reads of the summary", p.Read.IOPS.FioMean+p.Write.IOPS.FioMean, p.IOPS.FioMean, 1e-6)
	// 32 ÷ 3,050: the first second serves 6,000.
	near(t, "read latency", p.Read.Latency.Mean, 10.49, 0.05)
}

// Little's law catches a latency that cannot be, and says so where it is clat that was compared.
func TestLittlesLaw(t *testing.T) {
	for name, tt := range map[string]struct {
		mean time.Duration
		kind string
		ios  int64
		ok   bool
	}{
		"right":         {10667 * time.Microsecond, "lat", 180_000, true},
		"4 % off":       {10240 * time.Microsecond, "clat", 180_000, true},
		"too low":       {2 * time.Millisecond, "lat", 180_000, false},
		"6 % off":       {10 * time.Millisecond, "lat", 180_000, false},
		"6 %, of 1,000": {10 * time.Millisecond, "lat", 1000, true}, // 2 × 32 ÷ 1,000 = 6.4 %
	} {
		run, measured := handMade(gp3base, small, "", time.Second, levels(3000, 60)...)
		measured[0].Total.IOs = tt.ios
		measured[0].Total.Latency = result.Latency{Kind: tt.kind, Samples: tt.ios, Mean: tt.mean}
		c := analyze.Run(ebs.Embedded(), run, measured, nil).Checks[0]
		if c.Code != "littles-law" || c.OK != tt.ok || math.Abs(c.Expected-10.667) > 0.001 {
			t.Errorf("%s: %+v, want ok %v of 10.667 ms", name, c, tt.ok)
		}
		if strings.Contains(c.Text, "leaves out submission") != (tt.kind == "clat") {
			t.Errorf("%s: text %q", name, c.Text)
		}
	}
	run, measured := handMade(gp3base, small, "", time.Second, levels(3000, 60)...)
	measured[0].Total.IOPS = 2500
	if c := analyze.Run(ebs.Embedded(), run, measured, nil).Checks; len(c) != 1 || c[0].Code != "series-total" || c[0].OK {
		t.Errorf("a series of 3,000 with a summary of 2,500 gave %+v", c)
	}
}

// Volumes of a profile without gp3 are compared with the first.
func TestComparisonWithoutGP3(t *testing.T) {
	run, _ := handMade(gp2of1TB, small, "", time.Second)
	run.Profile.Volumes = append(run.Profile.Volumes, workload.Volume{Name: "w", Config: gp2of100})
	run.Profile.Phases = append(run.Profile.Phases, run.Profile.Phases[0])
	run.Profile.Phases[1].Volume = "w"
	for i := range run.Profile.Phases {
		run.Profile.Phases[i].Duration, run.Profile.Phases[i].Rest = 5*time.Second, time.Minute
	}
	run, measured, predicted := simulated(t, laidOut(run), 1)
	d := analyze.Run(ebs.Embedded(), run, measured, predicted)
	if len(d.Comparisons) == 0 {
		t.Fatal("nothing is compared")
	}
	for _, c := range d.Comparisons {
		if c.A != "w" || c.B != "v" {
			t.Errorf("compared %s with %s, want w with v", c.A, c.B)
		}
	}
}
