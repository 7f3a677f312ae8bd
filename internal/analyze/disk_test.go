package analyze

import (
	"math"
	"testing"

	"ebscope/internal/ebs"
	"ebscope/internal/result"
	"ebscope/internal/simulate"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

func striped(chunk units.Bytes, volumes ...ebs.Volume) workload.Profile {
	p := workload.Profile{Stripes: []workload.Stripe{{Name: "raid", ChunkSize: chunk}}}
	for i, v := range volumes {
		name := string(rune('a' + i))
		p.Volumes = append(p.Volumes, workload.Volume{Name: name, Config: v})
		p.Stripes[0].Volumes = append(p.Stripes[0].Volumes, name)
	}
	return p
}

func TestPerformanceOfStripe(t *testing.T) {
	gp2, gp3 := ebs.Volume{Type: ebs.GP2, Size: 100 * units.GiB}, ebs.Volume{Type: ebs.GP3, Size: 100 * units.GiB}
	for name, tt := range map[string]struct {
		profile                           workload.Profile
		block                             units.Bytes
		baseline, burst, credits, through float64
		operations                        float64
	}{
		"two gp2, small blocks": {striped(64*units.KiB, gp2, gp2), 4 * units.KiB, 600, 6000, 10.8e6, 256, 1},
		// 512 KiB on each: two operations there.
		"two gp2, large blocks": {striped(64*units.KiB, gp2, gp2), units.MiB, 600, 6000, 10.8e6, 256, 4},
		// 341.3 KiB on each: two operations there.
		"three gp3": {striped(64*units.KiB, gp3, gp3, gp3), units.MiB, 9000, 9000, 0, 375, 6},
		// At 0, 48, 96 and 144 KiB: the second crosses the end of a chunk at 64, the third that at 128: 6 parts of 4 I/Os.
		"blocks that cross chunks": {striped(64*units.KiB, gp2, gp2, gp2), 48 * units.KiB, 900, 9000, 16.2e6, 384, 1.5},
		// One chunk of 512 KiB: two operations.
		"large chunks": {striped(512*units.KiB, gp3, gp3, gp3), 512 * units.KiB, 9000, 9000, 0, 375, 2},
		// The slower of each, twice.
		"gp2 and gp3": {striped(64*units.KiB, gp2, gp3), 4 * units.KiB, 600, 6000, 10.8e6, 250, 1},
	} {
		p := workload.Phase{Volume: "raid", Pattern: workload.RandRead, BlockSize: tt.block}
		perf := performanceOf(ebs.Embedded(), tt.profile, p)
		if float64(perf.Baseline) != tt.baseline || float64(perf.Burst) != tt.burst || float64(perf.Credits) != tt.credits ||
			perf.Throughput.MiBps() != tt.through || usageOfDisk(perf, tt.profile, p).operations != tt.operations {
			t.Errorf("%s: %+v, %v; want %v", name, perf, usageOfDisk(perf, tt.profile, p), tt)
		}
	}
}

// At random, each part of an I/O takes a whole MiB of an HDD volume's throughput. 96 KiB at 0, 96, 192 and 288 KiB cross one
// end of a chunk each, at 64, 128, 256 and 320 KiB: 2 parts, 2 MiB.
func TestUsageOfAStripeOfHDD(t *testing.T) {
	st1 := ebs.Volume{Type: ebs.ST1, Size: units.TiB}
	profile := striped(64*units.KiB, st1, st1)
	p := workload.Phase{Volume: "raid", Pattern: workload.RandRead, BlockSize: 96 * units.KiB}
	got := usageOfDisk(performanceOf(ebs.Embedded(), profile, p), profile, p)
	if want := (usage{operations: 2, data: 2 << 20}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Of two phases together, one did 4,000 I/Os a second and the other 2,000: they had two thirds and one third of 6,000.
func TestShareOfInstance(t *testing.T) {
	p := striped(64*units.KiB, ebs.Volume{Type: ebs.GP3, Size: 100 * units.GiB}, ebs.Volume{Type: ebs.GP3, Size: 100 * units.GiB})
	p.Stripes = nil
	for _, v := range []string{"a", "b"} {
		p.Phases = append(p.Phases, workload.Phase{Name: "read", Volume: v, Pattern: workload.RandRead, BlockSize: 4 * units.KiB, Together: "all"})
	}
	p.Phases = append(p.Phases, workload.Phase{Name: "alone", Volume: "a", Pattern: workload.RandRead, BlockSize: 4 * units.KiB})
	instance, err := ebs.Embedded().Instance("m5.xlarge")
	if err != nil {
		t.Fatal(err)
	}
	a := analysis{catalog: ebs.Embedded(), profile: p, instance: &instance}
	did := func(iops units.IOPS) result.Direction {
		return result.Direction{IOPS: iops, Throughput: units.Throughput(iops) * 4096}
	}
	measured := []*result.Measurement{{Total: did(4000)}}
	predicted := []simulate.Phase{{}, {Measurement: result.Measurement{Total: did(2000)}}, {}}
	for i, want := range []float64{4000, 2000, 6000} {
		if got := float64(a.shareOfInstance(i, measured, predicted).BaselineIOPS); math.Abs(got-want) > 1e-6 {
			t.Errorf("phase %d has %v IOPS of the instance, want %v", i, got, want)
		}
	}
}
