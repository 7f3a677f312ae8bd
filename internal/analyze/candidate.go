package analyze

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"ebscope/internal/ebs"
	"ebscope/internal/model"
	"ebscope/internal/units"
)

// LikelyFit is the fit from which a candidate counts as an explanation.
const LikelyFit = 0.5

const (
	// fits is how far a level may lie from a limit that would explain it, as a share: closer than near, since nothing but
	// the level speaks for the limit.
	fits = 0.03
	// mostCandidates is how many are shown.
	mostCandidates = 5
	// oneAtATime is the number of I/Os in flight up to which latency alone sets the rate.
	oneAtATime = 1.5
)

// plateau is a level as the limits count it: with what ran beside it.
type plateau struct {
	iops float64
	ops  func(ebs.Type) float64 // operations a second on a volume of a type
	data units.Throughput
}

func (r reader) plateau(iops float64) plateau {
	return plateau{
		iops: iops / r.beside.ios, ops: func(t ebs.Type) float64 { return iops / r.beside.ios * r.operationsOf(t) },
		data: units.Throughput(iops / r.beside.bytes * float64(r.subject.phase.BlockSize)),
	}
}

// steadyLevel is the level that a reading held but for stalls; zero where it held none, or fell from it.
func steadyLevel(p Phase, c course) float64 {
	switch {
	case p.Cliff != nil, p.Verdict == Unstable && (len(p.Stalls) == 0 || !c.levelButForStalls()):
		return 0
	case p.WarmUp != nil:
		return p.WarmUp.SteadyIOPS
	default:
		return mainLevel(c)
	}
}

// explain looks for volumes and instances that would explain the levels, and says what follows from them. level is the
// one that a series held, zero where there is none.
func (r reader) explain(p *Phase, level float64) {
	rate := p.IOPS.Mean
	if r.total.iops > 0 {
		rate = r.total.iops
	}
	if rate == 0 {
		return
	}
	if text := r.aboveAny(rate); text != "" {
		p.Warnings = append(p.Warnings, warning("above-any-volume", "%s", text))
		p.Summary = text
		return
	}
	switch {
	case p.Cliff != nil:
		p.Candidates = r.ofFall(*p.Cliff)
	case r.paced(rate):
		p.Summary += fmt.Sprintf(" The application kept to its own rate (%s).", r.pace.text)
		return
	case r.unhurried() != "":
		p.Summary += " " + r.unhurried() + ", so that it tells of no limit."
		return
	case r.inFlight > 0 && r.inFlight/r.beside.ios <= oneAtATime:
		p.Summary += " One I/O at a time: latency set the rate, so that it tells of no limit."
		return
	default:
		if level > 0 {
			p.Candidates = r.ofLevel(level)
		} else if len(p.Segments) == 0 {
			p.Candidates = r.ofMean(rate)
		}
	}
	if p.Candidates = r.notOfOne(p.Candidates); p.Candidates == nil {
		p.Candidates = []Candidate{} // none, which is no null
	}
	slices.SortStableFunc(p.Candidates, func(a, b Candidate) int { return cmp.Compare(b.Fit, a.Fit) })
	if len(p.Candidates) > mostCandidates {
		p.Candidates = p.Candidates[:mostCandidates]
	}
	r.believe(p)
}

// believe takes the best candidate for the cause of a fall, unless one of another cause fits about as well.
func (r reader) believe(p *Phase) {
	if len(p.Candidates) == 0 {
		return
	}
	best := p.Candidates[0]
	if len(p.Segments) == 0 {
		p.Summary += fmt.Sprintf(" It may be %s.", best.Configuration)
		return
	}
	if best.Fit < LikelyFit {
		return
	}
	if p.Cliff == nil {
		p.Summary += fmt.Sprintf(" It fits %s.", best.Configuration)
		return
	}
	for _, other := range p.Candidates[1:] {
		if other.Cause != best.Cause && other.Fit > best.Fit-0.1 {
			p.Summary = fmt.Sprintf("%s for %s, then %s: it fits %s, and %s as well.",
				r.rate(p.Cliff.BeforeIOPS), r.time(p.Cliff.AtS), r.rate(p.Cliff.AfterIOPS), best.Configuration, other.Configuration)
			return
		}
	}
	p.Cliff.Cause, p.Burst, p.Verdict = best.Cause, best.Cause, BurstThenBaseline
	p.Summary = r.fitting(*p.Cliff, best)
}

