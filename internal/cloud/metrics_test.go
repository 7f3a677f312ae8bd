package cloud_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ebscope/internal/cloud"
	"ebscope/internal/fleet"
	"ebscope/test/fakeaws"
)

// ramp is a series whose values tell which metric and which step they are of.
func ramp(base float64, from time.Time) fakeaws.Series {
	return func(_ string, at time.Time, period time.Duration) (float64, bool) {
		return base + float64(at.Sub(from)/period), true
	}
}

// fleetWith puts volumes into the fake whose metrics differ, and returns them as a scan reads them.
func fleetWith(t *testing.T, account cloud.Account, server *fakeaws.Server, n int, w fleet.Window) []fleet.Volume {
	t.Helper()
	for i := range n {
		v := gp2(100)
		if i%2 == 1 {
			v = fakeaws.Volume{Setting: fakeaws.Setting{Type: "gp3", Size: 100}}
		}
		v.ID = fmt.Sprintf("vol-%d", i)
		v.Attachments = []fakeaws.Attachment{{Instance: "i-1", Device: "/dev/sdf"}}
		server.AddVolume(seoul, v)
	}
	server.Metric = func(_ string, m fakeaws.Metric) fakeaws.Series {
		var i int
		if _, err := fmt.Sscanf(m.Dimensions["VolumeId"], "vol-%d", &i); err != nil || m.Namespace != "AWS/EBS" {
			return nil
		}
		switch {
		case m.Name == "VolumeReadOps" && len(m.Dimensions) == 1:
			return ramp(float64(1000*i), w.Start)
		case m.Name == "BurstBalance" && i%2 == 0:
			return fakeaws.Constant(99.5)
		case m.Name == "VolumeIOPSExceededCheck" && m.Dimensions["InstanceId"] == "i-1":
			// Only every second step has a data point.
			return func(_ string, at time.Time, period time.Duration) (float64, bool) {
				return 1, at.Sub(w.Start)/period%2 == 0
			}
		}
		return nil
	}
	volumes, err := account.Volumes(t.Context(), seoul, nil)
	if err != nil || len(volumes) != n {
		t.Fatalf("%d volumes, %v", len(volumes), err)
	}
	return volumes
}

// 200 volumes of 6.5 metrics on average are 1,300 queries: 3 requests of up to 500. Of 288 steps, 350 series have data:
// 200 + 100 + half of 200; so an answer of 100,800 points holds each request's.
func TestMetrics(t *testing.T) {
	for _, byTime := range []bool{false, true} {
		account, server := open(t)
		server.ByTime = byTime
		w, err := cloud.LatestWindow(server.Now(), 24*time.Hour)
		if err != nil || w.Points != 288 {
			t.Fatalf("window %+v, %v", w, err)
		}
		volumes := fleetWith(t, account, server, 200, w)
		if n := cloud.MetricQueries(volumes); n != 1300 {
			t.Errorf("%d queries, want 1,300", n)
		}
		got := map[fleet.VolumeID]fleet.Metrics{}
		lost, err := account.Metrics(t.Context(), fleet.Region{Name: seoul}, volumes, w, cloud.DefaultQuota, func(m fleet.Metrics) error {
			got[m.Volume] = m
			return nil
		})
		if err != nil || len(lost) > 0 || len(got) != 200 {
			t.Fatalf("%d volumes, %v, %v", len(got), lost, err)
		}
		for i := range 200 {
			m := got[fleet.VolumeID(fmt.Sprintf("vol-%d", i))]
			if len(m.ReadOps) != 288 || m.ReadOps[0] != float64(1000*i) || m.ReadOps[287] != float64(1000*i+287) {
				t.Fatalf("vol-%d reads %v", i, m.ReadOps)
			}
			if m.WriteOps != nil || m.ThroughputExceeded != nil {
				t.Fatalf("vol-%d has metrics that nobody wrote", i)
			}
			if (m.BurstBalance != nil) != (i%2 == 0) {
				t.Fatalf("vol-%d has a balance: %v", i, m.BurstBalance != nil)
			}
			if v, ok := m.IOPSExceeded.At(0); !ok || v != 1 {
				t.Fatalf("vol-%d exceeded %v, %v", i, v, ok)
			}
			if _, ok := m.IOPSExceeded.At(1); ok {
				t.Fatalf("vol-%d has a value where there is no data point", i)
			}
		}
		calls := server.Calls("GetMetricData")
		if len(calls) < 3 || slices.ContainsFunc(calls, func(c fakeaws.Call) bool { return len(c.Parameters["Queries"]) > 3 || c.Parameters["Queries"] > "500" }) {
			t.Errorf("%d requests", len(calls))
		}
	}
}

