package analyze_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"ebscope/internal/analyze"
	"ebscope/internal/ebs"
	"ebscope/internal/model"
	"ebscope/internal/result"
	"ebscope/internal/simulate"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

// simulated runs a profile in virtual time and returns it as a finished run.
func simulated(t *testing.T, p workload.Profile, compress float64) (result.Run, []*result.Measurement, []simulate.Phase) {
	t.Helper()
	phases, err := simulate.Run(p, compress, model.DefaultLatency)
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
	p, err := workload.Shipped("gp2-vs-gp3")
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
		d := analyze.Run(run, measured, predicted)
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
		d := analyze.Run(run, measured, predicted)
		checkBenchmark(t, d, 1)
	}
}

// One volume and one phase, as a bench for hand-made series.
func handMade(volume ebs.Volume, phase workload.Phase, instance string, window time.Duration, values ...float64) (result.Run, []*result.Measurement) {
	phase.Name, phase.Volume = "phase", "v"
	p := workload.Profile{
		Name: "hand-made", Instance: instance, Region: "us-east-1", FileSize: units.GiB,
		Volumes: []workload.Volume{{Name: "v", Config: volume, Balance: 1}}, Phases: []workload.Phase{phase},
	}
	m := result.Measurement{Source: "test", Window: window}
	var ios float64
	for i, v := range values {
		m.IOPS = append(m.IOPS, result.Point{End: time.Duration(i+1) * window, Value: v})
		ios += v * window.Seconds()
	}
	runtime := time.Duration(len(values)) * window
	m.Total.IOs, m.Total.Runtime = int64(ios), runtime
	if runtime > 0 {
		m.Total.IOPS = units.IOPS(ios / runtime.Seconds())
		m.Total.Throughput = units.Throughput(ios*float64(phase.BlockSize)) / units.Throughput(runtime.Seconds())
	}
	run := result.Run{Form: 1, Target: result.Path, Compress: 1, Profile: p,
		Phases: []result.Phase{{Index: 1, Name: "phase", Volume: "v", State: result.Done}}}
	return run, []*result.Measurement{&m}
}

var (
	gp2of100 = ebs.Volume{Type: ebs.GP2, Size: 100 * units.GiB} // 300 IOPS, 128 MiB/s
	gp2of1TB = ebs.Volume{Type: ebs.GP2, Size: 1000 * units.GiB}
	gp3base  = ebs.Volume{Type: ebs.GP3, Size: 100 * units.GiB}
	small    = workload.Phase{Pattern: workload.RandRead, BlockSize: 4 * units.KiB, QueueDepth: 32, Jobs: 1}
	large    = workload.Phase{Pattern: workload.Read, BlockSize: units.MiB, QueueDepth: 8, Jobs: 1}
)

// laidOut is the profile of a hand-made run as it can be simulated, with its test files written first.
func laidOut(run result.Run) workload.Profile {
	p := run.Profile
	var layouts []workload.Phase
	for _, v := range p.Volumes {
		layouts = append(layouts, workload.Phase{Name: "layout", Volume: v.Name, Pattern: workload.Write, BlockSize: units.MiB, QueueDepth: 1, Jobs: 1})
	}
	p.Phases = append(layouts, p.Phases...)
	return p
}

// levels repeats each value so many times.
func levels(valueAndCount ...float64) []float64 {
	var values []float64
	for i := 0; i < len(valueAndCount); i += 2 {
		values = append(values, slices.Repeat(valueAndCount[i:i+1], int(valueAndCount[i+1]))...)
	}
	return values
}

