package simulate_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"ebscope/internal/ebs"
	"ebscope/internal/model"
	"ebscope/internal/simulate"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

// together has a phase on each of some volumes, all at once, after their layouts.
func together(instance string, duration time.Duration, volumes ...ebs.Volume) workload.Profile {
	p := workload.Profile{Name: "test", Instance: instance, Region: "us-east-1", FileSize: 2 * units.MiB, Gap: 2 * time.Second}
	for i, v := range volumes {
		name := string(rune('a' + i))
		p.Volumes = append(p.Volumes, workload.Volume{Name: name, Config: v, Balance: 1})
		p.Phases = append(p.Phases, workload.Phase{Name: "layout", Volume: name, Pattern: workload.Write, BlockSize: 256 * units.KiB, QueueDepth: 8, Jobs: 1})
	}
	for _, v := range p.Volumes {
		p.Phases = append(p.Phases, workload.Phase{Name: "read", Volume: v.Name, Pattern: workload.RandRead, BlockSize: 4 * units.KiB,
			QueueDepth: 32, Jobs: 1, Duration: duration, Together: "all"})
	}
	return p
}

// sum adds up the IOPS of some phases in one window.
func sum(phases map[string]simulate.Phase, window int, ids ...string) (total float64) {
	for _, id := range ids {
		total += phases[id].Measurement.IOPS[window].Value
	}
	return total
}

// 3,000 of gp2 and 3,000 of gp3 are what m5.xlarge holds for ever; 5,999 and one hundredth were measured.
func TestBothVolumesAtOnce(t *testing.T) {
	p := together("m5.xlarge", 120*time.Second, ebs.Volume{Type: ebs.GP2, Size: 100 * units.GiB}, gp3(3000, 125))
	got := run(t, p, 1)
	for _, window := range []int{10, 110} {
		near(t, "both at once", sum(got, window, "a-read", "b-read"), 6000, 0.001)
	}
	if a, b := got["a-read"], got["b-read"]; a.Start != b.Start || a.Start < got["b-layout"].End {
		t.Errorf("they start at %v and %v, after the layout's end at %v", a.Start, b.Start, got["b-layout"].End)
	}
}

// m5.large holds 18,750 IOPS as long as (18,750 − 3,600) × 1,800 s last; 6,000 take 2,400 a second of them: 11,362 s.
// Then two volumes share 3,600. Compressed 100 times.
func TestBothVolumesBeyondTheInstance(t *testing.T) {
	p := together("m5.large", 20_000*time.Second, gp3(3000, 125), gp3(3000, 125))
	got := run(t, p, 100)
	window := workload.Window(100)
	at := func(seconds float64) int { return int(seconds / window.Seconds()) }
	near(t, "in the burst", sum(got, at(112), "a-read", "b-read"), 6000, 0.02)
	for _, seconds := range []float64{116, 190} {
		near(t, "after it", sum(got, at(seconds), "a-read", "b-read"), 3600, 0.02)
	}
	for _, id := range []string{"a-read", "b-read"} {
		near(t, id, got[id].Measurement.IOPS[at(150)].Value, 1800, 0.05)
	}
}

// striped has RAID 0 over volumes, and a phase on it.
func striped(phase workload.Phase, volumes ...ebs.Volume) workload.Profile {
	p := workload.Profile{Name: "test", Region: "us-east-1", FileSize: 64 * units.MiB}
	array := workload.Stripe{Name: "raid", ChunkSize: 64 * units.KiB}
	for i, v := range volumes {
		name := string(rune('a' + i))
		p.Volumes = append(p.Volumes, workload.Volume{Name: name, Config: v, Balance: 1})
		array.Volumes = append(array.Volumes, name)
	}
	p.Stripes = []workload.Stripe{array}
	phase.Name, phase.Volume, phase.Jobs, phase.Rest = "measured", "raid", 1, 2*time.Second
	p.Phases = []workload.Phase{
		{Name: "layout", Volume: "raid", Pattern: workload.Write, BlockSize: units.MiB, QueueDepth: 4, Jobs: 1}, phase}
	return p
}

