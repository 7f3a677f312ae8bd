package model_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ebscope/internal/ebs"
	"ebscope/internal/model"
	"ebscope/internal/units"
)

const block = 4 * units.KiB

func gp2(size units.Bytes) ebs.Performance {
	return ebs.Embedded().Performance(ebs.Volume{Type: ebs.GP2, Size: size})
}

func gp3(size units.Bytes) ebs.Performance {
	return ebs.Embedded().Performance(ebs.Volume{Type: ebs.GP3, Size: size})
}

// saturate keeps the volume busy from start to end and counts the I/Os admitted in each second.
func saturate(v *model.Volume, start, end time.Duration, size units.Bytes) (perSecond []int) {
	perSecond = make([]int, int((end-start)/time.Second)+1)
	for {
		at := v.Admit(start, size).At
		if at > end {
			return perSecond
		}
		// An I/O admitted at the very end of a second belongs to that second.
		perSecond[max(0, int((at-start-1)/time.Second))]++
	}
}

// docs/model.md, "the cliff": a full bucket of 5.4 M credits, 3,000 of them spent at once from the one-second-deep
// rate bucket, the rest at 3,000 − 300: empty after (5,400,000 − 3,000) ÷ 2,700 = 1,998.9 s.
func TestCliffOfA100GiBVolume(t *testing.T) {
	v := model.NewVolume(gp2(100*units.GiB), 1, nil)
	got := saturate(v, 0, 2010*time.Second, block)
	for second, want := range map[int]int{0: 6000, 1: 3000, 1000: 3000, 1997: 3000, 1998: 2700, 1999: 300, 2005: 300} {
		if diff := got[second] - want; diff < -1 || diff > 1 {
			t.Errorf("second %d → %d: %d I/Os, want %d ± 1", second, second+1, got[second], want)
		}
	}
	if a := v.Admit(2010*time.Second, block); a.Limit != model.VolumeBaselineIOPS {
		t.Errorf("after the cliff the limit is %s, want %s", a.Limit, model.VolumeBaselineIOPS)
	}
}

// 60 times sooner: (90,000 − 50) ÷ 2,700 = 33.315 s, the same rates before and after.
func TestCompressedCliff(t *testing.T) {
	v := model.NewVolume(gp2(100*units.GiB), 60, nil)
	if got := v.CreditCapacity(); got != 90_000 {
		t.Fatalf("capacity %v, want 5.4 M ÷ 60 = 90,000", got)
	}
	got := saturate(v, 0, 40*time.Second, block)
	// Second 33 → 34: 0.315 s at 3,000 and 0.685 s at 300 = 944 + 206 = 1,150.
	for second, want := range map[int]int{0: 3050, 1: 3000, 32: 3000, 33: 1150, 34: 300} {
		if diff := got[second] - want; diff < -1 || diff > 1 {
			t.Errorf("second %d: %d I/Os, want %d ± 1", second, got[second], want)
		}
	}
}

// Burst and refill times of AWS's table (EBS user guide): balance ÷ (3,000 − baseline), 5.4 M ÷ baseline.
func TestBurstAndRefillTimes(t *testing.T) {
	for _, tt := range []struct {
		gib           units.Bytes
		burst, refill float64 // seconds
	}{
		{30, 1862, 54_000},  // (5.4 M − 3,000) ÷ 2,900 = 1,861
		{100, 2000, 18_000}, // 1,998.9
		{334, 2703, 5_389},  // 5.397 M ÷ 1,998 = 2,701
		{750, 7200, 2_400},  // 5.397 M ÷ 750 = 7,196
	} {
		v := model.NewVolume(gp2(tt.gib*units.GiB), 1, nil)
		var at time.Duration
		for {
			a := v.Admit(0, block)
			if a.Limit == model.VolumeBaselineIOPS {
				break
			}
			at = a.At
		}
		if got := at.Seconds(); math.Abs(got-tt.burst)/tt.burst > 0.002 {
			t.Errorf("%d GiB: empty after %.0f s, want %.0f within the one second of depth", tt.gib, got, tt.burst)
		}
		full := at + time.Duration(tt.refill*1e9)
		if got := v.Credits(full); math.Abs(float64(got)-5_400_000) > 1000 {
			t.Errorf("%d GiB: %.0f credits after %.0f s of rest, want 5.4 M", tt.gib, got, tt.refill)
		}
	}
}

