package compare

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ebscope/internal/result"
)

func TestMergedPercentiles(t *testing.T) {
	const ms = time.Millisecond
	fast := result.Latency{Kind: "lat", Samples: 100, Mean: 2 * ms, Min: ms, Max: 10 * ms, Bins: []result.Bin{{At: ms, Count: 90}, {At: 10 * ms, Count: 10}},
		Percentiles: []result.Percentile{{Percent: 50, Value: ms}}}
	slow := result.Latency{Kind: "lat", Samples: 100, Mean: 18 * ms, Min: ms, Max: 21 * ms, Bins: []result.Bin{{At: ms, Count: 10}, {At: 20 * ms, Count: 90}},
		Percentiles: []result.Percentile{{Percent: 50, Value: 20 * ms}}}
	got := result.Merged([]result.Latency{fast, slow})
	want := result.Latency{Kind: "lat", Samples: 200, Mean: 10 * ms, Min: ms, Max: 21 * ms,
		Bins:        []result.Bin{{At: ms, Count: 100}, {At: 10 * ms, Count: 10}, {At: 20 * ms, Count: 90}},
		Percentiles: []result.Percentile{{Percent: 50, Value: ms}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// 100 of 200 I/Os took 1 ms, 110 at most 10 ms. The mean of the two medians would be 10.5 ms.
	for percent, want := range map[float64]float64{50: 1, 50.5: 10, 55: 10, 55.5: 20, 99: 20} {
		if got, ok := percentile(got, percent); !ok || got != want {
			t.Errorf("p%v = %v, want %v ms", percent, got, want)
		}
	}
	if _, ok := percentile(result.Merged([]result.Latency{fast, {Samples: 100, Mean: ms}}), 50); ok {
		t.Error("a percentile of a whole of which a part has no histogram")
	}
}

// tenths is ten I/Os at each of 1 to 10 times a latency.
func tenths(unit time.Duration, windows float64) distribution {
	d := distribution{windows: windows}
	d.Samples, d.Min, d.Max = 100, unit, 10*unit
	for i := range 10 {
		d.Bins = append(d.Bins, result.Bin{At: time.Duration(i+1) * unit, Count: 10})
	}
	return d
}

func TestWindowRanks(t *testing.T) {
	d := tenths(time.Millisecond, 64)
	// Two standard errors of a half: 2 × √(0.5 × 0.5 ÷ 64) = 0.125, from the 37.5th to the 62.5th of 100.
	if low, high := d.interval(50, 2); low != 4 || high != 7 {
		t.Errorf("interval %v to %v, want 4 to 7 ms", low, high)
	}
	// 2 × √(0.99 × 0.01 ÷ 64) = 0.025: above lies nothing but the maximum.
	if low, high := d.interval(99, 2); low != 10 || high != 10 {
		t.Errorf("interval %v to %v, want 10 to 10 ms", low, high)
	}
	// From 5 (4 to 7) to 10 (8 to 14): ln 2 ∓ √(ln² 1.25 + ln² 1.4) = 0.693 ∓ 0.404.
	o := ranks(d, tenths(2*time.Millisecond, 64), 50, 0)
	if math.Abs(o.low-1.3356) > 0.001 || math.Abs(o.high-2.9948) > 0.001 {
		t.Errorf("ratio %.4f to %.4f, want 1.3356 to 2.9948", o.low, o.high)
	}
	if o.p >= level {
		t.Errorf("p = %v of a difference that the interval proves", o.p)
	}
	if o := ranks(d, d, 50, 0); o.p != 1 || o.low > 1 || o.high < 1 {
		t.Errorf("against itself: %+v", o)
	}
}