func TestVerdicts(t *testing.T) {
	for name, tt := range map[string]struct {
		volume   ebs.Volume
		phase    workload.Phase
		instance string
		values   []float64
		verdict  analyze.Verdict
		cause    analyze.Cause // of the cliff; empty for none
		limits   map[model.Limit]float64
		summary  string
	}{
		"gp2 that falls": {gp2of100, small, "", levels(6000, 1, 3000, 39, 300, 60), analyze.BurstThenBaseline, analyze.GP2Credits,
			map[model.Limit]float64{model.VolumeBurstIOPS: 0.4, model.VolumeBaselineIOPS: 0.6},
			"3,000 IOPS for 40 s, then 300 IOPS: the burst credits were spent."},
		"gp2 on its baseline": {gp2of100, small, "", levels(300, 100), analyze.Sustained, "",
			map[model.Limit]float64{model.VolumeBaselineIOPS: 1}, "300 IOPS throughout, held by the volume's baseline IOPS."},
		// 5.4 M ÷ (3,000 − 300) = 2,000 s.
		"gp2 on its burst": {gp2of100, small, "", levels(6000, 1, 3000, 99), analyze.BurstOnly, "",
			map[model.Limit]float64{model.VolumeBurstIOPS: 1},
			"3,000 IOPS on burst credits to the end: at this rate a full bucket lasts 33 min 20 s, then 300 IOPS remain."},
		// 128 MiB/s are 512 operations: 5.4 M ÷ 212 = 25,472 s. The baseline of 300 operations of 256 KiB is 75 MiB/s.
		"gp2 throughput on credits": {gp2of100, large, "", levels(256, 1, 128, 59), analyze.BurstOnly, "",
			map[model.Limit]float64{model.VolumeThroughput: 1},
			"128 MiB/s on burst credits to the end: at this rate a full bucket lasts 7 h 5 min, then 75 MiB/s remain."},
		"gp2 throughput that falls": {gp2of100, large, "", levels(256, 1, 128, 49, 75, 50), analyze.BurstThenBaseline, analyze.GP2Credits,
			map[model.Limit]float64{model.VolumeThroughput: 0.5, model.VolumeBaselineIOPS: 0.5},
			"128 MiB/s for 50 s, then 75 MiB/s: the burst credits were spent."},
		// 5.4 M ÷ (1,000 − 300) = 7,714 s.
		"gp2 by queue depth, on credits": {gp2of100, small, "", levels(1000, 100), analyze.BurstOnly, "",
			map[model.Limit]float64{model.QueueDepth: 1},
			"1,000 IOPS on burst credits to the end: at this rate a full bucket lasts 2 h 9 min, then 300 IOPS remain."},
		"gp2 below its baseline": {gp2of100, small, "", levels(200, 100), analyze.Sustained, "",
			map[model.Limit]float64{model.QueueDepth: 1}, "200 IOPS throughout: no limit was reached, queue depth 32 and latency set the rate."},
		"gp2 without a bucket": {gp2of1TB, small, "", levels(6000, 1, 3000, 99), analyze.Sustained, "",
			map[model.Limit]float64{model.VolumeIOPS: 1}, "3,000 IOPS throughout, held by the volume's provisioned IOPS."},
		"gp3": {gp3base, large, "m5.xlarge", levels(250, 1, 125, 99), analyze.Sustained, "",
			map[model.Limit]float64{model.VolumeThroughput: 1}, "125 MiB/s throughout, held by the volume's throughput."},
		// m5.large: (18,750 − 3,600) × 1,800 s at 6,000 − 3,600: 11,362 s.
		"gp3 on the burst of its instance": {ebs.Volume{Type: ebs.GP3, Size: 100 * units.GiB, IOPS: 6000}, small, "m5.large",
			levels(12000, 1, 6000, 99), analyze.BurstOnly, "", map[model.Limit]float64{model.VolumeIOPS: 1},
			"6,000 IOPS on the burst of the m5.large instance to the end: at this rate it lasts 3 h 9 min from full, then 3,600 IOPS remain."},
		"gp3 held by its instance": {ebs.Volume{Type: ebs.GP3, Size: 100 * units.GiB, IOPS: 6000}, small, "m5.large",
			levels(3600, 100), analyze.Sustained, "", map[model.Limit]float64{model.InstanceIOPS: 1},
			"3,600 IOPS throughout, held by the instance's IOPS."},
		"gp3 that falls to its instance": {ebs.Volume{Type: ebs.GP3, Size: 100 * units.GiB, IOPS: 6000}, small, "m5.large",
			levels(12000, 1, 6000, 24, 3600, 75), analyze.BurstThenBaseline, analyze.InstanceBurst,
			map[model.Limit]float64{model.VolumeIOPS: 0.25, model.InstanceIOPS: 0.75},
			"6,000 IOPS for 25 s, then 3,600 IOPS: the instance's burst was spent."},
		"gp3 that falls for no known reason": {gp3base, small, "", levels(6000, 1, 3000, 49, 1500, 50), analyze.Unstable, analyze.UnknownCause,
			map[model.Limit]float64{model.VolumeIOPS: 0.5, model.QueueDepth: 0.5},
			"3,000 IOPS for 50 s, then 1,500 IOPS: no limit that is known explains the fall."},
		"a stall that recovers": {gp3base, small, "", levels(6000, 1, 3000, 50, 1000, 4, 3000, 245), analyze.Sustained, "",
			map[model.Limit]float64{model.VolumeIOPS: 296. / 300, model.QueueDepth: 4. / 300},
			"3,000 IOPS throughout, held by the volume's provisioned IOPS."},
		"a peak": {gp2of100, small, "", levels(300, 80, 3000, 4, 300, 216), analyze.Sustained, "",
			map[model.Limit]float64{model.VolumeBaselineIOPS: 296. / 300, model.VolumeBurstIOPS: 4. / 300},
			"300 IOPS throughout, held by the volume's baseline IOPS."},
		"up and down": {gp3base, small, "", levels(6000, 1, 3000, 29, 1000, 20, 3000, 30, 1000, 20, 3000, 20), analyze.Unstable, "",
			map[model.Limit]float64{model.VolumeIOPS: 80. / 120, model.QueueDepth: 40. / 120},
			"Between 1,000 and 3,000 IOPS: the level changed 4 times, which no limit that is known explains."},
		"high and low in turn": {gp3base, small, "", slices.Repeat([]float64{3000, 1000}, 50), analyze.Unstable, "",
			map[model.Limit]float64{model.QueueDepth: 1}, "1,990 IOPS on average, but samples lie between 1,000 and 3,000 IOPS."},
		"nothing": {gp3base, small, "", levels(0, 100), analyze.Sustained, "",
			map[model.Limit]float64{model.QueueDepth: 1}, "0 IOPS throughout: no limit was reached, queue depth 32 and latency set the rate."},
	} {
		run, measured := handMade(tt.volume, tt.phase, tt.instance, time.Second, tt.values...)
		p := analyze.Run(run, measured, nil).Phases[0]
		var cause analyze.Cause
		if p.Cliff != nil {
			cause = p.Cliff.Cause
		}
		if p.Verdict != tt.verdict || cause != tt.cause || p.Summary != tt.summary {
			t.Errorf("%s: verdict %s, cause %q, summary %q; want %s, %q, %q", name, p.Verdict, cause, p.Summary, tt.verdict, tt.cause, tt.summary)
		}
		if diff := cmp.Diff(tt.limits, limits(p), cmpopts.EquateApprox(0, 1e-6)); diff != "" {
			t.Errorf("%s: limits (want, got):\n%s", name, diff)
		}
	}
}

