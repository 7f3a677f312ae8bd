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

func fluid(perf ebs.Performance, instance *model.Instance) model.Fluid {
	return model.NewFluid(model.NewVolume(perf, 1, instance), 0)
}

// load is a demand of 4 KiB I/Os.
func load(iops units.IOPS) model.Demand {
	return model.Demand{Operations: iops, Throughput: units.Throughput(iops) * units.Throughput(block)}
}

// AWS's table (EBS user guide, "General Purpose SSD volumes"): 5.4 M ÷ (3,000 − baseline), and 5.4 M ÷ baseline to refill.
func TestFluidBurstAndRefillTimes(t *testing.T) {
	for _, tt := range []struct {
		gib           units.Bytes
		burst, refill float64 // seconds
	}{
		{30, 1862, 54_000},
		{100, 2000, 18_000},
		{334, 2703, 5_389},
		{750, 7200, 2_400},
	} {
		f := fluid(gp2(tt.gib*units.GiB), nil)
		s := f.Advance(10*time.Hour, load(3000))
		if !s.Dry || math.Round(s.DryAt.Seconds()) != tt.burst || s.Limit != model.VolumeBaselineIOPS {
			t.Errorf("%d GiB: %+v, want dry after %.0f s", tt.gib, s, tt.burst)
		}
		if want := 10*time.Hour - s.DryAt; s.Throttled != want {
			t.Errorf("%d GiB: throttled for %v, want all the rest, %v", tt.gib, s.Throttled, want)
		}
		f = fluidWithout(tt.gib)
		f.Advance(time.Duration(tt.refill*float64(time.Second)), model.Demand{})
		if got := f.Balance(); math.Abs(got-1) > 0.001 {
			t.Errorf("%d GiB: balance %.4f after %.0f s of rest, want 1", tt.gib, got, tt.refill)
		}
	}
	f := fluid(gp2(1000*units.GiB), nil)
	if s := f.Advance(1000*time.Hour, load(3000)); s.Throttled != 0 || s.Dry {
		t.Errorf("1,000 GiB: %+v, want a baseline of 3,000 that never falls", s)
	}
}

func fluidWithout(gib units.Bytes) model.Fluid {
	v := model.NewVolume(gp2(gib*units.GiB), 1, nil)
	v.SetCredits(0, 0)
	return model.NewFluid(v, 0)
}

// docs/model.md: 480 s at 3,000 spend 480 × 2,700, 780 s of rest earn 780 × 300: 4.338 M are left, 1,606.7 s at 2,700.
func TestFluidHistory(t *testing.T) {
	f := fluid(gp2(100*units.GiB), nil)
	f.Advance(480*time.Second, load(3000))
	f.Advance(780*time.Second, model.Demand{})
	if got, want := f.Balance(), 4_338_000.0/5_400_000; math.Abs(got-want) > 1e-9 {
		t.Errorf("balance %v, want %v", got, want)
	}
	if s := f.Advance(time.Hour, load(3000)); math.Abs(s.DryAt.Seconds()-1606.667) > 0.001 {
		t.Errorf("dry after %v, want 1,606.667 s", s.DryAt)
	}
}

// An hour of 3,000 IOPS on 100 GiB without credits leaves 3,600 × 2,700 operations waiting. Then 100 IOPS leave 200 to work
// it off: 48,600 s. Only then are credits earned again, 200 a second.
func TestFluidWorksOffItsBacklog(t *testing.T) {
	f := fluidWithout(100)
	if s := f.Advance(time.Hour, load(3000)); s.Throttled < time.Hour-2*time.Second {
		t.Errorf("throttled for %v, want the hour less the depth of the rate bucket", s.Throttled)
	}
	ops, bytes := f.Backlog()
	if math.Abs(float64(ops)-9_720_000) > 1 || math.Abs(float64(bytes)-9_720_000*4096) > 4096 {
		t.Errorf("backlog %v operations, %v bytes, want 9.72 M and 4 KiB each", ops, bytes)
	}
	s := f.Advance(60_000*time.Second, load(100))
	if math.Abs(s.Throttled.Seconds()-48_600) > 0.01 {
		t.Errorf("worked off after %v, want 48,600 s", s.Throttled)
	}
	// (60,000 − 48,600) × 200 = 2.28 M.
	if got := f.Balance() * 5.4e6; math.Abs(got-2_280_000) > 10 {
		t.Errorf("%v credits, want 2.28 M", got)
	}
}

