package analyze

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"ebscope/internal/model"
	"ebscope/internal/units"
)

const (
	// apart is how far from the phase's main level time counts as spent off it.
	apart = leastUnexplained
	// scatter is the coefficient of variation around its levels from which a phase is unstable.
	scatter = 0.25
	// grouped is the least length of what scatter is taken from, in seconds: over less, it is the scheduling of the
	// machine that runs the benchmark that shows, not the volume.
	grouped = 0.2
)

// judge gives the verdict on a phase and says it in a sentence.
func (s subject) judge(c course, f *fall) (Verdict, string) {
	switch {
	case f != nil && f.cause != UnknownCause:
		return BurstThenBaseline, s.fell(*f)
	case f != nil:
		return Unstable, fmt.Sprintf("%s for %s, then %s: no limit that is known explains the fall.",
			s.rate(f.before.typical), s.time(f.at.Seconds()), s.rate(f.after.typical))
	}
	verdict, text := s.judgeLevels(c)
	switch spent := s.emptied(c.first.to); {
	case spent && verdict == Unstable: // without a fall there is no baseline after a burst to speak of
		return Unstable, fmt.Sprintf("%s on average: the burst credits were spent, but the samples show no single fall.", s.rate(statisticsOf(c.rest).mean))
	case spent && verdict == BurstOnly:
		return BurstThenBaseline, fmt.Sprintf("%s on average: the burst credits were spent so late that the samples show no fall.", s.rate(statisticsOf(c.rest).mean))
	}
	return verdict, text
}

// judgeLevels gives the verdict on a phase without a fall.
func (s subject) judgeLevels(c course) (Verdict, string) {
	switch {
	case offLevel(c) >= restless && s.restored:
		return Unstable, s.wandered(c) + " as blocks came from the snapshot."
	case offLevel(c) >= restless:
		return Unstable, s.wandered(c) + ", which no limit that is known explains."
	}
	level, plain := mainLevel(c), statisticsOf(c.settled())
	if scatterOf(c) > scatter || math.Abs(plain.mean-level) > apart*plain.mean {
		return Unstable, fmt.Sprintf("%s on average, but samples lie between %s and %s.", s.rate(plain.mean), s.number(plain.min), s.rate(plain.max))
	}
	if text := s.borrowed(level); text != "" {
		return BurstOnly, text
	}
	if text := s.spentAtOnce(c, level); text != "" {
		return BurstThenBaseline, text
	}
	return s.judgeSteady(level)
}

// judgeShort speaks of a phase without a series, from its mean alone. That is no verdict, unless credits are known to
// have run out.
func (s subject) judgeShort(total totals, window time.Duration) (Verdict, string) {
	switch text := s.rate(total.iops) + " on average"; {
	case s.emptied(total.runtime):
		return BurstThenBaseline, text + ": the burst credits were spent, but there are too few samples to show when."
	case total.runtime < 2*window:
		return "", text + ": the phase is too short to show a level."
	default:
		return "", text + ": without a series, no level can be seen."
	}
}

// judgeSteady gives the verdict on a phase that holds one level and lives on no credits, as far as is known.
func (s subject) judgeSteady(level float64) (Verdict, string) {
	if len(s.ceilings) == 0 {
		return "", fmt.Sprintf("%s throughout.", s.rate(level))
	}
	if text := s.unclear(level); text != "" {
		return "", fmt.Sprintf("%s throughout: %s", s.rate(level), text)
	}
	h := holding(level, s.ceilings)
	if rate := float64(s.phase.RateIOPS); rate > 0 && math.Abs(level/rate-1) < near {
		return Sustained, fmt.Sprintf("%s throughout: no limit was reached, the application keeps to its own rate.", s.rate(level))
	}
	if h.limit == model.QueueDepth && s.phase.ThinkTime > 0 {
		return Sustained, fmt.Sprintf("%s throughout: no limit was reached, %s, latency and think time set the rate.", s.rate(level), count(s.phase.Jobs, "job"))
	}
	if h.limit == model.QueueDepth {
		return Sustained, fmt.Sprintf("%s throughout: no limit was reached, %s and latency set the rate.", s.rate(level), s.depth())
	}
	return Sustained, fmt.Sprintf("%s throughout, held by the %s.", s.rate(level), limitWords[h.limit])
}

// depth says how many I/Os are in flight.
func (s subject) depth() string {
	switch stated := float64(s.phase.Outstanding()); {
	case s.inFlight > 0 && stated > 2*s.inFlight: // an engine that waits for each I/O leaves the queue empty
		return fmt.Sprintf("about %s outstanding of the %s that are stated (Little's law)", amount(s.inFlight), amount(stated))
	case stated > 0:
		return fmt.Sprintf("queue depth %d", s.phase.Outstanding())
	case s.inFlight > 0:
		return fmt.Sprintf("about %s outstanding (Little's law)", amount(s.inFlight))
	case s.phase.QueueDepth > 0: // of an unknown number of jobs
		return fmt.Sprintf("queue depth %d", s.phase.QueueDepth)
	default:
		return "an unknown queue depth"
	}
}

func (s subject) fell(f fall) string {
	return fmt.Sprintf("%s for %s, then %s: %s.", s.rate(f.before.typical), s.time(f.at.Seconds()), s.rate(f.after.typical), spentWords(f.cause))
}

func (s subject) wandered(c course) string {
	low, high := math.Inf(1), 0.0
	for _, l := range c.levels {
		low, high = min(low, l.typical), max(high, l.typical)
	}
	return fmt.Sprintf("Between %s and %s: the level changed %s",
		s.number(low), s.rate(high), times(len(c.edges)))
}