func TestStripes(t *testing.T) {
	random := workload.Phase{Pattern: workload.RandRead, BlockSize: 4 * units.KiB, QueueDepth: 256, Duration: 60 * time.Second}
	large := workload.Phase{Pattern: workload.Read, BlockSize: units.MiB, QueueDepth: 16, Duration: 60 * time.Second}
	for name, tt := range map[string]struct {
		profile workload.Profile
		window  int
		want    float64 // I/Os a second
	}{
		"two volumes":         {striped(random, gp3(3000, 125), gp3(3000, 125)), 30, 6000},
		"four volumes":        {striped(random, gp3(3000, 125), gp3(3000, 125), gp3(3000, 125), gp3(3000, 125)), 30, 12_000},
		"the slowest decides": {striped(random, gp3(3000, 125), gp3(9000, 125)), 50, 6000},
		// 2 × 125 MiB/s: each volume has half of a MiB.
		"throughput": {striped(large, gp3(3000, 125), gp3(3000, 125)), 30, 250},
		// 3,000 operations a second on each of eight; a MiB is 128 KiB, one operation, on each.
		"operations": {striped(large, gp3(3000, 750), gp3(3000, 750), gp3(3000, 750), gp3(3000, 750),
			gp3(3000, 750), gp3(3000, 750), gp3(3000, 750), gp3(3000, 750)), 30, 3000},
	} {
		near(t, name, run(t, tt.profile, 1)["raid-measured"].Measurement.IOPS[tt.window].Value, tt.want, 0.03)
	}
}

// Two volumes of 100 GiB have 2 × 5.4 M credits, less what the layout took, and fall together at about 1,999 s.
func TestStripeSpendsTheCreditsOfAll(t *testing.T) {
	gp2 := ebs.Volume{Type: ebs.GP2, Size: 100 * units.GiB}
	p := striped(workload.Phase{Pattern: workload.RandRead, BlockSize: 4 * units.KiB, QueueDepth: 128, Duration: 2400 * time.Second}, gp2, gp2)
	phase := run(t, p, 60)["raid-measured"]
	near(t, "credits", float64(phase.Credits.Start), 180_000, 0.01)
	near(t, "dry", phase.Dry.Seconds()*60, 1999, 0.02)
	series := phase.Measurement.IOPS
	var last float64
	for _, point := range series[len(series)-100:] {
		last += point.Value / 100
	}
	// Chance leaves one of the two without work now and then.
	near(t, "at the end", last, 600, 0.07)
}

// Each of four jobs does one I/O, thinks for 10 ms and does the next: 4 ÷ 10.564 ms = 378.6 a second.
func TestThinkTime(t *testing.T) {
	p := profileOf("", gp3(3000, 125), workload.Phase{Name: "think", Pattern: workload.RandRead, BlockSize: 4 * units.KiB,
		QueueDepth: 1, Jobs: 4, ThinkTime: 10 * time.Millisecond, Duration: 60 * time.Second})
	total := run(t, p, 1)["v-think"].Measurement.Total
	near(t, "rate", float64(total.IOPS), 378.6, 0.002)
	near(t, "latency", ms(total.Latency.Mean), 0.564, 0.01)
}

func TestRate(t *testing.T) {
	phase := workload.Phase{Name: "rate", Pattern: workload.RandRead, BlockSize: 4 * units.KiB, QueueDepth: 8, Jobs: 1, RateIOPS: 1000, Duration: 20 * time.Second}
	m := run(t, profileOf("", gp3(3000, 125), phase), 1)["v-rate"].Measurement
	// One each millisecond from 0 to 19,999 ms.
	if m.Total.IOs != 20_000 || m.Total.Runtime != 20*time.Second || len(m.IOPS) != 20 {
		t.Errorf("%d I/Os in %v, %d samples; want 20,000 in 20 s, 20", m.Total.IOs, m.Total.Runtime, len(m.IOPS))
	}
	near(t, "latency", ms(m.Total.Latency.Mean), 0.564, 0.01)

	// Without credits the volume is slower than the application: 300 a second, eight in flight, 8 ÷ 300.
	p := profileOf("", ebs.Volume{Type: ebs.GP2, Size: 100 * units.GiB}, phase)
	p.Volumes[0].Balance = 0
	m = run(t, p, 1)["v-rate"].Measurement
	near(t, "without credits", m.IOPS[15].Value, 300, 0.01)
	near(t, "latency without credits", m.Latency[15].Value, 1000*8.0/300, 0.01)
}

// A second without any I/O is a sample of zero, up to the end of the phase.
func TestSlowRateHasEmptySeconds(t *testing.T) {
	p := profileOf("", gp3(3000, 125), workload.Phase{Name: "think", Pattern: workload.RandRead, BlockSize: 4 * units.KiB,
		QueueDepth: 1, Jobs: 1, ThinkTime: 4 * time.Second, Duration: 10 * time.Second})
	m := run(t, p, 1)["v-think"].Measurement
	var got []float64
	for _, point := range m.IOPS {
		got = append(got, point.Value)
	}
	// At 0, 4.0006 and 8.0011 s.
	if want := []float64{1, 0, 0, 0, 1, 0, 0, 0, 1, 0}; !slices.Equal(got, want) || m.Total.Runtime != 10*time.Second {
		t.Errorf("per second %v in %v, want %v in 10 s", got, m.Total.Runtime, want)
	}
}