// 14 days are 4,032 steps: an answer has 100,800 points, 25 series. 30 volumes have 30 + 15 + 30 series with points to go
// through, 75: 3 pages.
func TestMetricsOfFourteenDays(t *testing.T) {
	account, server := open(t)
	w, err := cloud.LatestWindow(server.Now(), cloud.MaxWindow)
	if err != nil || w.Points != 4032 {
		t.Fatalf("window %+v, %v", w, err)
	}
	volumes := fleetWith(t, account, server, 30, w)
	n := 0
	lost, err := account.Metrics(t.Context(), fleet.Region{Name: seoul}, volumes, w, cloud.DefaultQuota, func(m fleet.Metrics) error {
		n++
		if len(m.ReadOps) != 4032 || m.ReadOps[4031]-m.ReadOps[0] != 4031 {
			t.Errorf("%s: %d steps", m.Volume, len(m.ReadOps))
		}
		return nil
	})
	if err != nil || len(lost) > 0 || n != 30 {
		t.Errorf("%d volumes, %v, %v", n, lost, err)
	}
	if calls := len(server.Calls("GetMetricData")); calls != 3 {
		t.Errorf("%d requests, want 3", calls)
	}
	if _, err := cloud.LatestWindow(server.Now(), cloud.MaxWindow+time.Hour); err == nil {
		t.Error("a window that is too long")
	}
}

func TestMetricsThatAreMissing(t *testing.T) {
	for _, tt := range []struct {
		name   string
		spoil  func(*fakeaws.Server)
		reason fleet.MissingReason
		whole  bool // not of some volumes only
		read   int
	}{
		{"denied", func(s *fakeaws.Server) { s.Deny("cloudwatch:GetMetricData") }, fleet.Denied, true, 0},
		{"credentials", func(s *fakeaws.Server) {
			s.Fail(fakeaws.Fault{Service: fakeaws.CloudWatch, Code: "InvalidClientTokenId", Times: fakeaws.Always})
		}, fleet.Disabled, true, 0},
		// One of three requests fails for good: 500 queries, 76 or 77 volumes of 6.5 metrics on average.
		{"one batch", func(s *fakeaws.Server) {
			s.Fail(fakeaws.Fault{Service: fakeaws.CloudWatch, Code: "ValidationError"})
		}, fleet.Failed, false, -1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			account, server := open(t)
			w, _ := cloud.LatestWindow(server.Now(), time.Hour)
			volumes := fleetWith(t, account, server, 200, w)
			tt.spoil(server)
			read := 0
			lost, err := account.Metrics(t.Context(), fleet.Region{Account: "1", Name: seoul}, volumes, w, cloud.DefaultQuota, func(fleet.Metrics) error { read++; return nil })
			if err != nil || len(lost) != 1 || lost[0].Reason != tt.reason || lost[0].Operation != "cloudwatch:GetMetricData" || lost[0].Region != seoul {
				t.Fatalf("%v, %v", lost, err)
			}
			if (lost[0].Volumes == nil) != tt.whole || tt.read >= 0 && read != tt.read || !tt.whole && read+len(lost[0].Volumes) != 200 {
				t.Errorf("%d volumes read, %d missing", read, len(lost[0].Volumes))
			}
		})
	}
}

