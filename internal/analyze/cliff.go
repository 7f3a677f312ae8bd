package analyze

import (
	"time"

	"ebscope/internal/model"
)

const (
	// leastUnexplained is the smallest fall, as a share, that counts without a known cause: latency alone drifts by less.
	leastUnexplained = 0.2
	// restless is the share of time that a phase must spend off its main level to be unstable, or below it to have
	// fallen for no known cause. The machine that runs the benchmark accounts for shorter stalls.
	restless = 0.1
)

// fall is a change to a lower level that lasts.
type fall struct {
	at     time.Duration
	before level
	after  level
	cause  Cause
}

func (f fall) drop() float64 { return 1 - f.after.typical/f.before.typical }

// findFall returns the deepest fall that lasts, and false where there is none. A stall that recovers is no fall, nor is
// the end of a short peak: but for a small share of its time, a phase lies above a fall before it and below it after.
func findFall(c course, ceilings []ceiling) (fall, bool) {
	var found fall
	deepest := 0.0
	for i, at := range c.edges {
		before, after := c.levels[i], c.levels[i+1]
		middle := (before.typical + after.typical) / 2
		depth := before.typical - after.typical
		if depth <= deepest {
			continue
		}
		below := c.held(0, i+1, func(l level) bool { return l.typical <= middle })
		above := c.held(i+1, len(c.levels), func(l level) bool { return l.typical > middle })
		lasts := below <= shortPart(at-c.start()) && above <= shortPart(c.end()-at)
		f := fall{at, before, after, causeOf(after.typical, ceilings)}
		if f.cause == UnknownCause {
			lasts = lasts && f.drop() >= leastUnexplained && c.share(at-c.start()) >= restless && c.share(c.end()-at) >= restless
		}
		if lasts {
			found, deepest = f, depth
		}
	}
	return found, deepest > 0
}

// shortPart is the part of a time that does not count.
func shortPart(d time.Duration) time.Duration { return time.Duration(restless * float64(d)) }

// causeOf names the credits whose end leaves the given level.
func causeOf(after float64, all []ceiling) Cause {
	return creditsOf(holding(after, all))
}

// creditsOf names the credits without which a ceiling holds.
func creditsOf(c ceiling) Cause {
	if c.bursting {
		return UnknownCause
	}
	switch c.limit {
	case model.VolumeBaselineIOPS:
		return GP2Credits
	case model.VolumeBaselineThroughput:
		return HDDCredits
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
			ios += f.before.typical * max(0, (f.at-s.from).Seconds())
			break
		}
		ios += s.iops * s.length()
	}
	return max(0, ios*operationsPerIO-baseline*(f.at-c.start()).Seconds())
}
