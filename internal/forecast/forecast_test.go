package forecast_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"ebscope/internal/ebs"
	"ebscope/internal/forecast"
	"ebscope/internal/model"
	"ebscope/internal/units"
)

const block = 4 * units.KiB

func candidate(v ebs.Volume) forecast.Candidate {
	return forecast.Candidate{Name: string(v.Type), Volume: v, Performance: ebs.Embedded().Performance(v)}
}

func gp2(gib units.Bytes) forecast.Candidate {
	return candidate(ebs.Volume{Type: ebs.GP2, Size: gib * units.GiB})
}

// constant asks about a steady load of 4 KiB on a full volume.
func constant(c forecast.Candidate, iops units.IOPS) forecast.Question {
	load := forecast.Of(iops, block)
	q := forecast.Question{Candidate: c, Balance: 1, Constant: &load, Warn: 5 * time.Minute}
	q.Load = slices.Values([]forecast.Interval{{Length: q.Horizon(), Load: load}})
	return q
}

// AWS's table (EBS user guide, "General Purpose SSD volumes"): 5.4 M ÷ (3,000 − baseline), and 5.4 M ÷ baseline.
func TestBurstAndRefillTimes(t *testing.T) {
	for _, tt := range []struct {
		gib           units.Bytes
		empty, refill float64 // seconds; 0: never
	}{
		{30, 1862, 54_000},
		{100, 2000, 18_000},
		{334, 2703, 5_389},
		{750, 7200, 2_400},
		{1000, 0, 0},
		{5334, 0, 0},
	} {
		d := constant(gp2(tt.gib), 3000).Answer()
		if !same(d.SecondsToEmpty, tt.empty) || !same(d.SecondsToRefill, tt.refill) {
			t.Errorf("%d GiB: empty %v, refill %v; want %v and %v", tt.gib, value(d.SecondsToEmpty), value(d.SecondsToRefill), tt.empty, tt.refill)
		}
	}
}

func value(x *float64) any {
	if x == nil {
		return "never"
	}
	return *x
}

func same(x *float64, want float64) bool {
	if want == 0 {
		return x == nil
	}
	return x != nil && *x == want
}

// More than the burst rate does not empty the bucket sooner, nor does a load that the throughput holds back.
func TestTimeToEmptyCountsOnlyWhatIsServed(t *testing.T) {
	for _, tt := range []struct {
		name  string
		load  forecast.Load
		empty float64
	}{
		{"beyond burst", forecast.Of(10_000, block), 2000},
		{"half", forecast.Of(1650, block), 4000},                  // 5.4 M ÷ (1,650 − 300)
		{"the baseline", forecast.Of(300, block), 0},              // nothing is spent
		{"1 MiB", forecast.Of(1000, units.MiB), 25_472},           // 128 MiB/s are 512 operations: 5.4 M ÷ 212
		{"uneven size", forecast.Of(100, 300*units.KiB), 0},       // two operations each: 200 of 300
		{"uneven, more", forecast.Of(200, 300*units.KiB), 54_000}, // 400 − 300
	} {
		q := constant(gp2(100), 1)
		q.Constant = &tt.load
		if d := q.Answer(); !same(d.SecondsToEmpty, tt.empty) {
			t.Errorf("%s: empty after %v, want %v", tt.name, value(d.SecondsToEmpty), tt.empty)
		}
	}
}

// docs/model.md: a BurstBalance of 15 % of 100 GiB is 810,000 credits, 300 s at 3,000 − 300.
func TestAlarm(t *testing.T) {
	for _, tt := range []struct {
		warn time.Duration
		iops units.IOPS
		want float64 // percent; 0: none
	}{
		{5 * time.Minute, 3000, 15},
		{5 * time.Minute, 1650, 7.5}, // 1,350 × 300 ÷ 5.4 M
		{2000 * time.Second, 3000, 100},
		{time.Hour, 3000, 0}, // even a full bucket lasts 2,000 s
		{time.Minute, 250, 0},
	} {
		q := constant(gp2(100), tt.iops)
		q.Warn = tt.warn
		if got := q.Answer().Alarm.ThresholdPercent; !same(got, tt.want) {
			t.Errorf("%v of warning at %v: %v %%, want %v", tt.warn, tt.iops, value(got), tt.want)
		}
	}
}

