package analyze

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

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

// shareOfInstance returns the instance as one phase has it to itself: where phases run together, each has of a limit the
// part that it used of all that they used when that came nearest to the limit: an instance's baseline is shared out by
// who has more I/Os waiting, its burst by what each volume can do. Where the burst did not end, see leftOf.
func (a *analysis) shareOfInstance(i int, measured []*result.Measurement, predicted []simulate.Phase) *ebs.Instance {
	if a.instance == nil || a.profile.Phases[i].Together == "" {
		return a.instance
	}
	windows := a.usedTogether(i, measured, predicted)
	operations := func(u usage) float64 { return u.operations }
	data := func(u usage) float64 { return u.data }
	part := *a.instance
	part.BaselineIOPS *= units.IOPS(a.shareAt(i, windows, float64(part.BaselineIOPS), operations))
	part.MaximumIOPS *= units.IOPS(a.shareAt(i, windows, float64(part.MaximumIOPS), operations))
	part.BaselineThroughput *= units.Throughput(a.shareAt(i, windows, float64(part.BaselineThroughput), data))
	part.MaximumThroughput *= units.Throughput(a.shareAt(i, windows, float64(part.MaximumThroughput), data))
	return &part
}

// used is what each phase of a profile used of the instance a second in a window of time; none of other groups used any.
type used struct {
	seconds float64
	each    []usage
}

func (u used) all(of func(usage) float64) (sum float64) {
	for _, each := range u.each {
		sum += of(each)
	}
	return sum
}

// ofInstance is what an I/O of a phase uses of the instance: it transfers what is asked for.
func (a *analysis) ofInstance(p workload.Phase) usage {
	return usage{usageOfDisk(performanceOf(a.catalog, a.profile, p), a.profile, p).operations, float64(p.BlockSize)}
}

// usedTogether returns the windows of a phase that does not run alone, but for the first, which can hold the one-off burst
// of the rate buckets. It is one window where the series of a phase of the group is not known.
func (a *analysis) usedTogether(i int, measured []*result.Measurement, predicted []simulate.Phase) []used {
	series, whole := make([][]sample, len(a.profile.Phases)), make([][]sample, len(a.profile.Phases)) // none of other groups
	known := true
	for j, p := range a.profile.Phases {
		var m result.Measurement
		switch {
		case p.Together != a.profile.Phases[i].Together:
			continue
		case j < len(measured) && measured[j] != nil:
			m = *measured[j]
		case j < len(predicted):
			m = predicted[j].Measurement
		}
		whole[j] = []sample{{to: time.Second, iops: summary(m.Total).iops}}
		series[j], _ = clean(m.IOPS)
		known = known && len(series[j]) > 1
	}
	if !known {
		series = whole
	}
	own := during(series[i], a.profile.Phases[i].Duration)
	if len(own) > 1 {
		own = own[1:]
	}
	windows := make([]used, len(own))
	for w, o := range own {
		windows[w] = used{o.length(), make([]usage, len(series))}
	}
	for j, samples := range series {
		each, at := a.ofInstance(a.profile.Phases[j]), 0
		for w, o := range own {
			for at < len(samples) && samples[at].to <= (o.from+o.to)/2 {
				at++
			}
			if at == len(samples) {
				break // it had ended
			}
			windows[w].each[j] = usage{samples[at].iops * each.operations, samples[at].iops * each.data}
		}
	}
	return windows
}

// shareAt is the own part of a phase in what was used when all that was used came nearest to a limit, for as long as a
// level takes at least; 1 where it used nothing.
func (a *analysis) shareAt(i int, windows []used, limit float64, of func(usage) float64) float64 {
	offs := make([]float64, len(windows))
	for w, u := range windows {
		offs[w] = math.Abs(u.all(of)/limit - 1)
	}
	var nearest, length, all float64
	if sorted := slices.Sorted(slices.Values(offs)); len(sorted) > 0 {
		nearest = sorted[min(shortest, len(sorted))-1]
	}
	uses := make([]float64, len(a.profile.Phases))
	for w, u := range windows {
		if offs[w] <= nearest+near {
			length += u.seconds
			all += u.all(of) * u.seconds
			for j := range uses {
				uses[j] += of(u.each[j]) * u.seconds
			}
		}
	}
	if uses[i] == 0 {
		return 1
	}
	if all > limit*(1+near)*length {
		return a.leftOf(limit*length, i, uses, of) / (limit * length)
	}
	return uses[i] / all
}

// leftOf is what would be left to a phase of a limit that is less than all that is used: an instance serves I/Os in their
// order, so that each phase gets as much as it has in flight, but none more than it uses.
func (a *analysis) leftOf(limit float64, i int, uses []float64, of func(usage) float64) float64 {
	var order []int
	var all float64
	inFlight := make([]float64, len(uses))
	for j, p := range a.profile.Phases {
		if uses[j] > 0 {
			inFlight[j] = float64(p.Outstanding()) * of(a.ofInstance(p))
			order, all = append(order, j), all+inFlight[j]
		}
	}
	// Who uses the least of what is in flight leaves the most to the others.
	slices.SortFunc(order, func(j, k int) int { return cmp.Compare(uses[j]/inFlight[j], uses[k]/inFlight[k]) })
	var left float64
	for _, j := range order {
		left = min(uses[j], limit*inFlight[j]/all)
		if j == i {
			break
		}
		limit, all = limit-left, all-inFlight[j]
	}
	return left
}