// restored has a phase on a volume whose file of 1 GiB is still in its snapshot: 40 MiB/s, 20 ms.
func restored(phase workload.Phase) workload.Profile {
	p := profileOf("", gp3(3000, 125), phase)
	p.FileSize = units.GiB
	p.Volumes[0].Restored = &workload.FirstTouch{Latency: 20 * time.Millisecond, Throughput: 40 * units.MiBPerSecond}
	p.Phases = p.Phases[1:]
	return p
}

func TestRestoredVolume(t *testing.T) {
	// 1,024 MiB ÷ 40 MiB/s = 25.6 s; then all of it is there.
	read := run(t, restored(workload.Phase{Name: "x", Pattern: workload.Read, BlockSize: units.MiB, QueueDepth: 8, Jobs: 1, Duration: 60 * time.Second}), 1)
	series := read["v-x"].Measurement.IOPS
	for second, want := range map[int]float64{5: 40, 24: 40, 50: 125} {
		if v := series[second].Value; math.Abs(v-want) > 1 {
			t.Errorf("second %d: %v MiB/s, want %v", second, v, want)
		}
	}
	// One at a time, and hardly ever twice in a block: 512 KiB ÷ 40 MiB/s + 20 ms + 0.56 ms.
	random := run(t, restored(workload.Phase{Name: "x", Pattern: workload.RandRead, BlockSize: 4 * units.KiB, QueueDepth: 1, Jobs: 1, Duration: 2 * time.Second}), 1)
	near(t, "first touch", percentile(t, random["v-x"], 50), 12.5+20+0.56, 0.01)
	// What is written whole is not fetched; a part of a block is.
	whole := run(t, restored(workload.Phase{Name: "x", Pattern: workload.Write, BlockSize: units.MiB, QueueDepth: 8, Jobs: 1, Duration: 5 * time.Second}), 1)
	near(t, "whole blocks", whole["v-x"].Measurement.IOPS[3].Value, 125, 0.01)
	part := run(t, restored(workload.Phase{Name: "x", Pattern: workload.RandWrite, BlockSize: 4 * units.KiB, QueueDepth: 1, Jobs: 1, Duration: 2 * time.Second}), 1)
	near(t, "part of a block", percentile(t, part["v-x"], 50), 12.5+20+0.56, 0.01)
}

// A stripe's volumes fetch at the same time: 2 × 40 MiB/s.
func TestRestoredStripe(t *testing.T) {
	p := striped(workload.Phase{Pattern: workload.Read, BlockSize: units.MiB, QueueDepth: 8, Duration: 5 * time.Second}, gp3(3000, 125), gp3(3000, 125))
	p.FileSize = units.GiB
	for i := range p.Volumes {
		p.Volumes[i].Restored = &workload.FirstTouch{Latency: 20 * time.Millisecond, Throughput: 40 * units.MiBPerSecond}
	}
	p.Phases = p.Phases[1:]
	near(t, "MiB/s", run(t, p, 1)["raid-measured"].Measurement.IOPS[3].Value, 80, 0.02)
}

func TestOwnLatency(t *testing.T) {
	p := profileOf("", gp3(3000, 125), workload.Phase{Name: "x", Pattern: workload.RandRead, BlockSize: 4 * units.KiB, QueueDepth: 1, Jobs: 1, Duration: 10 * time.Second})
	for _, point := range model.DefaultLatency {
		point.Within *= 2
		p.Volumes[0].Latency = append(p.Volumes[0].Latency, point)
	}
	near(t, "latency", ms(run(t, p, 1)["v-x"].Measurement.Total.Latency.Mean), 2*0.564, 0.01)
}

// A week at 80,000 IOPS is 48 billion I/Os.
func TestCancel(t *testing.T) {
	p := profileOf("", gp3(80_000, 2000), workload.Phase{Name: "x", Pattern: workload.RandRead, BlockSize: 4 * units.KiB, QueueDepth: 256, Jobs: 1, Duration: 7 * 24 * time.Hour})
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	phases, err := simulate.Run(ctx, ebs.Embedded(), p, 1, func(done, total time.Duration) {
		if calls++; calls == 20 {
			cancel()
		}
	})
	if phases != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%d phases, error %v", len(phases), err)
	}
}

func TestProgress(t *testing.T) {
	p := shipped(t, "quick")
	var last time.Duration
	calls := 0
	_, err := simulate.Run(t.Context(), ebs.Embedded(), p, 1, func(done, total time.Duration) {
		if done < last || done > total || total != 220*time.Second {
			t.Errorf("%v of %v after %v", done, total, last)
		}
		last = done
		calls++
	})
	if err != nil || calls < len(p.Phases) {
		t.Errorf("%d calls, error %v", calls, err)
	}
}
