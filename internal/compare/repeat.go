package compare

import (
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"
	"golang.org/x/perf/benchmath"
)

var assumption, thresholdsOfTest = benchmath.AssumeNothing, benchmath.Thresholds{CompareAlpha: level}

// enough says whether so many runs can prove a difference: with all of one side above all of the other, the U test's
// p-value is two orders out of all that there are.
func enough(a, b int) bool { return 2/binomial(a+b, a) < level }

// neededRuns is how many runs of each side can: 2 ÷ (8 over 4) = 0.029.
const neededRuns = 4

func binomial(n, k int) float64 {
	x := 1.0
	for i := 1; i <= k; i++ {
		x *= float64(n-k+i) / float64(i)
	}
	return x
}

// repeated tests the ratio of b to a, each a figure of several runs.
func repeated(a, b []float64) outcome {
	test := assumption.Compare(sample(a), sample(b))
	o := outcome{p: test.P}
	o.low, o.high = shift(a, b)
	return o
}

func sample(values []float64) *benchmath.Sample {
	return benchmath.NewSample(slices.Clone(values), &thresholdsOfTest)
}

// median returns the median of runs and its confidence interval, of which a bound is infinite where there are fewer than six.
func median(values []float64) (middle, low, high float64) {
	s := assumption.Summary(sample(values), 1-level)
	return s.Center, s.Lo, s.Hi
}

// shift returns the confidence interval of the ratio of b to a that belongs to the U test (Hodges and Lehmann): of all
// ratios of a run of b to one of a, in ascending order, it leaves out so many at either end as the test allows.
func shift(a, b []float64) (low, high float64) {
	var ratios []float64
	for _, x := range a {
		for _, y := range b {
			ratios = append(ratios, y/x)
		}
	}
	slices.Sort(ratios)
	u := stats.UDist{N1: len(a), N2: len(b)}
	out := 0
	for 2*u.CDF(float64(out)) <= level {
		out++
	}
	if out == 0 {
		return math.Inf(-1), math.Inf(1)
	}
	return ratios[out-1], ratios[len(ratios)-out]
}

// spread is how far runs lie apart, as a share of their median.
func spread(values []float64) float64 {
	if len(values) < 2 {
		return 0
	}
	middle, _, _ := median(values)
	return (slices.Max(values) - slices.Min(values)) / middle
}
