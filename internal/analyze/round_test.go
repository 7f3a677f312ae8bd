package analyze

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestRounding(t *testing.T) {
	sum := 0.1
	sum += 0.2 // 0.30000000000000004
	fraction := 2.0
	p := Phase{DurationS: sum, Segments: []Segment{{FromS: 41 + sum, IOPSMean: fraction / 3}}, IOPS: IOPS{Min: &sum}, Foreign: &Foreign{RuntimeS: &sum}}
	rounded(reflect.ValueOf(&p))
	text, err := json.Marshal([]float64{p.DurationS, p.Segments[0].FromS, p.Segments[0].IOPSMean, *p.IOPS.Min, *p.RuntimeS})
	if want := "[0.3,41.3,0.666666666667,0.3,0.3]"; err != nil || string(text) != want {
		t.Errorf("%s, want %s (%v)", text, want, err)
	}
	// Nanoseconds in a millisecond, and the largest number of I/Os a second that has a fraction, keep every digit.
	for _, x := range []float64{1990007.0 / 1e6, 123456.654321, 80000, 0, 1e17, 1e-15, math.MaxFloat64} {
		if round(x) != x {
			t.Errorf("%v became %v", x, round(x))
		}
	}
	if ms := milliseconds(1990007 * time.Nanosecond); ms != 1.990007 {
		t.Errorf("%v ms", ms)
	}
}

func TestRoundingIsSlight(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		x := rapid.Float64().Draw(rt, "x")
		y := round(x)
		if math.Abs(y-x) > 1e-11*math.Abs(x) || round(y) != y {
			rt.Errorf("%v became %v, and then %v", x, y, round(y))
		}
	})
}
