// Package cost prices EBS configurations and lists what a volume could be instead.
package cost

import (
	"time"

	"ebscope/internal/ebs"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

// Performance that the price of a gp3 volume includes (EBS pricing page; the prices themselves are in package ebs).
const (
	gp3IncludedIOPS       = 3_000
	gp3IncludedThroughput = 125 * units.MiBPerSecond
)

// Monthly returns what a volume costs a month: gp2 by its size, gp3 by its size and by the IOPS above 3,000 and the
// throughput above 125 MiB/s. The configuration must be valid.
func Monthly(v ebs.Volume, p ebs.Prices) units.USD {
	gib := units.USD(v.Size.GiB())
	if v.Type == ebs.GP2 {
		return gib * p.GP2PerGiB
	}
	v = v.Provisioned()
	return gib*p.GP3PerGiB +
		units.USD(max(0, v.IOPS-gp3IncludedIOPS))*p.GP3PerIOPS +
		units.USD(max(0, v.Throughput-gp3IncludedThroughput).MiBps())*p.GP3PerMiBps
}

// Option is a configuration with what it gives and costs.
type Option struct {
	Volume ebs.Volume
	// Used names the volumes of the run that have this configuration.
	Used []string
	// Sustained is held for ever. Burst is held for BurstFor from a full credit bucket; it equals Sustained, and
	// BurstFor is zero, where the volume does not burst.
	Sustained, Burst units.IOPS
	BurstFor         time.Duration
	Throughput       units.Throughput
	Monthly          units.USD
}

// Price returns the option that a valid configuration is.
func Price(v ebs.Volume, p ebs.Prices) Option {
	perf := v.Performance()
	o := Option{
		Volume: v.Provisioned(), Sustained: perf.Baseline, Burst: perf.Burst,
		Throughput: perf.Throughput, Monthly: Monthly(v, p),
	}
	if perf.Bursts() {
		seconds := float64(perf.Credits) / float64(perf.Burst-perf.Baseline)
		o.BurstFor = time.Duration(seconds * float64(time.Second))
	}
	return o
}

// Alternatives lists what a volume of a size could be: gp2; gp3 with its defaults, with 6,000 IOPS, and with
// 250 MiB/s; and gp2 made large enough to have 3,000 IOPS without credits. What AWS refuses at that size is left out.
func Alternatives(size units.Bytes, p ebs.Prices) []Option {
	largeEnough := ebs.Volume{Type: ebs.GP2, Size: size}
	for largeEnough.Performance().Bursts() {
		largeEnough.Size += units.GiB
	}
	var options []Option
	for _, v := range []ebs.Volume{
		{Type: ebs.GP2, Size: size},
		{Type: ebs.GP3, Size: size},
		{Type: ebs.GP3, Size: size, IOPS: 6_000},
		{Type: ebs.GP3, Size: size, Throughput: 250 * units.MiBPerSecond},
		largeEnough,
	} {
		if v.Validate() == nil && find(options, v) == nil {
			options = append(options, Price(v, p))
		}
	}
	return options
}

// ForProfile lists the configurations of a profile's volumes and the alternatives to them, at the size of its first
// gp2 volume, or of its first volume where none is gp2. The volumes that have a configuration are named in Used.
func ForProfile(profile workload.Profile, p ebs.Prices) []Option {
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
	options := Alternatives(size, p)
	for _, v := range profile.Volumes {
		if find(options, v.Config) == nil {
			options = append(options, Price(v.Config, p))
		}
		o := find(options, v.Config)
		o.Used = append(o.Used, v.Name)
	}
	return options
}

// Successor returns the gp3 volume that has at least the performance of a gp2 volume once its credits are spent, and
// its throughput where that is 250 MiB/s: what AWS documents for a change of the type alone ("Modify a volume using
// Elastic Volumes", autumn 2026). The 128 MiB/s of a gp2 volume up to 170 GiB become gp3's 125.
func Successor(gp2 ebs.Volume) ebs.Volume {
	perf := gp2.Performance()
	v := ebs.Volume{Type: ebs.GP3, Size: gp2.Size, IOPS: max(gp3IncludedIOPS, perf.Baseline), Throughput: gp3IncludedThroughput}
	if perf.Throughput > 128*units.MiBPerSecond {
		v.Throughput = perf.Throughput
	}
	return v
}

func find(options []Option, v ebs.Volume) *Option {
	for i := range options {
		if options[i].Volume == v.Provisioned() {
			return &options[i]
		}
	}
	return nil
}
