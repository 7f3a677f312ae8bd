package fleet_test

import (
	"testing"
	"time"

	"ebscope/internal/ebs"
	"ebscope/internal/fleet"
)

const (
	seoul   = "ap-northeast-2"
	account = fleet.AccountID("111122223333")
	gib     = int64(1 << 30)
	step    = 5 * time.Minute
)

// taken is when the snapshots of the tests were taken.
var taken = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// gp2 and gp3 are attached volumes in Seoul.
func gp2(id fleet.VolumeID, size int64) fleet.Volume {
	return fleet.Volume{ID: id, Zone: seoul + "a", State: "in-use", Created: taken.AddDate(-1, 0, 0),
		Setting:     fleet.Setting{Type: ebs.GP2, SizeGiB: size, IOPS: min(max(3*size, 100), 16_000)},
		Attachments: []fleet.Attachment{{Instance: "i-1", State: "attached"}}}
}

func gp3(id fleet.VolumeID, size, iops, throughput int64) fleet.Volume {
	v := gp2(id, size)
	v.Setting = fleet.Setting{Type: ebs.GP3, SizeGiB: size, IOPS: iops, ThroughputMiBps: throughput}
	return v
}

// inSeoul is a snapshot of an account with some volumes and one m5.xlarge, and a window of so many steps.
func inSeoul(points int, volumes ...fleet.Volume) fleet.Snapshot {
	s := fleet.Snapshot{Tool: "ebscope test", Taken: taken, Regions: []fleet.Region{{
		Account: account, Name: seoul, Volumes: volumes,
		Instances: []fleet.Instance{{ID: "i-1", Type: "m5.xlarge", State: "running", Zone: seoul + "a"}},
	}}}
	if points > 0 {
		s.Window = fleet.Window{Start: taken.Add(-time.Duration(points) * step), Step: step, Points: points}
	}
	return s
}

// scan looks at a snapshot with what comes by default.
func scan(s fleet.Snapshot, metrics ...fleet.Metrics) fleet.Document {
	return scanWith(s, fleet.Options{}, metrics...)
}

func scanWith(s fleet.Snapshot, o fleet.Options, metrics ...fleet.Metrics) fleet.Document {
	o.Catalog = ebs.Embedded()
	scan := fleet.NewScan(fleet.Join(s), o)
	for _, m := range metrics {
		scan.Add(m)
	}
	return scan.Document(s.Missing)
}

// row finds a volume in a document.
func row(t *testing.T, d fleet.Document, id fleet.VolumeID) fleet.Row {
	t.Helper()
	for _, r := range d.Volumes {
		if r.ID == id {
			return r
		}
	}
	t.Fatalf("no volume %s in the document", id)
	return fleet.Row{}
}

// steady returns n times one value.
func steady(n int, value float64) fleet.Series {
	s := make(fleet.Series, n)
	for i := range s {
		s[i] = value
	}
	return s
}

// reads are the metrics of n steps of random reads of 4 KiB at a rate, with a burst balance.
func reads(id fleet.VolumeID, n int, perSecond, balance float64) fleet.Metrics {
	ops := perSecond * step.Seconds()
	return fleet.Metrics{Volume: id, ReadOps: steady(n, ops), ReadBytes: steady(n, 4096*ops), WriteOps: steady(n, 0), WriteBytes: steady(n, 0),
		BurstBalance: steady(n, balance)}
}

func codes(r fleet.Row) []fleet.Code {
	all := []fleet.Code{}
	for _, f := range r.Findings {
		all = append(all, f.Code)
	}
	return all
}

func ptr[T any](x T) *T { return &x }
