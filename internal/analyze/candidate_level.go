package analyze

import (
	"fmt"
	"math"

	"ebscope/internal/ebs"
	"ebscope/internal/units"
)

// ofLevel returns what would explain a single level.
func (r reader) ofLevel(iops float64) (all []Candidate) {
	l := r.plateau(iops)
	for _, t := range r.catalog.VolumeTypes() {
		l.burst(t, r.total.runtime.Seconds(), &all)
		l.baseline(t, &all)
		l.provisioned(t, &all)
		l.bySize(t, &all)
	}
	return append(all, r.ofInstance(l)...)
}

// closeness is 1 for a level that is a limit, and falls to a half at the edge of what fits; false beyond.
func closeness(level, limit float64) (float64, bool) {
	off := math.Abs(level/limit - 1)
	return 1 - off/fits/2, off <= fits
}

// burst explains a level by the burst of a type. The time for which it held bounds the size from below.
func (l plateau) burst(t ebs.VolumeType, runtime float64, all *[]Candidate) {
	near, ok := closeness(l.ops(t.Type), float64(t.IOPS.Burst))
	if t.IOPS.Credits == 0 || !ok {
		return
	}
	most := float64(t.IOPS.Burst / t.IOPS.PerGiB)
	least := 0.0
	if runtime > 0 {
		least = math.Ceil((float64(t.IOPS.Burst) - float64(t.IOPS.Credits)/runtime) / float64(t.IOPS.PerGiB))
	}
	name, why := fmt.Sprintf("%s below %s GiB on burst credits", t.Type, units.Thousands(most)), "its size says for how long"
	if least > float64(t.IOPS.Min/t.IOPS.PerGiB) {
		name = fmt.Sprintf("%s of %s to %s GiB", t.Type, units.Thousands(least), units.Thousands(most))
		why = fmt.Sprintf("a smaller one would have run out of credits within %s", duration(runtime))
	}
	*all = append(*all, Candidate{Configuration: name, Type: string(t.Type), Cause: GP2Credits, Fit: 0.85 * near,
		Text: fmt.Sprintf("Every %s below %s GiB bursts to %v; %s.", t.Type, units.Thousands(most), t.IOPS.Burst, why)})
}

// baseline explains a level by the size of a volume whose IOPS come with it.
func (l plateau) baseline(t ebs.VolumeType, all *[]Candidate) {
	ops := l.ops(t.Type)
	if t.IOPS.PerGiB == 0 || t.IOPS.Provisioned || ops < float64(t.IOPS.Min)*(1-fits) || ops > float64(t.IOPS.Max)*(1+fits) {
		return
	}
	size := roundSize(ops / float64(t.IOPS.PerGiB))
	fit := 0.3 // every level is the baseline of some size
	if round, ok := usual(ops / float64(t.IOPS.PerGiB)); ok {
		size, fit = units.Bytes(round)*units.GiB, 0.6
	}
	if ops <= float64(t.IOPS.Min)*(1+fits) {
		fit = 0.5
	}
	config := ebs.Volume{Type: t.Type, Size: size}
	*all = append(*all, Candidate{Configuration: config.String() + " on its baseline", Type: string(t.Type), Fit: fit,
		Text: fmt.Sprintf("%s IOPS ÷ %g per GiB = %s GiB.", amount(ops), float64(t.IOPS.PerGiB), units.Thousands(size.GiB()))})
}

// provisioned explains a level by what customers usually provision: what is included, or a round figure.
func (l plateau) provisioned(t ebs.VolumeType, all *[]Candidate) {
	if !t.IOPS.Provisioned {
		return
	}
	add := func(fit float64, name, text string, args ...any) {
		*all = append(*all, Candidate{Configuration: fmt.Sprintf("%s with %s", t.Type, name), Type: string(t.Type), Fit: fit, Text: fmt.Sprintf(text, args...)})
	}
	ops := l.ops(t.Type)
	included := t.IOPS.Included
	near, ok := closeness(ops, float64(included))
	round, isUsual := usual(ops)
	off := math.Abs(ops/round - 1)
	switch {
	case included > 0 && ok:
		add(0.95*near, included.String()+", which are included", "Every %s has %v unless more are provisioned.", t.Type, included)
	case ops > float64(max(included, t.IOPS.Min)) && isUsual && round <= float64(t.IOPS.Max):
		add(0.6*(1-off/fits), fmt.Sprintf("%s provisioned IOPS", units.Thousands(round)), "%s IOPS are %s.", amount(ops), roundness(off))
	}
	if !t.Throughput.Provisioned {
		return
	}
	near, ok = closeness(float64(l.data), float64(t.Throughput.Included))
	mib, isUsual := usual(l.data.MiBps())
	off = math.Abs(l.data.MiBps()/mib - 1)
	switch {
	case ok:
		add(0.95*near, t.Throughput.Included.String()+", which are included", "Every %s has %v unless more is provisioned.", t.Type, t.Throughput.Included)
	case l.data > t.Throughput.Included && mib <= t.Throughput.Max.MiBps() && isUsual:
		add(0.6*(1-off/fits), fmt.Sprintf("%.0f MiB/s provisioned", mib), "%s MiB/s are %s.", amount(l.data.MiBps()), roundness(off))
	}
}

