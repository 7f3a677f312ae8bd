package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"ebscope/internal/analyze"
	"ebscope/internal/ebs"
	"ebscope/internal/result"
	"ebscope/internal/units"
)

// logged is a subject of a log of 120 windows of a second, as analyze sees it: its IOPS waver around a mean by AR(1) noise,
// x' = φ·x + ε, whose standard deviation is a share of the mean.
func logged(random *rand.Rand, mean, noise, phi float64) Subject {
	r := result.Reading{Source: result.Source{File: "x_iops.1.log"}, Tool: "fio", Job: "x"}
	x, sum := random.NormFloat64(), 0.0
	for i := range 120 {
		value := max(1, mean*(1+noise*x))
		sum += value
		r.IOPS = append(r.IOPS, result.Point{End: time.Duration(i+1) * time.Second, Value: value})
		x = phi*x + math.Sqrt(1-phi*phi)*random.NormFloat64()
	}
	r.Window, r.Total = time.Second, result.Direction{IOPS: units.IOPS(sum / 120), Runtime: 120 * time.Second}
	readings := []result.Reading{r}
	return OfReadings("x", readings, analyze.Readings(ebs.Embedded(), readings, nil, analyze.Given{}))
}

// proved returns in how many of so many pairs any difference is proved.
func proved(t *testing.T, pairs int, mean, noise, phi float64) (count int) {
	t.Helper()
	random := rand.New(rand.NewPCG(11, uint64(1000*phi)))
	for range pairs {
		d := Compare(logged(random, 3000, noise, phi), []Subject{logged(random, mean, noise, phi)}, nil)
		if r := find(t, d, IOPS, ""); r.Method != Bootstrap {
			t.Fatalf("tested by %s: %s", r.Method, r.Text)
		}
		if slices.ContainsFunc(d.Rows, func(r Row) bool { return r.Significant }) {
			count++
		}
	}
	return count
}

// Noise however slow proves nothing. At 5 % of 100 pairs 5 are proved on average, and more than 12 once or twice in 1,000
// times (binomial). The noise of 30 % is ten times the margin, which therefore hides little.
func TestSlowNoiseProvesNothing(t *testing.T) {
	for _, phi := range []float64{0, 0.5, 0.9, 0.95} {
		count := proved(t, 100, 3000, 0.3, phi)
		t.Logf("φ %v: %d of 100", phi, count)
		if count > 12 {
			t.Errorf("φ %v: a difference is proved in %d of 100 pairs without one", phi, count)
		}
	}
}

// 10 % less is seen through noise of 5 %. With φ = 0.5 the standard error of a mean is 5 % × √(3 ÷ 119) = 0.8 % and of the
// ratio 1.1 %, so that 10 % are 6 of them beyond the margin of 3 %: none of 100 is missed, or one by bad luck.
func TestPowerThroughNoise(t *testing.T) {
	for _, phi := range []float64{0, 0.5} {
		if count := proved(t, 100, 2700, 0.05, phi); count < 99 {
			t.Errorf("φ %v: 10 %% less is proved in %d of 100 pairs", phi, count)
		}
	}
}

// The fall of gp2 is a step, whatever the noise on it is. A rise in the course of a minute, by as much, is none.
func TestJoinedLevels(t *testing.T) {
	edge := 80 * time.Second
	levels := []Level{{time.Second, edge}, {edge, 120 * time.Second}}
	slow := make([]float64, 120)
	for i := range slow {
		slow[i] = 1000 + 1000*math.Sin(2*math.Pi*float64(i)/120)
	}
	for name, tt := range map[string]struct {
		run  Run
		want int
	}{
		"no noise": {course(1, 0, append(constant(80, 3000), constant(40, 300)...)...), 2},
		// Of means of 5 windows: 2,700 ÷ (300 × √(2 ÷ 5)) = 14 standard deviations.
		"ten percent of noise": {course(1, 300, append(constant(80, 3000), constant(40, 300)...)...), 2},
		"slow":                 {course(1, 10, slow...), 1},
		"noise alone":          {course(1, 300, constant(120, 3000)...), 1},
	} {
		if got := joined(tt.run.all(), levels); len(got) != tt.want || got[0].From != time.Second || got[len(got)-1].To != 120*time.Second {
			t.Errorf("%s: %v, want %d", name, got, tt.want)
		}
	}
}
