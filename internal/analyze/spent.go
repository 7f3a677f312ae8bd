package analyze

import (
	"fmt"
	"math"
	"time"

	"ebscope/internal/model"
	"ebscope/internal/result"
	"ebscope/internal/units"
)

// balance is the burst credits of a volume at the start and the end of a phase, in operations, as compressed as the
// run; nil is not known.
type balance struct{ start, end *float64 }

func balanceOf(c *result.Credits) balance {
	if c == nil {
		return balance{}
	}
	// A millionth of a credit is what the arithmetic leaves.
	whole := func(x float64) *float64 { return known(math.Round(max(0, x)*1e6) / 1e6) }
	return balance{whole(float64(c.Start)), whole(float64(c.End))}
}

// charged says whether it is known that a phase began with credits: with more than the volume earns in the time of the
// first samples, for any gap between two phases earns a few.
func (s subject) charged(first time.Duration) bool {
	return s.balance.start != nil && *s.balance.start > float64(s.perf.Baseline)*first.Seconds()
}

// emptied says whether it is known that the phase began with credits and ended without.
func (s subject) emptied(first time.Duration) bool {
	return s.charged(first) && s.balance.end != nil && *s.balance.end < s.remainder()
}

// remainder is what may be left in a bucket that ran out: less than an I/O takes. Of a stripe it is also what the others
// earn while all that is in flight waits for one of its volumes.
func (s subject) remainder() float64 {
	if s.striped {
		return max(1, s.operations*float64(s.phase.Outstanding()))
	}
	return max(1, s.operations)
}

// resolution is how far two limits must lie apart, as a share, to be told apart by a measurement.
const resolution = 0.01

// burst is the ceiling that credits lift a volume to, and true, where it lies so near above the baseline that a level could
// be taken for either.
func (s subject) burst(lasting ceiling) (ceiling, bool) {
	if lasting.limit != model.VolumeBaselineIOPS || !s.perf.Bursts() {
		return ceiling{}, false
	}
	for _, c := range s.ceilings {
		if c.bursting && c.iops > lasting.iops && c.iops <= lasting.iops*(1+near) && c.iops <= highest(s.ceilings) {
			return c, true
		}
	}
	return ceiling{}, false
}

// spending says that a level near the baseline is above it, on credits: by the balance where that is known, else because
// it is that of a burst which a measurement tells from the baseline.
func (s subject) spending(level float64, lasting ceiling) bool {
	if b := s.balance; b.start != nil && b.end != nil {
		spent := (level*s.operations - float64(s.perf.Baseline)) * s.phase.Duration.Seconds()
		inFlight := s.operations * float64(s.phase.Outstanding())
		return lasting.limit == model.VolumeBaselineIOPS && s.perf.Bursts() &&
			*b.end < *b.start && *b.end >= s.remainder() && spent > max(1, inFlight)
	}
	burst, near := s.burst(lasting)
	return near && burst.iops > lasting.iops*(1+resolution) && holding(level, s.ceilings) == burst
}

// unclear says that a level may or may not be spending credits, because the balance is not known and the burst is as near to
// the baseline as what can be measured; "" where that is clear.
func (s subject) unclear(level float64) string {
	lasting := sustainable(s.ceilings)
	burst, alike := s.burst(lasting)
	if s.balance.end != nil || !alike || burst.iops > lasting.iops*(1+resolution) ||
		level < lasting.iops*(1-resolution) || level > lasting.iops*(1+near) {
		return ""
	}
	earned := float64(s.perf.Baseline)
	spent := burst.iops*s.operations - earned
	return fmt.Sprintf("whether it spends credits cannot be measured, for the %s allows %s operations a second and the baseline %s. If it does, a full bucket lasts %s.",
		limitWords[burst.limit], units.Thousands(earned+spent), units.Thousands(earned), duration(float64(s.perf.Credits)/spent))
}

// spentAtOnce tells of credits that ran out before any sample could show the burst, and is "" where they did not. The
// first samples then serve much more than the level that is left, unless it is known what the phase began with.
func (s subject) spentAtOnce(c course, level float64) string {
	why, first := causeOf(level, s.ceilings), c.levels[0].from-c.start()
	if _, alike := s.burst(sustainable(s.ceilings)); alike {
		if !s.emptied(first) {
			return ""
		}
		return fmt.Sprintf("%s throughout: the burst credits were spent, but the burst is too near to the baseline to show when.", s.rate(level))
	}
	spent := served(c.early()) > 2*level*first.Seconds()
	if s.balance.start != nil {
		spent = s.charged(first)
	}
	if b := s.balance; b.start != nil && b.end != nil { // of a stripe, some may be left that no I/O can spend
		spent = spent && *b.start-*b.end > float64(s.perf.Baseline)*first.Seconds()
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
