package compare

import (
	"math"
	"testing"
)

// The U test counts in how many orders of all values the two sides are as far apart as they are, or further.
func TestMannWhitney(t *testing.T) {
	for name, tt := range map[string]struct {
		a, b []float64
		want float64
	}{
		// Of 8 over 4 = 70 orders, one has all of a below all of b and one all above.
		"apart": {[]float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}, 2.0 / 70},
		// 3 comes before 4 and 5, so U = 2. Orders with U = 0, 1 and 2 are 1 + 1 + 2 = 4, and as many at the other end.
		"two exchanged": {[]float64{1, 2, 4, 5}, []float64{3, 6, 7, 8}, 8.0 / 70},
		// Of 6 over 3 = 20 orders.
		"three a side": {[]float64{1, 2, 3}, []float64{4, 5, 6}, 2.0 / 20},
		// 1 + 1 + 2 + 3 + 5 + 5 … of 70 orders have U up to 8, half of 16: every order is as far apart.
		"mingled": {[]float64{1, 4, 5, 8}, []float64{2, 3, 6, 7}, 1},
	} {
		if got := repeated(tt.a, tt.b).p; math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%s: p = %v, want %v", name, got, tt.want)
		}
	}
	if got := repeated([]float64{5, 5, 5, 5}, []float64{5, 5, 5, 5}).p; got != 1 {
		t.Errorf("all alike: p = %v, want 1", got)
	}
}

func TestShift(t *testing.T) {
	// With 4 a side the test allows to leave out no order but the outermost, 2 × 1 ÷ 70 = 0.029, for with the next it would
	// be 4 ÷ 70 = 0.057. The ratios go from 5 ÷ 4 to 8 ÷ 1.
	if low, high := shift([]float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}); low != 1.25 || high != 8 {
		t.Errorf("interval %v to %v, want 1.25 to 8", low, high)
	}
	// With 3 a side the outermost alone is 2 ÷ 20.
	if low, high := shift([]float64{1, 2, 3}, []float64{4, 5, 6}); !math.IsInf(low, -1) || !math.IsInf(high, 1) {
		t.Errorf("interval %v to %v of three a side, want none", low, high)
	}
}

func TestEnough(t *testing.T) {
	for _, tt := range []struct {
		a, b int
		want bool
	}{
		{4, 4, true},  // 2 ÷ 70
		{3, 4, false}, // 2 ÷ 35 = 0.057
		{3, 5, true},  // 2 ÷ 56 = 0.036
		{2, 7, false}, // 2 ÷ 36
		{2, 8, true},  // 2 ÷ 45 = 0.044
		{1, 30, false},
	} {
		if got := enough(tt.a, tt.b); got != tt.want {
			t.Errorf("%d against %d runs: %v, want %v", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestMedian(t *testing.T) {
	// Of 6 values the lowest and the highest hold the median at 1 − 2 ÷ 2⁶ = 97 %.
	if middle, low, high := median([]float64{6, 1, 5, 2, 4, 3}); middle != 3.5 || low != 1 || high != 6 {
		t.Errorf("median %v, %v to %v; want 3.5, 1 to 6", middle, low, high)
	}
	// Of 5 they hold it at 94 % only.
	if low, high := (figure{runs: []float64{1, 2, 3, 4, 5}}).interval(); low != nil || high != nil {
		t.Errorf("interval %v to %v of five runs, want none", low, high)
	}
	if got := spread([]float64{9, 10, 12}); math.Abs(got-0.3) > 1e-12 { // (12 − 9) ÷ 10
		t.Errorf("spread %v, want 0.3", got)
	}
}
