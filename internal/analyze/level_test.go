package analyze

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ebscope/internal/result"
)

// steps samples a course that falls from one level to another at the given instant, exactly.
func steps(window, at time.Duration, n int, before, after float64) []sample {
	samples := make([]sample, n)
	for i := range samples {
		s := sample{time.Duration(i) * window, time.Duration(i+1) * window, 0}
		part := min(max((at-s.from).Seconds()/window.Seconds(), 0), 1)
		s.iops = part*before + (1-part)*after
		samples[i] = s
	}
	return samples
}

// The mixed sample tells the instant to far less than its length, and belongs to neither level.
func TestEdgeInsideASample(t *testing.T) {
	for _, window := range []time.Duration{50 * time.Millisecond, time.Second} {
		for i := range 40 {
			at := 20*window + time.Duration(float64(i)/40*float64(window))
			c := newCourse(steps(window, at, 60, 3000, 300))
			if len(c.levels) != 2 {
				t.Fatalf("fall at %v: %d levels", at, len(c.levels))
			}
			if (c.edges[0] - at).Abs() > window/1000 {
				t.Errorf("fall at %v was found at %v", at, c.edges[0])
			}
			if l := c.levels[0]; l.mean != 3000 || l.min != 3000 || l.max != 3000 || l.to > at {
				t.Errorf("fall at %v: the level before is %+v to %v", at, l.statistics, l.to)
			}
			if l := c.levels[1]; l.mean != 300 || l.min != 300 || l.max != 300 || l.from < at {
				t.Errorf("fall at %v: the level after is %+v from %v", at, l.statistics, l.from)
			}
			if got := c.span(0) + c.span(1); got != 60*window {
				t.Errorf("levels hold for %v of %v", got, 60*window)
			}
		}
	}
}

func TestFirstSampleIsSetApart(t *testing.T) {
	samples := steps(time.Second, 5*time.Second, 20, 3000, 300)
	samples[0].iops = 6000
	c := newCourse(samples)
	if c.first.iops != 6000 || c.levels[0].from != time.Second || c.levels[0].max != 3000 {
		t.Errorf("first sample %v; the first level is %+v from %v", c.first.iops, c.levels[0].statistics, c.levels[0].from)
	}
}

// Where samples are shorter than the rate bucket is deep, all that lie in it are set apart: ten of 100 ms, or of 1/600 s in
// a run that is compressed 60 times; two of a second each are not one.
func TestFirstSecondIsSetApart(t *testing.T) {
	for _, c := range []struct {
		window   time.Duration
		compress float64
		want     int
	}{{100 * time.Millisecond, 1, 10}, {time.Second / 600, 60, 10}, {time.Second, 1, 1}, {990 * time.Millisecond, 1, 1}, {5 * time.Second, 1, 1}} {
		samples := steps(c.window, 100*c.window, 100, 3000, 300)
		samples[0].iops = 6000
		got := subject{compress: c.compress}.course(samples)
		// One of n samples has 6,000, the others 3,000.
		if mean := 3000 + 3000/float64(c.want); len(got.rest) != 100-c.want || math.Abs(got.first.iops-mean) > 1e-6 {
			t.Errorf("windows of %v: %d samples are set apart with a mean of %v, want %d with %v", c.window, 100-len(got.rest), got.first.iops, c.want, mean)
		}
	}
	// A series of a second and a half cannot spare one.
	if got := (subject{compress: 1}).course(steps(100*time.Millisecond, 15*time.Second, 15, 3000, 300)); len(got.rest) != 14 {
		t.Errorf("%d of 15 samples are left, want 14", len(got.rest))
	}
}

func TestClean(t *testing.T) {
	const s = time.Second
	got, dropped := clean(result.Series{
		{End: s, Value: 1}, {End: 2 * s, Value: math.NaN()}, {End: 3 * s, Value: math.Inf(1)}, {End: 4 * s, Value: -1},
		{End: 5 * s, Value: 5}, {End: 5 * s, Value: 6}, {End: 3 * s, Value: 7}, {End: 6 * s, Value: 1e300}, {End: 7 * s, Value: 8},
	})
	want := []sample{{0, s, 1}, {s, 5 * s, 5}, {5 * s, 7 * s, 8}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(sample{})); diff != "" || dropped != 6 {
		t.Errorf("dropped %d, want 6; samples (want, got):\n%s", dropped, diff)
	}
}

func TestDuring(t *testing.T) {
	const ms = time.Millisecond
	samples := []sample{{0, 990 * ms, 1}, {990 * ms, 2010 * ms, 2}, {2010 * ms, 2110 * ms, 3}}
	for duration, want := range map[time.Duration]int{0: 3, time.Second: 1, 2 * time.Second: 2, 3 * time.Second: 3} {
		if got := len(during(samples, duration)); got != want {
			t.Errorf("%d samples lie within %v, want %d", got, duration, want)
		}
	}
}

func TestTypical(t *testing.T) {
	for name, tt := range map[string]struct {
		values  []float64
		quantum float64
		want    float64
	}{
		"constant": {[]float64{3000, 3000, 3000}, 1, 3000},
		// 0 counts as 3,000 less two I/Os of 20: (9 × 3,000 + 2,960) ÷ 10.
		"a stall": {[]float64{3000, 3000, 3000, 0, 3000, 3000, 3000, 3000, 3000, 3000}, 20, 2996},
		// 6.25 I/Os in 50 ms are six or seven: nothing is far.
		"whole I/Os": {[]float64{120, 120, 120, 140}, 20, 125},
		"two values": {[]float64{1000, 3000}, 1, 2000},
	} {
		var samples []sample
		for i, v := range tt.values {
			samples = append(samples, sample{time.Duration(i) * time.Second, time.Duration(i+1) * time.Second, v})
		}
		if got := typicalOf(samples, tt.quantum); math.Abs(got-tt.want) > 1e-6 {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}