// fitting says what explains a fall.
func (r reader) fitting(c Cliff, best Candidate) string {
	return fmt.Sprintf("%s for %s, then %s: it fits %s.", r.rate(c.BeforeIOPS), r.time(c.AtS), r.rate(c.AfterIOPS), best.Configuration)
}

// aboveAny says that a rate is more than any single volume delivers; "" where it is not.
func (r reader) aboveAny(iops float64) string {
	var most units.IOPS
	var data units.Throughput
	for _, t := range r.catalog.VolumeTypes() {
		most, data = max(most, t.IOPS.Max, t.IOPS.Burst), max(data, t.Throughput.Max)
		for _, line := range t.Throughput.ByIOPS {
			data = max(data, line.Max)
		}
	}
	switch n := units.IOPS(max(1, len(r.members))); {
	case r.plateau(iops).ops(ebs.IO2) > float64(most*n)*(1+near):
		return fmt.Sprintf("%s IOPS are more than any EBS volume has (%v): local storage, several volumes, a cache, or blocks that were never written.", amount(r.plateau(iops).iops), most)
	case float64(r.plateau(iops).data) > float64(data)*float64(n)*(1+near):
		return fmt.Sprintf("%v are more than any EBS volume has (%v): local storage, several volumes, a cache, or blocks that were never written.", r.plateau(iops).data, data)
	}
	return ""
}

// ofFall returns what would explain a fall from one level to another.
func (r reader) ofFall(c Cliff) (all []Candidate) {
	before, after := r.plateau(c.BeforeIOPS), r.plateau(c.AfterIOPS)
	for _, t := range r.catalog.VolumeTypes() {
		switch {
		case t.IOPS.Credits > 0:
			all = append(all, creditsFall(r.catalog, t, before, after, c.AtS)...)
		case t.Throughput.PerTiB.Credits > 0:
			all = append(all, dataFall(t, before, after)...)
		}
	}
	return append(all, r.instanceFall(before, after, c.AtS)...)
}

// creditsFall explains a fall by I/O credits: what is left is the baseline of a size, and what was spent until the fall is
// no more than a full bucket.
func creditsFall(catalog *ebs.Catalog, t ebs.VolumeType, before, after plateau, at float64) []Candidate {
	high, low := before.ops(t.Type), after.ops(t.Type)
	if low < float64(t.IOPS.Min)*(1-near) || low >= float64(t.IOPS.Burst) || high > float64(t.IOPS.Burst)*(1+near) {
		return nil
	}
	size := roundSize(low / float64(t.IOPS.PerGiB))
	config := ebs.Volume{Type: t.Type, Size: size}
	name := config.String()
	formula := fmt.Sprintf("%s IOPS ÷ %g per GiB = %s GiB", amount(low), float64(t.IOPS.PerGiB), units.Thousands(size.GiB()))
	if low <= float64(t.IOPS.Min)*(1+fits) {
		config.Size = units.Bytes(t.IOPS.Min/t.IOPS.PerGiB) * units.GiB
		name = fmt.Sprintf("%s of at most %.0f GiB", t.Type, config.Size.GiB())
		formula = fmt.Sprintf("%s IOPS is the least that the type has", amount(float64(t.IOPS.Min)))
	}
	if catalog.Validate(config) != nil || before.data > catalog.Performance(config).Throughput*(1+near) {
		return nil
	}
	spent := (high - low) * at
	filled := spent / float64(t.IOPS.Credits)
	if filled > 1+near {
		return nil
	}
	fit := 0.95
	timing := fmt.Sprintf("a bucket of %s credits is empty after %s", units.Thousands(float64(t.IOPS.Credits)), duration(float64(t.IOPS.Credits)/(high-low)))
	if filled < 1-near {
		fit = 0.8
		timing = fmt.Sprintf("after %s it had spent %s credits, %.0f %% of a full bucket, which it must have started with", duration(at), units.Thousands(spent), 100*filled)
	}
	if math.Abs(high/float64(t.IOPS.Burst)-1) > fits {
		fit -= 0.15 // the burst was not used in full
	}
	return []Candidate{{Configuration: name, Type: string(t.Type), Cause: GP2Credits, Fit: fit, Text: formula + "; " + timing + "."}}
}

