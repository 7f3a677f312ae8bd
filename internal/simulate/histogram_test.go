package simulate

import (
	"math"
	"testing"
	"time"
)

func TestBinsCoverEveryLatency(t *testing.T) {
	last := -1
	for v := int64(0); v > -1 && v < math.MaxInt64/2; v += 1 + v/200 {
		latency := time.Duration(v)
		bin := binOf(latency)
		if bin < last || bin > last+1 {
			t.Fatalf("%v is in bin %d, after bin %d", latency, bin, last)
		}
		last = bin
		// Half a bin of 1/64 of its octave is at most 1/128 of the value.
		if off := math.Abs(float64(binMiddle(bin) - latency)); off > float64(v)/128+0.5 {
			t.Fatalf("%v is in bin %d, which stands for %v", latency, bin, binMiddle(bin))
		}
	}
	if bin := binOf(math.MaxInt64); bin >= bins {
		t.Errorf("the longest latency is in bin %d of %d", bin, bins)
	}
}

func TestPercentiles(t *testing.T) {
	var h, rest histogram
	// 1 to 100 ns, a bin each.
	for v := time.Duration(100); v > 50; v-- {
		h.add(v)
	}
	for v := time.Duration(1); v <= 50; v++ {
		rest.add(v)
	}
	h.merge(&rest)
	h.merge(&histogram{})
	l := h.latency()
	if l.Samples != 100 || l.Min != 1 || l.Max != 100 || l.Mean != 50 || len(l.Bins) != 100 {
		t.Errorf("samples %d, min %d, max %d, mean %d, %d bins; want 100, 1, 100, 50 (50.5), 100", l.Samples, l.Min, l.Max, l.Mean, len(l.Bins))
	}
	for percent, want := range map[float64]time.Duration{1: 1, 50: 50, 95: 95, 99: 99, 99.99: 100} {
		if got, ok := l.Percentile(percent); !ok || got != want {
			t.Errorf("p%v %d, want %d", percent, got, want)
		}
	}
	if l := (&histogram{}).latency(); l.Samples != 0 || l.Mean != 0 || l.Percentiles != nil {
		t.Errorf("an empty histogram gave %+v", l)
	}
}
