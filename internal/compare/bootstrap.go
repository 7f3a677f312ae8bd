package compare

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/aclements/go-moremath/stats"
)

// A series is tested by a moving-block bootstrap (Künsch 1989): its mean is drawn anew many times from blocks of
// consecutive parts of it, which keep what one part has to do with the next. Noise that outlasts a block would be taken for
// far less than it is; so the series is prewhitened (Andrews and Monahan 1992): what an autoregression of the first order
// explains is taken out before, and given back to what was drawn.

const (
	// resamples gives a p-value down to 0.0005, and 50 draws beyond either end of a confidence interval.
	resamples = 2000
	// leastWindows make a series that can be tested.
	leastWindows = 10
	// parts is the least number of parts that a longer series is averaged to. Noise that lasts for many windows shows between
	// them, whatever lies on top of it from one window to the next.
	parts = 30
	// level is that of the tests; intervals hold the rest.
	level = 0.05
	// rateMargin and latencyMargin are how far two runs of the same volume may lie apart, as a share. A series shows the
	// noise within a run, but nothing of that between runs, and a difference within the margin proves nothing.
	rateMargin    = 0.03
	latencyMargin = 0.05
	// normalBound is how many standard deviations 95 % of a normal distribution lie within.
	normalBound = 1.959964
	// still is the variance below which a series does not waver: that of a model's figures.
	still = 1e-12
)

// resampler draws errors of the mean of a series.
type resampler struct {
	sums  []float64 // of the first i innovations
	block int
	// center is the mean of all blocks, which is not quite that of the series: its ends are in fewer blocks.
	center float64
	// wider makes up for blocks being drawn around the mean of a series that is only so many blocks long, and for what the
	// autoregression explained.
	wider float64
	// tail is how much wider 95 % of Student's distribution are than of the normal one: of few independent values, the
	// noise itself is known badly.
	tail float64
}

// blockLength is √n: long against the memory of innovations, and short enough for √n blocks.
func blockLength(n int) int { return int(math.Round(math.Sqrt(float64(n)))) }

func newResampler(values []float64) *resampler {
	averages := averaged(values)
	phi := autoregression(averages)
	n := len(averages) - 1
	r := &resampler{sums: make([]float64, n+1), block: blockLength(n)}
	for i := range n {
		r.sums[i+1] = r.sums[i] + averages[i+1] - phi*averages[i]
	}
	for from := range r.starts() {
		r.center += r.mean(from, r.block)
	}
	r.center /= float64(r.starts())
	r.wider = math.Sqrt(float64(n)/float64(n-r.block)) / (1 - phi)
	independent := float64(len(averages)) * (1 - phi) / (1 + phi)
	r.tail = stats.InvCDF(stats.TDist{V: max(1, independent-1)})(1-level/2) / normalBound
	return r
}

// averaged returns the means of parts of a series, each of as many values, give or take one.
func averaged(values []float64) []float64 {
	n := len(values)
	out := make([]float64, n/max(1, n/parts))
	for i := range out {
		out[i] = average(values[i*n/len(out) : (i+1)*n/len(out)])
	}
	return out
}

// autoregression is the share of a value that the next one keeps: the correlation of neighbors, without its bias of
// −(1 + 3φ) ÷ n in short series (Kendall 1954). It is at least 0 and at most 1 − 1 ÷ n: a series tells nothing of what outlasts it.
func autoregression(values []float64) float64 {
	var squares, products float64
	for i, x := range values {
		squares += x * x
		if i > 0 {
			products += x * values[i-1]
		}
	}
	n := float64(len(values))
	if squares/n < still {
		return 0
	}
	return min(max(0, (n*products/squares+1)/(n-3)), 1-1/n)
}

func (r *resampler) starts() int { return len(r.sums) - r.block }

func (r *resampler) mean(from, length int) float64 {
	return (r.sums[from+length] - r.sums[from]) / float64(length)
}

// draw returns the error of the mean of one resampled series.
func (r *resampler) draw(random *rand.Rand) float64 {
	n := len(r.sums) - 1
	var sum float64
	for left := n; left > 0; left -= r.block {
		length := min(left, r.block)
		sum += (r.mean(random.IntN(r.starts()), length) - r.center) * float64(length)
	}
	return sum / float64(n) * r.wider * r.tail
}

// standardError is the spread of the mean.
func (r *resampler) standardError() float64 {
	var squares float64
	for from := range r.starts() {
		apart := r.mean(from, r.block) - r.center
		squares += apart * apart
	}
	blocks := float64(len(r.sums)-1) / float64(r.block)
	return math.Sqrt(squares/float64(r.starts())/blocks) * r.wider
}

// outcome is what a test gave: the confidence interval of a ratio, and how likely it is without a difference.
type outcome struct{ low, high, p float64 }

// bootstrap tests the ratio of b to a. The p-value is for a difference no larger than a margin. Its draws are the same
// each time.
func bootstrap(a, b estimate, margin float64) outcome {
	random := rand.New(rand.NewPCG(1, 2))
	drawA, drawB := newResampler(a.deviations), newResampler(b.deviations)
	ratios := make([]float64, resamples)
	for i := range ratios {
		// An error of −100 % cannot be, but a wild series draws it.
		below, above := 1+drawA.draw(random)+a.jump(random), 1+drawB.draw(random)+b.jump(random)
		ratios[i] = b.value * max(1e-9, above) / (a.value * max(1e-9, below))
	}
	slices.Sort(ratios)
	return outcome{quantile(ratios, level/2), quantile(ratios, 1-level/2), beyond(ratios, b.value/a.value, margin)}
}

// jump draws the error that comes of the instants of changes.
func (e estimate) jump(random *rand.Rand) (sum float64) {
	for _, j := range e.jumps {
		sum += j * (2*random.Float64() - 1)
	}
	return sum
}

// beyond returns the two-sided p-value of a ratio whose draws are given in ascending order: the share of them that are
// not beyond the margin.
func beyond(ratios []float64, ratio, margin float64) float64 {
	within := 0
	for _, x := range ratios {
		if ratio >= 1 && x <= 1+margin || ratio < 1 && x >= 1/(1+margin) {
			within++
		}
	}
	return min(1, 2*float64(within+1)/float64(len(ratios)+1))
}

// quantile returns the value below which a share of ascending values lies.
func quantile(values []float64, share float64) float64 {
	return values[min(len(values)-1, max(0, int(share*float64(len(values)))))]
}