func TestMetricsEnd(t *testing.T) {
	account, server := open(t)
	w, _ := cloud.LatestWindow(server.Now(), time.Hour)
	volumes := fleetWith(t, account, server, 200, w)
	full := errors.New("disk full")
	if _, err := account.Metrics(t.Context(), fleet.Region{Name: seoul}, volumes, w, cloud.DefaultQuota, func(fleet.Metrics) error { return full }); !errors.Is(err, full) {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	lost, err := account.Metrics(ctx, fleet.Region{Name: seoul}, volumes, w, cloud.DefaultQuota, func(fleet.Metrics) error { cancel(); return nil })
	if err != nil || len(lost) > 1 || len(lost) == 1 && lost[0].Reason != fleet.Interrupted {
		t.Errorf("ended: %v, %v", lost, err)
	}
}

// Of a volume at two instances, a step was exceeded where one of them says so.
func TestMetricsOfMultiAttach(t *testing.T) {
	account, server := open(t)
	w, _ := cloud.LatestWindow(server.Now(), 15*time.Minute)
	id := server.AddVolume(seoul, fakeaws.Volume{Setting: fakeaws.Setting{Type: "io2", Size: 100, IOPS: 1000, MultiAttach: true},
		Attachments: []fakeaws.Attachment{{Instance: "i-1"}, {Instance: "i-2"}}})
	for instance, values := range map[string]string{"i-1": "10-", "i-2": "011"} {
		server.AddMetric(seoul, fakeaws.Metric{Namespace: "AWS/EBS", Name: "VolumeIOPSExceededCheck",
			Dimensions: map[string]string{"VolumeId": id, "InstanceId": instance}}, func(stat string, at time.Time, period time.Duration) (float64, bool) {
			v := values[at.Sub(w.Start)/period]
			return float64(v - '0'), v != '-' && stat == "Maximum"
		})
	}
	volumes, err := account.Volumes(t.Context(), seoul, nil)
	if err != nil {
		t.Fatal(err)
	}
	lost, err := account.Metrics(t.Context(), fleet.Region{Name: seoul}, volumes, w, cloud.DefaultQuota, func(m fleet.Metrics) error {
		if !slices.Equal(m.IOPSExceeded, fleet.Series{1, 1, 1}) || m.BurstBalance != nil {
			t.Errorf("exceeded %v", m.IOPSExceeded)
		}
		return nil
	})
	if err != nil || len(lost) > 0 {
		t.Error(lost, err)
	}
}

func TestInventory(t *testing.T) {
	account, server := open(t)
	server.Page = 3
	for i := range 10 {
		v := gp2(100)
		v.ID, v.Tags = fmt.Sprintf("vol-%d", i), map[string]string{"n": fmt.Sprint(i)}
		v.Attachments = []fakeaws.Attachment{{Instance: fmt.Sprintf("i-%d", i), Device: "/dev/sdf", DeleteOnTermination: true}}
		server.AddVolume(seoul, v)
		server.AddMachine(seoul, fakeaws.Machine{ID: fmt.Sprintf("i-%d", i), Type: "m5.xlarge"})
	}
	server.AddVolume("us-east-1", gp2(10))
	server.AddAlarm(seoul, fakeaws.Alarm{AlarmName: "queue", Namespace: "AWS/SQS", MetricName: "Age"})
	server.AddAlarm(seoul, fakeaws.Alarm{AlarmName: "balance", Namespace: "AWS/EBS", MetricName: "BurstBalance"})
	if _, err := account.ModifyVolume(t.Context(), seoul, cloud.Change{Volume: "vol-3", Target: gp3(100, 3000, 128)}); err != nil {
		t.Fatal(err)
	}
	names, lost, err := account.Regions(t.Context(), "1", []string{"*", "af-south-1"})
	if err != nil || !slices.Equal(names, []string{seoul, "us-east-1"}) || len(lost) != 1 || lost[0].Region != "af-south-1" || lost[0].Reason != fleet.Disabled {
		t.Fatalf("regions %v, %v, %v", names, lost, err)
	}
	regions, lost := account.Inventory(t.Context(), "1", names)
	if len(regions) != 2 || len(lost) > 0 {
		t.Fatalf("%d regions, %v", len(regions), lost)
	}
	r := regions[0]
	if r.Name != seoul || len(r.Volumes) != 10 || len(r.Instances) != 10 || len(r.Modifications) != 1 || len(r.Alarms) != 1 || r.Alarms[0].Name != "balance" {
		t.Errorf("%d volumes, %d instances, %d modifications, %d alarms", len(r.Volumes), len(r.Instances), len(r.Modifications), len(r.Alarms))
	}
	v := r.Volumes[7]
	if v.ID != "vol-7" || v.Tags["n"] != "7" || len(v.Attachments) != 1 || v.Attachments[0].Instance != "i-7" || !v.Attachments[0].DeleteOnTermination || v.Created.IsZero() || v.Zone != seoul+"a" {
		t.Errorf("volume %+v", v)
	}
	if i := r.Instances[7]; i.Type != "m5.xlarge" || i.State != "running" || i.Zone != seoul+"a" {
		t.Errorf("instance %+v", i)
	}
	if m := r.Modifications[0]; m.Volume != "vol-3" || m.State != "modifying" {
		t.Errorf("modification %+v", m)
	}
}

// One API of four that is denied leaves the rest; a region that is not enabled leaves the other.
func TestInventoryInPart(t *testing.T) {
	account, server := open(t)
	server.AddVolume(seoul, gp2(10))
	server.Deny("ec2:DescribeInstances")
	regions, lost := account.Inventory(t.Context(), "1", []string{seoul, "af-south-1"})
	if len(regions) != 1 || len(regions[0].Volumes) != 1 || len(lost) != 2 {
		t.Fatalf("%d regions, %+v", len(regions), lost)
	}
	if m := lost[0]; m.Reason != fleet.Denied || m.Operation != "ec2:DescribeInstances" || !strings.Contains(m.Text, "ec2:DescribeInstances") || m.Region != seoul {
		t.Errorf("%+v", m)
	}
	if m := lost[1]; m.Reason != fleet.Disabled || m.Region != "af-south-1" {
		t.Errorf("%+v", m)
	}
	server.Deny("ec2:DescribeRegions")
	names, lost, err := account.Regions(t.Context(), "1", []string{seoul, "eu-*"})
	if err != nil || !slices.Equal(names, []string{seoul}) || len(lost) != 1 || lost[0].Reason != fleet.Denied {
		t.Errorf("regions that cannot be listed: %v, %v, %v", names, lost, err)
	}
}

func TestUnknownRegions(t *testing.T) {
	account, _ := open(t)
	if _, _, err := account.Regions(t.Context(), "1", []string{"mars-*"}); err == nil || !strings.Contains(err.Error(), "us-east-1") {
		t.Errorf("error %v", err)
	}
	if _, _, err := account.Regions(t.Context(), "1", []string{"[a"}); err == nil {
		t.Error("a pattern that is none")
	}
	if names, _, err := account.Regions(t.Context(), "1", nil); err != nil || !slices.Equal(names, []string{seoul}) {
		t.Errorf("the environment's: %v, %v", names, err)
	}
}
