package analyze

import (
	"math"
	"testing"
	"time"

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

// At the burst, a does 12,000 and b 6,000 I/Os a second, 18,000 of the 18,750 that m5.xlarge passes on: two thirds and one.
// When it ends, after 6 s, 6,000 are left, and a, with 64 I/Os in flight to b's 16, has four fifths of them.
func TestShareOfInstanceChangesWithItsBurst(t *testing.T) {
	a := sideBySide(t, "a", "b")
	measured := []*result.Measurement{{IOPS: secondly(20000, 1, 12000, 5, 4800, 6)}, {IOPS: secondly(20000, 1, 6000, 5, 1200, 6)}}
	for i, want := range []struct{ maximum, baseline float64 }{{12500, 4800}, {6250, 1200}} {
		got := a.shareOfInstance(i, measured, nil)
		if math.Abs(float64(got.MaximumIOPS)-want.maximum) > 1e-6 || math.Abs(float64(got.BaselineIOPS)-want.baseline) > 1e-6 {
			t.Errorf("phase %d: %v of the maximum and %v of the baseline, want %v", i, got.MaximumIOPS, got.BaselineIOPS, want)
		}
	}
}

// Each of two does 4,000 I/Os a second until one ends after 5 s. The other then has all of the 6,000 to itself.
func TestShareOfInstanceWhereOneEnds(t *testing.T) {
	a := sideBySide(t, "a", "b")
	measured := []*result.Measurement{{IOPS: secondly(4000, 5, 6000, 10)}, {IOPS: secondly(4000, 5)}}
	if got := float64(a.shareOfInstance(0, measured, nil).BaselineIOPS); math.Abs(got-6000) > 1e-6 {
		t.Errorf("it has %v of the baseline, want 6,000", got)
	}
	if got := float64(a.shareOfInstance(0, measured, nil).MaximumIOPS); math.Abs(got-9375) > 1e-6 {
		t.Errorf("it has %v of the maximum, want half of 18,750", got)
	}
}

// Where a series is missing, the summaries share the limits out; where nothing is known, nobody has less than all.
func TestShareOfInstanceWithoutSeries(t *testing.T) {
	a := sideBySide(t, "a", "b")
	total := func(iops units.IOPS) result.Direction { return result.Direction{IOPS: iops} }
	for name, tt := range map[string]struct {
		measured []*result.Measurement
		want     float64
	}{
		"of the other": {[]*result.Measurement{{Total: total(4000), IOPS: secondly(9000, 10)}, {Total: total(2000)}}, 4000},
		"of both":      {[]*result.Measurement{{Total: total(1000)}, {Total: total(5000)}}, 1000},
		"nothing":      {nil, 6000},
		// Its only samples lie after its end.
		"too late": {[]*result.Measurement{{IOPS: result.Series{{End: time.Hour, Value: 1}, {End: 2 * time.Hour, Value: 1}}}, {IOPS: secondly(1, 3)}}, 6000},
	} {
		if name == "too late" {
			a.profile.Phases[0].Duration = time.Second
		}
		if got := float64(a.shareOfInstance(0, tt.measured, nil).BaselineIOPS); math.Abs(got-tt.want) > 1e-6 {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
		a.profile.Phases[0].Duration = 0
	}
}

// While the burst lasts, what its end will leave of the 6,000 is shared out by what is in flight, but none gets more than it uses.
func TestShareOfInstanceBeforeItsBurstEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		inFlight [3]int
		uses     [3]float64 // I/Os a second
		want     [3]float64
	}{
		"two":  {[3]int{64, 16, 1}, [3]float64{12000, 6000, 0}, [3]float64{4800, 1200, 6000}}, // the third does nothing
		"same": {[3]int{32, 32, 32}, [3]float64{5000, 5000, 5000}, [3]float64{2000, 2000, 2000}},
		// A third of 6,000 is more than the 500, so the others share 5,500 …
		"one modest": {[3]int{16, 16, 16}, [3]float64{500, 6000, 3000}, [3]float64{500, 2750, 2750}},
		// … of which half is more than 2,600, too.
		"two modest": {[3]int{16, 16, 16}, [3]float64{500, 6000, 2600}, [3]float64{500, 2900, 2600}},
	} {
		a := sideBySide(t, "a", "b", "c")
		var measured []*result.Measurement
		for i := range a.profile.Phases {
			a.profile.Phases[i].QueueDepth, a.profile.Phases[i].Jobs = tt.inFlight[i], 1
			measured = append(measured, &result.Measurement{IOPS: secondly(tt.uses[i], 10)})
		}
		for i, want := range tt.want {
			if got := float64(a.shareOfInstance(i, measured, nil).BaselineIOPS); math.Abs(got-want) > 1e-6 {
				t.Errorf("%s: phase %d has %v of the baseline, want %v", name, i, got, want)
			}
		}
	}
}

// sideBySide reads 4 KiB at random from volumes of an m5.xlarge at the same time.
func sideBySide(t *testing.T, volumes ...string) analysis {
	t.Helper()
	instance, err := ebs.Embedded().Instance("m5.xlarge")
	if err != nil {
		t.Fatal(err)
	}
	gp3 := ebs.Volume{Type: ebs.GP3, Size: 100 * units.GiB}
	p := striped(64*units.KiB, gp3, gp3, gp3)
	p.Stripes = nil
	for _, v := range volumes {
		p.Phases = append(p.Phases, workload.Phase{Name: "read", Volume: v, Pattern: workload.RandRead, BlockSize: 4 * units.KiB, Together: "all"})
	}
	return analysis{catalog: ebs.Embedded(), profile: p, instance: &instance}
}

// secondly is a series of one point a second: a value, for how many seconds, the next value, ….
func secondly(levels ...float64) (s result.Series) {
	for i := 0; i < len(levels); i += 2 {
		for range int(levels[i+1]) {
			s = append(s, result.Point{End: time.Duration(len(s)+1) * time.Second, Value: levels[i]})
		}
	}
	return s
}