// An I/O counts once per 256 KiB (EBS user guide, I/O characteristics).
func TestCost(t *testing.T) {
	v := model.NewVolume(gp3(100*units.GiB), 1, nil)
	for size, want := range map[units.Bytes]float64{512: 1, 4 * units.KiB: 1, 256 * units.KiB: 1, 257 * units.KiB: 2, units.MiB: 4} {
		if got := v.Cost(size); got != want {
			t.Errorf("cost of %v: %v operations, want %v", size, got, want)
		}
	}
}

func TestThroughputLimit(t *testing.T) {
	// 128 MiB in the first instant from the full bucket, then 128 MiB/s: 10 s give 128 + 1,280 of 1 MiB.
	v := model.NewVolume(gp2(100*units.GiB), 1, nil)
	total := 0
	for _, n := range saturate(v, 0, 10*time.Second, units.MiB) {
		total += n
	}
	if total != 1408 {
		t.Errorf("%d MiB in 10 s, want 128 + 10 × 128 = 1,408", total)
	}
	if a := v.Admit(10*time.Second, units.MiB); a.Limit != model.VolumeThroughput {
		t.Errorf("limit %s, want %s", a.Limit, model.VolumeThroughput)
	}
}

// 200 GiB: 250 MiB/s while credits last, then what the baseline of 600 operations of 256 KiB gives: 150 MiB/s.
func TestThroughputWithoutCredits(t *testing.T) {
	v := model.NewVolume(gp2(200*units.GiB), 1, nil)
	if got := saturate(v, 0, 5*time.Second, units.MiB)[3]; got != 250 {
		t.Errorf("with credits %d MiB/s, want 250", got)
	}
	v.SetCredits(5*time.Second, 0)
	if got := saturate(v, 5*time.Second, 15*time.Second, units.MiB)[5]; got != 150 {
		t.Errorf("without credits %d MiB/s, want 150", got)
	}
}

// A block larger than the bucket is deep must still pass, at the long-term rate.
func TestBlockLargerThanBucket(t *testing.T) {
	v := model.NewVolume(gp3(100*units.GiB), 1000, nil) // depth 125 MiB/s × 1 ms = 128 KiB
	var last time.Duration
	for range 126 {
		last = v.Admit(0, units.MiB).At
	}
	// The first passes at once; 125 more at 125 MiB/s take a second.
	if last < 990*time.Millisecond || last > 1010*time.Millisecond {
		t.Errorf("126 MiB took %v, want 1 s", last)
	}
}

// Two 3,000-IOPS volumes on an instance limited to 4,000 share it, and the instance is named.
func TestInstanceLimitsTheSumOfItsVolumes(t *testing.T) {
	limits := ebs.Instance{BaselineIOPS: 4000, MaximumIOPS: 4000, BaselineThroughput: 1e12, MaximumThroughput: 1e12}
	instance := model.NewInstance(limits, 1)
	a, b := model.NewVolume(gp3(100*units.GiB), 1, instance), model.NewVolume(gp3(100*units.GiB), 1, instance)
	served := 0
	var last model.Admission
	for {
		at := max(a.Admit(0, block).At, 0)
		last = b.Admit(0, block)
		if max(at, last.At) > 10*time.Second {
			break
		}
		served += 2
	}
	// 4,000 at once from the full bucket, then 4,000 a second for 10 s.
	if served < 43_990 || served > 44_010 {
		t.Errorf("served %d in 10 s, want 44,000", served)
	}
	if last.Limit != model.InstanceIOPS {
		t.Errorf("limit %s, want %s", last.Limit, model.InstanceIOPS)
	}
}

// m5.large bursts to 18,750 IOPS and falls to 3,600 once (18,750 − 3,600) × 1,800 s are spent. Compressed 60 times it
// lasts 30 s.
func TestInstanceBurstEndsAfterHalfAnHour(t *testing.T) {
	limits, err := ebs.Embedded().Instance("m5.large")
	if err != nil {
		t.Fatal(err)
	}
	perf := ebs.Embedded().Performance(ebs.Volume{Type: ebs.GP3, Size: 1000 * units.GiB, IOPS: 20_000})
	got := saturate(model.NewVolume(perf, 60, model.NewInstance(limits, 60)), 0, 35*time.Second, block)
	if got[20] != 18_750 || got[33] != 3_600 {
		t.Errorf("IOPS at 20 s %d and at 33 s %d, want 18,750 and 3,600", got[20], got[33])
	}
}

