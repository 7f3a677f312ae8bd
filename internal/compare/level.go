package compare

import (
	"math"
	"slices"
)

const (
	// beside is how many windows on either side of a change are held against each other, or as many as a short level has.
	beside = 5
	// beyondNoise is how many standard deviations a step must be. Of normal noise, however slow, 1 in 500 million is.
	beyondNoise = 6
	// normalMedian is the median of the absolute values of a standard normal distribution.
	normalMedian = 0.6745
)

// joined puts levels together that noise can have made. A search for changes of level takes noise to be independent from one
// window to the next, so it cuts slow noise into levels too; with their means the noise itself would be taken out.
func joined(windows []window, levels []Level) (all []Level) {
	for _, l := range levels {
		if last := len(all) - 1; last >= 0 && !abrupt(windows, all[last], l) {
			all[last].To = l.To
		} else {
			all = append(all, l)
		}
	}
	return all
}

// abrupt says whether IOPS step from one level to the next as their noise never does: what lies just after the change differs
// from what lies just before it far more than neighbors do elsewhere in the series. Slow noise moves a rate as far as
// credits do, but takes its time. The usual difference is told by the median, which a few steps do not move.
func abrupt(windows []window, before, after Level) bool {
	from, end := before.bounds(windows)
	start, to := after.bounds(windows)
	k := min(beside, max(1, len(windows)/10), end-from, to-start)
	if k < 1 {
		return false
	}
	mean := func(windows []window) (sum float64) {
		for _, w := range windows {
			sum += w.iops
		}
		return sum / float64(len(windows))
	}
	gap := max(0, start-end) // a window may hold some of both
	step := func(at int) float64 { return math.Abs(mean(windows[at+gap:at+gap+k]) - mean(windows[at-k:at])) }
	var steps []float64
	for at := k; at+gap+k <= len(windows); at++ {
		steps = append(steps, step(at))
	}
	slices.Sort(steps)
	return step(end) > beyondNoise*quantile(steps, 0.5)/normalMedian
}