// A gp3 volume of 250 MiB/s on m5.xlarge falls to 137.1 MiB/s once the instance's burst is spent, after 6,842 s.
func TestInstanceBurst(t *testing.T) {
	phase := large
	phase.Duration = 8000 * time.Second
	fast := gp3base
	fast.Throughput = 250 * units.MiBPerSecond
	run, _ := handMade(fast, phase, "m5.xlarge", time.Second)
	run, measured, predicted := simulated(t, laidOut(run), 60)
	d := analyze.Run(run, measured, predicted)
	p := phaseOf(t, d, "v", "phase")
	if p.Cliff == nil || p.Cliff.Cause != analyze.InstanceBurst || p.Credits != nil {
		t.Fatalf("cliff %+v, credits %v; want an instance burst and no credits", p.Cliff, p.Credits)
	}
	near(t, "fall", p.Cliff.AtSUncompressed, 6842, 10)
	near(t, "after", p.Cliff.AfterIOPS, 137.1, 0.2)
	if want := []string{"simulated", "compressed", "instance-too-close"}; !slices.Equal(codes(d.Warnings), want) {
		t.Errorf("warnings %v, want %v", codes(d.Warnings), want)
	}
}

// The instance's baseline is 3,600 IOPS on m5.large and 6,000 on m5.xlarge, against 3,000 of the volume.
func TestInstanceTooClose(t *testing.T) {
	for instance, want := range map[string]bool{"m5.large": true, "m5.xlarge": false, "": false} {
		run, measured := handMade(gp3base, small, instance, time.Second, levels(3000, 60)...)
		got := analyze.Run(run, measured, nil).Warnings
		if slices.Contains(codes(got), "instance-too-close") != want {
			t.Errorf("%s: warnings %v, want one that the instance is too close: %v", instance, got, want)
		}
	}
}

