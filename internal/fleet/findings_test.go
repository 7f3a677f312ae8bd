package fleet_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ebscope/internal/ebs"
	"ebscope/internal/fleet"
)

func TestFindingsOfVolumes(t *testing.T) {
	full := func(id fleet.VolumeID) fleet.Metrics { return reads(id, 20, 100, 100) }
	for name, tt := range map[string]struct {
		volume  fleet.Volume
		metrics func() []fleet.Metrics
		want    []fleet.Code
		text    string // in the last of them
	}{
		"gp2 that rests":           {gp2("v", 100), func() []fleet.Metrics { return []fleet.Metrics{full("v")} }, []fleet.Code{}, ""},
		"gp2 without metrics":      {gp2("v", 100), nil, []fleet.Code{fleet.MissingMetrics, fleet.GP2AtRisk}, "from 3,000 IOPS to 300 IOPS; a full bucket lasts 2,000 s"},
		"gp2 that fell":            {gp2("v", 100), func() []fleet.Metrics { m := full("v"); m.BurstBalance[2] = 0; return []fleet.Metrics{m} }, []fleet.Code{fleet.GP2AtRisk}, "held back for 5 min of the last 100 min"},
		"gp2 that came near":       {gp2("v", 100), func() []fleet.Metrics { m := full("v"); m.BurstBalance[2] = 25; return []fleet.Metrics{m} }, []fleet.Code{fleet.GP2AtRisk}, "fell to 25 %"},
		"gp2 that is about to":     {gp2("v", 100), func() []fleet.Metrics { return []fleet.Metrics{reads("v", 20, 1200, 50)} }, []fleet.Code{fleet.GP2AtRisk}, "At its present 1,200 IOPS its credits run out in 50 min"}, // 2.7 M ÷ 900 = 3,000 s
		"gp2 in part of a minute":  {gp2("v", 100), func() []fleet.Metrics { return []fleet.Metrics{reads("v", 20, 1000, 20)} }, []fleet.Code{fleet.GP2AtRisk}, "run out in 25 min"},                                       // 1.08 M ÷ 700 = 1,543 s = 25.7 min
		"gp2 without a bucket":     {gp2("v", 1000), nil, []fleet.Code{fleet.BelowGP2}, "up to 250 MiB/s; gp3 moves 125 MiB/s"},
		"gp2 of 170 GiB":           {gp2("v", 170), func() []fleet.Metrics { return []fleet.Metrics{full("v")} }, []fleet.Code{}, ""},
		"gp2 of 171 GiB":           {gp2("v", 171), func() []fleet.Metrics { return []fleet.Metrics{full("v")} }, []fleet.Code{fleet.BelowGP2}, ""},
		"gp3 of 170 GiB":           {gp3("v", 170, 3000, 125), nil, []fleet.Code{}, ""},
		"gp3 of 171 GiB":           {gp3("v", 171, 3000, 125), nil, []fleet.Code{fleet.BelowGP2}, "It moves 125 MiB/s; a gp2 volume of its size moves up to 250 MiB/s"},
		"gp3 of 171 GiB, idle":     {gp3("v", 171, 3000, 125), func() []fleet.Metrics { return []fleet.Metrics{full("v")} }, []fleet.Code{}, ""},
		"gp3 of 171 GiB, 250":      {gp3("v", 171, 3000, 250), nil, []fleet.Code{fleet.AboveInstance}, "passes on 137.1 MiB/s for ever and 566.2 MiB/s for 30 minutes a day"}, // 143.75 and 593.75 MB/s
		"gp3 above its instance":   {gp3("v", 100, 7000, 125), nil, []fleet.Code{fleet.AboveInstance}, "7,000 IOPS, and its m5.xlarge passes on 6,000 IOPS for ever and 18,750 IOPS"},
		"a type that is not known": {fleet.Volume{ID: "v", State: "in-use", Setting: fleet.Setting{Type: "gp9", SizeGiB: 1}}, nil, []fleet.Code{fleet.UnknownType}, `no volume type "gp9"`},
	} {
		var metrics []fleet.Metrics
		if tt.metrics != nil {
			metrics = tt.metrics()
		}
		r := row(t, scan(inSeoul(20, tt.volume), metrics...), "v")
		if diff := cmp.Diff(tt.want, codes(r)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if n := len(r.Findings); tt.text != "" && n > 0 && !strings.Contains(r.Findings[n-1].Text, tt.text) {
			t.Errorf("%s: %q does not say %q", name, r.Findings[n-1].Text, tt.text)
		}
	}
}

func TestUnattached(t *testing.T) {
	v := gp2("v", 100)
	v.State, v.Attachments = "available", nil
	r := row(t, scan(inSeoul(20, v)), "v")
	if diff := cmp.Diff([]fleet.Code{fleet.Unattached}, codes(r)); diff != "" {
		t.Error(diff)
	}
	if r.Monthly.USD().String() != "$11.40" {
		t.Errorf("it costs %v", r.Monthly.USD())
	}
}

// A volume that was gp2 and was changed with gp3's defaults has lost throughput, used or not.
func TestThroughputLostByAChange(t *testing.T) {
	s := inSeoul(20, gp3("v", 500, 3000, 125))
	s.Regions[0].Modifications = []fleet.Modification{{Volume: "v", State: "completed", Original: fleet.Setting{Type: ebs.GP2, SizeGiB: 500}, Target: fleet.Setting{Type: ebs.GP3, SizeGiB: 500}}}
	r := row(t, scan(s, reads("v", 20, 10, 100)), "v")
	if len(r.Findings) != 1 || r.Findings[0].Code != fleet.BelowGP2 || r.Findings[0].Level != fleet.Warning {
		t.Errorf("found %+v", r.Findings)
	}
}

func TestCold(t *testing.T) {
	fresh := gp3("v", 1, 3000, 125)
	fresh.SnapshotID, fresh.Created = "snap-1", taken.Add(-time.Hour)
	mib := func(n float64) fleet.Metrics {
		return fleet.Metrics{Volume: "v", ReadOps: steady(20, 256), ReadBytes: steady(20, n*(1<<20)), WriteOps: steady(20, 0)}
	}
	restored, old, loading := fresh, fresh, fresh
	restored.FastRestored, loading.InitializationMiBps = true, 100
	old.Created = taken.AddDate(0, -1, 0)
	for name, tt := range map[string]struct {
		volume  fleet.Volume
		metrics []fleet.Metrics
		want    bool
	}{
		"640 MiB of 1 GiB were read": {fresh, []fleet.Metrics{mib(32)}, true},
		"1,280 MiB were read":        {fresh, []fleet.Metrics{mib(64)}, false},
		"nothing is known":           {fresh, nil, true},
		"fast snapshot restore":      {restored, nil, false},
		"EBS fetches it":             {loading, nil, false},
		"older than the window":      {old, []fleet.Metrics{mib(32)}, false},
	} {
		r := row(t, scan(inSeoul(20, tt.volume), tt.metrics...), "v")
		if got := r.Has(fleet.SnapshotCold); got != tt.want {
			t.Errorf("%s: snapshot-cold %v, want %v", name, got, tt.want)
		}
	}
}

func TestFindingsOfClusters(t *testing.T) {
	class := func(name, provisioner, kind string, isDefault bool, age time.Duration) fleet.StorageClass {
		c := fleet.StorageClass{UID: fleet.UID(name), Name: name, Provisioner: provisioner, Default: isDefault, Created: taken.Add(-age), Parameters: map[string]string{}}
		if kind != "" {
			c.Parameters["type"] = kind
		}
		return c
	}
	set := func(class *string) []fleet.StatefulSet {
		return []fleet.StatefulSet{{UID: "s", Namespace: "prod", Name: "db", Templates: []fleet.Template{{Name: "data", Class: class}}}}
	}
	for name, tt := range map[string]struct {
		classes []fleet.StorageClass
		sets    []fleet.StatefulSet
		want    []fleet.Code
	}{
		"gp3":            {[]fleet.StorageClass{class("gp3", fleet.EBSDriver, "", true, 0)}, set(nil), nil},
		"gp2 by CSI":     {[]fleet.StorageClass{class("gp2", fleet.EBSDriver, "gp2", true, 0)}, nil, []fleet.Code{fleet.GP2DefaultClass}},
		"in-tree":        {[]fleet.StorageClass{class("gp2", fleet.InTreeDriver, "", true, 0)}, set(nil), []fleet.Code{fleet.GP2DefaultClass, fleet.InTreeDefaultClass, fleet.TemplateGP2}},
		"in-tree io1":    {[]fleet.StorageClass{class("io1", fleet.InTreeDriver, "io1", true, 0)}, nil, []fleet.Code{fleet.InTreeDefaultClass}},
		"none":           {[]fleet.StorageClass{class("gp3", fleet.EBSDriver, "gp3", false, 0)}, set(nil), []fleet.Code{fleet.NoDefaultClass}},
		"two, newer gp3": {[]fleet.StorageClass{class("gp2", fleet.EBSDriver, "gp2", true, time.Hour), class("gp3", fleet.EBSDriver, "gp3", true, 0)}, set(ptr("gp2")), []fleet.Code{fleet.TwoDefaultClasses, fleet.TemplateGP2}},
		"two, newer gp2": {[]fleet.StorageClass{class("gp2", fleet.EBSDriver, "gp2", true, 0), class("gp3", fleet.EBSDriver, "gp3", true, time.Hour)}, set(ptr("gp3")), []fleet.Code{fleet.TwoDefaultClasses, fleet.GP2DefaultClass}},
		"another driver": {[]fleet.StorageClass{class("nfs", "nfs.csi.k8s.io", "gp2", true, 0)}, set(nil), nil},
	} {
		d := scan(fleet.Snapshot{Taken: taken, Clusters: []fleet.Cluster{{UID: "c", Name: "east", Classes: tt.classes, StatefulSets: tt.sets}}})
		var got []fleet.Code
		for _, f := range d.Findings {
			got = append(got, f.Code)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
