package analyze

import (
	"fmt"
	"strings"

	"ebscope/internal/ebs"
	"ebscope/internal/result"
	"ebscope/internal/simulate"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

// performanceOf returns what the volume, or the stripe, that a phase runs on delivers. RAID 0 spreads I/O evenly, so a
// stripe delivers what its slowest volume does, as many times as it has volumes. An I/O of the phase counts there as
// many operations as its parts do on the volumes.
func performanceOf(catalog *ebs.Catalog, profile workload.Profile, p workload.Phase) ebs.Performance {
	members := profile.Members(p.Volume)
	perf := catalog.Performance(members[0].Config)
	s, striped := profile.Stripe(p.Volume)
	if !striped {
		return perf
	}
	n := len(members)
	for _, m := range members[1:] {
		other := catalog.Performance(m.Config)
		perf.Baseline, perf.Burst = min(perf.Baseline, other.Baseline), min(perf.Burst, other.Burst)
		perf.Provisioned = perf.Provisioned && other.Provisioned
		perf.Throughput = min(perf.Throughput, other.Throughput)
		perf.BaselineThroughput = min(perf.BaselineThroughput, other.BaselineThroughput)
		perf.Credits, perf.DataCredits = smallest(perf.Credits, other.Credits), smallest(perf.DataCredits, other.DataCredits)
	}
	perf = together(perf, n)
	chunks := (p.BlockSize + s.ChunkSize - 1) / s.ChunkSize
	parts := min(chunks, units.Bytes(n))
	operations := parts * units.Bytes(perf.Operations((p.BlockSize+parts-1)/parts, !p.Pattern.Random()))
	perf.AccountingUnit = (p.BlockSize + operations - 1) / operations
	return perf
}

// smallest returns the lower of two capacities; zero is none.
func smallest[T units.Ops | units.Bytes](a, b T) T {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// describeStripe describes RAID 0 as one volume.
func describeStripe(catalog *ebs.Catalog, profile workload.Profile, s workload.Stripe) Volume {
	perf := performanceOf(catalog, profile, workload.Phase{Volume: s.Name, BlockSize: s.ChunkSize})
	d := Volume{
		Name: s.Name, Type: "raid0",
		Configuration: fmt.Sprintf("RAID 0 over %s, chunks of %v", strings.Join(s.Volumes, ", "), s.ChunkSize),
	}
	for _, m := range profile.Members(s.Name) {
		d.SizeGiB += m.Config.Size.GiB()
	}
	d.promise(perf)
	return d
}

// promise fills in what a performance promises.
func (d *Volume) promise(perf ebs.Performance) {
	d.BaselineIOPS, d.BurstIOPS = float64(perf.Baseline), float64(perf.Burst)
	d.ThroughputMiBps = perf.Throughput.MiBps()
	if perf.Bursts() {
		d.SecondsToEmpty = float64(perf.Credits) / float64(perf.Burst-perf.Baseline)
		d.SecondsToRefill = float64(perf.Credits) / float64(perf.Baseline)
	}
	if perf.BurstsData() {
		d.BaselineThroughputMiBps = perf.BaselineThroughput.MiBps()
		d.SecondsToEmpty = float64(perf.DataCredits) / float64(perf.Throughput-perf.BaselineThroughput)
		d.SecondsToRefill = float64(perf.DataCredits) / float64(perf.BaselineThroughput)
	}
}

// shareOfInstance returns the instance as one phase has it to itself: where phases run together, each has the part of
// its limits that it used of all that they used.
func (a *analysis) shareOfInstance(i int, measured []*result.Measurement, predicted []simulate.Phase) *ebs.Instance {
	group := a.profile.Phases[i].Together
	if a.instance == nil || group == "" {
		return a.instance
	}
	var ownIOPS, allIOPS units.IOPS
	var own, all units.Throughput
	for j, p := range a.profile.Phases {
		var total result.Direction
		switch {
		case p.Together != group:
			continue
		case j < len(measured) && measured[j] != nil:
			total = measured[j].Total
		case j < len(predicted):
			total = predicted[j].Measurement.Total
		}
		operations := total.IOPS * units.IOPS(operationsPerIO(performanceOf(a.catalog, a.profile, p), p))
		allIOPS, all = allIOPS+operations, all+total.Throughput
		if j == i {
			ownIOPS, own = operations, total.Throughput
		}
	}
	if !(ownIOPS > 0 && own > 0) {
		return a.instance
	}
	part := *a.instance
	part.BaselineIOPS, part.MaximumIOPS = part.BaselineIOPS*ownIOPS/allIOPS, part.MaximumIOPS*ownIOPS/allIOPS
	part.BaselineThroughput, part.MaximumThroughput = part.BaselineThroughput*own/all, part.MaximumThroughput*own/all
	return &part
}
