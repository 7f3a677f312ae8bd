package analyze

import (
	"cmp"
	"slices"

	"ebscope/internal/ebs"
	"ebscope/internal/result"
	"ebscope/internal/units"
)

// ThroughputChange is one level of throughput giving way to another, where the size of an I/O is not known.
type ThroughputChange struct {
	AtS         float64 `json:"at_s"`
	BeforeMiBpS float64 `json:"before_mib_s"`
	AfterMiBpS  float64 `json:"after_mib_s"`
}

// judgeThroughput looks for a fall where only throughput was logged, and the size of an I/O is not known. It is judged as
// a rate of I/Os of 1 MiB, against what limits throughput.
func (r reader) judgeThroughput(p *Phase) {
	samples, _ := clean(r.reading.Throughput)
	samples = during(samples, r.subject.phase.Duration)
	if len(samples) < 2 {
		return
	}
	r = r.byThroughput()
	r.subject.phase.BlockSize = units.MiB
	c := newCourse(samples)
	for i, at := range c.edges {
		p.ThroughputChanges = append(p.ThroughputChanges, ThroughputChange{at.Seconds(), c.levels[i].typical, c.levels[i+1].typical})
	}
	f, fell := findFall(c, r.ceilings)
	if !fell {
		return
	}
	p.Warnings = slices.DeleteFunc(p.Warnings, func(w result.Warning) bool { return w.Code == "no-series" })
	p.Verdict, p.Summary = r.judge(c, &f)
	if p.Verdict == BurstThenBaseline {
		p.Burst = f.cause
	}
	if r.given.Volume != nil {
		return
	}
	p.Candidates = r.notOfOne(r.ofDataFall(*r.cliff(f)))
	if len(p.Candidates) > 0 && p.Candidates[0].Fit >= LikelyFit {
		best := p.Candidates[0]
		p.Verdict, p.Burst = BurstThenBaseline, best.Cause
		p.Summary = r.fitting(*r.cliff(f), best)
		return
	}
	p.Summary += " It is no burst of an st1 or sc1 volume, nor of an instance; whether gp2 credits ended, only the size of an I/O would show."
}

// ofDataFall returns what would explain a fall from one throughput to another, the likeliest first.
func (r reader) ofDataFall(c Cliff) []Candidate {
	mib := func(rate float64) plateau {
		return plateau{ops: func(ebs.Type) float64 { return 0 }, data: units.Throughput(rate / r.beside.bytes * float64(units.MiB))}
	}
	before, after := mib(c.BeforeIOPS), mib(c.AfterIOPS)
	all := []Candidate{}
	for _, t := range r.catalog.VolumeTypes() {
		if t.Throughput.PerTiB.Credits > 0 {
			all = append(all, dataFall(t, before, after)...)
		}
	}
	all = append(all, r.instanceFall(before, after, c.AtS)...)
	slices.SortStableFunc(all, func(a, b Candidate) int { return cmp.Compare(b.Fit, a.Fit) })
	return all[:min(len(all), mostCandidates)]
}