func TestPhaseWarnings(t *testing.T) {
	// Latency 0.1 ms: 32 ÷ 0.1 ms = 320,000 IOPS.
	prediction := []simulate.Phase{{Measurement: result.Measurement{Total: result.Direction{IOs: 1, IOPS: 3000, Runtime: time.Second}}}}
	for name, tt := range map[string]struct {
		values []float64
		with   []simulate.Phase
		want   []string
	}{
		"fine":        {levels(6000, 1, 3000, 59), prediction, []string{"first-sample-excluded"}},
		"cache":       {levels(40000, 60), nil, []string{"first-sample-excluded", "above-limit"}},
		"slow":        {levels(2000, 60), prediction, []string{"first-sample-excluded", "differs-from-model"}},
		"fall":        {levels(4500, 30, 1500, 30), prediction, []string{"first-sample-excluded", "above-limit", "differs-from-model"}},
		"few":         {levels(3000, 4), nil, []string{"few-samples", "first-sample-excluded"}},
		"one":         {levels(3000, 1), nil, []string{"few-samples"}},
		"none":        {nil, nil, []string{"no-series"}},
		"not numbers": {append(levels(3000, 60), math.NaN(), -1), nil, []string{"bad-samples", "first-sample-excluded"}},
		"stall":       {levels(3000, 50, 1000, 4, 3000, 200), nil, []string{"first-sample-excluded", "unsteady"}},
	} {
		run, measured := handMade(gp3base, small, "", time.Second, tt.values...)
		got := codes(analyze.Run(run, measured, tt.with).Phases[0].Warnings)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: warnings (want, got):\n%s", name, diff)
		}
	}
	run, measured := handMade(gp2of100, small, "", time.Second, levels(3000, 60)...)
	if got := codes(analyze.Run(run, measured, nil).Phases[0].Warnings); !slices.Contains(got, "burst-only") {
		t.Errorf("a burst that was not spent gave warnings %v", got)
	}
}