func TestStateRoundTrip(t *testing.T) {
	v := model.NewVolume(gp2(100*units.GiB), 60, nil)
	saturate(v, 0, 20*time.Second, block)
	w := model.NewVolume(gp2(100*units.GiB), 60, nil)
	if !w.Restore(v.State(20 * time.Second)) {
		t.Fatal("a state of the same configuration was refused")
	}
	for range 200 {
		if a, b := v.Admit(21*time.Second, block), w.Admit(21*time.Second, block); a != b {
			t.Fatalf("admissions differ after a restore: %v and %v", a, b)
		}
	}
	if model.NewVolume(gp3(100*units.GiB), 60, nil).Restore(v.State(0)) {
		t.Error("a state of another configuration was accepted")
	}
}

// arrivals draws a workload: gaps and sizes of I/Os.
func arrivals(rt *rapid.T) (times []time.Duration, sizes []units.Bytes) {
	n := rapid.IntRange(1, 400).Draw(rt, "n")
	var t time.Duration
	for range n {
		t += time.Duration(rapid.Int64Range(0, int64(20*time.Millisecond)).Draw(rt, "gap"))
		times = append(times, t)
		sizes = append(sizes, units.Bytes(rapid.Int64Range(1, 1<<21).Draw(rt, "size")))
	}
	return times, sizes
}

func TestProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		size := units.Bytes(rapid.IntRange(1, 1200).Draw(rt, "gib")) * units.GiB
		compress := float64(rapid.SampledFrom([]int{1, 60, 1000, 50_000}).Draw(rt, "compress"))
		perf := gp2(size)
		small := model.NewVolume(perf, compress, nil)
		large := model.NewVolume(gp2(2*size), compress, nil)
		split := model.NewVolume(perf, compress, nil)
		times, sizes := arrivals(rt)

		var last time.Duration
		var served float64
		for i, at := range times {
			// Looking at a volume between two I/Os changes nothing: two half steps equal one.
			split.Restore(split.State(at - (at-times[max(0, i-1)])/2))
			a, b := small.Admit(at, sizes[i]), large.Admit(at, sizes[i])
			if a.At < at || a.At < last {
				rt.Fatalf("I/O %d asked at %v was admitted at %v, after one at %v", i, at, a.At, last)
			}
			if b.At > a.At+10*time.Nanosecond { // instants are rounded up to whole ones, and one builds on another
				rt.Fatalf("twice the size served I/O %d at %v, later than %v", i, b.At, a.At)
			}
			if s := split.Admit(at, sizes[i]); (s.At - a.At).Abs() > time.Microsecond {
				rt.Fatalf("I/O %d: %v in one step, %v in two", i, a.At, s.At)
			}
			last = a.At
			served += small.Cost(sizes[i])
			// served ≤ depth + rate × time; one I/O may overdraw a bucket that is shallower than it costs.
			ceiling := float64(perf.Burst)*(last.Seconds()+1/compress) + small.Cost(sizes[i])
			if served > ceiling+1e-3 {
				rt.Fatalf("served %v operations by %v, more than %v", served, last, ceiling)
			}
			credits := float64(small.Credits(last))
			if credits > float64(small.CreditCapacity()) || credits < -small.Cost(sizes[i]) {
				rt.Fatalf("credits %v outside of 0 … %v", credits, small.CreditCapacity())
			}
		}
	})
}

// Provisioned IOPS are those that gp3, io1 and io2 are configured with. What holds the others is not, but only where
// there is a bucket have its credits run out.
func TestHeldIOPS(t *testing.T) {
	for _, tt := range []struct {
		volume  ebs.Volume
		limit   model.Limit
		credits bool
	}{
		{ebs.Volume{Type: ebs.GP2, Size: 100 * units.GiB}, model.VolumeBaselineIOPS, true},
		{ebs.Volume{Type: ebs.GP2, Size: 1000 * units.GiB}, model.VolumeBaselineIOPS, false},
		{ebs.Volume{Type: ebs.Standard, Size: 100 * units.GiB}, model.VolumeBaselineIOPS, false},
		{ebs.Volume{Type: ebs.GP3, Size: 100 * units.GiB}, model.VolumeIOPS, false},
		{ebs.Volume{Type: ebs.IO2, Size: 100 * units.GiB, IOPS: 1000}, model.VolumeIOPS, false},
	} {
		v := model.NewVolume(ebs.Embedded().Performance(tt.volume), 1, nil)
		v.SetCredits(0, 0)
		var last model.Admission
		for range 20_000 {
			last = v.Admit(0, block)
		}
		if last.Limit != tt.limit || v.WaitedForCredits(last) != tt.credits {
			t.Errorf("%v: held by %s, for credits: %v", tt.volume, last.Limit, v.WaitedForCredits(last))
		}
	}
}
