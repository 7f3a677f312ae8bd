package analyze

import (
	"fmt"
	"math"

	"ebscope/internal/ebs"
	"ebscope/internal/units"
)

// fixed is how far a mean may lie from a documented limit, as a share.
const fixed = 0.02

// ofMean returns the documented limits that a mean without a series is close to: those that are the same for everybody, and
// no size, provisioned figure or instance, of which some fit any number. None of them counts as likely.
func (r reader) ofMean(iops float64) []Candidate {
	l := r.plateau(iops)
	var all []Candidate
	for _, t := range r.catalog.VolumeTypes() {
		l.burst(t, r.total.runtime.Seconds(), &all)
		l.fixedIOPS(t, &all)
		l.fixedThroughput(t, &all)
	}
	if r.given.Instance != nil { // the catalog has so many that one of them fits any number
		all = append(all, r.ofInstance(l)...)
	}
	var kept []Candidate
	for _, c := range all {
		c.Fit *= LikelyFit
		kept = append(kept, c)
	}
	return kept
}

// fixedIOPS explains a mean by what every volume of a type has, or the most that any has.
func (l plateau) fixedIOPS(t ebs.VolumeType, all *[]Candidate) {
	for _, limit := range []struct {
		iops units.IOPS
		what string
		fit  float64
	}{{t.IOPS.Included, "%s with %v, which are included", 0.95}, {t.IOPS.Max, "%s with %v, the most that it has", 0.6}} {
		if off := math.Abs(l.ops(t.Type)/float64(limit.iops) - 1); limit.iops > 0 && off <= fixed {
			*all = append(*all, Candidate{Configuration: fmt.Sprintf(limit.what, t.Type, limit.iops), Type: string(t.Type), Fit: limit.fit * (1 - off/fits/2),
				Text: fmt.Sprintf("%s IOPS are within %.1f %% of it.", amount(l.ops(t.Type)), 100*off)})
		}
	}
}

// fixedThroughput does so by throughput.
func (l plateau) fixedThroughput(t ebs.VolumeType, all *[]Candidate) {
	type limit struct {
		data units.Throughput
		name string
		fit  float64
	}
	limits := []limit{
		{t.Throughput.Included, fmt.Sprintf("%s with %v, which are included", t.Type, t.Throughput.Included), 0.95},
		{t.Throughput.Max, fmt.Sprintf("%s with %v, the most that it has", t.Type, t.Throughput.Max), 0.6},
	}
	var from units.Bytes
	for _, s := range t.Throughput.BySize {
		name := fmt.Sprintf("%s up to %v", t.Type, s.UpTo)
		if from > 0 {
			name = fmt.Sprintf("%s above %v", t.Type, from)
		}
		limits, from = append(limits, limit{s.Limit, name, 0.9}), s.UpTo
	}
	for i, limit := range limits {
		off := math.Abs(float64(l.data/limit.data) - 1)
		if limit.data == 0 || off > fixed || i == 1 && len(t.Throughput.BySize) > 0 {
			continue
		}
		*all = append(*all, Candidate{Configuration: limit.name, Type: string(t.Type), Fit: limit.fit * (1 - off/fits/2),
			Text: fmt.Sprintf("%v are within %.1f %% of its %v.", l.data, 100*off, limit.data)})
	}
}
