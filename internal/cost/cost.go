// Package cost prices EBS configurations and lists what a volume could be instead.
package cost

import (
	"time"

	"ebscope/internal/ebs"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

// Monthly returns what a volume costs a month: its size, the IOPS that are charged, tier by tier, and the throughput
// above what is included. I/Os that are charged one by one, on standard volumes, come on top. It returns false where
// volumes of the type are not sold in the region, or at a price that is not known. The configuration must be valid.
func Monthly(v ebs.Volume, p ebs.Prices) (units.USD, bool) {
	price, sold := p.Volumes[v.Type]
	monthly := units.USD(v.Size.GiB()) * price.PerGiB
	for i, tier := range price.IOPS {
		charged := v.IOPS - tier.Above
		if i+1 < len(price.IOPS) {
			charged = min(charged, price.IOPS[i+1].Above-tier.Above)
		}
		monthly += units.USD(max(0, charged)) * tier.PerIOPS
	}
	monthly += units.USD(max(0, v.Throughput-price.ThroughputAbove).MiBps()) * price.PerMiBps
	return monthly, sold
}

// Option is a configuration with what it gives and costs.
type Option struct {
	Volume ebs.Volume
	// Used names the volumes of the run that have this configuration.
	Used []string
	// Sustained is held for ever at random. Burst is held for BurstFor from a full bucket of I/O credits; it equals
	// Sustained, and BurstFor is zero, where the volume has none.
	Sustained, Burst units.IOPS
	BurstFor         time.Duration
	// Throughput is the limit, that of an HDD volume while its credits last.
	Throughput units.Throughput
	Monthly    units.USD
}

// Price returns the option that a valid configuration is, and false where it has no price in the region.
func Price(catalog *ebs.Catalog, v ebs.Volume, p ebs.Prices) (Option, bool) {
	perf := catalog.Performance(v)
	v = catalog.Provisioned(v)
	monthly, sold := Monthly(v, p)
	held := RandomIOPS(perf)
	o := Option{Volume: v, Sustained: held, Burst: held, Throughput: perf.Throughput, Monthly: monthly}
	if perf.Bursts() {
		o.Burst = perf.Burst
		seconds := float64(perf.Credits) / float64(perf.Burst-perf.Baseline)
		o.BurstFor = time.Duration(seconds * float64(time.Second))
	}
	return o, sold
}

// Alternatives lists what a volume of a size could be: gp2; gp3 with its defaults, with 6,000 IOPS, and with
// 250 MiB/s; and gp2 made large enough to have 3,000 IOPS without credits. What AWS refuses at that size, or does not
// sell in the region, is left out.
func Alternatives(catalog *ebs.Catalog, size units.Bytes, p ebs.Prices) []Option {
	var options []Option
	usual := []ebs.Volume{
		{Type: ebs.GP2, Size: size},
		{Type: ebs.GP3, Size: size},
		{Type: ebs.GP3, Size: size, IOPS: 6_000},
		{Type: ebs.GP3, Size: size, Throughput: 250 * units.MiBPerSecond},
	}
	if largeEnough, ok := withoutCredits(catalog, size); ok {
		usual = append(usual, largeEnough)
	}
	for _, v := range usual {
		if catalog.Validate(v) == nil && find(options, catalog.Provisioned(v)) == nil {
			if o, sold := Price(catalog, v, p); sold {
				options = append(options, o)
			}
		}
	}
	return options
}

// withoutCredits is the least gp2 volume, no smaller than size, that holds for ever what a burst gives at that size.
func withoutCredits(catalog *ebs.Catalog, size units.Bytes) (ebs.Volume, bool) {
	t, err := catalog.VolumeType(ebs.GP2)
	if err != nil {
		return ebs.Volume{}, false
	}
	burst := catalog.Performance(ebs.Volume{Type: ebs.GP2, Size: size}).Burst
	v, _, err := Least(Need{Size: size, IOPS: burst}, t, catalog)
	return v, err == nil
}

// ForProfile lists the configurations of a profile's volumes and the alternatives to them, at the size of its first
// gp2 volume, or of its first volume where none is gp2. The volumes that have a configuration are named in Used.
func ForProfile(catalog *ebs.Catalog, profile workload.Profile, p ebs.Prices) []Option {
	if len(profile.Volumes) == 0 {
		return nil
	}
	size := profile.Volumes[0].Config.Size
	for _, v := range profile.Volumes {
		if v.Config.Type == ebs.GP2 {
			size = v.Config.Size
			break
		}
	}
	options := Alternatives(catalog, size, p)
	for _, v := range profile.Volumes {
		config := catalog.Provisioned(v.Config)
		if find(options, config) == nil {
			o, sold := Price(catalog, config, p)
			if !sold {
				continue
			}
			options = append(options, o)
		}
		o := find(options, config)
		o.Used = append(o.Used, v.Name)
	}
	return options
}

// Successor returns the gp3 volume that has at least the performance of a gp2 volume once its credits are spent, and
// its throughput where that is 250 MiB/s: what AWS documents for a change of the type alone ("Modify a volume using
// Elastic Volumes", autumn 2026). The 128 MiB/s of a gp2 volume up to 170 GiB become gp3's 125.
func Successor(catalog *ebs.Catalog, gp2 ebs.Volume) ebs.Volume {
	perf := catalog.Performance(gp2)
	v := catalog.Provisioned(ebs.Volume{Type: ebs.GP3, Size: gp2.Size})
	v.IOPS = max(v.IOPS, perf.Baseline)
	if perf.Throughput > 128*units.MiBPerSecond {
		v.Throughput = perf.Throughput
	}
	return v
}

func find(options []Option, v ebs.Volume) *Option {
	for i := range options {
		if options[i].Volume == v {
			return &options[i]
		}
	}
	return nil
}
