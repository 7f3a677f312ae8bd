package analyze

import (
	"math"
	"time"

	"ebscope/internal/model"
)

// level is a stretch of samples around one value. The mixed samples at its ends, which a change falls into, belong to none.
type level struct {
	from, to time.Duration
	statistics
	typical float64 // the IOPS that it holds, whatever a few samples show
	samples []sample
}

func newLevel(samples []sample, quantum float64) level {
	return level{samples[0].from, samples[len(samples)-1].to, statisticsOf(samples), typicalOf(samples, quantum), samples}
}

// course is a series taken apart: what is set apart of it, its levels, and the instants at which one follows another.
type course struct {
	first  sample   // can hold the one-off burst of the rate bucket
	rest   []sample // all the others
	levels []level
	edges  []time.Duration // edges[i] lies between levels[i] and levels[i+1]
}

// newCourse analyzes samples, of which there must be two at least.
func newCourse(samples []sample) course {
	c := course{first: samples[0], rest: samples[1:]}
	values := make([]float64, len(c.rest))
	for i, s := range c.rest {
		values[i] = s.iops
	}
	at := changes(values, c.quantum())
	bounds := append(append([]int{0}, at...), len(c.rest))
	for i := range len(bounds) - 1 {
		from, to := bounds[i], bounds[i+1]
		if i > 0 && c.mixed(from, from+1, to, values[from-1]) {
			from++
		}
		if to < len(c.rest) && c.mixed(to-1, from, to-1, values[to]) {
			to--
		}
		// A burst too short for a level of its own reaches from the first sample into the next one.
		if i == 0 && to > 2*shortest && c.mixed(0, 1, to, math.Inf(1)) {
			from++
		}
		c.levels = append(c.levels, newLevel(c.rest[from:to], c.quantum()))
	}
	for i, m := range at {
		c.edges = append(c.edges, edge(c.rest[m-1], c.rest[m], c.levels[i].typical, c.levels[i+1].typical))
	}
	return c
}

// course takes a phase's series apart. Samples shorter than the rate bucket is deep count as one until it is spent.
func (s subject) course(samples []sample) course {
	depth := model.RateDepth.Seconds() / s.compress
	n := 1
	for n < len(samples) && ((samples[n].from+samples[n].to)/2-samples[0].from).Seconds() < depth { // for the most part within it
		n++
	}
	if n == 1 || n > len(samples)/2 {
		return newCourse(samples) // one as it is, or too few to spare a second
	}
	first := sample{samples[0].from, samples[n-1].to, served(samples[:n]) / seconds(samples[:n])}
	return newCourse(append([]sample{first}, samples[n:]...))
}

// early returns the samples before the first level.
func (c course) early() []sample {
	samples := []sample{c.first}
	for _, s := range c.rest {
		if s.to > c.levels[0].from {
			break
		}
		samples = append(samples, s)
	}
	return samples
}

// settled returns the samples of all levels.
func (c course) settled() (all []sample) {
	for _, l := range c.levels {
		all = append(all, l.samples...)
	}
	return all
}

// quantum is what one I/O more in a sample adds to its IOPS.
func (c course) quantum() float64 { return float64(len(c.rest)) / (c.end() - c.first.to).Seconds() }

func (c course) start() time.Duration { return c.first.from }

func (c course) end() time.Duration { return c.rest[len(c.rest)-1].to }

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

// share is a length of time as a share of the phase.
func (c course) share(d time.Duration) float64 { return d.Seconds() / (c.end() - c.start()).Seconds() }

// held returns the time that the levels from index from to to−1 hold, of those that are such.
func (c course) held(from, to int, such func(level) bool) (total time.Duration) {
	for i := from; i < to; i++ {
		if such(c.levels[i]) {
			total += c.span(i)
		}
	}
	return total
}

// mixed says whether a sample at the end of a level holds a part of the next one: it lies further towards that one's
// nearest sample than any of the level's others, from index from to to−1, by more than two I/Os.
func (c course) mixed(at, from, to int, next float64) bool {
	if from >= to {
		return false
	}
	value, others := c.rest[at].iops, statisticsOf(c.rest[from:to])
	if next < others.mean {
		return value < others.min-2*c.quantum()
	}
	return value > others.max+2*c.quantum()
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
