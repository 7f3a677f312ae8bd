package fleet_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ebscope/internal/ebs"
	"ebscope/internal/fleet"
	"ebscope/internal/forecast"
	"ebscope/internal/units"
)

// 100 GiB: 300 IOPS, 5.4 million credits. At 3,000 IOPS from 81 % it lasts 0.81 × 5,400,000 ÷ 2,700 = 1,620 s.
func TestTimeToEmpty(t *testing.T) {
	m := reads("vol-a", 100, 3000, 0)
	for i := range m.BurstBalance {
		m.BurstBalance[i] = 100 - 0.19*float64(i+1)
	}
	r := row(t, scan(inSeoul(100, gp2("vol-a", 100)), m), "vol-a")
	if r.SecondsToEmpty == nil || *r.SecondsToEmpty != 1620 || *r.SecondsToEmptyAtPeak != 1620 {
		t.Errorf("empty after %v, at peak after %v; want 1,620", *r.SecondsToEmpty, *r.SecondsToEmptyAtPeak)
	}
	want := &fleet.Demand{PeakIOPS: 3000, P99IOPS: 3000, PeakThroughputMiBps: 11.71875, P99ThroughputMiBps: 11.71875, // 3,000 × 4 KiB
		PresentIOPS: ptr(3000.0), PresentThroughputMiBps: ptr(11.71875), KnownPercent: 100}
	if diff := cmp.Diff(want, r.Demand); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(&fleet.BalanceRow{NowPercent: 81, LowestPercent: 81, Source: "measured"}, r.Balance); diff != "" {
		t.Error(diff)
	}
	if *r.SecondsToEmptyAtBurst != 1620 {
		t.Errorf("empty after %v s at the burst rate", *r.SecondsToEmptyAtBurst)
	}
	if full := row(t, scan(inSeoul(0, gp2("vol-a", 100))), "vol-a"); full.SecondsToEmpty != nil || *full.SecondsToEmptyAtBurst != 2000 { // 5.4 M ÷ 2,700
		t.Errorf("without metrics: empty after %v s, at the burst rate after %v s", full.SecondsToEmpty, *full.SecondsToEmptyAtBurst)
	}
	if *r.ThrottledS != 0 || r.BaselineIOPS != 300 || r.BurstIOPS != 3000 || r.ThroughputMiBps != 128 {
		t.Errorf("throttled %v s, %v to %v IOPS, %v MiB/s", *r.ThrottledS, r.BaselineIOPS, r.BurstIOPS, r.ThroughputMiBps)
	}
	if !r.Has(fleet.GP2AtRisk) {
		t.Errorf("findings %v, want gp2-at-risk", codes(r))
	}
}

// Below the baseline the credits never run out; a peak may still empty them.
func TestPresentAndPeakDiffer(t *testing.T) {
	m := reads("vol-a", 100, 200, 90)
	m.ReadOps[40], m.ReadBytes[40] = 3000*300, 3000*300*4096
	r := row(t, scan(inSeoul(100, gp2("vol-a", 100)), m), "vol-a")
	if r.SecondsToEmpty != nil || r.SecondsToEmptyAtPeak == nil || *r.SecondsToEmptyAtPeak != 1800 { // 0.9 × 2,000
		t.Errorf("empty after %v, at peak after %v; want never and 1,800", r.SecondsToEmpty, r.SecondsToEmptyAtPeak)
	}
	if r.Demand.PeakIOPS != 3000 || r.Demand.P99IOPS != 200 { // the 99th of 100 values is the second highest
		t.Errorf("peak %v, p99 %v", r.Demand.PeakIOPS, r.Demand.P99IOPS)
	}
	if r.Has(fleet.GP2AtRisk) {
		t.Errorf("findings %v: 90 %% is no risk", codes(r))
	}
}