// dataFall explains a fall by the data credits of a hard disk: both levels are in proportion to one size.
func dataFall(t ebs.VolumeType, before, after plateau) []Candidate {
	rule := t.Throughput.PerTiB
	tib := float64(after.data / rule.Baseline)
	burst := min(float64(rule.Burst)*tib, float64(t.Throughput.Max))
	size, fit := roundSize(tib*1024), 0.65
	if whole := math.Round(tib); whole > 0 && math.Abs(tib/whole-1) <= fits/2 {
		size, fit = units.Bytes(whole)*units.TiB, 0.8
	}
	if size < t.MinSize || size > t.MaxSize || math.Abs(float64(before.data)/burst-1) > fits {
		return nil
	}
	config := ebs.Volume{Type: t.Type, Size: size}
	burst = min(float64(rule.Burst)*size.GiB()/1024, float64(t.Throughput.Max))
	return []Candidate{{Configuration: config.String(), Type: string(t.Type), Cause: HDDCredits, Fit: fit,
		Text: fmt.Sprintf("%v ÷ %v per TiB = %.1f TiB; a volume of this size bursts to %v.", after.data, rule.Baseline, tib, units.Throughput(burst))}}
}

// instanceFall explains a fall by the burst of an instance: the levels are the two that it has, and the time until the
// fall is no more than its burst lasts.
func (r reader) instanceFall(before, after plateau, at float64) []Candidate {
	type pair struct{ high, low float64 }
	named := map[pair][]string{}
	texts := map[pair]string{}
	lasting := model.InstanceBurst.Seconds()
	for _, i := range r.instances {
		add := func(high, low, burst, base float64, text func() string) {
			spent := (high - low) * at / max(1, (burst-base)*lasting)
			if base < burst && math.Abs(high/burst-1) <= fits && math.Abs(low/base-1) <= fits && spent <= 1+near {
				key := pair{burst, base}
				named[key], texts[key] = append(named[key], i.Type), text()
			}
		}
		ops := func(p plateau) float64 { return p.ops(ebs.GP3) }
		add(ops(before), ops(after), float64(i.MaximumIOPS), float64(i.BaselineIOPS), func() string {
			return fmt.Sprintf("%v for %s, then %v", i.MaximumIOPS, duration(lasting), i.BaselineIOPS)
		})
		add(float64(before.data), float64(after.data), float64(i.MaximumThroughput), float64(i.BaselineThroughput), func() string {
			return fmt.Sprintf("%s MB/s for %s, then %s MB/s", amount(i.MaximumThroughput.MBps()), duration(lasting), amount(i.BaselineThroughput.MBps()))
		})
	}
	var all []Candidate
	for key, names := range named {
		fit := 0.6
		if math.Abs(at/lasting-1) <= near {
			fit = 0.9 // a full burst, spent at once
		}
		all = append(all, Candidate{Configuration: "the EBS burst of " + list(names, 3), Type: names[0], Cause: InstanceBurst, Fit: fit,
			Text: fmt.Sprintf("The instance has %s; the fall came after %s.", texts[key], duration(at))})
	}
	slices.SortFunc(all, func(a, b Candidate) int { return cmp.Compare(a.Type, b.Type) })
	return all
}

// roundSize is a size in whole GiB, a round one where that is as near as a level can tell.
func roundSize(gib float64) units.Bytes {
	for _, step := range []float64{500, 100, 50, 10} {
		if round := math.Round(gib/step) * step; round > 0 && math.Abs(gib/round-1) <= 0.01 {
			return units.Bytes(round) * units.GiB
		}
	}
	return units.Bytes(max(1, math.Round(gib))) * units.GiB
}

// usual returns the round figure that people choose which is nearest, and whether the given one is so close that chance
// would rarely put it there: round figures lie a tenth apart or more.
func usual(x float64) (round float64, ok bool) {
	power := math.Pow(10, math.Floor(math.Log10(max(x, 1))))
	best := math.Inf(1)
	for _, digits := range []float64{1, 1.2, 1.5, 1.6, 2, 2.5, 3, 4, 5, 6, 7, 8, 9, 10} {
		if off := math.Abs(x/(digits*power) - 1); off < best {
			best, round = off, digits*power
		}
	}
	return round, best <= 0.005
}
