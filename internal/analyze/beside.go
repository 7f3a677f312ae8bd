package analyze

import (
	"strings"

	"ebscope/internal/ebs"
	"ebscope/internal/result"
	"ebscope/internal/units"
)

// beside is what ran at the same time as a reading, on what may be the same volume: the jobs of its group.
type beside struct {
	jobs int // readings of the group, itself included
	// The reading's own part of the I/Os and of the bytes of all, 0 to 1.
	ios, bytes float64
}

// others says whether others ran beside it.
func (b beside) others() bool { return b.jobs > 1 }

// besides finds the readings that ran side by side: jobs of fio of one document, host and group, and not on files of
// different names. Other tools run their tests one after another.
func besides(readings []result.Reading) []beside {
	type group struct {
		file         string
		document, id int
		host, on     string
	}
	groupOf := func(r result.Reading) group {
		return group{r.Source.File, r.Source.Document, r.Group, r.Host, r.Workload.Filename}
	}
	type sum struct {
		jobs       int
		iops, data float64
	}
	sums := map[group]sum{}
	for _, r := range readings {
		if t := summary(r.Total); r.Failure == nil && r.Source.Document > 0 && strings.HasPrefix(r.Tool, "fio") && t.iops > 0 {
			s := sums[groupOf(r)]
			sums[groupOf(r)] = sum{s.jobs + 1, s.iops + t.iops, s.data + float64(t.throughput)}
		}
	}
	all := make([]beside, len(readings))
	for i, r := range readings {
		all[i] = beside{jobs: 1, ios: 1, bytes: 1}
		t, s := summary(r.Total), sums[groupOf(r)]
		if r.Failure == nil && s.jobs > 1 && t.iops > 0 {
			all[i] = beside{s.jobs, t.iops / s.iops, 1}
			if s.data > 0 && t.throughput > 0 {
				all[i].bytes = float64(t.throughput) / s.data
			}
		}
	}
	return all
}

// of is the part of a volume's performance that a reading has beside others.
func (b beside) of(p ebs.Performance) ebs.Performance {
	p.Baseline *= units.IOPS(b.ios)
	p.Burst *= units.IOPS(b.ios)
	p.Credits *= units.Ops(b.ios)
	p.Throughput *= units.Throughput(b.bytes)
	p.BaselineThroughput *= units.Throughput(b.bytes)
	p.DataCredits = units.Bytes(float64(p.DataCredits) * b.bytes)
	return p
}

// ofInstance is the part of an instance's limits that a reading has beside others.
func (b beside) ofInstance(i *ebs.Instance) *ebs.Instance {
	if i == nil || !b.others() {
		return i
	}
	part := *i
	part.BaselineIOPS *= units.IOPS(b.ios)
	part.MaximumIOPS *= units.IOPS(b.ios)
	part.BaselineThroughput *= units.Throughput(b.bytes)
	part.MaximumThroughput *= units.Throughput(b.bytes)
	return &part
}
