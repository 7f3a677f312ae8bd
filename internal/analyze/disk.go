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
// stripe delivers what its slowest volume does, as many times as it has volumes.
func performanceOf(catalog *ebs.Catalog, profile workload.Profile, p workload.Phase) ebs.Performance {
	members := profile.Members(p.Volume)
	perf := catalog.Performance(members[0].Config)
	for _, m := range members[1:] {
		other := catalog.Performance(m.Config)
		perf.Baseline, perf.Burst = min(perf.Baseline, other.Baseline), min(perf.Burst, other.Burst)
		perf.Provisioned = perf.Provisioned && other.Provisioned
		perf.Throughput = min(perf.Throughput, other.Throughput)
		perf.BaselineThroughput = min(perf.BaselineThroughput, other.BaselineThroughput)
		perf.Credits, perf.DataCredits = smallest(perf.Credits, other.Credits), smallest(perf.DataCredits, other.DataCredits)
	}
	return together(perf, len(members))
}

// usage is what an I/O uses up of the limits on average: operations, and bytes of throughput.
type usage struct{ operations, data float64 }

func usageOf(perf ebs.Performance, p workload.Phase) usage {
	sequential := !p.Pattern.Random()
	return usage{perf.Operations(p.BlockSize, sequential), float64(perf.Data(p.BlockSize, sequential))}
}

// mostOffsets bounds the offsets over which the I/Os of a stripe are averaged. They come again after fewer, but for odd sizes.
const mostOffsets = 1 << 14

// usageOfDisk is that of what the phase runs on. RAID 0 cuts an I/O at the ends of chunks: where it is no divisor of them,
// its parts are now more, now fewer, and each counts on its own volume.
func usageOfDisk(perf ebs.Performance, profile workload.Profile, p workload.Phase) usage {
	s, striped := profile.Stripe(p.Volume)
	if !striped || p.BlockSize <= 0 {
		return usageOf(perf, p)
	}
	n, sum := units.Bytes(len(s.Volumes)), usage{}
	round := n * s.ChunkSize
	// below is how much of what lies below an offset is on the i-th volume.
	below := func(i, offset units.Bytes) units.Bytes {
		return offset/round*s.ChunkSize + min(max(offset%round-i*s.ChunkSize, 0), s.ChunkSize)
	}
	offsets := min(round/divisor(round, p.BlockSize), mostOffsets)
	for k := range offsets {
		from := k * p.BlockSize
		for i := range n {
			part := p
			part.BlockSize = below(i, from+p.BlockSize) - below(i, from)
			if part.BlockSize > 0 {
				of := usageOf(perf, part)
				sum.operations, sum.data = sum.operations+of.operations, sum.data+of.data
			}
		}
	}
	return usage{sum.operations / float64(offsets), sum.data / float64(offsets)}
}

// divisor is the greatest common one.
func divisor(a, b units.Bytes) units.Bytes {
	for b > 0 {
		a, b = b, a%b
	}
	return a
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
		operations := total.IOPS * units.IOPS(usageOfDisk(performanceOf(a.catalog, a.profile, p), a.profile, p).operations)
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
