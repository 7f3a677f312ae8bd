package simulate_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ebscope/internal/ebs"
	"ebscope/internal/simulate"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

// anyProfile draws a valid profile of short phases: volumes of their own and striped, alone and together.
func anyProfile(t *rapid.T) workload.Profile {
	p := workload.Profile{Name: "any", Region: "us-east-1", FileSize: 8 * units.MiB, Gap: rapid.SampledFrom([]time.Duration{0, 450 * time.Millisecond}).Draw(t, "gap")}
	p.Instance = rapid.SampledFrom([]string{"", "m5.xlarge", "t3.medium"}).Draw(t, "instance")
	restore := rapid.Bool().Draw(t, "restored")
	for i := range rapid.IntRange(1, 4).Draw(t, "volumes") {
		v := workload.Volume{Name: fmt.Sprintf("v%d", i), Balance: rapid.Float64Range(0, 1).Draw(t, "balance"),
			Config: rapid.SampledFrom([]ebs.Volume{
				{Type: ebs.GP2, Size: 100 * units.GiB}, {Type: ebs.GP3, Size: 100 * units.GiB}, gp3(16_000, 1000), {Type: "st1", Size: 500 * units.GiB},
			}).Draw(t, "type")}
		if restore {
			touch := workload.DefaultFirstTouch
			v.Restored = &touch
		}
		p.Volumes = append(p.Volumes, v)
	}
	var disks []string
	for i, v := range p.Volumes {
		if i < len(p.Volumes)-2 || len(p.Volumes) < 2 {
			disks = append(disks, v.Name)
		}
	}
	if n := len(p.Volumes); n >= 2 {
		p.Stripes = []workload.Stripe{{Name: "raid", Volumes: []string{p.Volumes[n-2].Name, p.Volumes[n-1].Name},
			ChunkSize: rapid.SampledFrom([]units.Bytes{4, 64, 512}).Draw(t, "chunk") * units.KiB}}
		disks = append(disks, "raid")
	}
	for _, d := range disks {
		p.Phases = append(p.Phases, workload.Phase{Name: "layout", Volume: d, Pattern: workload.Write, BlockSize: units.MiB, QueueDepth: 4, Jobs: 1})
	}
	atOnce := ""
	if len(disks) > 1 && rapid.Bool().Draw(t, "together") {
		atOnce = "all"
	}
	for _, d := range disks {
		phase := workload.Phase{Name: "run", Volume: d, Together: atOnce, QueueDepth: rapid.IntRange(1, 40).Draw(t, "depth"), Jobs: rapid.IntRange(1, 3).Draw(t, "jobs"),
			Pattern:   rapid.SampledFrom([]workload.Pattern{workload.Read, workload.Write, workload.RandRead, workload.RandWrite, workload.RandRW}).Draw(t, "rw"),
			BlockSize: rapid.SampledFrom([]units.Bytes{512, 4096, 96 * units.KiB, units.MiB, 3 * units.MiB}).Draw(t, "block"),
			Duration:  rapid.SampledFrom([]time.Duration{time.Second, 2500 * time.Millisecond}).Draw(t, "duration")}
		if phase.Pattern.Mixed() {
			phase.ReadPercent = rapid.IntRange(1, 99).Draw(t, "reads")
		}
		if rapid.Bool().Draw(t, "thinks") {
			phase.QueueDepth, phase.ThinkTime = 1, 700*time.Microsecond
		}
		if rapid.Bool().Draw(t, "paced") {
			phase.RateIOPS = units.IOPS(200 * phase.Jobs)
		}
		p.Phases = append(p.Phases, phase)
	}
	return p
}

func TestAnyProfile(t *testing.T) {
	catalog := ebs.Embedded()
	rapid.Check(t, func(t *rapid.T) {
		p := anyProfile(t)
		compress := rapid.SampledFrom([]float64{1, 2}).Draw(t, "compress")
		phases, err := simulate.Run(t.Context(), catalog, p, compress, nil)
		if err != nil {
			t.Fatal(err)
		}
		var end time.Duration
		for i, got := range phases {
			spec, m := p.Compressed(compress).Phases[i], got.Measurement
			took := (got.End - got.Start).Seconds()
			if alone := spec.Together == "" || i == 0; alone && got.Start < end {
				t.Errorf("%s starts at %v, before the one before it ends, at %v", spec.ID(), got.Start, end)
			}
			end = max(end, got.End)
			if got.End < got.Start+spec.Duration || m.Total.Runtime != got.End-got.Start {
				t.Errorf("%s from %v to %v, runtime %v", spec.ID(), got.Start, got.End, m.Total.Runtime)
			}
			var ios float64
			for _, point := range m.IOPS {
				ios += point.Value * m.Window.Seconds()
			}
			if want := int(m.Total.Runtime / m.Window); len(m.IOPS) != want || ios > float64(m.Total.IOs)+0.5 {
				t.Errorf("%s: %d samples with %.1f I/Os, want %d with at most %d", spec.ID(), len(m.IOPS), ios, want, m.Total.IOs)
			}
			if rate := float64(spec.RateIOPS); rate > 0 && float64(m.Total.IOs) > rate*took+1 {
				t.Errorf("%s: %d I/Os in %.2f s at %v a second", spec.ID(), m.Total.IOs, took, rate)
			}
			// A bucket is at most one second deep.
			var most float64
			for _, v := range p.Members(spec.Volume) {
				most += float64(catalog.Performance(v.Config).Throughput) * (took + 1/compress)
			}
			if float64(m.Total.Bytes) > most+float64(spec.BlockSize)*float64(spec.Outstanding()) {
				t.Errorf("%s: %v in %.2f s, at most %.0f bytes", spec.ID(), m.Total.Bytes, took, most)
			}
		}
	})
}
