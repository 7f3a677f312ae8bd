package compare

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// wavering is a series of IOPS around a mean of 3,000, whose noise is AR(1): x' = φ·x + ε.
func wavering(random *rand.Rand, n int, phi float64) []window {
	const mean, noise = 3000, 100
	windows := make([]window, n)
	x := random.NormFloat64() * noise / math.Sqrt(1-phi*phi)
	for i := range windows {
		windows[i] = window{from: time.Duration(i) * time.Second, to: time.Duration(i+1) * time.Second, iops: mean + x, latency: math.NaN()}
		x = phi*x + noise*random.NormFloat64()
	}
	return windows
}

// Two series of the same mean have a ratio of 1, which an interval of 95 % must hold in 95 of 100 cases: of 600 in 570, give
// or take 3 × √(600 × 0.95 × 0.05) = 16, so from 554 (0.923) to 586 (0.977). A bootstrap without blocks holds it in 74 % of
// those with φ = 0.5, where the standard error is √3 times what it takes it for, and blocks of √n in 71 % of those with φ = 0.9
// and 119 windows. Those are worth 119 × 0.1 ÷ 1.9 = 6 independent ones, whose noise can only be told by wider intervals.
func TestBootstrapCoverage(t *testing.T) {
	const trials = 600
	for _, tt := range []struct {
		n          int
		phi        float64
		least, top float64
	}{{45, 0, 0.923, 0.977}, {119, 0, 0.923, 0.977}, {300, 0.5, 0.923, 0.977}, {900, 0.8, 0.923, 0.977}, {119, 0.9, 0.923, 1}} {
		random := rand.New(rand.NewPCG(7, uint64(tt.n)))
		held, proved := 0, 0
		for range trials {
			a, _ := rate(wavering(random, tt.n, tt.phi), nil)
			b, _ := rate(wavering(random, tt.n, tt.phi), nil)
			o := bootstrap(a, b, 0)
			if o.low <= 1 && o.high >= 1 {
				held++
			}
			if o.p < level {
				proved++
			}
		}
		coverage, falsely := float64(held)/trials, float64(proved)/trials
		t.Logf("n %d, φ %v: coverage %.3f, p < 0.05 in %.3f", tt.n, tt.phi, coverage, falsely)
		if coverage < tt.least || coverage > tt.top || falsely > 1-tt.least {
			t.Errorf("n %d, φ %v: the interval holds the ratio in %.3f of the cases, want %.3f to %.3f; p < 0.05 in %.3f", tt.n, tt.phi, coverage, tt.least, tt.top, falsely)
		}
	}
}

// Neighbors in 0, 1, 0, −1, 0 have products of 0: of n = 5 a correlation of 0 becomes (5 × 0 + 1) ÷ (5 − 3) = 0.5. Of what only grows, as −2 … 2, it is 4 ÷ 10, (5 × 0.4 + 1) ÷ 2 = 1.5, and so the most, 1 − 1 ÷ 5.
func TestAutoregression(t *testing.T) {
	for _, tt := range []struct {
		values []float64
		want   float64
	}{{[]float64{0, 1, 0, -1, 0}, 0.5}, {[]float64{-2, -1, 0, 1, 2}, 0.8}, {[]float64{1, -1, 1, -1, 1, -1}, 0}, {make([]float64, 20), 0}} {
		if got := autoregression(tt.values); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%v: φ = %v, want %v", tt.values, got, tt.want)
		}
	}
}

// 119 values make 119 ÷ 3 = 39 parts of 3 or 4, 59 stay 59.
func TestAveraged(t *testing.T) {
	values := make([]float64, 119)
	for i := range values {
		values[i] = float64(i)
	}
	got := averaged(values)
	if len(got) != 39 || got[0] != 1 || got[38] != 116.5 { // (0 + 1 + 2) ÷ 3; 38 × 119 ÷ 39 = 115.9: (115 + … + 118) ÷ 4 = 116.5
		t.Errorf("%d parts: %v", len(got), got)
	}
	if got := averaged(values[:59]); len(got) != 59 {
		t.Errorf("%d parts of 59", len(got))
	}
}
