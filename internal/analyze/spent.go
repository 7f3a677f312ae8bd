package analyze

import (
	"fmt"
	"time"

	"ebscope/internal/result"
)

// balance is the burst credits of a volume at the start and the end of a phase, in operations, as compressed as the
// run; nil is not known.
type balance struct{ start, end *float64 }

func balanceOf(c *result.Credits) balance {
	if c == nil {
		return balance{}
	}
	return balance{known(max(0, float64(c.Start))), known(max(0, float64(c.End)))}
}

// charged says whether it is known that a phase began with credits: with more than the volume earns in the time of the
// first samples, for any gap between two phases earns a few.
func (s subject) charged(first time.Duration) bool {
	return s.balance.start != nil && *s.balance.start > float64(s.perf.Baseline)*first.Seconds()
}

// emptied says whether it is known that the phase began with credits and ended without.
func (s subject) emptied(first time.Duration) bool {
	return s.charged(first) && s.balance.end != nil && *s.balance.end < 1
}

// spentAtOnce tells of credits that ran out before any sample could show the burst, and is "" where they did not. The
// first samples then serve much more than the level that is left, unless it is known what the phase began with.
func (s subject) spentAtOnce(c course, level float64) string {
	why, first := causeOf(level, s.ceilings), c.levels[0].from-c.start()
	spent := served(c.early()) > 2*level*first.Seconds()
	if s.balance.start != nil {
		spent = s.charged(first)
	}
	if why == UnknownCause || !spent {
		return ""
	}
	samples := "sample"
	if n := len(c.early()); n > 1 {
		samples = fmt.Sprintf("%d samples", n)
	}
	return fmt.Sprintf("Within the first %s (%s) %s, then %s remained.", samples, s.time(first.Seconds()), spentWords(why), s.rate(level))
}

func spentWords(c Cause) string {
	if c == InstanceBurst {
		return "the instance's burst was spent"
	}
	return "the burst credits were spent"
}