func TestUnfinishedRun(t *testing.T) {
	run, measured, predicted := simulated(t, benchmark(), 120)
	run.Phases[2].State, run.Phases[2].Error = result.Failed, "fio exited with 1"
	run.Phases[3].State = result.Cut
	run.Phases[4].State = result.Pending
	d := analyze.Run(run, measured[:6], predicted)
	if d.Run.Complete || !slices.Contains(codes(d.Warnings), "incomplete") {
		t.Errorf("complete %v, warnings %v", d.Run.Complete, d.Warnings)
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
	p := phaseOf(t, analyze.Run(run, measured, predicted), "v", "phase")
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
		c := analyze.Run(run, measured, nil).Checks[0]
		if c.Code != "littles-law" || c.OK != tt.ok || math.Abs(c.Expected-10.667) > 0.001 {
			t.Errorf("%s: %+v, want ok %v of 10.667 ms", name, c, tt.ok)
		}
		if strings.Contains(c.Text, "leaves out submission") != (tt.kind == "clat") {
			t.Errorf("%s: text %q", name, c.Text)
		}
	}
	run, measured := handMade(gp3base, small, "", time.Second, levels(3000, 60)...)
	measured[0].Total.IOPS = 2500
	if c := analyze.Run(run, measured, nil).Checks; len(c) != 1 || c[0].Code != "series-total" || c[0].OK {
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
	d := analyze.Run(run, measured, predicted)
	if len(d.Comparisons) == 0 {
		t.Fatal("nothing is compared")
	}
	for _, c := range d.Comparisons {
		if c.A != "w" || c.B != "v" {
			t.Errorf("compared %s with %s, want w with v", c.A, c.B)
		}
	}
}

func TestDocumentIsFiniteWhateverComes(t *testing.T) {
	for name, values := range map[string][]float64{
		"none": nil, "one": {3000}, "two": {3000, 300}, "three": {1, 2, 3}, "zeros": levels(0, 30),
		"NaN": levels(math.NaN(), 30), "infinite": levels(math.Inf(1), 30), "absurd": levels(1e308, 30), "negative": levels(-1, 30),
	} {
		for _, volume := range []ebs.Volume{gp2of100, gp3base} {
			run, measured := handMade(volume, small, "m5.large", time.Second, values...)
			if _, err := json.Marshal(analyze.Run(run, measured, nil)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			empty := &result.Measurement{}
			if _, err := json.Marshal(analyze.Run(run, []*result.Measurement{empty}, []simulate.Phase{{}})); err != nil {
				t.Errorf("%s: an empty measurement: %v", name, err)
			}
		}
	}
}

// Whatever is measured: the document is finite, segments follow each other, shares are a whole, a cliff lies inside.
func TestAnyMeasurement(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rate := rapid.OneOf(rapid.SampledFrom([]float64{0, 300, 3000, 6000, math.NaN(), math.Inf(1), -1, 1e308, 1e-300}), rapid.Float64())
		window := time.Duration(rapid.SampledFrom([]int64{0, 1e6, 5e7, 1e9}).Draw(rt, "window"))
		volume := rapid.SampledFrom([]ebs.Volume{gp2of100, gp2of1TB, gp3base}).Draw(rt, "volume")
		run, measured := handMade(volume, rapid.SampledFrom([]workload.Phase{small, large}).Draw(rt, "phase"), "m5.xlarge", window)
		m := measured[0]
		var end time.Duration
		for range rapid.IntRange(0, 60).Draw(rt, "samples") {
			end += time.Duration(rapid.Int64Range(-1e8, 2e9).Draw(rt, "step"))
			m.IOPS = append(m.IOPS, result.Point{End: end, Value: rate.Draw(rt, "value")})
		}
		m.Total = result.Direction{
			IOs: rapid.Int64().Draw(rt, "ios"), Runtime: time.Duration(rapid.Int64().Draw(rt, "runtime")),
			IOPS: units.IOPS(rate.Draw(rt, "iops")), Throughput: units.Throughput(rate.Draw(rt, "throughput")),
			Latency: result.Latency{Samples: rapid.Int64().Draw(rt, "n"), Mean: time.Duration(rapid.Int64().Draw(rt, "mean"))},
		}
		run.Phases[0].Credits = &result.Credits{Start: units.Ops(rate.Draw(rt, "start")), End: units.Ops(rate.Draw(rt, "end"))}
		if rapid.Bool().Draw(rt, "mixed") {
			m.Read = &m.Total
		}
		run.Compress = rapid.SampledFrom([]float64{1, 60}).Draw(rt, "compress")
		d := analyze.Run(run, measured, []simulate.Phase{{Measurement: *m}})
		if _, err := json.Marshal(d); err != nil {
			rt.Fatal(err)
		}
		p := d.Phases[0]
		last := 0.0
		for _, s := range p.Segments {
			if s.FromS < last || s.ToS <= s.FromS || s.IOPSMin > s.IOPSMean+1e-6*s.IOPSMean+1e-6 || s.IOPSMax < s.IOPSMean-1e-6*s.IOPSMean-1e-6 {
				rt.Fatalf("segments %+v", p.Segments)
			}
			last = s.ToS
		}
		if p.Cliff != nil && (p.Cliff.AtS < 0 || p.Cliff.AtS > last || p.Cliff.AfterIOPS >= p.Cliff.BeforeIOPS) {
			rt.Fatalf("cliff %+v of %v s", *p.Cliff, last)
		}
		var sum float64
		for _, l := range p.LimitedBy {
			sum += l.Share
		}
		if len(p.LimitedBy) > 0 && math.Abs(sum-1) > 1e-9 {
			rt.Fatalf("shares add up to %v", sum)
		}
	})
}
