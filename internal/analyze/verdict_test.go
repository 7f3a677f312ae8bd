package analyze_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ebscope/internal/analyze"
	"ebscope/internal/ebs"
	"ebscope/internal/model"
	"ebscope/internal/result"
	"ebscope/internal/simulate"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

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
			map[model.Limit]float64{model.VolumeBaselineIOPS: 1}, "3,000 IOPS throughout, held by the volume's baseline IOPS."},
		"gp2 without a bucket, above what it holds": {gp2of1TB, small, "", levels(6000, 1, 4500, 99), "", "",
			map[model.Limit]float64{}, "4,500 IOPS is more than the 3,000 IOPS that volume and instance allow: a cache, or blocks that were never written, served the I/O."},
		// No volume of 1 GiB bursts so high: nothing is known of its credits.
		"gp2 on a disk that is faster": {ebs.Volume{Type: ebs.GP2, Size: units.GiB}, small, "", levels(29_272, 60), "", "",
			map[model.Limit]float64{}, "29,272 IOPS is more than the 3,000 IOPS that volume and instance allow: a cache, or blocks that were never written, served the I/O."},
		// 999 × 3 = 2,997, 0.1 % below the burst of 3,000: 5.4 M ÷ 3 = 1.8 M s = 20.8 days.
		"gp2 whose burst is as good as its baseline": {ebs.Volume{Type: ebs.GP2, Size: 999 * units.GiB}, small, "", levels(6000, 1, 3000, 99), "", "",
			map[model.Limit]float64{model.VolumeBurstIOPS: 1},
			"3,000 IOPS throughout: whether it spends credits cannot be measured, for the volume's burst IOPS allows 3,000 operations a second and the baseline 2,997. If it does, a full bucket lasts 21 days."},
		// 170 × 3 = 510 operations are 127.5 MiB/s, of 128 that are allowed: 5.4 M ÷ (512 − 510) = 2.7 M s = 31.25 days.
		"gp2 whose throughput is as good as its baseline": {ebs.Volume{Type: ebs.GP2, Size: 170 * units.GiB}, large, "", levels(256, 1, 128, 99), "", "",
			map[model.Limit]float64{model.VolumeThroughput: 1},
			"128 MiB/s throughout: whether it spends credits cannot be measured, for the volume's throughput allows 512 operations a second and the baseline 510. If it does, a full bucket lasts 31 days."},
		// 970 × 3 = 2,910, 3 % below the burst: a measurement tells them apart. 5.4 M ÷ 90 = 60,000 s.
		"gp2 whose burst is little more than its baseline": {ebs.Volume{Type: ebs.GP2, Size: 970 * units.GiB}, small, "", levels(6000, 1, 3000, 99), analyze.BurstOnly, "",
			map[model.Limit]float64{model.VolumeBurstIOPS: 1},
			"3,000 IOPS on burst credits to the end: at this rate a full bucket lasts 16 h 40 min, then 2,910 IOPS remain."},
		"gp2 below a burst that is little more": {ebs.Volume{Type: ebs.GP2, Size: 970 * units.GiB}, small, "", levels(2910, 100), analyze.Sustained, "",
			map[model.Limit]float64{model.VolumeBaselineIOPS: 1}, "2,910 IOPS throughout, held by the volume's baseline IOPS."},
		"gp2 without a bucket that falls": {gp2of1TB, small, "", levels(6000, 1, 4500, 49, 3000, 50), analyze.Unstable, analyze.UnknownCause,
			map[model.Limit]float64{model.QueueDepth: 0.5, model.VolumeBaselineIOPS: 0.5},
			"4,500 IOPS for 50 s, then 3,000 IOPS: no limit that is known explains the fall."},
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
		"a stall shortly before the fall": {gp2of100, small, "", levels(6000, 1, 3000, 54, 0, 5, 3000, 10, 300, 30),
			analyze.BurstThenBaseline, analyze.GP2Credits,
			map[model.Limit]float64{model.VolumeBurstIOPS: 0.65, model.QueueDepth: 0.05, model.VolumeBaselineIOPS: 0.3},
			"3,000 IOPS for 1 min 10 s, then 300 IOPS: the burst credits were spent."},
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
		p := analyze.Run(ebs.Embedded(), run, measured, nil).Phases[0]
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
	d := analyze.Run(ebs.Embedded(), run, measured, predicted)
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
		got := analyze.Run(ebs.Embedded(), run, measured, nil).Warnings
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
		got := codes(analyze.Run(ebs.Embedded(), run, measured, tt.with).Phases[0].Warnings)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: warnings (want, got):\n%s", name, diff)
		}
	}
	run, measured := handMade(gp2of100, small, "", time.Second, levels(3000, 60)...)
	if got := codes(analyze.Run(ebs.Embedded(), run, measured, nil).Phases[0].Warnings); !slices.Contains(got, "burst-only") {
		t.Errorf("a burst that was not spent gave warnings %v", got)
	}
}