// docs/model.md: 480 s at 3,000 IOPS, 780 s of rest: 5.4 M − 480 × 2,700 + 780 × 300 = 4.338 M, which lasts 1,606.7 s.
func TestHistory(t *testing.T) {
	q := constant(gp2(100), 3000)
	q.History = []forecast.Interval{{480 * time.Second, forecast.Of(3000, block)}, {780 * time.Second, forecast.Load{}}}
	d := q.Answer()
	if !same(d.SecondsToEmpty, 1607) || math.Abs(d.StartBalancePercent-80.3333) > 0.001 {
		t.Errorf("starts at %v %% and is empty after %v s, want 80.33 %% and 1,607", d.StartBalancePercent, value(d.SecondsToEmpty))
	}
}

func TestBalance(t *testing.T) {
	q := constant(gp2(100), 3000)
	q.Balance = 0.4
	if d := q.Answer(); !same(d.SecondsToEmpty, 800) { // 0.4 × 2,000
		t.Errorf("40 %%: empty after %v s, want 800", value(d.SecondsToEmpty))
	}
	q.Balance = 0
	if d := q.Answer(); d.SecondsToEmpty == nil || *d.SecondsToEmpty != 0 || !same(d.Alarm.ThresholdPercent, 15) {
		t.Errorf("0 %%: empty after %v s, alarm at %v; want 0 s and 15 %%", value(d.SecondsToEmpty), value(d.Alarm.ThresholdPercent))
	}
}