// 1 MiB counts as four operations: 128 MiB/s are 512 of them, and 5.4 M last 5.4 M ÷ (512 − 300).
func TestFluidThroughput(t *testing.T) {
	f := fluid(gp2(100*units.GiB), nil)
	s := f.Advance(time.Minute, model.Demand{Operations: 4 * 1000, Throughput: 1000 * units.MiBPerSecond})
	if s.Limit != model.VolumeThroughput || s.Dry {
		t.Errorf("%+v, want held by the throughput", s)
	}
	// 60 s × 128 MiB/s and 128 MiB of depth are served of 60,000 MiB.
	if _, bytes := f.Backlog(); math.Abs(bytes.MiB()-(60_000-61*128)) > 0.001 {
		t.Errorf("backlog %v, want 52,192 MiB", bytes.MiB())
	}
}

// docs/model.md: gp3 at 250 MiB/s on m5.xlarge: (593.75 − 143.75) MB/s × 1,800 s of burst, spent at 262.1 − 143.75 MB/s.
func TestFluidInstanceBurst(t *testing.T) {
	limits := ebs.Instance{BaselineIOPS: 6000, MaximumIOPS: 18_750,
		BaselineThroughput: 143.75 * units.MBPerSecond, MaximumThroughput: 593.75 * units.MBPerSecond}
	perf := ebs.Performance{Baseline: 3000, Burst: 3000, Throughput: 250 * units.MiBPerSecond, AccountingUnit: 256 * units.KiB}
	f := fluid(perf, model.NewInstance(limits, 1))
	s := f.Advance(10*time.Hour, model.Demand{Operations: 1000, Throughput: 250 * units.MiBPerSecond})
	want := 450.0 * 1800 / (250*1.048576 - 143.75) // 6,843 s
	if fell := (10*time.Hour - s.Throttled).Seconds(); s.Limit != model.InstanceThroughput || math.Abs(fell-want) > 1 {
		t.Errorf("fell after %.0f s by %s, want %.0f s by the instance", fell, s.Limit, want)
	}
}

// A load above the maximum waits from the start, but not because the burst has ended: of 30 min × (18,750 − 6,000), a second of
// 18,750 is gone at once, the depth of the bucket, and the rest at 12,750 a second, in 1,798.5 s.
func TestFluidWaitsBeforeTheInstanceBurstIsSpent(t *testing.T) {
	limits := ebs.Instance{BaselineIOPS: 6000, MaximumIOPS: 18_750, BaselineThroughput: 1024 * units.MiBPerSecond, MaximumThroughput: 1024 * units.MiBPerSecond}
	perf := ebs.Performance{Baseline: 64_000, Burst: 64_000, Throughput: 1024 * units.MiBPerSecond, AccountingUnit: 256 * units.KiB}
	f := fluid(perf, model.NewInstance(limits, 1))
	s := f.Advance(time.Hour, model.Demand{Operations: 30_000})
	if want := 1798.5; !s.Spent || math.Abs(s.SpentAt.Seconds()-want) > 0.1 {
		t.Errorf("spent: %v, after %v, want it after %v s", s.Spent, s.SpentAt, want)
	}
	if s.Throttled < 3500*time.Second {
		t.Errorf("waited for %v, want nearly all of the hour", s.Throttled)
	}
	if s := f.Advance(time.Minute, model.Demand{Operations: 30_000}); !s.Spent || s.SpentAt != 0 {
		t.Errorf("later spent: %v, after %v, want it at once", s.Spent, s.SpentAt)
	}
}

// A load beyond every limit: both forms serve the depth at once and then the same rates, over the cliff at 1,998.9 s.
func TestFluidAgreesWithEvents(t *testing.T) {
	for _, length := range []time.Duration{time.Second, 1500 * time.Second, 1999 * time.Second, 2100 * time.Second} {
		events := 0
		for v := model.NewVolume(gp2(100*units.GiB), 1, nil); v.Admit(0, block).At <= length; {
			events++
		}
		f := fluid(gp2(100*units.GiB), nil)
		f.Advance(length, load(1e9))
		waiting, _ := f.Backlog()
		served := 1e9*length.Seconds() - float64(waiting)
		if math.Abs(served-float64(events)) > 2 {
			t.Errorf("%v: %d I/Os admitted one by one, %.1f in one step", length, events, served)
		}
	}
}

func demand(rt *rapid.T) model.Demand {
	ops := rapid.Float64Range(0, 40_000).Draw(rt, "operations")
	return model.Demand{Operations: units.IOPS(ops), Throughput: units.Throughput(ops * rapid.Float64Range(0, 256*1024).Draw(rt, "bytes each"))}
}

