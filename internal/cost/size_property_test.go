package cost_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"ebscope/internal/cost"
	"ebscope/internal/ebs"
	"ebscope/internal/units"
)

// Whatever is needed: what is found is a valid volume that gives it, and a volume with less of anything does not.
func TestCheapestIsEnoughAndNotMore(t *testing.T) {
	catalog := ebs.Embedded()
	rapid.Check(t, func(rt *rapid.T) {
		need := cost.Need{
			Size:       units.Bytes(rapid.IntRange(1, 20_000).Draw(rt, "gib")) * units.GiB,
			IOPS:       units.IOPS(rapid.SampledFrom([]int{0, 1, 40, 299, 3_000, 3_001, 16_000, 64_000, 80_000, 256_000}).Draw(rt, "iops")),
			Throughput: units.Throughput(rapid.IntRange(0, 4_100).Draw(rt, "mibps")) * units.MiBPerSecond,
		}
		if rapid.Bool().Draw(rt, "bursts") {
			need.Burst, need.BurstFor = 3_000, time.Duration(rapid.IntRange(1, 7_200).Draw(rt, "seconds"))*time.Second
		}
		for _, kind := range catalog.VolumeTypes() {
			v, _, err := cost.Least(need, kind, catalog)
			if err != nil {
				continue
			}
			if err := catalog.Validate(v); err != nil {
				rt.Fatalf("%v: %v", v, err)
			}
			if !enough(catalog, v, need) {
				rt.Fatalf("%v does not give %v", v, need)
			}
			for _, less := range []ebs.Volume{
				{Type: v.Type, Size: v.Size - units.GiB, IOPS: v.IOPS, Throughput: v.Throughput},
				{Type: v.Type, Size: v.Size, IOPS: v.IOPS - 1, Throughput: v.Throughput},
				{Type: v.Type, Size: v.Size, IOPS: v.IOPS, Throughput: v.Throughput - units.MiBPerSecond},
			} {
				if less.IOPS >= 0 && less.Throughput >= 0 && catalog.Validate(less) == nil && enough(catalog, less, need) {
					rt.Fatalf("%v is found for %v, but %v is enough", v, need, less)
				}
			}
		}
	})
}

// enough says by the definitions alone whether a volume gives a need.
func enough(catalog *ebs.Catalog, v ebs.Volume, need cost.Need) bool {
	p := catalog.Performance(v)
	burst := cost.RandomIOPS(p) >= need.Burst ||
		p.Burst >= need.Burst && p.Credits/units.Ops(need.Burst-p.Baseline) >= units.Ops(need.BurstFor.Seconds())
	return v.Size >= need.Size && cost.RandomIOPS(p) >= need.IOPS && cost.SustainedThroughput(p) >= need.Throughput && burst
}
