package analyze

import (
	"slices"
	"time"
)

// level is a stretch of samples around one value. The mixed samples at its ends, which a change falls into, belong to none.
type level struct {
	from, to time.Duration
	statistics
	samples []sample
}

// course is a series taken apart: what is set apart of it, its levels, and the instants at which one follows another.
type course struct {
	first  sample   // holds the one-off burst of the rate bucket
	rest   []sample // all the others
	levels []level
	edges  []time.Duration // edges[i] lies between levels[i] and levels[i+1]
}

// newCourse analyzes samples, of which there must be one at least.
func newCourse(samples []sample) course {
	c := course{first: samples[0], rest: samples[1:]}
	if len(c.rest) == 0 {
		return c
	}
	values := make([]float64, len(c.rest))
	for i, s := range c.rest {
		values[i] = s.iops
	}
	at := changes(values, c.quantum())
	bounds := append(append([]int{0}, at...), len(c.rest))
	middles := make([]float64, len(bounds)-1)
	for i := range middles {
		middles[i] = median(values[bounds[i]:bounds[i+1]])
	}
	for i := range middles {
		from, to := bounds[i], bounds[i+1]
		if i > 0 && to-from > 1 && mixed(values[from], middles[i], middles[i-1]) {
			from++
		}
		if i+1 < len(middles) && to-from > 1 && mixed(values[to-1], middles[i], middles[i+1]) {
			to--
		}
		part := c.rest[from:to]
		c.levels = append(c.levels, level{part[0].from, part[len(part)-1].to, statisticsOf(part), part})
	}
	for i, m := range at {
		c.edges = append(c.edges, edge(c.rest[m-1], c.rest[m], c.levels[i].mean, c.levels[i+1].mean))
	}
	return c
}

// quantum is what one I/O more in a sample adds to its IOPS.
func (c course) quantum() float64 { return float64(len(c.rest)) / seconds(c.rest) }

func (c course) start() time.Duration { return c.first.from }

func (c course) end() time.Duration {
	if len(c.rest) == 0 {
		return c.first.to
	}
	return c.rest[len(c.rest)-1].to
}

// span is the time for which level i holds, from edge to edge. The first level's takes in the first sample.
func (c course) span(i int) time.Duration {
	from, to := c.start(), c.end()
	if i > 0 {
		from = c.edges[i-1]
	}
	if i < len(c.edges) {
		to = c.edges[i]
	}
	return to - from
}

// mean over levels from to to−1, weighted with the time for which they hold.
func (c course) mean(from, to int) float64 {
	var sum, time float64
	for i := from; i < to; i++ {
		span := c.span(i).Seconds()
		sum, time = sum+c.levels[i].mean*span, time+span
	}
	if time == 0 {
		return c.levels[from].mean
	}
	return sum / time
}

// mixed says whether a sample at the end of a level holds a part of the next one.
func mixed(value, own, other float64) bool {
	part := (value - own) / (other - own)
	return part > 0.1 && part <= 1
}

// edge is the instant between two samples at which one level gave way to the next, so that both together give the I/Os
// that were served: a sample that holds both tells the instant to a fraction of its length.
func edge(a, b sample, before, after float64) time.Duration {
	if before == after {
		return b.from
	}
	whole := (b.to - a.from).Seconds()
	part := (served([]sample{a, b}) - after*whole) / (before - after)
	return a.from + time.Duration(min(max(part, 0), whole)*float64(time.Second))
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
