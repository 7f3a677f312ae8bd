package alarm_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"ebscope/internal/alarm"
	"ebscope/internal/cloud"
	"ebscope/internal/ebs"
	"ebscope/internal/fleet"
	"ebscope/test/fakeaws"
)

const (
	seoul   = "ap-northeast-2"
	account = fleet.AccountID("123456789012") // the fake's
	pager   = "arn:aws:sns:ap-northeast-2:123456789012:pager"
	step    = 5 * time.Minute
	points  = 12
)

var taken = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func TestMain(m *testing.M) {
	// Whatever the machine has, no test finds real credentials or asks for them.
	for _, e := range fakeaws.NoCredentials() {
		key, value, _ := strings.Cut(e, "=")
		os.Setenv(key, value)
	}
	os.Exit(m.Run())
}

// open starts a fake and opens an account in it.
func open(t *testing.T) (cloud.Account, *fakeaws.Server) {
	t.Helper()
	server := fakeaws.New()
	t.Cleanup(server.Close)
	for _, e := range server.Environment() {
		key, value, _ := strings.Cut(e, "=")
		t.Setenv(key, value)
	}
	opened, err := cloud.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return opened, server
}

// volume is attached to i-1.
func volume(id fleet.VolumeID, kind ebs.Type, size int64) fleet.Volume {
	return fleet.Volume{ID: id, Zone: seoul + "a", State: "in-use", Setting: fleet.Setting{Type: kind, SizeGiB: size},
		Attachments: []fleet.Attachment{{Instance: "i-1", State: "attached"}}}
}

// inSeoul is an account with volumes, and an instance that bursts.
func inSeoul(volumes ...fleet.Volume) fleet.Snapshot {
	return fleet.Snapshot{Tool: "ebscope test", Taken: taken, Window: fleet.Window{Start: taken.Add(-points * step), Step: step, Points: points},
		Regions: []fleet.Region{{Account: account, Name: seoul, Volumes: volumes,
			Instances: []fleet.Instance{{ID: "i-1", Type: "m5.xlarge", State: "running"}}}}}
}

// reads are the metrics of a volume that reads 4 KiB at a rate.
func reads(id fleet.VolumeID, perSecond float64) fleet.Metrics {
	m := fleet.Metrics{Volume: id}
	for range points {
		m.ReadOps, m.ReadBytes = append(m.ReadOps, perSecond*step.Seconds()), append(m.ReadBytes, 4096*perSecond*step.Seconds())
	}
	return m
}

// plan makes a plan with 5 minutes of warning.
func plan(s fleet.Snapshot, metrics ...fleet.Metrics) alarm.Plan {
	return planWith(s, alarm.Options{Warn: 5 * time.Minute, Kinds: alarm.Kinds, Actions: []string{pager}}, metrics...)
}

func planWith(s fleet.Snapshot, o alarm.Options, metrics ...fleet.Metrics) alarm.Plan {
	o.Catalog = ebs.Embedded()
	inventory := fleet.Join(s)
	scan := fleet.NewScan(inventory, fleet.Options{Catalog: o.Catalog})
	for _, m := range metrics {
		scan.Add(m)
	}
	return alarm.New(&inventory, scan.Observed, o)
}

// find returns a wanted alarm by its name.
func find(t *testing.T, p alarm.Plan, name string) alarm.Wanted {
	t.Helper()
	for _, w := range p.Alarms {
		if w.Alarm.Name == name {
			return w
		}
	}
	t.Fatalf("no alarm %s in the plan", name)
	return alarm.Wanted{}
}

func names(p alarm.Plan) []string {
	all := []string{}
	for _, w := range p.Alarms {
		all = append(all, w.Alarm.Name)
	}
	return all
}
