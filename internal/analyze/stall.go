package analyze

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"ebscope/internal/result"
)

// Stall is a stretch in which IOPS were far below the level on both sides of it.
type Stall struct {
	FromS float64 `json:"from_s"`
	ToS   float64 `json:"to_s"`
	IOPS  float64 `json:"iops"`  // on average meanwhile
	Level float64 `json:"level"` // IOPS on the lower of its sides
}

const (
	// leastStall is the length from which a stretch is one: shorter ones are the scheduling of the machine.
	leastStall = 0.95 // seconds; fio closes windows of a second a little early
	// longStall is the length from which a stall makes a reading unstable: what lasts shorter is only told.
	longStall = 5.0 // seconds
	// standsOut is how many standard deviations a stall lies below its level.
	standsOut = 6
	// mostStalls are named one by one.
	mostStalls = 3
)

// stalls finds the stretches of a second or more below half of the level around them. Each is a level between two higher
// ones, or lies within a level.
func stalls(c course) (all []Stall) {
	around := c.around()
	from, level := -1, 0.0
	end := func(to int) {
		if from < 0 {
			return
		}
		if s := c.stall(from, to, level); s.ToS-s.FromS >= leastStall {
			all = append(all, s)
		}
		from = -1
	}
	i := 0
	for at, s := range c.rest {
		for i < len(c.edges) && (s.from+s.to)/2 >= c.edges[i] {
			i++
		}
		// Two I/Os more or less are no stall, however few there are.
		if s.iops >= around[i].typical/2 || s.iops >= around[i].typical-max(standsOut*around[i].noise, 2*c.quantum()) {
			end(at)
			continue
		}
		if from < 0 {
			from = at
		}
		level = around[i].typical
	}
	return all // what lasts to the end did not come back
}

// stall is the stretch of samples from index from to to−1 that are below half of a level. Samples shorter than the least
// stall tell its ends exactly, by how much is missing in those that hold a part of it: a second of it may fill as few as seven
// windows of 128 ms, and parts of two more. Longer ones hold no whole stall that could tell how low it was.
func (c course) stall(from, to int, level float64) Stall {
	low := c.rest[from:to]
	s := Stall{low[0].from.Seconds(), low[len(low)-1].to.Seconds(), statisticsOf(low).mean, level}
	if seconds(low)/float64(len(low)) >= leastStall {
		return s
	}
	deepest := statisticsOf(low).min
	if len(low) >= 3 { // its ends hold a part of the level
		deepest = median(low[1:len(low)-1], func(s sample) float64 { return s.iops })
	}
	// lacks is the time, in seconds, for which a sample must have been in the stall.
	lacks := func(x sample) float64 { return min(1, max(0, (level-x.iops)/(level-deepest))) * x.length() }
	s.IOPS = deepest
	s.FromS += low[0].length() - lacks(low[0])
	if len(low) > 1 {
		s.ToS -= low[len(low)-1].length() - lacks(low[len(low)-1])
	}
	if from > 0 {
		s.FromS -= lacks(c.rest[from-1])
	}
	if to < len(c.rest) {
		s.ToS += lacks(c.rest[to])
	}
	return s
}

// surrounding is the level around a stretch, and how samples scatter about it, as a standard deviation.
type surrounding struct{ typical, noise float64 }

// around returns what each level is held against: itself, or the lower of its sides where it is a gap between two that
// hold for longer.
func (c course) around() []surrounding {
	all := make([]surrounding, len(c.levels))
	for i, l := range c.levels {
		all[i] = surroundingOf(l)
	}
	for from := 1; from < len(c.levels)-1; from++ {
		for to := from; to < len(c.levels)-1; to++ {
			left, right := c.levels[from-1], c.levels[to+1]
			side := left
			if right.typical < left.typical {
				side = right
			}
			// Of up to three samples, two may hold no more than the ends of a stall.
			isLow := func(l level) bool {
				return l.typical < side.typical/2 || len(l.samples) <= shortest+1 && l.min < side.typical/2
			}
			span := c.edges[to] - c.edges[from-1]
			if c.held(from, to+1, isLow) == span && span <= (c.span(from-1)+c.span(to+1))/4 {
				for i := from; i <= to; i++ {
					all[i] = surroundingOf(side)
				}
			}
		}
	}
	return all
}

// levelButForStalls says whether all but the stalls is one level.
func (c course) levelButForStalls() bool {
	main := mainLevel(c)
	for _, s := range c.around() {
		if math.Abs(s.typical-main) > apart*main {
			return false
		}
	}
	return true
}

func surroundingOf(l level) surrounding {
	middle := median(l.samples, func(s sample) float64 { return s.iops })
	return surrounding{l.typical, 1.48 * median(l.samples, func(s sample) float64 { return math.Abs(s.iops - middle) })}
}

// tellStalls adds stalls to what a reading shows. Those that last do not let it count as sustained.
func (r reader) tellStalls(p *Phase, c course) {
	p.Stalls = stalls(c)
	if len(p.Stalls) == 0 {
		return
	}
	words := r.stallWords(p.Stalls)
	p.Warnings = append(p.Warnings, warning("stalls", "IOPS fell below half of their level, and came back: %s. The mean of all, %s, has that in it.", words, r.rate(p.IOPS.Mean)))
	p.Warnings = slices.DeleteFunc(p.Warnings, func(w result.Warning) bool { return w.Code == "unsteady" })
	if p.Cliff != nil || p.WarmUp != nil || p.Verdict == Unstable && !c.levelButForStalls() {
		return
	}
	long := func(s Stall) bool { return s.ToS-s.FromS >= longStall }
	level := r.rate(mainLevel(c))
	if p.Verdict != Unstable && !slices.ContainsFunc(p.Stalls, long) {
		p.Summary = strings.TrimSuffix(p.Summary, ".") + "; with " + words + "."
		return
	}
	p.Verdict, p.Burst = Unstable, ""
	p.Summary = fmt.Sprintf("%s, with %s.", level, words)
}

// stallWords names stalls: "a stall to 0 IOPS from 300 s to 360 s", "one second at 100 IOPS (at 41 s)".
func (r reader) stallWords(all []Stall) string {
	var words []string
	for _, s := range all[:min(mostStalls, len(all))] {
		length := time.Duration((s.ToS - s.FromS) * float64(time.Second)).Round(time.Second)
		if length == time.Second {
			words = append(words, fmt.Sprintf("one second at %s (at %.0f s)", r.rate(s.IOPS), s.FromS))
			continue
		}
		words = append(words, fmt.Sprintf("a stall to %s from %.0f s to %.0f s", r.rate(s.IOPS), s.FromS, s.ToS))
	}
	if more := len(all) - len(words); more > 0 {
		words = append(words, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(words, ", ")
}
