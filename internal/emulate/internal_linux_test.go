package emulate

import (
	"testing"
	"time"

	"ebscope/internal/ebs"
	"ebscope/internal/model"
	"ebscope/internal/units"
)

func TestClock(t *testing.T) {
	start := time.Now()
	at := func(s float64) time.Time { return start.Add(time.Duration(s * float64(time.Second))) }
	const second = time.Second
	c := &clock{elapsed: 100 * second}

	if got, running := c.arrive(at(5)); running || got != 100*second {
		t.Errorf("an I/O on a standing clock: %v, running %v; want 100 s and free", got, running)
	}
	c.armed = true
	if got := c.read(at(7)); got != 100*second {
		t.Errorf("an armed clock reads %v, want 100 s: no I/O has come", got)
	}
	if got, running := c.arrive(at(10)); !running || got != 100*second {
		t.Errorf("the first I/O of a phase: %v, running %v; want 100 s, charged", got, running)
	}
	c.completes(101 * second)
	if got, _ := c.arrive(at(12)); got != 102*second {
		t.Errorf("an I/O 2 s later arrives at %v, want 102 s", got)
	}
	c.completes(103 * second)
	c.completes(102 * second)
	c.stop()
	if got := c.read(at(50)); got != 103*second {
		t.Errorf("after the phase the clock reads %v, want 103 s, the last completion", got)
	}
	// A phase without any I/O takes no time.
	c.armed = true
	c.stop()
	if got, running := c.arrive(at(60)); running || got != 103*second {
		t.Errorf("after an empty phase: %v, running %v; want 103 s and free", got, running)
	}
}

func TestSampler(t *testing.T) {
	l := model.DefaultLatency
	s := newSampler(model.Service{{Latency: l}}, 1)
	var sum time.Duration
	const n = 100_000
	for range n {
		sum += s.draw(false, 4*units.KiB)
	}
	// The standard deviation is about 0.08 ms, so the mean of 100,000 is good to 1 µs.
	if mean := sum / n; (mean - 564*time.Microsecond).Abs() > time.Microsecond {
		t.Errorf("mean %v, want 0.564 ms", mean)
	}
	if a, b := newSampler(model.Service{{Latency: l}}, 7).draw(false, 4*units.KiB), newSampler(model.Service{{Latency: l}}, 7).draw(false, 4*units.KiB); a != b {
		t.Error("the same seed draws different latencies")
	}
	if got := newSampler(nil, 1).draw(false, 4*units.KiB); got != 0 {
		t.Errorf("no profile draws %v, want 0", got)
	}
}

// A machine's own scatter takes the place of the profile's: half-widths of 82 µs below the median (0.569 − 0.487 ms) and of
// 44 µs above it (0.613 − 0.569).
func TestSamplerJitter(t *testing.T) {
	const us = time.Microsecond
	l := model.DefaultLatency
	s := newSampler(model.Service{{Latency: l}}, 1)
	for _, c := range []struct{ jitter, below, above time.Duration }{
		{0, 120 * us, 631 * us},
		// √(1 − (50 ÷ 81.6)²) = 0.790 of 120 µs is 95; above the median nothing is left.
		{50 * us, 95 * us, 0},
		{100 * us, 0, 0},
	} {
		s.setJitter(c.jitter)
		if got := s.narrow[0].Latency.Mean(); (got - l.Mean()).Abs() > us {
			t.Errorf("jitter %v: mean %v, want that of the profile, %v", c.jitter, got, l.Mean())
		}
		middle := s.narrow[0].Latency.Quantile(0.5)
		below, above := middle-s.narrow[0].Latency.Quantile(0), s.narrow[0].Latency.Quantile(1)-middle
		if (below-c.below).Abs() > us || (above-c.above).Abs() > us {
			t.Errorf("jitter %v: %v below and %v above the median, want %v and %v", c.jitter, below, above, c.below, c.above)
		}
	}
	s.setJitter(0)
	if got := s.narrow[0].Latency.Quantile(0.5); got != l.Quantile(0.5) {
		t.Errorf("a quiet machine draws a median of %v, want the profile's", got)
	}
	none := newSampler(nil, 1)
	none.setJitter(us)
	if got := none.draw(false, 4*units.KiB); got != 0 {
		t.Errorf("no profile draws %v, want 0", got)
	}
}

// A machine that stalls takes nothing from the volume: 3,000 IOPS are one I/O in 333 µs from one to the next, also where the
// machine slept over 300 of them. A bucket that holds a single operation could not make up for that.
func TestStall(t *testing.T) {
	const apart, compress = time.Second / 3000, 3000
	h := NewHost(nil, compress)
	v, err := h.attach(Config{Name: "v", Volume: ebs.Volume{Type: "gp3", Size: 100 * units.GiB, IOPS: 3000, Throughput: 125 * units.MiBPerSecond}, Compress: compress})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Start(); err != nil {
		t.Fatal(err)
	}
	v.complete(v.arrive(false, 0, 4*units.KiB)) // what the bucket held
	for _, c := range []struct{ stall, madeUp time.Duration }{
		{0, 0},
		{100 * time.Millisecond, 100 * time.Millisecond},
		{400 * time.Millisecond, maxBehind},
	} {
		before := v.stats().Stalled
		r := v.arrive(false, 0, 4*units.KiB)
		time.Sleep(time.Until(r.due) + c.stall)
		v.complete(r)
		completed := time.Now()
		late := completed.Sub(r.due)
		next := v.arrive(false, 0, 4*units.KiB)
		program := time.Since(completed) // what the test took to make it is not made up for
		lost := late - c.madeUp
		if c.stall == 100*time.Millisecond {
			lost = 0
		}
		if got := next.due.Sub(r.due); got < apart-time.Microsecond || got > apart+max(0, lost)+program {
			t.Errorf("after a stall of %v the next I/O is due %v after the last, want 333 µs, and %v that is not made up for", c.stall, got, max(0, lost))
		}
		if got := v.stats().Stalled - before; c.stall > 0 && (got < c.stall || got > late) || c.stall == 0 && got > late {
			t.Errorf("a stall of %v is counted as %v", c.stall, got)
		}
		for v.complete(next); v.late > 0; v.complete(next) { // until all of it is made up for
			next = v.arrive(false, 0, 4*units.KiB)
		}
	}
}

func TestParseMounts(t *testing.T) {
	got := parseMounts("36 35 7:3 / /mnt/with\\040space rw,noatime master:1 - xfs /dev/loop3 rw\n" +
		"broken line\n" +
		"37 35 0:45 / /run/x/fuse rw shared:2 - fuse.ebscope ebscope:x rw,user_id=0\n")
	want := []mountEntry{
		{id: 36, parent: 35, major: 7, minor: 3, dir: "/mnt/with space", kind: "xfs", source: "/dev/loop3"},
		{id: 37, parent: 35, major: 0, minor: 45, dir: "/run/x/fuse", kind: "fuse.ebscope", source: "ebscope:x"},
	}
	if len(got) != len(want) || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func FuzzParseMounts(f *testing.F) {
	f.Add("36 35 7:3 / /mnt rw master:1 - xfs /dev/loop3 rw\n")
	f.Add("1 2 a:b / \\0 rw - x\n - - \\777 -\n")
	f.Fuzz(func(t *testing.T, table string) {
		for _, m := range parseMounts(table) {
			if m.kind == "" {
				t.Errorf("an entry without a type: %+v", m)
			}
		}
	})
}
