package analyze

import (
	"time"

	"ebscope/internal/model"
)

// leastUnexplained is the smallest fall, as a share, that counts without a known cause: latency alone drifts by less.
const leastUnexplained = 0.2

// fall is a change to a lower level that lasts.
type fall struct {
	edge   int // index into the course's edges
	at     time.Duration
	before level
	after  level
	cause  Cause
}

func (f fall) drop() float64 { return 1 - f.after.mean/f.before.mean }

// findFall returns the deepest fall from what went before to what came after, and false where there is none. A stall
// that recovers is no fall, nor is the end of a short peak.
func findFall(c course, all []ceiling) (fall, bool) {
	var found fall
	deepest := 0.0
	for i, at := range c.edges {
		before, after := c.levels[i], c.levels[i+1]
		middle := (before.mean + after.mean) / 2
		depth := before.mean - after.mean
		lasts := c.mean(0, i+1) >= middle && c.mean(i+1, len(c.levels)) <= middle && c.levels[len(c.levels)-1].mean <= middle
		f := fall{i, at, before, after, causeOf(after.mean, all)}
		if depth > deepest && lasts && (f.cause != UnknownCause || f.drop() >= leastUnexplained) {
			found, deepest = f, depth
		}
	}
	return found, deepest > 0
}

// causeOf names the credits whose end leaves the given level.
func causeOf(after float64, all []ceiling) Cause {
	c := holding(after, all)
	if c.bursting {
		return UnknownCause
	}
	switch c.limit {
	case model.VolumeBaselineIOPS:
		return GP2Credits
	case model.InstanceIOPS, model.InstanceThroughput:
		return InstanceBurst
	default:
		return UnknownCause
	}
}

// inferredCredits is the burst balance, in operations, that a volume had at the start if its credits ended at a fall:
// what it served until then less what it earned. The first sample spends too.
func inferredCredits(c course, f fall, operationsPerIO, baseline float64) float64 {
	ios := c.first.iops * c.first.length()
	for _, s := range c.rest {
		if s.to > f.at {
			// The mixed sample, as far as it lies before the fall.
			ios += f.before.mean * max(0, (f.at-s.from).Seconds())
			break
		}
		ios += s.iops * s.length()
	}
	return max(0, ios*operationsPerIO-baseline*(f.at-c.start()).Seconds())
}