// borrowed says that a level is above what can be held for ever, and for how long it can be; "" where it is not.
func (s subject) borrowed(level float64) string {
	lasting := sustainable(s.ceilings)
	switch {
	case level <= lasting.iops*(1+near) && !s.spending(level, lasting):
		return ""
	case lasting.limit == model.VolumeBaselineIOPS && s.perf.Bursts():
		spent := level*s.operations - float64(s.perf.Baseline) // credits a second
		full := float64(s.perf.Credits) / spent
		text := fmt.Sprintf("%s on burst credits to the end: at this rate a full bucket lasts %s, then %s remain",
			s.rate(level), duration(full), s.below(lasting.iops, level))
		if s.balance.end != nil {
			text += fmt.Sprintf("; what was left lasts %s", duration(*s.balance.end*s.compress/spent))
		}
		return text + "."
	case lasting.limit == model.VolumeBaselineThroughput:
		spent := level*s.data - float64(s.perf.BaselineThroughput) // bytes a second
		return fmt.Sprintf("%s on burst credits to the end: at this rate a full bucket lasts %s, then %s remain.",
			s.rate(level), duration(float64(s.perf.DataCredits)/spent), s.rate(lasting.iops))
	case s.instance != nil && !lasting.bursting && (lasting.limit == model.InstanceIOPS || lasting.limit == model.InstanceThroughput):
		full := s.instanceBurst(lasting.limit) / (s.timesBaseline(lasting.limit, level) - 1)
		return fmt.Sprintf("%s on the burst of the %s instance to the end: at this rate it lasts %s from full, then %s remain.",
			s.rate(level), s.instance.Type, duration(full), s.rate(lasting.iops))
	default:
		return "" // above what any limit allows: a warning says so
	}
}

// instanceBurst is the capacity of an instance's burst bucket in seconds of its baseline.
func (s subject) instanceBurst(limit model.Limit) float64 {
	return (s.maximum(limit) - 1) * model.InstanceBurst.Seconds()
}

// maximum is that of the instance as a multiple of its baseline.
func (s subject) maximum(limit model.Limit) float64 {
	if limit == model.InstanceThroughput {
		return float64(s.whole.MaximumThroughput / s.whole.BaselineThroughput)
	}
	return float64(s.whole.MaximumIOPS / s.whole.BaselineIOPS)
}

// timesBaseline is what all that runs on the instance uses of a limit of it, as a multiple of its baseline, while the phase
// holds a level: the phase has as much of all as it has of the maximum.
func (s subject) timesBaseline(limit model.Limit, level float64) float64 {
	for _, c := range s.ceilings {
		if c.limit == limit && c.bursting {
			return level / c.iops * s.maximum(limit)
		}
	}
	return 0
}

// mainLevel is the level at half of the time, in order of height.
func mainLevel(c course) float64 {
	order := make([]int, len(c.levels))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(c.levels[i].typical, c.levels[j].typical) })
	left := (c.end() - c.start()) / 2
	for _, i := range order {
		if left -= c.span(i); left <= 0 {
			return c.levels[i].typical
		}
	}
	return c.levels[order[len(order)-1]].typical
}

// offLevel is the share of time that a phase spent off its main level.
func offLevel(c course) float64 {
	if len(c.levels) == 0 {
		return 0
	}
	main := mainLevel(c)
	var off float64
	for i, l := range c.levels {
		if math.Abs(l.typical-main) > apart*main {
			off += c.share(c.span(i))
		}
	}
	return off
}

// scatterOf is the coefficient of variation of the samples around their levels, less what counting whole I/Os makes.
func scatterOf(c course) float64 {
	var variance, groups float64
	for _, l := range c.levels {
		var part []sample
		for i, s := range l.samples {
			part = append(part, s)
			if length := seconds(part); length >= grouped || i == len(l.samples)-1 {
				whole := 1 / length / max(l.typical, 1/length)
				off := (served(part)/length - l.typical) / max(l.typical, 1/length)
				variance += max(0, off*off-whole*whole)
				groups++
				part = part[:0]
			}
		}
	}
	return math.Sqrt(variance / max(1, groups))
}

var limitWords = map[model.Limit]string{
	model.VolumeBurstIOPS:          "volume's burst IOPS",
	model.VolumeBaselineIOPS:       "volume's baseline IOPS",
	model.VolumeIOPS:               "volume's provisioned IOPS",
	model.VolumeThroughput:         "volume's throughput",
	model.VolumeBaselineThroughput: "volume's baseline throughput",
	model.InstanceIOPS:             "instance's IOPS",
	model.InstanceThroughput:       "instance's throughput",
}

// largeBlock is the I/O size from which people speak of throughput.
const largeBlock = 128 * units.KiB

// number prints a rate without its unit; see rate.
func (s subject) number(iops float64) string {
	if s.phase.BlockSize >= largeBlock {
		return amount(iops * s.phase.BlockSize.MiB())
	}
	return amount(iops)
}

// rate prints a rate as IOPS, or as MiB/s where the blocks are large.
func (s subject) rate(iops float64) string {
	if s.phase.BlockSize >= largeBlock {
		return s.number(iops) + " MiB/s"
	}
	return s.number(iops) + " IOPS"
}

// below prints a rate like rate, with a decimal more where it would read like the one above it.
func (s subject) below(iops, above float64) string {
	if text := s.rate(iops); text != s.rate(above) || s.phase.BlockSize < largeBlock {
		return text
	}
	return strconv.FormatFloat(iops*s.phase.BlockSize.MiB(), 'f', 1, 64) + " MiB/s"
}

// time prints a length of time of the run as the volume's own: uncompressed.
func (s subject) time(seconds float64) string { return duration(seconds * s.compress) }