// A volume without credits serves its baseline, however much it is asked for: it is empty now. One that is asked for less
// recovers.
func TestEmptyNow(t *testing.T) {
	held := row(t, scan(inSeoul(20, gp2("vol-a", 100)), reads("vol-a", 20, 300, 0)), "vol-a")
	if held.SecondsToEmpty == nil || *held.SecondsToEmpty != 0 || *held.ThrottledS != 6000 {
		t.Errorf("at its baseline it is empty after %v", held.SecondsToEmpty)
	}
	if r := row(t, scan(inSeoul(20, gp2("vol-a", 100)), reads("vol-a", 20, 200, 0)), "vol-a"); r.SecondsToEmpty != nil {
		t.Errorf("below its baseline it is empty after %v s", *r.SecondsToEmpty)
	}
}

// Each direction has its own size of I/O: 100 reads of 4 KiB count 100, 10 writes of 1 MiB count 4 each.
func TestOperationsAreOf256KiB(t *testing.T) {
	s := step.Seconds()
	m := fleet.Metrics{Volume: "vol-a", ReadOps: steady(10, 100*s), ReadBytes: steady(10, 100*s*4096), WriteOps: steady(10, 10*s), WriteBytes: steady(10, 10*s*(1<<20))}
	r := row(t, scan(inSeoul(10, gp2("vol-a", 100)), m), "vol-a")
	if r.Demand.PeakIOPS != 140 || r.Demand.PeakThroughputMiBps != 10.390625 { // 100 × 4 KiB + 10 MiB
		t.Errorf("peak %v IOPS, %v MiB/s; want 140 and 10.390625", r.Demand.PeakIOPS, r.Demand.PeakThroughputMiBps)
	}
	// Without bytes, operations count as they are.
	m.ReadBytes, m.WriteBytes = nil, nil
	if r := row(t, scan(inSeoul(10, gp2("vol-a", 100)), m), "vol-a"); r.Demand.PeakIOPS != 110 {
		t.Errorf("peak %v IOPS without bytes, want 110", r.Demand.PeakIOPS)
	}
}

// What is missing is not zero: it has no part in the percentile, and the bucket refills meanwhile. After 50 steps at 20 %,
// 10 steps of rest earn 10 × 300 s × 300 = 900,000 credits, 16.67 %.
func TestMissingIsNotZero(t *testing.T) {
	m := reads("vol-a", 60, 1000, 20)
	for i := 50; i < 60; i++ {
		for _, s := range []fleet.Series{m.ReadOps, m.ReadBytes, m.WriteOps, m.WriteBytes, m.BurstBalance} {
			s[i] = math.NaN()
		}
	}
	r := row(t, scan(inSeoul(60, gp2("vol-a", 100)), m), "vol-a")
	if got := math.Round(100*r.Balance.NowPercent) / 100; got != 36.67 || r.Balance.LowestPercent != 20 {
		t.Errorf("balance %v %%, lowest %v %%", got, r.Balance.LowestPercent)
	}
	if r.Demand.P99IOPS != 1000 || math.Round(r.Demand.KnownPercent*100) != 8333 {
		t.Errorf("p99 %v of %v %% of the steps", r.Demand.P99IOPS, r.Demand.KnownPercent)
	}
	// The last hour has two steps with figures.
	if r.Demand.PresentIOPS == nil || *r.Demand.PresentIOPS != 1000 {
		t.Errorf("present %v", r.Demand.PresentIOPS)
	}
	for i := 40; i < 50; i++ {
		m.ReadOps[i], m.WriteOps[i] = math.NaN(), math.NaN()
	}
	r = row(t, scan(inSeoul(60, gp2("vol-a", 100)), m), "vol-a")
	if r.Demand.PresentIOPS != nil || r.SecondsToEmpty != nil {
		t.Errorf("present %v: the last hour has no figures", r.Demand.PresentIOPS)
	}
}