// 200 GiB earns 600. Two hours a day at 2,500 spend 1,900 a second: empty after 5.4 M ÷ 1,900 = 2,842 s. The other 4,358 s
// leave 1,900 a second waiting, 8.28 M. Between the peaks 450 a second are spare: it is worked off after 18,400 s, and the rest
// of the day, 60,800 s, fills the bucket. So each day is like the first, and on gp3 nothing waits.
func TestPattern(t *testing.T) {
	p := forecast.Pattern{Every: 24 * time.Hour, For: 2 * time.Hour, Peak: forecast.Of(2500, block), Then: forecast.Of(150, block)}
	q := forecast.Question{Candidate: gp2(200), Balance: 1, Warn: 5 * time.Minute, Load: p.Over(7 * 24 * time.Hour),
		Alternatives: []forecast.Candidate{candidate(ebs.Embedded().Provisioned(ebs.Volume{Type: ebs.GP3, Size: 200 * units.GiB}))}}
	d := q.Answer()
	const dry, waiting = 5.4e6 / 1900, 1900 * (7200 - 5.4e6/1900)
	near := func(name string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 0.001*want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	near("seconds to empty", *d.SecondsToEmpty, dry)
	near("throttled", d.Course.ThrottledS, 7*(7200-dry+waiting/450))
	near("peak backlog", d.Course.PeakBacklog, waiting)
	near("delayed", d.Course.DelayedOperations, 7*(2500*(7200-dry)+150*waiting/450))
	near("length", d.Course.LengthS, 7*86_400)
	near("asked for", d.Course.AskedOperations, 7*(2500*7200+150*79_200))
	if d.Course.Unserved != 0 || d.Course.LastPercent != 100 || d.Course.LowestPercent != 0 {
		t.Errorf("%+v, want a full bucket and nothing waiting at the end", d.Course)
	}
	if gp3 := d.Alternatives[0].Course; gp3.ThrottledS != 0 || gp3.EmptyAtS != nil {
		t.Errorf("gp3: %+v, want nothing held back", gp3)
	}
}

// However long the load, a curve has 500 to 1,000 points, they reach to its end, and they account for everything.
func TestCurve(t *testing.T) {
	for _, length := range []time.Duration{time.Minute, 999 * time.Second, 24 * time.Hour, 365*24*time.Hour + time.Second} {
		c := forecast.NewCurve()
		track := forecast.NewTrack(model.NewFluid(model.NewVolume(gp2(100).Performance, 1, nil), 0), c)
		track.Add(forecast.Interval{Length: length / 2, Load: forecast.Of(1000, block)})
		track.Add(forecast.Interval{Length: length - length/2, Load: forecast.Of(0, block)})
		points := c.Points()
		if n := len(points); n > 1000 || n < 500 && length > time.Minute || points[n-1].End != length {
			t.Errorf("%v: %d points up to %v", length, n, points[n-1].End)
		}
		asked, served, from := 0.0, 0.0, time.Duration(0)
		for _, p := range points {
			asked += float64(p.Asked) * (p.End - from).Seconds()
			served += float64(p.Served) * (p.End - from).Seconds()
			from = p.End
		}
		o := track.Outcome()
		if want := 1000 * (length / 2).Seconds(); math.Abs(asked-want) > 1e-6*want || math.Abs(served+float64(o.Waiting)-want) > 1e-6*want {
			t.Errorf("%v: %v asked for, %v served, %v waiting; want %v", length, asked, served, o.Waiting, want)
		}
	}
}

// gp3 with 250 MiB/s on m5.xlarge: the instance's burst of 450 MB/s × 1,800 s goes at 262.1 − 143.75 MB/s, 6,842 s.
func TestInstance(t *testing.T) {
	limits, err := ebs.Embedded().Instance("m5.xlarge")
	if err != nil {
		t.Fatal(err)
	}
	load := forecast.Of(250, units.MiB)
	q := forecast.Question{Candidate: candidate(ebs.Volume{Type: ebs.GP3, Size: 100 * units.GiB, Throughput: 250 * units.MiBPerSecond}),
		Instance: &limits, Balance: 1, Constant: &load, Warn: time.Minute,
		Load: slices.Values([]forecast.Interval{{Length: 3 * time.Hour, Load: load}})}
	d := q.Answer()
	if len(d.Course.HeldBy) != 1 || d.Course.HeldBy[0].Limit != model.InstanceThroughput || math.Abs(3*3600-d.Course.ThrottledS-6842) > 2 {
		t.Errorf("held back for %v s by %v, want 10,800 − 6,842 by the instance", d.Course.ThrottledS, d.Course.HeldBy)
	}
	if at := d.Course.InstanceBurstEndsAtS; at == nil || math.Abs(*at-6842) > 2 {
		t.Errorf("the burst ends after %v s, want 6,842", value(at))
	}
	// A volume of 125 MiB/s leaves the instance its burst.
	q.Candidate = candidate(ebs.Volume{Type: ebs.GP3, Size: 100 * units.GiB})
	if at := q.Answer().Course.InstanceBurstEndsAtS; at != nil {
		t.Errorf("the burst ends after %v s, want never", *at)
	}
	if d.SecondsToEmpty != nil || d.Alarm.ThresholdPercent != nil {
		t.Errorf("gp3 has no credits: %v, %v", value(d.SecondsToEmpty), value(d.Alarm.ThresholdPercent))
	}
}

// A 1 TiB st1 volume has 1 TiB of credits, spent at 250 − 40 MiB/s: 4,993 s. At rest it fills in 1 TiB ÷ 40 MiB/s, 26,214 s.
func TestHDD(t *testing.T) {
	q := constant(candidate(ebs.Volume{Type: ebs.ST1, Size: units.TiB}), 1)
	load := forecast.Of(250, units.MiB)
	q.Constant = &load
	q.Load = slices.Values([]forecast.Interval{{Length: 2 * time.Hour, Load: load}})
	d := q.Answer()
	if !same(d.SecondsToEmpty, 4993) || !same(d.SecondsToRefill, 26_214) {
		t.Errorf("empty after %v s, full after %v s; want 4,993 and 26,214", value(d.SecondsToEmpty), value(d.SecondsToRefill))
	}
}
