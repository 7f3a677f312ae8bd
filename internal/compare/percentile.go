package compare

import (
	"math"
	"time"

	"ebscope/internal/result"
)

// distribution is the latencies of a phase, of all its runs together.
type distribution struct {
	result.Latency
	windows float64 // independent observations among its windows; zero: there is no series, or too short a one
}

// percentile returns a percentile in milliseconds: the one that was stated, or else that of the bins.
func percentile(l result.Latency, percent float64) (float64, bool) {
	if stated, ok := l.Percentile(percent); ok {
		return milliseconds(stated), true
	}
	if len(l.Bins) == 0 {
		return 0, false
	}
	return milliseconds(result.Rank(l.Bins, percent/100)), true
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// testable says whether there are a histogram and a series to test a percentile by.
func (d distribution) testable() bool { return len(d.Bins) > 0 && d.windows > 0 }

// interval returns the bounds of a percentile at z standard errors, in milliseconds. The share of I/Os that were faster
// than some latency is the mean of those of the windows. As each lies between 0 and 1, none can vary more than if all
// I/Os of a window were on the same side: with each window as a single observation the interval is the widest that
// it can be, whatever the windows hold.
func (d distribution) interval(percent, z float64) (low, high float64) {
	share := percent / 100
	off := z * math.Sqrt(share*(1-share)/d.windows)
	low, high = milliseconds(d.Min), milliseconds(d.Max)
	if share-off > 0 {
		low = milliseconds(result.Rank(d.Bins, share-off))
	}
	if share+off < 1 {
		high = milliseconds(result.Rank(d.Bins, share+off))
	}
	return low, high
}

// ranks tests the ratio of a percentile of b to that of a. The interval of the ratio is made of the two by the method of
// variance estimates recovery (Zou and Donner 2008), on logarithms.
func ranks(a, b distribution, percent, margin float64) outcome {
	ratio := func(z float64) (low, middle, high float64) {
		ofA, _ := percentile(a.Latency, percent)
		ofB, _ := percentile(b.Latency, percent)
		lowA, highA := a.interval(percent, z)
		lowB, highB := b.interval(percent, z)
		x, y := math.Log(ofA), math.Log(ofB)
		middle = y - x
		low = middle - math.Hypot(y-math.Log(lowB), math.Log(highA)-x)
		high = middle + math.Hypot(math.Log(highB)-y, x-math.Log(lowA))
		return low, middle, high
	}
	proved := func(z float64) bool {
		low, _, high := ratio(z)
		return low > math.Log(1+margin) || high < -math.Log(1+margin)
	}
	low, _, high := ratio(normalBound)
	return outcome{math.Exp(low), math.Exp(high), least(proved)}
}

// least returns the lowest level at which something is proved, given up to how many standard errors it is.
func least(proved func(z float64) bool) float64 {
	from, to := 0.0, 4.0 // 0.00006: what is counted in windows says no more
	if proved(to) {
		return math.Erfc(to / math.Sqrt2)
	}
	for range 30 {
		if middle := (from + to) / 2; proved(middle) {
			from = middle
		} else {
			to = middle
		}
	}
	return math.Erfc(from / math.Sqrt2)
}
