package analyze

import (
	"cmp"
	"math"
	"slices"

	"ebscope/internal/ebs"
	"ebscope/internal/model"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

// ceiling is the highest rate that a limit allows a phase.
type ceiling struct {
	limit model.Limit
	iops  float64 // I/Os of the phase's size a second
	// lasting ones hold for ever, the others as long as credits last. Where a limit does not burst it is both.
	lasting, bursting bool
}

// near is how far a level may lie from a ceiling that holds it, as a share.
const near = 0.05

// ceilings of a phase, in the order in which the model asks them.
func ceilings(perf ebs.Performance, p workload.Phase, each usage, instance *ebs.Instance) []ceiling {
	operations, size := each.operations, each.data
	var all []ceiling
	if perf.Bursts() {
		all = append(all,
			ceiling{model.VolumeBurstIOPS, float64(perf.Burst) / operations, false, true},
			ceiling{model.VolumeBaselineIOPS, float64(perf.Baseline) / operations, true, false})
	} else {
		all = append(all, ceiling{model.HeldIOPS(perf), float64(perf.Baseline) / operations, true, true})
	}
	if perf.BurstsData() {
		all = append(all,
			ceiling{model.VolumeThroughput, float64(perf.Throughput) / size, false, true},
			ceiling{model.VolumeBaselineThroughput, float64(perf.BaselineThroughput) / size, true, false})
	} else {
		all = append(all, ceiling{model.VolumeThroughput, float64(perf.Throughput) / size, true, true})
	}
	if instance == nil {
		return all
	}
	return append(all, instanceCeilings(*instance, operations, p.BlockSize)...)
}

// instanceCeilings are those of an instance, where an I/O counts as so many operations and transfers so much.
func instanceCeilings(instance ebs.Instance, operations float64, size units.Bytes) (all []ceiling) {
	add := func(limit model.Limit, baseline, maximum float64) {
		if baseline < maximum {
			all = append(all, ceiling{limit, baseline, true, false}, ceiling{limit, maximum, false, true})
		} else {
			all = append(all, ceiling{limit, maximum, true, true})
		}
	}
	add(model.InstanceIOPS, float64(instance.BaselineIOPS)/operations, float64(instance.MaximumIOPS)/operations)
	add(model.InstanceThroughput, float64(instance.BaselineThroughput)/float64(size), float64(instance.MaximumThroughput)/float64(size))
	return all
}

// holding returns the ceiling that holds a level. Where none is near, latency and queue depth alone set the rate.
func holding(iops float64, all []ceiling) ceiling {
	found, least := ceiling{limit: model.QueueDepth}, near
	for _, c := range all {
		if off := math.Abs(iops/c.iops - 1); off < least {
			found, least = c, off
		}
	}
	return found
}

// highest is the rate that the volume and the instance allow at best.
func highest(all []ceiling) float64 { return best(all).iops }

// best is the ceiling that volume and instance allow at best: the lowest of those with full credits.
func best(all []ceiling) ceiling {
	least := ceiling{iops: math.Inf(1)}
	for _, c := range all {
		if c.bursting && c.iops < least.iops {
			least = c
		}
	}
	return least
}

// sustainable is the rate that they allow for ever: the lowest of the lasting ceilings.
func sustainable(all []ceiling) ceiling {
	least := ceiling{iops: math.Inf(1)}
	for _, c := range all {
		if c.lasting && c.iops < least.iops {
			least = c
		}
	}
	return least
}

// limitedBy shares the time of a phase out to the limits that held, the largest share first; to none where no limit is known.
func limitedBy(c course, all []ceiling) []LimitShare {
	if len(all) == 0 {
		return []LimitShare{}
	}
	held := map[model.Limit]float64{}
	for i, l := range c.levels {
		held[holding(l.typical, all).limit] += c.share(c.span(i))
	}
	shares := make([]LimitShare, 0, len(held))
	for limit, share := range held {
		shares = append(shares, LimitShare{limit, share})
	}
	slices.SortFunc(shares, func(a, b LimitShare) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(a.Limit, b.Limit))
	})
	return shares
}
