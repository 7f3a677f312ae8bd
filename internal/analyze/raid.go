package analyze

import (
	"slices"

	"ebscope/internal/ebs"
	"ebscope/internal/lazy"
	"ebscope/internal/result"
	"ebscope/internal/units"
)

// raidName is how Linux names a software RAID.
var raidName = lazy.Regexp(`^md(\d|_)`)

// raid returns the devices that a RAID 0 spread its I/O over, none where there is no RAID or where it keeps copies: then
// each member takes every write, and limits do not add up.
func raid(disks []result.Disk) []string {
	var array result.Disk
	var rest []result.Disk
	for _, d := range disks {
		if raidName().MatchString(d.Name) {
			array = d
		} else {
			rest = append(rest, d)
		}
	}
	members := array.Members
	if array.Name != "" && len(members) == 0 { // fio lists them after the array
		for _, d := range rest {
			members = append(members, d.Name)
		}
	}
	if len(members) < 2 {
		return nil
	}
	for _, d := range rest {
		if array.Writes > 0 && d.Writes > array.Writes*9/10 {
			return nil
		}
	}
	return members
}

// notOfOne leaves out of what would explain the figures of a RAID each single volume.
func (r reader) notOfOne(all []Candidate) []Candidate {
	return slices.DeleteFunc(all, func(c Candidate) bool {
		_, err := r.catalog.VolumeType(ebs.Type(c.Type))
		return len(r.members) > 0 && err == nil
	})
}

// together is the performance of several alike volumes that I/O is spread over.
func together(p ebs.Performance, n int) ebs.Performance {
	p.Baseline *= units.IOPS(n)
	p.Burst *= units.IOPS(n)
	p.Throughput *= units.Throughput(n)
	p.BaselineThroughput *= units.Throughput(n)
	p.Credits *= units.Ops(n)
	p.DataCredits *= units.Bytes(n)
	return p
}
