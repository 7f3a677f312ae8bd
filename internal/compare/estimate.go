package compare

import "math"

// estimate is a figure of one run and how it wavered.
type estimate struct {
	value float64
	// deviations is what each window adds to or takes from the figure's relative error, with a mean of zero. There are
	// none where there is no series.
	deviations []float64
	// jumps is how far the figure would move, as a share, if a change of level came half a window earlier or later.
	jumps []float64
}

// rate is the mean of IOPS over time.
func rate(windows []window, levels []Level) (estimate, bool) {
	var ios, seconds float64
	for _, w := range windows {
		ios += w.ios()
		seconds += (w.to - w.from).Seconds()
	}
	if len(windows) < 2 || !(ios > 0) {
		return estimate{}, false
	}
	mean := ios / seconds
	deviations := make([]float64, len(windows))
	for i, w := range windows {
		deviations[i] = (w.iops/mean - 1) * (w.to - w.from).Seconds() / seconds * float64(len(windows))
	}
	return settled(mean, deviations, windows, levels), true
}

// latency is the mean of all I/Os: each window's latency weighs as much as it has I/Os. It is false where fewer than half
// of the windows have one.
func latency(windows []window, levels []Level) (estimate, bool) {
	var sum, ios float64
	known := 0
	for _, w := range windows {
		if !math.IsNaN(w.latency) {
			sum += w.latency * w.ios()
			ios += w.ios()
			known++
		}
	}
	if known < 2 || 2*known < len(windows) || !(sum > 0) {
		return estimate{}, false
	}
	mean := sum / ios
	deviations := make([]float64, len(windows))
	for i, w := range windows {
		if !math.IsNaN(w.latency) {
			deviations[i] = (w.latency/mean - 1) * w.ios() / ios * float64(len(windows))
		}
	}
	return settled(mean, deviations, windows, levels), true
}

// settled takes the mean of each level out of deviations: that a level gives way to the next follows from credits and is no
// noise, other than what joined put together. When it does is known to a window, and so is how much of a burst lies before
// the first level. Without levels, the mean of all is taken out.
func settled(value float64, deviations []float64, windows []window, levels []Level) estimate {
	if len(levels) == 0 {
		return estimate{value: value, deviations: centred(deviations)}
	}
	e := estimate{value: value, deviations: make([]float64, len(deviations))}
	jump := func(apart float64) { e.jumps = append(e.jumps, math.Abs(apart)/2/float64(len(deviations))) }
	before, first := 0.0, true
	for _, l := range levels {
		from, to := l.bounds(windows)
		if from == to {
			continue
		}
		level := average(deviations[from:to])
		copy(e.deviations[from:], centred(deviations[from:to]))
		if !first {
			jump(level - before)
		}
		for i := 0; first && i < from; i++ {
			jump(deviations[i] - level)
		}
		before, first = level, false
	}
	return e
}

func average(values []float64) float64 {
	var sum float64
	for _, x := range values {
		sum += x
	}
	return sum / float64(len(values))
}

// centred returns values less their mean.
func centred(values []float64) []float64 {
	mean := average(values)
	out := make([]float64, len(values))
	for i, x := range values {
		out[i] = x - mean
	}
	return out
}

// independent is how many independent observations the windows of a phase are worth: fewer where I/Os crowd in some of
// them (Kish), and where what one window shows goes on in the next.
func independent(windows []window, deviations []float64) float64 {
	var sum, squares float64
	for _, w := range windows {
		sum += w.ios()
		squares += w.ios() * w.ios()
	}
	if !(squares > 0) {
		return 0
	}
	return max(1, sum*sum/squares/persistence(deviations))
}

// persistence is how many windows in a row show the same: the variance of their mean, as blocks show it, over what it
// would be if they were independent, and no less than 1.
func persistence(deviations []float64) float64 {
	var squares float64
	for _, x := range deviations {
		squares += x * x
	}
	n := float64(len(deviations))
	if squares/n < still {
		return 1
	}
	error := newResampler(deviations).standardError()
	return max(1, n*error*error/(squares/n))
}
