package fleet_test

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"ebscope/internal/ebs"
	"ebscope/internal/fleet"
)

// Whatever a fleet holds: rows add up, what is recommended is accepted by AWS's rules and no dearer, what stands beside it
// is cheaper, and balances and percentiles stay within their bounds.
func TestAnyFleet(t *testing.T) {
	catalog := ebs.Embedded()
	rapid.Check(t, func(t *rapid.T) {
		const points = 24
		var volumes []fleet.Volume
		var metrics []fleet.Metrics
		for i := range rapid.IntRange(0, 12).Draw(t, "volumes") {
			id := fleet.VolumeID(fmt.Sprintf("vol-%02d", i))
			size := rapid.Int64Range(1, 16_384).Draw(t, "size")
			v := gp2(id, size)
			if rapid.Bool().Draw(t, "gp3") {
				iops := min(rapid.Int64Range(3000, 80_000).Draw(t, "iops"), max(3000, 500*size))
				v = gp3(id, size, iops, min(rapid.Int64Range(125, 2000).Draw(t, "throughput"), iops/4))
			}
			volumes = append(volumes, v)
			if rapid.Bool().Draw(t, "metrics") {
				value := func(most float64) fleet.Series {
					return rapid.SliceOfN(rapid.OneOf(rapid.Just(math.NaN()), rapid.Map(rapid.Float64Range(0, most), math.Trunc)), points, points).Draw(t, "series")
				}
				metrics = append(metrics, fleet.Metrics{Volume: id, ReadOps: value(3e6), WriteOps: value(3e6), ReadBytes: value(6e11), WriteBytes: value(6e11), BurstBalance: value(100)})
			}
		}
		sizing := rapid.SampledFrom([]fleet.Sizing{fleet.Parity, fleet.ForPeak}).Draw(t, "sizing")
		d := scanWith(inSeoul(points, volumes...), fleet.Options{Sizing: sizing}, metrics...)
		var sum, after fleet.Money
		for _, r := range d.Volumes {
			sum += *r.Monthly
			after += *r.Monthly - r.Saving()
			c := r.Recommendation
			for _, choice := range []*fleet.Choice{c.Choice, c.Cheaper} {
				if choice == nil {
					continue
				}
				if err := catalog.Validate(choice.Config(catalog)); err != nil {
					t.Fatalf("%s: %v", r.ID, err)
				}
				if choice.SizeGiB != r.SizeGiB || *choice.Monthly-*r.Monthly != *choice.Difference {
					t.Fatalf("%s of %d GiB at %v: %+v", r.ID, r.SizeGiB, r.Monthly.USD(), choice)
				}
			}
			if c.Action == fleet.Modify && *c.Difference >= usd/200 {
				t.Fatalf("%s: recommended and dearer: %+v", r.ID, c)
			}
			if c.Cheaper != nil && (*c.Cheaper.Difference >= 0 || *c.Cheaper.Monthly >= *c.Monthly) {
				t.Fatalf("%s: what stands beside is no cheaper: %+v", r.ID, c)
			}
			if b := r.Balance; b != nil && !(b.LowestPercent >= 0 && b.LowestPercent <= b.NowPercent && b.NowPercent <= 100) {
				t.Fatalf("%s: balance %+v", r.ID, b)
			}
			if x := r.Demand; x != nil && (x.P99IOPS > x.PeakIOPS || x.P99ThroughputMiBps > x.PeakThroughputMiBps) {
				t.Fatalf("%s: demand %+v", r.ID, x)
			}
		}
		if d.Totals.Monthly != sum || d.Totals.After != after {
			t.Fatalf("totals %+v; rows %v, after %v", d.Totals, sum, after)
		}
	})
}
