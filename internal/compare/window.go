package compare

import (
	"math"
	"time"

	"ebscope/internal/model"
	"ebscope/internal/result"
)

// window is a stretch of a series.
type window struct {
	from, to time.Duration
	iops     float64
	latency  float64 // mean, in milliseconds; NaN: not known
}

func (w window) ios() float64 { return w.iops * (w.to - w.from).Seconds() }

// most is far above any storage; a value beyond it is damaged. It also keeps sums from overflowing.
const most = 1e12

func possible(x float64) bool { return x >= 0 && x <= most }

// windows returns the series of a run from its start, without what came after its time was over, and without what cannot be.
func (r Run) windows() []window {
	all := r.all()
	for len(all) > 0 && all[0].to <= r.start {
		all = all[1:]
	}
	if len(all) > 0 {
		all[0].from = max(all[0].from, r.start)
	}
	return all
}

// first is the end of the first sample, which holds the one-off burst of a full rate bucket: of the first window and, where
// windows are shorter than the bucket is deep, of its depth. Zero: there is no series.
func (r Run) first(compress float64) time.Duration {
	all := r.all()
	if len(all) == 0 {
		return 0
	}
	return max(all[0].to, time.Duration(float64(model.RateDepth)/max(1, compress)))
}

// all returns every window that can be.
func (r Run) all() []window {
	var all []window
	var last time.Duration
	for _, p := range r.IOPS {
		if !possible(p.Value) || p.End <= last {
			continue
		}
		if r.Duration > 0 && (last+p.End)/2 > r.Duration {
			break
		}
		all = append(all, window{from: last, to: p.End, iops: p.Value, latency: math.NaN()})
		last = p.End
	}
	join(all, r.Latency)
	return all
}

// join gives each window the latency whose time is nearest to its end, and no further away than half of it.
func join(windows []window, latency result.Series) {
	next := 0
	for i := range windows {
		w := &windows[i]
		half := (w.to - w.from) / 2
		for next < len(latency) && latency[next].End < w.to-half {
			next++
		}
		if next < len(latency) && latency[next].End <= w.to+half && possible(latency[next].Value) {
			w.latency = latency[next].Value
			next++
		}
	}
}

// steady returns the windows of the last level, none where levels are not known.
func (r Run) steady(windows []window) []window {
	if len(r.Levels) == 0 {
		return nil
	}
	from, to := r.Levels[len(r.Levels)-1].bounds(windows)
	return windows[from:to]
}

// slack is for times that were written in rounded seconds.
const slack = time.Millisecond

// bounds are the indices of the windows that lie within a level.
func (l Level) bounds(windows []window) (from, to int) {
	for from < len(windows) && windows[from].from < l.From-slack {
		from++
	}
	for to = from; to < len(windows) && windows[to].to <= l.To+slack; {
		to++
	}
	return from, to
}
