package ebs

import "ebscope/internal/units"

// Instance is what an EC2 instance type allows all its EBS volumes together. AWS states throughput for 128 KiB
// and IOPS for 16 KiB I/O. Where the baseline is below the maximum, the maximum holds for 30 minutes at least once
// every 24 hours (EC2 user guide, "EBS-optimized instance types").
type Instance struct {
	Type                                  string
	BaselineIOPS, MaximumIOPS             units.IOPS
	BaselineThroughput, MaximumThroughput units.Throughput
	Hypervisor                            string // "nitro" or "xen"; empty on bare metal and where not known
	MaximumVolumes                        int    // that can be attached; 0 where not known
	Source, Date                          string
}

// InstanceRoom is how many times a volume's IOPS the instance's baseline should be. The rest is for the root volume, and for
// the second in which a full rate bucket doubles the rate: with less, the instance shows in a volume's figures.
const InstanceRoom = 1.5

// Bursts says whether the instance's EBS limits fall after half an hour.
func (i Instance) Bursts() bool {
	return i.BaselineIOPS < i.MaximumIOPS || i.BaselineThroughput < i.MaximumThroughput
}
