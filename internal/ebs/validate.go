package ebs

import (
	"errors"
	"fmt"
	"math"

	"ebscope/internal/units"
)

// validate reports every rule that the configuration breaks.
func (t VolumeType) validate(v Volume) error {
	return errors.Join(t.validateSize(v), t.validateIOPS(v), t.validateThroughput(v))
}

func (t VolumeType) validateSize(v Volume) error {
	switch {
	case v.Size < t.MinSize || v.Size > t.MaxSize:
		return fmt.Errorf("%s volumes are %v to %v, not %v", t.Type, t.MinSize, t.MaxSize, v.Size)
	case v.Size%units.GiB != 0:
		return fmt.Errorf("%s volumes have a whole number of GiB, not %v", t.Type, v.Size)
	default:
		return nil
	}
}

func (t VolumeType) validateIOPS(v Volume) error {
	limits, iops := t.IOPS, t.provisioned(v).IOPS
	switch {
	case !limits.Provisioned && v.IOPS == 0:
		return nil
	case !limits.Provisioned && limits.PerGiB > 0:
		return fmt.Errorf("IOPS cannot be set on %s: it has %g per GiB; use gp3 to provision %v", t.Type, float64(limits.PerGiB), v.IOPS)
	case !limits.Provisioned:
		return fmt.Errorf("IOPS cannot be set on %s; use gp3 to provision %v", t.Type, v.IOPS)
	case !finite(float64(iops)):
		return fmt.Errorf("%s IOPS must be a number", t.Type)
	case iops == 0:
		return fmt.Errorf("%s volumes need IOPS: %s to %v", t.Type, units.Thousands(float64(limits.Min)), limits.Max)
	case iops < limits.Min || iops > limits.Max:
		return fmt.Errorf("%s takes %s to %v, not %s", t.Type, units.Thousands(float64(limits.Min)), limits.Max, units.Thousands(float64(iops)))
	}
	if iops > limits.Included && float64(iops)/v.Size.GiB() > float64(limits.PerGiB) {
		return fmt.Errorf("%s takes at most %s IOPS per GiB: on %v at most %s, not %s; use at least %.0f GiB, or fewer IOPS",
			t.Type, units.Thousands(float64(limits.PerGiB)), v.Size,
			units.Thousands(max(float64(limits.Included), v.Size.GiB()*float64(limits.PerGiB))), units.Thousands(float64(iops)),
			math.Ceil(float64(iops/limits.PerGiB)))
	}
	return nil
}

func (t VolumeType) validateThroughput(v Volume) error {
	limits, p := t.Throughput, t.provisioned(v)
	switch {
	case !limits.Provisioned && v.Throughput == 0:
		return nil
	case !limits.Provisioned:
		from := "size"
		if len(limits.ByIOPS) > 0 {
			from = "IOPS"
		}
		return fmt.Errorf("throughput cannot be set on %s: it follows from the %s; use gp3 to provision %v", t.Type, from, v.Throughput)
	case !finite(float64(p.Throughput)):
		return fmt.Errorf("%s throughput must be a number", t.Type)
	case p.Throughput < limits.Min || p.Throughput > limits.Max:
		return fmt.Errorf("%s takes %s to %s MiB/s, not %v", t.Type,
			units.Thousands(limits.Min.MiBps()), units.Thousands(limits.Max.MiBps()), p.Throughput)
	}
	if ratio := p.Throughput / units.Throughput(p.IOPS); limits.PerIOPS > 0 && p.IOPS > 0 && ratio > limits.PerIOPS {
		return fmt.Errorf("%s takes at most %g MiB/s per IOPS: %v at %v are more; use at least %s IOPS or at most %v",
			t.Type, limits.PerIOPS.MiBps(), p.Throughput, p.IOPS,
			units.Thousands(math.Ceil(float64(p.Throughput/limits.PerIOPS))), units.Throughput(p.IOPS)*limits.PerIOPS)
	}
	return nil
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
