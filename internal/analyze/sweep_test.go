package analyze_test

import (
	"testing"

	"ebscope/internal/analyze"
	"ebscope/internal/ebs"
	"ebscope/internal/model"
	"ebscope/internal/result"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

// shipped returns the document of a simulation of a profile that ships, changed before.
func shipped(t *testing.T, name string, compress float64, change func(p *workload.Profile)) analyze.Document {
	t.Helper()
	p, err := workload.Shipped(ebs.Embedded(), name)
	if err != nil {
		t.Fatal(err)
	}
	change(&p)
	run, measured, predicted := simulated(t, p, compress)
	return analyze.Run(ebs.Embedded(), run, measured, predicted)
}

func TestKnee(t *testing.T) {
	d := shipped(t, "queue-depth-sweep", 60, func(p *workload.Profile) {
		p.Volumes[1].Config = ebs.Volume{Type: ebs.GP3, Size: 100 * units.GiB, IOPS: 16_000}
	})
	if len(d.Sweeps) != 2 || len(d.Sweeps[0].Steps) != 10 || len(d.Sweeps[1].Steps) != 10 {
		t.Fatalf("%d curves, want one of 10 steps for each volume: %+v", len(d.Sweeps), d.Sweeps)
	}
	// 3,000 × 0.569 ms = 1.7: two in flight. 16,000 × 0.569 ms = 9.1: nine make 99 % of the limit, within the tolerance.
	for i, want := range []analyze.Knee{
		{InFlight: 2, Exact: 1.707, Limit: model.VolumeIOPS, LimitIOPS: 3000, LatencyMS: 0.569},
		{InFlight: 9, Exact: 9.104, Limit: model.VolumeIOPS, LimitIOPS: 16_000, LatencyMS: 0.569},
	} {
		k := d.Sweeps[i].Knee
		if k == nil || k.PlateauIOPS == nil {
			t.Fatalf("curve %d has no knee: %+v", i, k)
		}
		if k.InFlight != want.InFlight || k.Limit != want.Limit || k.LimitIOPS != want.LimitIOPS || k.Assumed {
			t.Errorf("knee %+v, want %+v", *k, want)
		}
		// The bins of a histogram are 1/64 wide.
		near(t, "exact", k.Exact, want.Exact, want.Exact/64)
		near(t, "latency", k.LatencyMS, want.LatencyMS, want.LatencyMS/64)
		near(t, "plateau", *k.PlateauIOPS, want.LimitIOPS, 0.01*want.LimitIOPS)
	}
	// Below the knee, one in flight makes 1 ÷ 0.564 ms.
	near(t, "first step", d.Sweeps[0].Steps[0].IOPS, 1773, 5)
}

// Four jobs and one are a curve too, and one that is held from its first step on takes the latency of the profile.
func TestKneeOfJobs(t *testing.T) {
	d := shipped(t, "parallel-jobs", 1, func(*workload.Profile) {})
	if len(d.Sweeps) != 4 {
		t.Fatalf("%d curves, want 2 patterns on 2 volumes: %+v", len(d.Sweeps), d.Sweeps)
	}
	reads, writes := d.Sweeps[2], d.Sweeps[3]
	if reads.Volume != "gp3" || reads.Jobs != 0 || reads.Steps[0].InFlight != 1 || reads.Steps[1].InFlight != 4 {
		t.Errorf("reads of gp3: %+v", reads)
	}
	// 3,000 × 0.928 ms, the median of a curve stretched to a mean of 0.92: 2.8.
	if k := reads.Knee; k == nil || k.InFlight != 3 || k.Assumed {
		t.Errorf("knee of reads: %+v, want 3", k)
	}
	// 250 MiB/s of 1 MiB are reached by one job.
	if k := writes.Knee; k == nil || k.InFlight != 1 || !k.Assumed || k.Limit != model.VolumeThroughput {
		t.Errorf("knee of writes: %+v, want 1 by the profile's latency", k)
	}
}

// A sweep of which one step is done has no knee, and no other profile has sweeps.
func TestNoKnee(t *testing.T) {
	p, err := workload.Shipped(ebs.Embedded(), "queue-depth-sweep")
	if err != nil {
		t.Fatal(err)
	}
	run, measured, predicted := simulated(t, p, 60)
	for i := 3; i < len(run.Phases); i++ {
		run.Phases[i].State = result.Pending
	}
	d := analyze.Run(ebs.Embedded(), run, measured, predicted)
	if len(d.Sweeps[0].Steps) != 1 || d.Sweeps[0].Knee != nil || d.Sweeps[1].Knee != nil {
		t.Errorf("a cut sweep: %+v", d.Sweeps)
	}
	if d := shipped(t, "quick", 60, func(*workload.Profile) {}); d.Sweeps != nil {
		t.Errorf("a profile without a sweep: %+v", d.Sweeps)
	}
}