// CloudWatch may have no balance. At 600 IOPS a full bucket of 100 GiB lasts 18,000 s, 60 steps; then I/O waits.
func TestBalanceIsModelled(t *testing.T) {
	m := reads("vol-a", 72, 600, 0)
	m.BurstBalance = nil
	r := row(t, scan(inSeoul(72, gp2("vol-a", 100)), m), "vol-a")
	if diff := cmp.Diff(&fleet.BalanceRow{Source: "modelled"}, r.Balance); diff != "" {
		t.Error(diff)
	}
	if *r.ThrottledS != 12*300 || *r.SecondsToEmpty != 0 {
		t.Errorf("throttled %v s, empty after %v s; want 3,600 and 0", *r.ThrottledS, *r.SecondsToEmpty)
	}
	m.BurstBalance = fleet.NewSeries(72) // asked for, and nothing answered
	if again := row(t, scan(inSeoul(72, gp2("vol-a", 100)), m), "vol-a"); *again.ThrottledS != *r.ThrottledS {
		t.Errorf("throttled %v s with an empty series", *again.ThrottledS)
	}
}

func TestThrottled(t *testing.T) {
	of := func(v fleet.Volume, change func(*fleet.Metrics)) float64 {
		m := reads(v.ID, 10, 2990, 50)
		change(&m)
		return *row(t, scan(inSeoul(10, v), m), v.ID).ThrottledS
	}
	for name, tt := range map[string]struct {
		volume fleet.Volume
		change func(*fleet.Metrics)
		want   float64
	}{
		"gp2 while credits last":       {gp2("v", 100), func(*fleet.Metrics) {}, 0},
		"gp2 without credits":          {gp2("v", 100), func(m *fleet.Metrics) { m.BurstBalance[3], m.BurstBalance[4] = 0, 0 }, 600},
		"gp2 by its check":             {gp2("v", 100), func(m *fleet.Metrics) { m.IOPSExceeded = steady(10, 0); m.IOPSExceeded[1] = 1 }, 300},
		"gp3 at its IOPS":              {gp3("v", 100, 3000, 125), func(m *fleet.Metrics) { m.BurstBalance = nil }, 3000},
		"gp3 with more":                {gp3("v", 100, 4000, 125), func(m *fleet.Metrics) { m.BurstBalance = nil }, 0},
		"gp3 at its limit, check says": {gp3("v", 100, 3000, 125), func(m *fleet.Metrics) { m.BurstBalance = nil; m.IOPSExceeded = steady(10, 0) }, 0},
		"gp3 at its throughput": {gp3("v", 100, 9000, 125), func(m *fleet.Metrics) {
			m.BurstBalance = nil
			m.ReadBytes[5] = 124 * 300 * (1 << 20)
		}, 300},
	} {
		if got := of(tt.volume, tt.change); got != tt.want {
			t.Errorf("%s: %v s, want %v", name, got, tt.want)
		}
	}
}

// 15 % of 5.4 million credits are 810,000: 300 s at 3,000 − 300.
func TestAlarmThreshold(t *testing.T) {
	performance := func(size units.Bytes) ebs.Performance {
		return ebs.Embedded().Performance(ebs.Volume{Type: ebs.GP2, Size: size})
	}
	for _, tt := range []struct {
		size units.Bytes
		iops units.IOPS
		warn time.Duration
		want float64 // 0 where there is none
	}{
		{100 * units.GiB, 3000, 5 * time.Minute, 15},
		{100 * units.GiB, 3000, 10 * time.Minute, 30},
		{100 * units.GiB, 5000, 5 * time.Minute, 15}, // it serves no more than 3,000
		{500 * units.GiB, 3000, 5 * time.Minute, 8.333333},
		{100 * units.GiB, 300, 5 * time.Minute, 0},   // never empty
		{100 * units.GiB, 3000, time.Hour, 0},        // empty sooner, even from full
		{1000 * units.GiB, 3000, 5 * time.Minute, 0}, // no credits
	} {
		got, ok := fleet.AlarmThreshold(performance(tt.size), forecast.Of(tt.iops, 4*units.KiB), tt.warn)
		if ok != (tt.want > 0) || math.Abs(got-tt.want) > 1e-6 {
			t.Errorf("%v at %v, %v: %v (%v), want %v", tt.size, tt.iops, tt.warn, got, ok, tt.want)
		}
	}
}

