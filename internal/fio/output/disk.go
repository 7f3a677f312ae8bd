package output

import (
	"math"

	"ebscope/internal/result"
)

// disk is a block device as fio states it. Of one that is made of others, fio also states their means.
type disk struct {
	result.Disk
	host         string
	counts       [len(counted)]float64
	membersMeans [len(counted)]float64
	made         bool // of others
}

// counted are the figures that fio states of a device and, after the second name, as the mean of its members.
var counted = [...][2]string{
	{"read_ios", "aggr_read_ios"}, {"write_ios", "aggr_write_ios"},
	{"read_merges", "aggr_read_merges"}, {"write_merges", "aggr_write_merge"},
	{"read_ticks", "aggr_read_ticks"}, {"write_ticks", "aggr_write_ticks"},
}

// disks reads fio's disk_util.
func (p *parser) disks() (disks []disk, err error) {
	if p.next() != '[' {
		return nil, p.skip("")
	}
	err = p.array(func() error {
		if p.next() != '{' {
			return p.skip("")
		}
		d, err := p.disk()
		if err == nil {
			disks = append(disks, d)
			err = p.keep(256)
		}
		return err
	})
	return disks, err
}

func (p *parser) disk() (d disk, err error) {
	err = p.object(func(key string) (err error) {
		switch key {
		case "name":
			d.Name, err = p.string()
			return err
		case "hostname":
			d.host, err = p.string()
			return err
		case "util":
			d.Utilization, err = p.number(key)
			return err
		}
		for i, names := range counted {
			switch key {
			case names[0]:
				d.counts[i], err = p.number(key)
				return err
			case names[1]:
				d.made = true
				d.membersMeans[i], err = p.number(key)
				return err
			}
		}
		return p.skip(key)
	})
	if !(d.counts[0] >= 0 && d.counts[0] < 1<<53 && d.counts[1] >= 0 && d.counts[1] < 1<<53 && d.Utilization >= 0) {
		p.doubt("a count of the disk %q is out of range: unknown", d.Name)
		d.Disk = result.Disk{Name: d.Name}
		return d, err
	}
	d.Reads, d.Writes = int64(d.counts[0]), int64(d.counts[1])
	return d, err
}

// disksOf returns the devices of a host, with their members. fio lists the members of a device behind it, and states the
// means of their counts: they are as many as give these means. Where no number does, the members are unknown.
func disksOf(host string, all []disk) (disks []result.Disk) {
	for i, d := range all {
		if d.host != "" && d.host != host {
			continue
		}
		if d.made {
			d.Members = d.members(all[i+1:])
		}
		disks = append(disks, d.Disk)
	}
	return disks
}

func (d disk) members(behind []disk) (names []string) {
	var sums [len(counted)]float64
	for i, m := range behind {
		if m.host != d.host {
			return nil
		}
		names = append(names, m.Name)
		for k := range sums {
			sums[k] += m.counts[k]
		}
		if d.isMean(sums, float64(i+1)) {
			return names
		}
	}
	return nil
}

// isMean says whether the stated means are those of so many devices. fio rounds them down.
func (d disk) isMean(sums [len(counted)]float64, devices float64) bool {
	some := false
	for k, sum := range sums {
		if math.Floor(sum/devices) != d.membersMeans[k] {
			return false
		}
		some = some || sum > 0
	}
	return some
}
