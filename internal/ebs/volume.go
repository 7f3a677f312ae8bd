// Package ebs holds what AWS documents about EBS: the limits of each volume type, of each instance type, and the
// prices of each region, every figure with its source and date. It measures nothing and assumes nothing about a workload.
package ebs

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"ebscope/internal/units"
)

// Type is an EBS volume type by its API name.
type Type string

// The volume types that can be benchmarked, emulated and compared.
const (
	GP2 Type = "gp2"
	GP3 Type = "gp3"
)

// Limits of the types, as the EBS user guide gives them.
//
// Source: EBS user guide, "General Purpose SSD volumes", autumn 2026. The gp3 ceilings of 80,000 IOPS,
// 2,000 MiB/s and 64 TiB hold since 2025-09-26 (document history).
const (
	ssdAccountingUnit = 256 * units.KiB // "I/O characteristics and monitoring": an SSD volume counts I/O in units of 256 KiB

	gp2IOPSPerGiB     = 3
	gp2MinIOPS        = 100
	gp2MaxIOPS        = 16_000
	gp2BurstIOPS      = 3_000
	gp2Credits        = 5_400_000 // I/O credits: initial balance and capacity of the bucket
	gp2MinSize        = 1 * units.GiB
	gp2MaxSize        = 16 * units.TiB
	gp2SlowMaxSize    = 170 * units.GiB // up to here 128 MiB/s
	gp2SlowThroughput = 128 * units.MiBPerSecond
	gp2FastThroughput = 250 * units.MiBPerSecond

	gp3BaseIOPS       = 3_000
	gp3MaxIOPS        = 80_000
	gp3IOPSPerGiB     = 500
	gp3BaseThroughput = 125 * units.MiBPerSecond
	gp3MaxThroughput  = 2_000 * units.MiBPerSecond
	gp3PerIOPS        = units.MiBPerSecond / 4 // 0.25 MiB/s of throughput for each provisioned IOPS
	gp3MinSize        = 1 * units.GiB
	gp3MaxSize        = 64 * units.TiB
)

// Volume is a volume as a customer configures it.
type Volume struct {
	Type Type        `json:"type"`
	Size units.Bytes `json:"size_bytes"`
	// IOPS and Throughput are what is provisioned. Zero means the type's default; gp2 takes neither.
	IOPS       units.IOPS       `json:"iops,omitempty"`
	Throughput units.Throughput `json:"throughput_bytes_s,omitempty"`
}

// Performance is what a volume delivers.
type Performance struct {
	// Baseline is held for ever; Burst is held while credits last, and equals Baseline where the type does not burst.
	Baseline, Burst units.IOPS
	// Credits is the capacity of the I/O credit bucket, zero where there is none. It refills at Baseline.
	Credits units.Ops
	// Throughput is the limit on data. A gp2 volume of 171 to 333 GiB reaches it only while credits last: afterwards its
	// baseline operations of at most 256 KiB give less.
	Throughput units.Throughput
	// AccountingUnit is the largest I/O that is counted as one operation.
	AccountingUnit units.Bytes
}

// Bursts says whether the volume has a credit bucket that can run dry.
func (p Performance) Bursts() bool { return p.Credits > 0 }

// Provisioned returns the volume with the type's defaults written out.
func (v Volume) Provisioned() Volume {
	if v.Type == GP3 {
		if v.IOPS == 0 {
			v.IOPS = gp3BaseIOPS
		}
		if v.Throughput == 0 {
			v.Throughput = gp3BaseThroughput
		}
	}
	return v
}

// Validate reports every rule of AWS that the configuration breaks, each named, joined into one error.
func (v Volume) Validate() error {
	var errs []error
	refuse := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	size := func(smallest, largest units.Bytes) {
		if v.Size < smallest || v.Size > largest {
			refuse("a %s volume is %v to %v, not %v", v.Type, smallest, largest, v.Size)
		} else if v.Size%units.GiB != 0 {
			refuse("a %s volume has a whole number of GiB, not %v", v.Type, v.Size)
		}
	}
	switch v.Type {
	case GP2:
		size(gp2MinSize, gp2MaxSize)
		if v.IOPS != 0 {
			refuse("IOPS cannot be set on gp2: it has 3 per GiB; use gp3 to provision %v", v.IOPS)
		}
		if v.Throughput != 0 {
			refuse("throughput cannot be set on gp2: it follows from the size; use gp3 to provision %v", v.Throughput)
		}
	case GP3:
		size(gp3MinSize, gp3MaxSize)
		p := v.Provisioned()
		if !finite(float64(p.IOPS)) || !finite(float64(p.Throughput)) {
			refuse("gp3 IOPS and throughput must be numbers")
			break
		}
		if p.IOPS < gp3BaseIOPS || p.IOPS > gp3MaxIOPS {
			refuse("gp3 takes 3,000 to 80,000 IOPS, not %s", units.Thousands(float64(p.IOPS)))
		}
		if p.Throughput < gp3BaseThroughput || p.Throughput > gp3MaxThroughput {
			refuse("gp3 takes 125 to 2,000 MiB/s, not %v", p.Throughput)
		}
		if perGiB := float64(p.IOPS) / v.Size.GiB(); p.IOPS > gp3BaseIOPS && perGiB > gp3IOPSPerGiB {
			refuse("gp3 takes at most 500 IOPS per GiB: %v on %v is %s per GiB; use at least %.0f GiB or at most %s IOPS",
				p.IOPS, v.Size, units.Thousands(perGiB), math.Ceil(float64(p.IOPS)/gp3IOPSPerGiB),
				units.Thousands(max(gp3BaseIOPS, v.Size.GiB()*gp3IOPSPerGiB)))
		}
		if ratio := p.Throughput / units.Throughput(p.IOPS); ratio > gp3PerIOPS {
			refuse("gp3 takes at most 0.25 MiB/s per IOPS: %v at %v is %.3f; use at least %s IOPS or at most %v",
				p.Throughput, p.IOPS, ratio.MiBps(), units.Thousands(math.Ceil(float64(p.Throughput/gp3PerIOPS))),
				units.Throughput(p.IOPS)*gp3PerIOPS)
		}
	default:
		refuse("unknown volume type %q; use gp2 or gp3", string(v.Type))
	}
	return errors.Join(errs...)
}

// Performance returns what the volume delivers. The configuration must be valid.
func (v Volume) Performance() Performance {
	if v.Type == GP3 {
		p := v.Provisioned()
		return Performance{
			Baseline: p.IOPS, Burst: p.IOPS,
			Throughput: p.Throughput, AccountingUnit: ssdAccountingUnit,
		}
	}
	baseline := units.IOPS(min(max(gp2IOPSPerGiB*v.Size.GiB(), gp2MinIOPS), gp2MaxIOPS))
	p := Performance{Baseline: baseline, Burst: baseline, AccountingUnit: ssdAccountingUnit}
	if baseline < gp2BurstIOPS {
		p.Burst, p.Credits = gp2BurstIOPS, gp2Credits
	}
	p.Throughput = gp2FastThroughput
	if v.Size <= gp2SlowMaxSize {
		p.Throughput = gp2SlowThroughput
	}
	return p
}

// String prints the configuration as people say it: "gp3 100 GiB, 6,000 IOPS, 250 MiB/s".
func (v Volume) String() string {
	parts := []string{fmt.Sprintf("%s %s GiB", v.Type, units.Thousands(v.Size.GiB()))}
	if v.Type == GP3 {
		p := v.Provisioned()
		parts = append(parts, p.IOPS.String(), p.Throughput.String())
	}
	return strings.Join(parts, ", ")
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