// A gp3 volume is sized by what it was seen to need, and 20 %: 4,000 × 1.2 = 4,800; 100 MiB/s × 1.2 are below 125.
func TestOverProvisioned(t *testing.T) {
	s := step.Seconds()
	m := fleet.Metrics{Volume: "vol-a", WriteOps: steady(10, 4000*s), WriteBytes: steady(10, 100*(1<<20)*s)}
	r := row(t, scan(inSeoul(10, gp3("vol-a", 500, 10000, 500)), m), "vol-a")
	want := fleet.Setting{Type: ebs.GP3, SizeGiB: 500, IOPS: 4800, ThroughputMiBps: 125}
	// 5,200 IOPS × 0.0057 + 375 MiB/s × 0.0456 = 29.64 + 17.10
	if c := r.Recommendation; c.Action != fleet.Modify || c.Basis != fleet.ForPeak || c.Setting != want || c.Difference.USD().String() != "−$46.74" {
		t.Errorf("got %+v", c)
	}
	if !r.Has(fleet.OverProvisioned) {
		t.Errorf("findings %v", codes(r))
	}
	// What was seen for less than half of the window proves nothing.
	m.WriteOps = slices.Concat(fleet.NewSeries(6), m.WriteOps[:4])
	if r := row(t, scan(inSeoul(10, gp3("vol-a", 500, 10000, 500)), m), "vol-a"); r.Recommendation.Action != fleet.Keep {
		t.Errorf("got %+v for 4 of 10 steps", r.Recommendation)
	}
}

// Sized by its peak, a gp2 volume of 171 GiB that moves 50 MiB/s goes to what comes with gp3; at parity it stays.
func TestSizedByThePeak(t *testing.T) {
	s := step.Seconds()
	m := fleet.Metrics{Volume: "vol-a", WriteOps: steady(10, 400*s), WriteBytes: steady(10, 50*(1<<20)*s), BurstBalance: steady(10, 100)}
	snapshot := inSeoul(10, gp2("vol-a", 171))
	want := fleet.Setting{Type: ebs.GP3, SizeGiB: 171, IOPS: 3000, ThroughputMiBps: 125}
	r := row(t, scanWith(snapshot, fleet.Options{Sizing: fleet.ForPeak}, m), "vol-a").Recommendation
	if r.Action != fleet.Modify || r.Basis != fleet.ForPeak || r.Setting != want || r.Cheaper != nil {
		t.Errorf("by its peak: %+v", r)
	}
	r = row(t, scan(snapshot, m), "vol-a").Recommendation
	if r.Action != fleet.Keep || r.Basis != fleet.Parity || r.Cheaper == nil || r.Cheaper.Setting != want {
		t.Errorf("at parity: %+v", r)
	}
}

// The percentile is that of all values in order, the nearest rank.
func TestPercentile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Map(rapid.IntRange(0, 20), func(n int) float64 { return float64(300 * n) })
		ops := fleet.Series(rapid.SliceOfN(rapid.OneOf(rate, rapid.Just(math.NaN())), 1, 450).Draw(t, "operations"))
		known := slices.DeleteFunc(slices.Clone(ops), math.IsNaN)
		if len(known) == 0 {
			return
		}
		slices.Sort(known)
		want := known[int(math.Ceil(0.99*float64(len(known)))-1)] / 300
		d := scan(inSeoul(len(ops), gp2("v", 1000)), fleet.Metrics{Volume: "v", ReadOps: ops})
		if x := d.Volumes[0].Demand; x.P99IOPS != want || x.PeakIOPS != known[len(known)-1]/300 {
			t.Fatalf("p99 %v, peak %v of %d values; want %v", x.P99IOPS, x.PeakIOPS, len(known), want)
		}
	})
}
