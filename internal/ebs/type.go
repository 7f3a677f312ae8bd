package ebs

import (
	"ebscope/internal/units"
)

// VolumeType is what AWS documents about a volume type.
type VolumeType struct {
	Type             Type
	Title            string
	MinSize, MaxSize units.Bytes
	// AccountingUnit and WholeUnits are as in Performance.
	AccountingUnit units.Bytes
	WholeUnits     bool
	// PricedPerIO says that each I/O is charged.
	PricedPerIO  bool
	IOPS         IOPSLimits
	Throughput   ThroughputLimits
	Source, Date string
}

// IOPSLimits are the rules for a type's IOPS.
type IOPSLimits struct {
	// Provisioned says that the customer sets IOPS, from Min to Max and at most PerGiB for each GiB; Included come with
	// every size and are free. Otherwise the volume has PerGiB for each GiB, but at least Min and at most Max.
	Provisioned                bool
	Min, Max, PerGiB, Included units.IOPS
	// Burst is the rate while credits last, for volumes whose own is lower; Credits is the capacity of the bucket and the
	// balance of a new volume.
	Burst   units.IOPS
	Credits units.Ops
	// PriceTiers are the bounds above which provisioned IOPS have another price.
	PriceTiers []units.IOPS
}

// ThroughputLimits are the rules for a type's throughput.
type ThroughputLimits struct {
	// Provisioned says that the customer sets throughput, from Min to Max and at most PerIOPS for each of the IOPS; Included
	// comes with every size and is free. Otherwise one of BySize, ByIOPS and PerTiB gives it, and where there is none,
	// Min is all that can be counted on.
	Provisioned                 bool
	Min, Max, PerIOPS, Included units.Throughput
	BySize                      []SizeStep
	ByIOPS                      []IOPSLine
	PerTiB                      PerTiB
}

// SizeStep gives a throughput to volumes up to a size.
type SizeStep struct {
	UpTo  units.Bytes
	Limit units.Throughput
}

// IOPSLine gives a throughput in proportion to IOPS, up to a limit.
type IOPSLine struct{ PerIOPS, Max units.Throughput }

// PerTiB gives an HDD volume throughput and data credits in proportion to its size.
type PerTiB struct {
	Baseline, Burst units.Throughput
	Credits         units.Bytes
}

func (t VolumeType) provisioned(v Volume) Volume {
	if t.IOPS.Provisioned && v.IOPS == 0 {
		v.IOPS = t.IOPS.Included
	}
	if t.Throughput.Provisioned && v.Throughput == 0 {
		v.Throughput = t.Throughput.Included
	}
	return v
}

func (t VolumeType) performance(v Volume) Performance {
	v = t.provisioned(v)
	p := Performance{Baseline: v.IOPS, Provisioned: t.IOPS.Provisioned, AccountingUnit: t.AccountingUnit, WholeUnits: t.WholeUnits}
	if !t.IOPS.Provisioned {
		p.Baseline = min(max(t.IOPS.PerGiB*units.IOPS(v.Size.GiB()), t.IOPS.Min), t.IOPS.Max)
	}
	p.Burst = p.Baseline
	if t.IOPS.Burst > p.Baseline {
		p.Burst, p.Credits = t.IOPS.Burst, t.IOPS.Credits
	}
	p.Throughput = t.throughput(v, p.Baseline)
	p.BaselineThroughput = p.Throughput
	if hdd := t.Throughput.PerTiB; hdd.Baseline > 0 {
		tib := float64(v.Size) / float64(units.TiB)
		p.BaselineThroughput = min(hdd.Baseline*units.Throughput(tib), t.Throughput.Max)
		p.Throughput = min(hdd.Burst*units.Throughput(tib), t.Throughput.Max)
		if p.BaselineThroughput < p.Throughput {
			p.DataCredits = units.Bytes(float64(hdd.Credits) * tib)
		}
	}
	return p
}

// throughput is that of a type without data credits.
func (t VolumeType) throughput(v Volume, iops units.IOPS) units.Throughput {
	limits := t.Throughput
	switch {
	case limits.Provisioned:
		return v.Throughput
	case len(limits.BySize) > 0:
		for _, step := range limits.BySize {
			if v.Size <= step.UpTo {
				return step.Limit
			}
		}
		return limits.BySize[len(limits.BySize)-1].Limit
	case len(limits.ByIOPS) > 0:
		var most units.Throughput
		for _, line := range limits.ByIOPS {
			most = max(most, min(line.PerIOPS*units.Throughput(iops), line.Max))
		}
		return most
	default:
		return limits.Min
	}
}