// bySize explains a level by a throughput that comes with the size.
func (l plateau) bySize(t ebs.VolumeType, all *[]Candidate) {
	var from units.Bytes
	for _, s := range t.Throughput.BySize {
		if near, ok := closeness(float64(l.data), float64(s.Limit)); ok {
			name := fmt.Sprintf("%s up to %v", t.Type, s.UpTo)
			if from > 0 {
				name = fmt.Sprintf("%s above %v", t.Type, from)
			}
			*all = append(*all, Candidate{Configuration: name, Type: string(t.Type), Fit: 0.9 * near, Text: fmt.Sprintf("Its throughput is %v.", s.Limit)})
		}
		from = s.UpTo
	}
	rule := t.Throughput.PerTiB
	for _, rate := range []units.Throughput{rule.Baseline, rule.Burst} {
		if rate == 0 {
			continue
		}
		tib := float64(l.data / rate)
		whole := math.Round(tib)
		if near, ok := closeness(tib, whole); ok && whole >= 1 && whole <= 16 && l.data <= t.Throughput.Max {
			*all = append(*all, Candidate{Configuration: fmt.Sprintf("%s of %.0f TiB", t.Type, whole), Type: string(t.Type), Fit: 0.35 * near,
				Text: fmt.Sprintf("%v ÷ %v per TiB = %.1f TiB.", l.data, rate, tib)})
		}
	}
}

// instanceLimit is a limit on EBS that some instances have.
type instanceLimit struct {
	what  string // baseline or burst
	iops  units.IOPS
	data  units.Throughput // where it is none on IOPS
	names []string
}

func (l instanceLimit) String() string {
	if l.iops > 0 {
		return fmt.Sprintf("%s of %v", l.what, l.iops)
	}
	return fmt.Sprintf("%s of %s MB/s", l.what, amount(l.data.MBps()))
}

// limitsOf lists the limits of instances, each once.
func limitsOf(instances []ebs.Instance) (all []instanceLimit) {
	type key struct {
		what string
		iops units.IOPS
		data units.Throughput
	}
	at := map[key]int{}
	for _, i := range instances {
		limits := []key{{"baseline", i.BaselineIOPS, 0}, {"baseline", 0, i.BaselineThroughput}}
		if i.Bursts() {
			limits = append(limits, key{"burst", i.MaximumIOPS, 0}, key{"burst", 0, i.MaximumThroughput})
		}
		for _, k := range limits {
			n, known := at[k]
			if !known {
				n, at[k] = len(all), len(all)
				all = append(all, instanceLimit{what: k.what, iops: k.iops, data: k.data})
			}
			all[n].names = append(all[n].names, i.Type)
		}
	}
	return all
}

// ofInstance explains a level by what an instance passes on.
func (r reader) ofInstance(l plateau) (all []Candidate) {
	weight, ops := 0.45, l.ops(ebs.GP3) // so many instances have so many limits
	if r.given.Instance != nil {
		weight = 0.9
	}
	for _, limit := range r.instanceLimits {
		near, ok := closeness(float64(l.data), float64(limit.data))
		if limit.iops > 0 {
			near, ok = closeness(ops, float64(limit.iops))
		}
		if ok {
			all = append(all, Candidate{Configuration: "the EBS limit of " + list(limit.names, 2), Type: limit.names[0], Fit: weight * near,
				Text: fmt.Sprintf("The instance has a %v for all its volumes.", limit)})
		}
	}
	return all
}

// roundness says how far off a round figure a rate is.
func roundness(off float64) string {
	if off < 0.0005 {
		return "a round figure"
	}
	return fmt.Sprintf("within %.1f %% of a round figure", 100*off)
}
