package analyze

import (
	"fmt"
	"slices"

	"ebscope/internal/model"
	"ebscope/internal/result"
)

// judgeAbove takes back what limits would say of a reading that is above them, since nothing of it is the volume's own. It
// says so in the place of a verdict.
func (r reader) judgeAbove(p *Phase, rate float64) {
	p.takeBack()
	p.Summary = fmt.Sprintf("%s is more than the %s that %s: a cache, never-written blocks or another volume.",
		r.rate(rate), r.rate(highest(r.ceilings)), r.able())
}

// judgeBeyond does the same for a phase of a run.
func (s subject) judgeBeyond(p *Phase, m result.Measurement) {
	if !has(p.Warnings, "above-limit") {
		return
	}
	samples, _ := clean(m.IOPS)
	rate := summary(m.Total).iops
	if samples = during(samples, s.phase.Duration); len(samples) > 1 {
		rate = mainLevel(s.course(samples))
	}
	if most := highest(s.ceilings); rate > most*(1+near) {
		p.takeBack()
		p.Summary = fmt.Sprintf("%s is more than the %s that volume and instance allow: a cache, or blocks that were never written, served the I/O.",
			s.rate(rate), s.rate(most))
	}
}

// takeBack removes what was concluded from limits.
func (p *Phase) takeBack() {
	p.Verdict, p.Burst, p.Cliff, p.LimitedBy = "", "", nil, []LimitShare{}
	p.Warnings = slices.DeleteFunc(p.Warnings, func(w result.Warning) bool { return w.Code == "burst-only" || w.Code == "two-causes" })
}

// able says whose limit is the lowest: "a gp2 volume of 100 GiB can do", "m5.large can pass on".
func (r reader) able() string {
	least := ceiling{}
	for _, c := range r.ceilings {
		if c.bursting && c.iops == highest(r.ceilings) {
			least = c
			break
		}
	}
	switch {
	case least.limit == model.InstanceIOPS, least.limit == model.InstanceThroughput:
		return r.instance.Type + " can pass on"
	case len(r.members) > 0:
		return fmt.Sprintf("%d such %s volumes can do together", len(r.members), r.given.Volume.Type)
	default:
		return fmt.Sprintf("a %s volume of %v can do", r.given.Volume.Type, r.given.Volume.Size)
	}
}

// ofAnother says that a fall which the given volume does not explain is exactly that of another one.
func (r reader) ofAnother(p *Phase) {
	if p.Cliff == nil || p.Cliff.Cause != UnknownCause || r.given.Volume == nil || len(r.members) > 0 {
		return
	}
	const exact = 0.8 // both levels and the time fit
	best := Candidate{}
	for _, c := range r.ofFall(*p.Cliff) {
		if c.Fit > best.Fit && c.Cause != InstanceBurst {
			best = c
		}
	}
	if best.Fit < exact {
		return
	}
	p.Warnings = append(p.Warnings, warning("another-volume", "The levels are those of %s, not of the %s that is given: %s", best.Configuration, r.given.Volume, best.Text))
	p.Summary += fmt.Sprintf(" The levels are those of %s: was another volume measured?", best.Configuration)
}
