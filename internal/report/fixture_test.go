package report_test

import (
	"flag"
	"math"
	"testing"
	"time"

	"ebscope/internal/analyze"
	"ebscope/internal/ebs"
	"ebscope/internal/model"
	"ebscope/internal/report"
	"ebscope/internal/result"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

var update = flag.Bool("update", false, "rewrite the golden files from what the tests get")

const compress = 60

// fixture is a finished run of gp2-vs-gp3 at K = 60 with the figures that docs/model.md gives, and series to match.
func fixture(t testing.TB) report.Report {
	t.Helper()
	profile, err := workload.Shipped(ebs.Embedded(), "gp2-vs-gp3")
	if err != nil {
		t.Fatal(err)
	}
	started := time.Date(2026, 11, 30, 21, 15, 0, 0, time.UTC)
	finished := started.Add(92 * time.Second)
	run := result.Run{
		Form: result.Form, Tool: "ebscope 0.1.0", ID: "20261130T211500Z-gp2-vs-gp3-emulated", Target: result.Emulated,
		Started: started, Finished: &finished, Compress: compress, Profile: profile,
		Command: "ebscope bench --profile gp2-vs-gp3 --compress 60",
		Environment: result.Environment{FioVersion: "fio-3.33", Engine: "libaio", OS: "Debian GNU/Linux 12", Kernel: "6.1.0-26-amd64",
			CPU: "AMD EPYC 7R13", CPUs: 2, Instance: "m5.xlarge", Device: "loop device"},
	}
	r := report.Report{Catalog: ebs.Embedded(), Document: analyze.Document{
		Schema: analyze.Schema,
		Run:    analyze.Identity{ID: run.ID, Profile: profile.Name, Target: run.Target, Started: started, Compress: compress, Complete: true},
		Volumes: []analyze.Volume{
			{Name: "gp3", Type: "gp3", SizeGiB: 100, BaselineIOPS: 3000, BurstIOPS: 3000, ThroughputMiBps: 125, Configuration: "gp3 100 GiB, 3,000 IOPS, 125 MiB/s"},
			{Name: "gp2", Type: "gp2", SizeGiB: 100, BaselineIOPS: 300, BurstIOPS: 3000, ThroughputMiBps: 128,
				SecondsToEmpty: 2000, SecondsToRefill: 18000, Configuration: "gp2 100 GiB"},
		},
	}}
	all := figures()
	for i, spec := range profile.Phases {
		p := all[spec.ID()]
		p.Name, p.Volume, p.RW = spec.Name, spec.Volume, string(spec.Pattern)
		p.BlockSize, p.QueueDepth, p.Jobs = int64(spec.BlockSize), spec.QueueDepth, spec.Jobs
		p.State = string(result.Done)
		p.DurationS = spec.Duration.Seconds() / compress
		if p.DurationS == 0 {
			p.DurationS = 1.1
		}
		if spec.Duration > 0 {
			p.Warnings = []result.Warning{{Code: "first-sample-excluded", Text: "The first sample holds the one-off burst of a full rate bucket; mean, lowest and highest leave it out."}}
			r.Document.Checks = append(r.Document.Checks, littlesLaw(p))
		}
		r.Document.Phases = append(r.Document.Phases, p)
		r.Measured = append(r.Measured, series(p, spec, 0.004))
		r.Predicted = append(r.Predicted, series(p, spec, 0))
		run.Phases = append(run.Phases, result.Phase{Index: i + 1, Name: spec.Name, Volume: spec.Volume, Dir: result.PhaseDir(i+1, spec), State: result.Done})
	}
	r.Document.Comparisons = []analyze.Comparison{
		{Phase: "randread-qd32", Metric: "iops", A: "gp2", B: "gp3", Ratio: 0.77},
		{Phase: "randread-qd32", Metric: "latency-p99", A: "gp2", B: "gp3", Ratio: 9.79},
	}
	r.Run = run
	return r
}

func num(x float64) *float64 { return &x }

func littlesLaw(p analyze.Phase) analyze.Check {
	expected := 1000 * float64(p.QueueDepth*p.Jobs) / p.IOPS.FioMean
	return analyze.Check{Code: "littles-law", Phase: p.Name, Volume: p.Volume, Expected: expected, Measured: p.Latency.Mean,
		OK: math.Abs(expected/p.Latency.Mean-1) < 0.03}
}

// figures returns those of each phase, by its ID. Layout runs at 125 MiB/s on gp3 and 128 on gp2 (fio's mean with the bucket's depth).
func figures() map[string]analyze.Phase {
	return map[string]analyze.Phase{
		"gp3-layout":        flat(125, 127.3, 1048576, 8.0, 8.1, 8.2, model.VolumeThroughput),
		"gp2-layout":        flat(128, 130.3, 1048576, 7.8, 7.9, 8.0, model.VolumeThroughput),
		"gp3-randread-qd32": flat(3000, 3005, 4096, 10.7, 10.8, 10.9, model.VolumeIOPS),
		"gp2-randread-qd32": {
			IOPS: analyze.IOPS{Mean: 2298.7, FioMean: 2300.1, Min: num(297), Max: num(3005)}, ThroughputMiBps: 8.98,
			Latency:   &analyze.Latency{Kind: "lat", Mean: 13.9, P50: num(10.7), P95: num(10.9), P99: num(106.7), Max: 131},
			Segments:  []analyze.Segment{{FromS: 0.05, ToS: 33.3, IOPSMean: 3001, IOPSMin: 2997, IOPSMax: 3005}, {FromS: 33.35, ToS: 45, IOPSMean: 300, IOPSMin: 297, IOPSMax: 304}},
			Cliff:     &analyze.Cliff{AtS: 33.315, AtSUncompressed: 1998.9, BeforeIOPS: 3001, AfterIOPS: 300, DropPercent: 90, Cause: analyze.GP2Credits},
			LimitedBy: []analyze.LimitShare{{Limit: model.VolumeBurstIOPS, Share: 0.74}, {Limit: model.VolumeBaselineIOPS, Share: 0.26}},
			Verdict:   analyze.BurstThenBaseline, Summary: "Held 3,001 IOPS for 33 min 19 s, then fell to 300 IOPS (−90 %) when its burst credits were spent.",
			Credits:  &analyze.Credits{Capacity: 90000, Start: num(90000), End: num(0), InferredStart: num(89950)},
			Expected: &analyze.Expected{IOPSMean: 2298.5, IOPSFioMean: 2299.6, ThroughputMiBps: 8.98, LatencyMeanMS: 13.9, LatencyP50MS: 10.7, LatencyP95MS: 10.7, LatencyP99MS: 106.7, CliffAtS: num(33.315)},
		},
		"gp3-randwrite-qd32": flat(3000, 3025, 4096, 10.6, 10.7, 10.9, model.VolumeIOPS),
		"gp2-randwrite-qd32": {
			IOPS: analyze.IOPS{Mean: 577, FioMean: 602, Min: num(298), Max: num(3004)}, ThroughputMiBps: 2.35,
			Latency:   &analyze.Latency{Kind: "lat", Mean: 53.2, P50: num(10.7), P95: num(106.7), P99: num(107.1), Max: 109.6},
			Segments:  []analyze.Segment{{FromS: 0.05, ToS: 0.22, IOPSMean: 3000, IOPSMin: 2990, IOPSMax: 3004}, {FromS: 0.27, ToS: 2, IOPSMean: 300, IOPSMin: 298, IOPSMax: 302}},
			Cliff:     &analyze.Cliff{AtS: 0.222, AtSUncompressed: 13.3, BeforeIOPS: 3000, AfterIOPS: 300, DropPercent: 90, Cause: analyze.GP2Credits},
			LimitedBy: []analyze.LimitShare{{Limit: model.VolumeBurstIOPS, Share: 0.11}, {Limit: model.VolumeBaselineIOPS, Share: 0.89}},
			Verdict:   analyze.BurstThenBaseline, Summary: "Spent what it had earned while it rested, then fell to 300 IOPS.",
			Credits:  &analyze.Credits{Capacity: 90000, Start: num(602), End: num(0), InferredStart: num(598)},
			Expected: &analyze.Expected{IOPSMean: 577, IOPSFioMean: 602, ThroughputMiBps: 2.35, LatencyMeanMS: 53.2, LatencyP50MS: 10.7, LatencyP95MS: 106.7, LatencyP99MS: 106.7, CliffAtS: num(0.222)},
		},
		"gp3-randread-qd1": flat(1770, 1773, 4096, 0.564, 0.569, 0.872, model.QueueDepth),
		"gp2-randread-qd1": {
			IOPS: analyze.IOPS{Mean: 584, FioMean: 604, Min: num(298), Max: num(1775)}, ThroughputMiBps: 2.36,
			Latency:   &analyze.Latency{Kind: "lat", Mean: 1.656, P50: num(0.602), P95: num(3.33), P99: num(3.34), Max: 3.6},
			Segments:  []analyze.Segment{{FromS: 0.05, ToS: 0.2, IOPSMean: 1770, IOPSMin: 1760, IOPSMax: 1775}, {FromS: 0.25, ToS: 1, IOPSMean: 300, IOPSMin: 298, IOPSMax: 302}},
			Cliff:     &analyze.Cliff{AtS: 0.207, AtSUncompressed: 12.4, BeforeIOPS: 1770, AfterIOPS: 300, DropPercent: 83, Cause: analyze.GP2Credits},
			LimitedBy: []analyze.LimitShare{{Limit: model.QueueDepth, Share: 0.21}, {Limit: model.VolumeBaselineIOPS, Share: 0.79}},
			Verdict:   analyze.BurstThenBaseline, Summary: "Ran at the latency of the device until its credits were spent, then at 300 IOPS.",
			Credits:  &analyze.Credits{Capacity: 90000, Start: num(302), End: num(0), InferredStart: num(304)},
			Expected: &analyze.Expected{IOPSMean: 584, IOPSFioMean: 604, ThroughputMiBps: 2.36, LatencyMeanMS: 1.656, LatencyP50MS: 0.569, LatencyP95MS: 3.33, LatencyP99MS: 3.33, CliffAtS: num(0.207)},
		},
		"gp3-seqread-qd8":  flat(125, 127.1, 1048576, 62.9, 63.9, 64.1, model.VolumeThroughput),
		"gp3-seqwrite-qd8": flat(125, 125.8, 1048576, 63.6, 63.9, 64.1, model.VolumeThroughput),
		"gp2-seqread-qd8":  flat(128, 130.1, 1048576, 61.5, 62.4, 62.6, model.VolumeThroughput),
		"gp2-seqwrite-qd8": flat(128, 128.8, 1048576, 62.1, 62.4, 62.6, model.VolumeThroughput),
	}
}

// flat is a phase that holds one level.
func flat(mean, fioMean float64, block int64, latency, p50, p99 float64, limit model.Limit) analyze.Phase {
	throughput := mean * float64(block) / float64(units.MiB)
	return analyze.Phase{
		IOPS: analyze.IOPS{Mean: mean, FioMean: fioMean, Min: num(mean * 0.998), Max: num(mean * 1.002)}, ThroughputMiBps: throughput,
		Latency:   &analyze.Latency{Kind: "lat", Mean: latency, P50: num(p50), P95: num((p50 + p99) / 2), P99: num(p99), Max: p99 * 1.1},
		Segments:  []analyze.Segment{{FromS: 0.05, ToS: 1, IOPSMean: mean, IOPSMin: mean * 0.998, IOPSMax: mean * 1.002}},
		LimitedBy: []analyze.LimitShare{{Limit: limit, Share: 1}},
		Verdict:   analyze.Sustained, Summary: "Held its level to the end.",
		Expected: &analyze.Expected{IOPSMean: mean, IOPSFioMean: fioMean, ThroughputMiBps: throughput, LatencyMeanMS: latency, LatencyP50MS: p50, LatencyP95MS: p50, LatencyP99MS: p99},
	}
}

// series draws the levels of a phase in windows of 50 ms, with a ripple that is a share of the level. The first window holds
// the rate bucket's depth on top.
func series(p analyze.Phase, spec workload.Phase, ripple float64) *result.Measurement {
	const window = 50 * time.Millisecond
	m := &result.Measurement{Source: "fio-3.33", Window: window}
	for i := 1; time.Duration(i)*window <= time.Duration(p.DurationS*float64(time.Second)); i++ {
		end := time.Duration(i) * window
		level := p.IOPS.Mean
		if p.Cliff != nil {
			// The window in which the fall lies holds a part of each level.
			before := min(1, max(0, (p.Cliff.AtS-(end-window).Seconds())/window.Seconds()))
			level = p.Cliff.AfterIOPS + before*(p.Cliff.BeforeIOPS-p.Cliff.AfterIOPS)
		}
		latency := 1000 * float64(spec.QueueDepth) / level
		if i == 1 {
			level *= 1 + 1/(compress*window.Seconds())
		}
		level *= 1 + ripple*math.Sin(float64(i*i))
		m.IOPS = append(m.IOPS, result.Point{End: end, Value: level})
		m.Latency = append(m.Latency, result.Point{End: end, Value: latency})
	}
	return m
}