func TestFluidProperties(t *testing.T) {
	instance := ebs.Instance{BaselineIOPS: 2000, MaximumIOPS: 11_800, BaselineThroughput: 347e6 / 8, MaximumThroughput: 2085e6 / 8}
	rapid.Check(t, func(rt *rapid.T) {
		size := units.Bytes(rapid.IntRange(1, 1200).Draw(rt, "gib")) * units.GiB
		newFluid := func(size units.Bytes, attached bool) model.Fluid {
			if attached {
				return fluid(gp2(size), model.NewInstance(instance, 1))
			}
			return fluid(gp2(size), nil)
		}
		attached := rapid.Bool().Draw(rt, "attached")
		whole, halves := newFluid(size, attached), newFluid(size, attached)
		var time0 time.Duration
		asked := 0.0
		for range rapid.IntRange(1, 30).Draw(rt, "steps") {
			dt := 2 * time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(rt, "half step"))
			d := demand(rt)
			a := whole.Advance(dt, d)
			b, c := halves.Advance(dt/2, d), halves.Advance(dt/2, d)
			time0 += dt
			asked += float64(d.Operations) * dt.Seconds()

			if math.Abs(whole.Balance()-halves.Balance()) > 1e-6 {
				rt.Fatalf("balance %v in one step, %v in two", whole.Balance(), halves.Balance())
			}
			one, oneBytes := whole.Backlog()
			two, twoBytes := halves.Backlog()
			if math.Abs(float64(one-two)) > 1e-6*asked+1 || math.Abs(float64(oneBytes-twoBytes)) > 1e-6*float64(oneBytes)+4096 {
				rt.Fatalf("backlog %v and %v in one step, %v and %v in two", one, oneBytes, two, twoBytes)
			}
			if (a.Throttled - b.Throttled - c.Throttled).Abs() > time.Millisecond {
				rt.Fatalf("throttled for %v in one step, for %v and %v in two", a.Throttled, b.Throttled, c.Throttled)
			}
			if whole.Balance() < 0 || whole.Balance() > 1 || a.Throttled < 0 || a.Throttled > dt || one < 0 || oneBytes < 0 {
				rt.Fatalf("balance %v, throttled for %v of %v, backlog %v operations, %v bytes", whole.Balance(), a.Throttled, dt, one, oneBytes)
			}
			// served ≤ rate × time + depth
			if served, limit := asked-float64(one), float64(gp2(size).Burst)*(time0.Seconds()+1); served > limit*(1+1e-9) {
				rt.Fatalf("served %v operations in %v, more than %v", served, time0, limit)
			}
		}
	})
}

// A larger volume has never less behind it, where all I/O has one size.
func TestFluidLargerIsNeverWorse(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		gib := rapid.IntRange(1, 1200).Draw(rt, "gib")
		more := rapid.IntRange(1, 1200).Draw(rt, "more")
		each := units.Bytes(rapid.IntRange(512, 256*1024).Draw(rt, "size"))
		small, large := fluid(gp2(units.Bytes(gib)*units.GiB), nil), fluid(gp2(units.Bytes(gib+more)*units.GiB), nil)
		for range rapid.IntRange(1, 30).Draw(rt, "steps") {
			ops := units.IOPS(rapid.Float64Range(0, 6000).Draw(rt, "operations"))
			dt := time.Duration(rapid.Int64Range(1, int64(2*time.Hour)).Draw(rt, "step"))
			d := model.Demand{Operations: ops, Throughput: units.Throughput(ops) * units.Throughput(each)}
			small.Advance(dt, d)
			large.Advance(dt, d)
			a, _ := small.Backlog()
			b, _ := large.Backlog()
			if float64(b) > float64(a)*(1+1e-9)+1 {
				rt.Fatalf("%d GiB: %v wait; %d GiB: %v", gib, a, gib+more, b)
			}
		}
	})
}

// Five-minute loads as CloudWatch has them, on 100 GiB: quiet stays below the baseline but for bursts that the credits
// cover; starved asks for a little more than the baseline for ever.
func BenchmarkAdvance(b *testing.B) {
	const interval = 5 * time.Minute
	for name, level := range map[string]units.IOPS{"quiet": 150, "starved": 310} {
		day := make([]model.Demand, 24*time.Hour/interval)
		for i := range day {
			day[i] = load(level + level/2*units.IOPS(math.Sin(float64(i)/float64(len(day))*2*math.Pi)))
			if i >= 140 && i < 146 {
				day[i] = load(2900)
			}
		}
		b.Run(name, func(b *testing.B) {
			f := fluid(gp2(100*units.GiB), nil)
			b.ReportAllocs()
			for b.Loop() {
				for _, d := range day {
					f.Advance(interval, d)
				}
			}
			b.ReportMetric(float64(b.N*len(day))/b.Elapsed().Seconds()/1e6, "Msteps/s")
		})
	}
}
