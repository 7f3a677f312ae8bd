package analyze

import (
	"fmt"
	"math"
)

// judgeCourse says what the series of a reading shows beyond what it shows of a phase: nobody knows how a foreign volume
// was prepared, or what else went on meanwhile.
func (r reader) judgeCourse(p *Phase, c course) {
	for i, at := range c.edges {
		p.Changes = append(p.Changes, Change{AtS: at.Seconds(), BeforeIOPS: c.levels[i].typical, AfterIOPS: c.levels[i+1].typical})
	}
	if i, ok := r.risen(c); ok {
		r.warmUp(p, c, i)
		return
	}
	if p.Cliff != nil {
		r.settleCause(p, c)
		return
	}
	if high, low, falls := swings(c); p.Verdict == Unstable && falls >= 2 {
		p.Summary = fmt.Sprintf("Fell from %s to %s %s and recovered in between", r.rate(high), r.rate(low), times(falls))
		if why := causeOf(low, r.ceilings); why != UnknownCause && earned(c, low) {
			p.Verdict, p.Burst = BurstThenBaseline, why
			p.Summary += ": each time " + spentWords(why) + ", and they came back while less was asked for."
		} else {
			p.Summary += ": burst credits do not come back while all that they leave is used, so something else took it for a while."
		}
	}
}

// earned says whether what was left unused of a lasting rate, from the first fall to it on, is enough for the bursts that
// follow.
func earned(c course, lasting float64) bool {
	var balance, spent, deepest float64 // in I/Os
	fallen := false
	for i, l := range c.levels {
		fallen = fallen || math.Abs(l.typical/lasting-1) < near
		if !fallen {
			continue
		}
		change := (lasting - l.typical) * c.span(i).Seconds()
		balance += change
		spent += max(0, -change)
		deepest = min(deepest, balance)
	}
	return deepest >= -restless*spent
}

// risen returns the level that a reading rose to for good, and false where there was no such rise: all but a small share
// of the time before lies below, and what follows at once does not fall back.
func (r reader) risen(c course) (to int, ok bool) {
	for i, at := range c.edges {
		before, after := c.levels[i], c.levels[i+1]
		middle := (before.typical + after.typical) / 2
		rises := after.typical >= before.typical/(1-leastChange) && c.levels[0].typical <= (1-leastUnexplained)*after.typical
		above := c.held(0, i+1, func(l level) bool { return l.typical > middle })
		below := c.held(i+1, len(c.levels), func(l level) bool { return l.typical <= middle })
		lasts := above <= shortPart(at-c.start()) && c.share(c.end()-at) >= restless && c.share(at-c.start()) >= restless/10
		// Coming back to where it began, it was a peak, unless credits are known to leave that level.
		end := c.levels[len(c.levels)-1].typical
		returns := end <= c.levels[0].typical/(1-leastUnexplained) && causeOf(end, r.ceilings) == UnknownCause
		if rises && lasts && (below <= shortPart(c.end()-at) || !returns) {
			to, ok = i+1, true
		}
	}
	return to, ok
}

// warmUp judges a reading by what it settled at.
func (r reader) warmUp(p *Phase, c course, to int) {
	at := c.edges[to-1]
	steady := course{levels: c.levels[to:], edges: c.edges[to:]}
	var before []sample
	for _, s := range append([]sample{c.first}, c.rest...) {
		switch {
		case s.to <= at:
			before = append(before, s)
		case s.from >= at:
			steady.rest = append(steady.rest, s)
		default:
			steady.first = s // holds both
		}
	}
	if steady.first.to == 0 {
		steady.first = sample{at, steady.rest[0].from, 0}
	}
	if len(before) == 0 || len(steady.rest) == 0 {
		return
	}
	p.WarmUp = &WarmUp{UntilS: at.Seconds(), IOPS: statisticsOf(before).mean, SteadyIOPS: statisticsOf(steady.rest).mean}
	p.Cliff, p.Burst = nil, ""
	r.conclude(p, steady)
	rose := fmt.Sprintf("%s on average for the first %s, a warm-up", r.rate(p.WarmUp.IOPS), r.time(at.Seconds()))
	p.Summary = rose + "; from then on: " + p.Summary
	p.Warnings = append(p.Warnings, warning("warm-up",
		"IOPS rose from %s to %s: blocks restored from a snapshot are slow at their first touch, and so is what was never written. The mean of all, %s, is neither.",
		r.number(c.levels[0].typical), r.rate(p.WarmUp.SteadyIOPS), r.rate(p.IOPS.Mean)))
}

// settleCause decides between the volume's credits and the instance's burst where the level after the fall fits both: the
// credits that must have been spent until then may be more than one of them ever has.
func (r reader) settleCause(p *Phase, c course) {
	var all []ceiling
	for _, x := range r.ceilings {
		if creditsOf(x) != UnknownCause && math.Abs(p.Cliff.AfterIOPS/x.iops-1) < near {
			all = append(all, x)
		}
	}
	if len(all) < 2 {
		return
	}
	f, fell := findFall(c, r.ceilings)
	if !fell {
		return
	}
	var possible []Cause
	for _, x := range all {
		why := creditsOf(x)
		if why == GP2Credits && inferredCredits(c, f, r.operations, float64(r.perf.Baseline)) > (1+near)*float64(r.perf.Credits) {
			continue
		}
		if why == InstanceBurst && (f.before.typical/x.iops-1)*f.at.Seconds() > (1+near)*r.instanceBurst(x.limit) {
			continue
		}
		possible = append(possible, why)
	}
	switch {
	case len(possible) == 1:
		p.Cliff.Cause, p.Burst = possible[0], possible[0]
		p.Summary = fmt.Sprintf("%s for %s, then %s: %s.", r.rate(f.before.typical), r.time(f.at.Seconds()), r.rate(f.after.typical), spentWords(possible[0]))
	case len(possible) > 1:
		p.Warnings = append(p.Warnings, warning("two-causes",
			"Both the volume's credits and the instance's burst leave about %s, and both fit the time of the fall. BurstBalance of the volume and EBSIOBalance%% and EBSByteBalance%% of the instance in CloudWatch tell them apart.",
			r.rate(f.after.typical)))
	}
}

// swings returns the two levels that a course goes between, and how often it falls from the upper to the lower one; none
// where it has others. It may rest, at next to nothing.
func swings(c course) (high, low float64, falls int) {
	low = math.Inf(1)
	for _, l := range c.levels {
		high = max(high, l.typical)
	}
	rest := restless / 10 * high
	for _, l := range c.levels {
		if l.typical > rest {
			low = min(low, l.typical)
		}
	}
	middle := (high + low) / 2
	for i := range c.edges {
		if after := c.levels[i+1].typical; c.levels[i].typical > middle && after <= middle && after > rest {
			falls++
		}
	}
	for _, l := range c.levels {
		upper, lower := math.Abs(l.typical-high) <= apart*high, math.Abs(l.typical-low) <= apart*low+1
		if !upper && !lower && l.typical > rest {
			return 0, 0, 0
		}
	}
	return high, low, falls
}
