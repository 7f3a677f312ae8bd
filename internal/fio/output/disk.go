package output

import (
	"math"

	"ebscope/internal/result"
)

// disk is a block device as fio states it. Of one that is made of others, fio also states their means.
type disk struct {
	result.Disk
	host                        string
	made                        bool // of others
	membersReads, membersWrites float64
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
		var x float64
		switch key {
		case "name":
			d.Name, err = p.string()
		case "hostname":
			d.host, err = p.string()
		case "read_ios":
			x, err = p.number(key)
			d.Reads = int64(x)
		case "write_ios":
			x, err = p.number(key)
			d.Writes = int64(x)
		case "util":
			d.Utilization, err = p.number(key)
		case "aggr_read_ios":
			d.made = true
			d.membersReads, err = p.number(key)
		case "aggr_write_ios":
			d.membersWrites, err = p.number(key)
		default:
			err = p.skip(key)
		}
		return err
	})
	if !count(d.Reads) || !count(d.Writes) || d.Utilization < 0 {
		p.doubt("a count of the disk %q is out of range: unknown", d.Name)
		d.Disk = result.Disk{Name: d.Name}
	}
	return d, err
}

// disksOf returns the devices of a host, with their members. fio lists the members of a device behind it, and states the
// mean of their counts: they are as many as give this mean. Where no number does, the members are unknown.
func disksOf(host string, all []disk) (disks []result.Disk) {
	for i, d := range all {
		if d.host != "" && d.host != host {
			continue
		}
		if d.made {
			d.Members = members(d, all[i+1:])
		}
		disks = append(disks, d.Disk)
	}
	return disks
}

func members(d disk, behind []disk) (names []string) {
	var reads, writes float64
	for i, m := range behind {
		if m.host != d.host {
			return nil
		}
		names = append(names, m.Name)
		reads += float64(m.Reads)
		writes += float64(m.Writes)
		n := float64(i + 1)
		// fio rounds means down.
		if math.Floor(reads/n) == d.membersReads && math.Floor(writes/n) == d.membersWrites && reads+writes > 0 {
			return names
		}
	}
	return nil
}
