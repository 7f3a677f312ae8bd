package migration_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ebscope/internal/ebs"
	"ebscope/internal/fleet"
	"ebscope/internal/migration"
)

const seoul = "ap-northeast-2"

var taken = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func gp2(id fleet.VolumeID, size int64) fleet.Volume {
	return fleet.Volume{ID: id, Zone: seoul + "a", State: "in-use", Created: taken.AddDate(-1, 0, 0),
		Setting: fleet.Setting{Type: ebs.GP2, SizeGiB: size, IOPS: min(max(3*size, 100), 16_000)}}
}

// cluster has a claim, app/<name>, for each volume, on a server and driver that can do everything.
func cluster(volumes ...fleet.VolumeID) fleet.Cluster {
	class := "gp3"
	c := fleet.Cluster{UID: "cluster-1", Name: "prod", Server: "v1.36.3", AttributesAPI: "v1",
		Drivers: []fleet.Driver{{Name: fleet.EBSDriver, Version: "v1.64.0", Resizer: "v2.3.0"}},
		Classes: []fleet.StorageClass{{Name: class, Provisioner: fleet.EBSDriver, Default: true, Expandable: true}}}
	for i, id := range volumes {
		name := fmt.Sprintf("data-%d", i)
		uid := fleet.UID("claim-" + name)
		c.Claims = append(c.Claims, fleet.Claim{UID: uid, Namespace: "app", Name: name, Volume: "pv-" + name, Phase: "Bound", Class: &class})
		c.Volumes = append(c.Volumes, fleet.PersistentVolume{UID: "pv-uid-" + uid, Name: "pv-" + name, Driver: fleet.EBSDriver, Handle: string(id),
			ClaimUID: uid, ClaimNamespace: "app", ClaimName: name, Class: class})
	}
	return c
}

func snapshot(volumes []fleet.Volume, clusters ...fleet.Cluster) fleet.Snapshot {
	return fleet.Snapshot{Tool: "test", Taken: taken, Clusters: clusters,
		Regions: []fleet.Region{{Account: "111122223333", Name: seoul, Volumes: volumes}}}
}

func plan(s fleet.Snapshot, o migration.Options) migration.Plan {
	inventory := fleet.Join(s)
	o.Catalog = ebs.Embedded()
	return migration.Make(&inventory, fleet.NewScan(inventory, fleet.Options{Catalog: o.Catalog}).Document(nil).Volumes, o)
}

// read writes a plan and reads it back.
func read(t *testing.T, p migration.Plan) migration.Plan {
	t.Helper()
	var text bytes.Buffer
	if err := migration.Write(&text, p); err != nil {
		t.Fatal(err)
	}
	back, _, err := migration.Read(&text, ebs.Embedded())
	if err != nil {
		t.Fatal(err)
	}
	return back
}

// Seoul: gp2 0.114 a GiB, gp3 0.0912 a GiB and 0.0456 a MiB/s above 125.
//
//	100 GiB: 11.40 → 9.12, −2.28: up to 170 GiB the 128 MiB/s of gp2 count as the 125 of gp3
//	171 GiB: 19.494 → 15.5952 + 125 × 0.0456 = 21.2952, +1.8012; with 125 MiB/s 15.5952, −3.8988
func TestMoney(t *testing.T) {
	p := plan(snapshot([]fleet.Volume{gp2("vol-100", 100), gp2("vol-171", 171)}), migration.Options{})
	money := func(m *fleet.Money) string { text, _ := m.MarshalJSON(); return string(text) }
	got := [][]string{}
	for _, s := range p.Steps {
		got = append(got, []string{string(s.Volume), s.To.String(), money(s.MonthlyBefore), money(s.MonthlyAfter), money(s.Difference), fmt.Sprint(s.Dearer())})
	}
	want := [][]string{
		{"vol-100", "gp3 100 GiB, 3,000 IOPS, 125 MiB/s", "11.4", "9.12", "-2.28", "false"},
		{"vol-171", "gp3 171 GiB, 3,000 IOPS, 250 MiB/s", "19.494", "21.2952", "1.8012", "true"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if c := p.Steps[1].Cheaper; c == nil || money(c.Difference) != "-3.8988" {
		t.Errorf("beside the dearer one: %+v", c)
	}
	totals := p.Totals
	if totals.Dearer != 1 || money(&totals.DearerBy) != "1.8012" || money(&totals.MonthlyBefore) != "30.894" || money(&totals.MonthlyAfter) != "30.4152" || money(&totals.Difference) != "-0.4788" {
		t.Errorf("totals %+v", totals)
	}
	cheaper := plan(snapshot([]fleet.Volume{gp2("vol-171", 171)}), migration.Options{Dearer: migration.Cheaper})
	if s := cheaper.Steps[0]; s.To.ThroughputMiBps != 125 || money(s.Difference) != "-3.8988" {
		t.Errorf("the cheaper choice: %+v", s)
	}
	if stay := plan(snapshot([]fleet.Volume{gp2("vol-171", 171)}), migration.Options{Dearer: migration.Stay}); len(stay.Steps) != 0 {
		t.Errorf("planned %+v", stay.Steps)
	}
}

func TestWays(t *testing.T) {
	big := gp2("vol-1", 6000) // 16,000 IOPS
	for name, tt := range map[string]struct {
		change func(*fleet.Cluster)
		action migration.Action
		why    string
	}{
		"all there":         {func(*fleet.Cluster) {}, migration.ByClass, ""},
		"in-tree":           {func(c *fleet.Cluster) { c.Volumes[0].Driver, c.Volumes[0].InTree = "", "aws://ap-northeast-2a/vol-1" }, migration.ByAWS, "in-tree"},
		"no API":            {func(c *fleet.Cluster) { c.AttributesAPI, c.Server = "", "v1.33.0" }, migration.ByAWS, "v1.33.0"},
		"old driver":        {func(c *fleet.Cluster) { c.Drivers[0].Version = "v1.28.0" }, migration.ByAWS, "v1.29.0"},
		"broken driver":     {func(c *fleet.Cluster) { c.Drivers[0].Version = "v1.50.1" }, migration.ByAWS, "wrong throughput"},
		"old resizer":       {func(c *fleet.Cluster) { c.Drivers[0].Resizer = "v1.14.0" }, migration.ByAWS, "v2.0.0"},
		"resizer unknown":   {func(c *fleet.Cluster) { c.Drivers[0].Resizer = "" }, migration.ByClass, ""},
		"both old":          {func(c *fleet.Cluster) { c.Drivers[0].Resizer, c.Drivers[0].Version = "", "v1.53.0" }, migration.ByAWS, "v1 API"},
		"no driver":         {func(c *fleet.Cluster) { c.Drivers = nil }, migration.ByAWS, "does not run"},
		"beta without gate": {func(c *fleet.Cluster) { c.AttributesAPI, c.Drivers[0].Resizer = "v1beta1", "v1.14.0" }, migration.ByAWS, "gate"},
		"beta with gate": {func(c *fleet.Cluster) {
			c.AttributesAPI, c.Drivers[0].Resizer, c.Drivers[0].Gates = "v1beta1", "v1.14.0", map[string]string{"VolumeAttributesClass": "true"}
		}, migration.ByClass, ""},
		"gate off":           {func(c *fleet.Cluster) { c.Drivers[0].Gates = map[string]string{"VolumeAttributesClass": "false"} }, migration.ByAWS, "gate"},
		"auto mode":          {func(c *fleet.Cluster) { c.Volumes[0].Driver, c.Drivers = fleet.EKSAutoDriver, nil }, migration.ByClass, ""},
		"auto mode too old":  {func(c *fleet.Cluster) { c.Volumes[0].Driver, c.Server = fleet.EKSAutoDriver, "v1.33.1-eks-1" }, migration.ByAWS, "1.34"},
		"no claim":           {func(c *fleet.Cluster) { c.Claims = nil }, migration.ByAWS, "no claim"},
		"version not a form": {func(c *fleet.Cluster) { c.Drivers[0].Version = "latest" }, migration.ByAWS, "not known"},
	} {
		t.Run(name, func(t *testing.T) {
			c := cluster("vol-1")
			tt.change(&c)
			p := plan(snapshot([]fleet.Volume{big}, c), migration.Options{})
			s := p.Steps[0]
			if s.Action != tt.action || !strings.Contains(s.Why, tt.why) || len(s.BlockedBy) > 0 || (s.Action == migration.ByClass) != (s.Class != "" && len(p.Classes) == 1) {
				t.Errorf("%s (%s), class %q, blocked by %v", s.Action, s.Why, s.Class, s.BlockedBy)
			}
			read(t, p)
		})
	}
}

// One class for each setting, named by it.
func TestClasses(t *testing.T) {
	p := plan(snapshot([]fleet.Volume{gp2("vol-1", 100), gp2("vol-2", 50), gp2("vol-3", 2000)}, cluster("vol-1", "vol-2", "vol-3")), migration.Options{})
	names := []string{}
	for _, c := range p.Classes {
		names = append(names, c.Name)
	}
	if diff := cmp.Diff([]string{"ebscope-gp3-3000-125", "ebscope-gp3-6000-250"}, names); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"type": "gp3", "iops": "6000", "throughput": "250"}, p.Classes[1].Parameters); diff != "" {
		t.Error(diff)
	}
	if got := migration.ClassFor(fleet.EBSDriver, fleet.Setting{Type: ebs.GP2, SizeGiB: 100, IOPS: 300}); got.Name != "ebscope-gp2" || len(got.Parameters) != 1 {
		t.Errorf("of gp2: %+v", got)
	}
}

func TestBlocks(t *testing.T) {
	change := func(hoursAgo int, state string) fleet.Modification {
		return fleet.Modification{Volume: "vol-1", State: state, Start: taken.Add(-time.Duration(hoursAgo) * time.Hour)}
	}
	for name, tt := range map[string]struct {
		change func(*fleet.Snapshot)
		optIn  bool
		want   []migration.BlockCode
	}{
		"nothing":         {change: func(*fleet.Snapshot) {}},
		"multi-attach":    {change: func(s *fleet.Snapshot) { s.Regions[0].Volumes[0].MultiAttach = true }, want: []migration.BlockCode{migration.MultiAttach}},
		"state":           {change: func(s *fleet.Snapshot) { s.Regions[0].Volumes[0].State = "error" }, want: []migration.BlockCode{migration.WrongState}},
		"optimizing":      {change: func(s *fleet.Snapshot) { s.Regions[0].Modifications = []fleet.Modification{change(1, "optimizing")} }, want: []migration.BlockCode{migration.UnderChange}},
		"completed":       {change: func(s *fleet.Snapshot) { s.Regions[0].Modifications = []fleet.Modification{change(1, "completed")} }},
		"opted out":       {change: func(s *fleet.Snapshot) { s.Regions[0].Volumes[0].Tags = map[string]string{migration.Mark: "False"} }, want: []migration.BlockCode{migration.OptedOut}},
		"claim opted out": {change: func(s *fleet.Snapshot) { s.Clusters[0].Claims[0].Annotations = map[string]string{migration.Mark: "no"} }, want: []migration.BlockCode{migration.OptedOut}},
		"not opted in":    {change: func(*fleet.Snapshot) {}, optIn: true, want: []migration.BlockCode{migration.NotOptedIn}},
		"opted in": {change: func(s *fleet.Snapshot) {
			s.Clusters[0].Claims[0].Annotations = map[string]string{migration.Mark: "true"}
		}, optIn: true},
		"deleting": {change: func(s *fleet.Snapshot) { s.Clusters[0].Claims[0].Deleting = true }, want: []migration.BlockCode{migration.ClaimChanging}},
		"infeasible": {change: func(s *fleet.Snapshot) {
			s.Clusters[0].Claims[0].AttributesClass = "x"
			s.Clusters[0].Claims[0].Modify = &fleet.ModifyStatus{Target: "x", Status: "Infeasible"}
		}, want: []migration.BlockCode{migration.ClaimChanging}},
		"infeasible and withdrawn": {change: func(s *fleet.Snapshot) {
			s.Clusters[0].Claims[0].Modify = &fleet.ModifyStatus{Target: "x", Status: "Infeasible"}
		}},
		"no account": {change: func(s *fleet.Snapshot) {
			s.Regions = nil
			s.Clusters[0].Classes[0].Parameters = map[string]string{"type": "gp2"}
		}, want: []migration.BlockCode{migration.NotInAccount}},
		"class conflict": {change: func(s *fleet.Snapshot) {
			s.Clusters[0].AttributesClasses = []fleet.AttributesClass{{Name: "ebscope-gp3-3000-125", Driver: fleet.EBSDriver, Parameters: map[string]string{"type": "gp3"}}}
		}, want: []migration.BlockCode{migration.ClassConflict}},
	} {
		t.Run(name, func(t *testing.T) {
			s := snapshot([]fleet.Volume{gp2("vol-1", 100)}, cluster("vol-1"))
			tt.change(&s)
			p := plan(s, migration.Options{OptIn: tt.optIn})
			var codes []migration.BlockCode
			for _, b := range p.Steps[0].BlockedBy {
				codes = append(codes, b.Code)
			}
			if diff := cmp.Diff(tt.want, codes); diff != "" {
				t.Error(diff)
			}
			if blocked := len(tt.want) > 0; blocked != (p.Steps[0].Batch == 0) || p.Totals.Blocked+p.Totals.Ready != 1 {
				t.Errorf("batch %d, totals %+v", p.Steps[0].Batch, p.Totals)
			}
			read(t, p)
		})
	}
}

// Four changes in the last 24 hours: at -23, -20, -10 and -2 h. The first is a day old an hour from now. With that at
// exactly -24 h a slot is free.
func TestSlots(t *testing.T) {
	at := func(hours ...int) (all []time.Time) {
		for _, h := range hours {
			all = append(all, taken.Add(time.Duration(h)*time.Hour))
		}
		return all
	}
	s := snapshot([]fleet.Volume{gp2("vol-1", 100)})
	s.Regions[0].Modifications = []fleet.Modification{{Volume: "vol-1", State: "completed", Start: at(-2)[0]}}
	for _, tt := range []struct {
		before []time.Time
		used   int
		until  time.Time
	}{
		{at(-23, -20, -10), 4, at(1)[0]},
		{at(-24, -20, -10), 3, time.Time{}},
		{at(-2, -20), 2, time.Time{}}, // one is in the snapshot too
		{at(-23, -22, -20, -10), 5, at(2)[0]},
	} {
		step := plan(s, migration.Options{History: map[fleet.VolumeID][]time.Time{"vol-1": tt.before}}).Steps[0]
		var until time.Time
		for _, b := range step.BlockedBy {
			until = b.Until
		}
		if step.SlotsUsed != tt.used || !until.Equal(tt.until) {
			t.Errorf("%v: %d used, until %v; want %d, %v", tt.before, step.SlotsUsed, until, tt.used, tt.until)
		}
	}
}

// Five volumes, three of them of one StatefulSet, in batches of 2: no batch has two of the set.
func TestBatches(t *testing.T) {
	c := cluster("vol-1", "vol-2", "vol-3", "vol-4", "vol-5")
	for i := range 3 {
		c.Claims[i].Name = fmt.Sprintf("data-kafka-%d", i)
		c.Volumes[i].ClaimName = c.Claims[i].Name
	}
	class := "gp3"
	c.StatefulSets = []fleet.StatefulSet{{Namespace: "app", Name: "kafka", Templates: []fleet.Template{{Name: "data", Class: &class}}}}
	p := plan(snapshot([]fleet.Volume{gp2("vol-1", 1), gp2("vol-2", 1), gp2("vol-3", 1), gp2("vol-4", 1), gp2("vol-5", 1)}, c),
		migration.Options{Rules: migration.Rules{BatchSize: 2}})
	got := []int{}
	for _, s := range p.Steps {
		got = append(got, s.Batch)
	}
	if diff := cmp.Diff([]int{1, 2, 3, 1, 2}, got); diff != "" {
		t.Error(diff)
	}
}

func TestWindow(t *testing.T) {
	for _, tt := range []struct {
		window, at, next string
		open             bool
	}{
		{"01:00-05:00", "2026-12-01T01:00:00Z", "2026-12-01T01:00:00Z", true},
		{"01:00-05:00", "2026-12-01T05:00:00Z", "2026-12-02T01:00:00Z", false},
		{"22:00-02:00", "2026-12-01T01:59:59Z", "2026-12-01T01:59:59Z", true},
		{"22:00-02:00", "2026-12-01T02:00:00Z", "2026-12-01T22:00:00Z", false},
		// The night from Saturday (5 December) to Sunday, in Seoul: 16:00 to 20:00 UTC on Saturday.
		{"Sun 01:00-05:00 Asia/Seoul", "2026-12-05T16:00:00Z", "2026-12-05T16:00:00Z", true},
		{"Sun 01:00-05:00 Asia/Seoul", "2026-12-05T20:00:00Z", "2026-12-12T16:00:00Z", false},
		{"Sat 22:00-02:00", "2026-12-06T01:00:00Z", "2026-12-06T01:00:00Z", true},
	} {
		w, err := migration.ParseWindow(tt.window)
		if err != nil {
			t.Fatal(err)
		}
		at, _ := time.Parse(time.RFC3339, tt.at)
		if open, next := w.Opens(at); open != tt.open || next.UTC().Format(time.RFC3339) != tt.next {
			t.Errorf("%s at %s: %v, %v; want %v, %s", tt.window, tt.at, open, next.UTC(), tt.open, tt.next)
		}
	}
	for _, bad := range []string{"", "1-2", "01:00-01:00", "Someday 01:00-05:00", "01:00-05:00 Nowhere/Town", "25:00-26:00"} {
		if _, err := migration.ParseWindow(bad); err == nil {
			t.Errorf("%q is taken as a window", bad)
		}
	}
}

func TestEditedPlans(t *testing.T) {
	fresh := func() migration.Plan {
		return plan(snapshot([]fleet.Volume{gp2("vol-1", 100), gp2("vol-2", 50)}, cluster("vol-1")), migration.Options{})
	}
	for want, edit := range map[string]func(*migration.Plan){
		"step vol-2: to: gp3 takes at most 500 IOPS per GiB":              func(p *migration.Plan) { p.Steps[1].To.IOPS = 30_000 },
		"step vol-2: to: gp3 takes 125 to 2,000 MiB/s":                    func(p *migration.Plan) { p.Steps[1].To.ThroughputMiBps = 100 },
		"step vol-2: to: gp3 takes at most 0.25 MiB/s per IOPS":           func(p *migration.Plan) { p.Steps[1].To.ThroughputMiBps = 1000 },
		"step vol-2: to: 49 GiB: a volume cannot shrink":                  func(p *migration.Plan) { p.Steps[1].To.SizeGiB = 49 },
		"step vol-2: to: iops is missing":                                 func(p *migration.Plan) { p.Steps[1].To.IOPS = 0 },
		"step vol-2: to: throughput_mib_s is missing":                     func(p *migration.Plan) { p.Steps[1].To.ThroughputMiBps = 0 },
		`step vol-2: action "delete"`:                                     func(p *migration.Plan) { p.Steps[1].Action = "delete" },
		"step vol-2: batch 0":                                             func(p *migration.Plan) { p.Steps[1].Batch = 0 },
		"step vol-2: it has no region":                                    func(p *migration.Plan) { p.Steps[1].Region = "" },
		"step vol-1 (app/data-0): the volume has two steps":               func(p *migration.Plan) { p.Steps = append(p.Steps, p.Steps[0]) },
		"step vol-1 (app/data-0): class ebscope-gp3-3000-125 does not":    func(p *migration.Plan) { p.Steps[0].To.IOPS = 4000 },
		"use one named ebscope-gp3-4000-125":                              func(p *migration.Plan) { p.Steps[0].To.IOPS = 4000 },
		`step vol-1 (app/data-0): volume_attributes_classes has no "x"`:   func(p *migration.Plan) { p.Steps[0].Class = "x" },
		"size of a claim's volume":                                        func(p *migration.Plan) { p.Steps[0].Action, p.Steps[0].To.SizeGiB = migration.ByAWS, 200 },
		"rules: batch_size 0":                                             func(p *migration.Plan) { p.Rules.BatchSize = 0 },
		"rules: maintenance window":                                       func(p *migration.Plan) { p.Rules.Window = &migration.Window{From: "x"} },
		"step vol-2: to: unknown volume type":                             func(p *migration.Plan) { p.Steps[1].To.Type = "gp9" },
		`volume_attributes_classes: "ebscope-gp3-3000-125" of driver "":`: func(p *migration.Plan) { p.Classes[0].Driver = "" },
	} {
		p := fresh()
		edit(&p)
		var text bytes.Buffer
		if err := migration.Write(&text, p); err != nil {
			t.Fatal(err)
		}
		if _, _, err := migration.Read(&text, ebs.Embedded()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nwant %q", err, want)
		}
	}
	for want, text := range map[string]string{
		"unknown field":         `{"schema":"ebscope.migration-plan/v1","stepz":[]}`,
		"make it again":         `{"schema":"ebscope.migration-plan/v9"}`,
		"is not that of a plan": `{}`,
		"something follows":     `{"schema":"ebscope.migration-plan/v1"}{}`,
	} {
		if _, _, err := migration.Read(strings.NewReader(text), ebs.Embedded()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// The same snapshot makes the same plan, also by way of YAML; another volume makes another hash.
func TestPlanIsAFile(t *testing.T) {
	s := snapshot([]fleet.Volume{gp2("vol-2", 171), gp2("vol-1", 100)}, cluster("vol-1", "vol-2"))
	p := plan(s, migration.Options{})
	slices.Reverse(s.Regions[0].Volumes)
	if diff := cmp.Diff(p, plan(s, migration.Options{})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(p, read(t, p)); diff != "" {
		t.Error(diff)
	}
	var text bytes.Buffer
	if err := migration.WriteYAML(&text, p); err != nil {
		t.Fatal(err)
	}
	back, digest, err := migration.Read(&text, ebs.Embedded())
	if err != nil || !strings.HasPrefix(digest, "sha256:") {
		t.Fatal(digest, err)
	}
	if diff := cmp.Diff(p, back); diff != "" {
		t.Error(diff)
	}
	s.Regions[0].Volumes[0].SizeGiB = 101
	if plan(s, migration.Options{}).MadeFrom == p.MadeFrom {
		t.Error("another snapshot has the same hash")
	}
}

func TestDefaultClass(t *testing.T) {
	class := func(name, provisioner, kind string, isDefault bool) fleet.StorageClass {
		c := fleet.StorageClass{Name: name, Provisioner: provisioner, Default: isDefault, Reclaim: "Retain", Parameters: map[string]string{}}
		if kind != "" {
			c.Parameters["type"] = kind
		}
		return c
	}
	for name, tt := range map[string]struct {
		classes []fleet.StorageClass
		from    []string
		to      string // "" is none
		create  bool
	}{
		"right":             {classes: []fleet.StorageClass{class("a", fleet.EBSDriver, "gp3", true)}},
		"none":              {classes: []fleet.StorageClass{class("a", fleet.EBSDriver, "gp2", false)}},
		"another driver":    {classes: []fleet.StorageClass{class("nfs", "nfs.example.com", "", true)}},
		"gp2":               {classes: []fleet.StorageClass{class("gp2", fleet.EBSDriver, "gp2", true)}, from: []string{"gp2"}, to: "ebscope-gp3", create: true},
		"in-tree":           {classes: []fleet.StorageClass{class("gp2", fleet.InTreeDriver, "", true)}, from: []string{"gp2"}, to: "ebscope-gp3", create: true},
		"gp2, gp3 is there": {classes: []fleet.StorageClass{class("gp2", fleet.EBSDriver, "gp2", true), class("fast", fleet.EBSDriver, "", false)}, from: []string{"gp2"}, to: "fast"},
		"two":               {classes: []fleet.StorageClass{class("gp2", fleet.EBSDriver, "gp2", true), class("gp3", fleet.EBSDriver, "gp3", true), class("a3", fleet.EBSDriver, "gp3", false)}, from: []string{"gp2", "gp3"}, to: "gp3"},
	} {
		t.Run(name, func(t *testing.T) {
			p := plan(snapshot(nil, fleet.Cluster{UID: "u", Name: "prod", Classes: tt.classes}), migration.Options{})
			if tt.to == "" {
				if len(p.Defaults) > 0 {
					t.Errorf("planned %+v", p.Defaults)
				}
				return
			}
			if len(p.Defaults) != 1 {
				t.Fatalf("planned %+v", p.Defaults)
			}
			d := p.Defaults[0]
			if diff := cmp.Diff(tt.from, d.From); diff != "" || d.To != tt.to || (d.Create != nil) != tt.create || tt.create && d.Create.Reclaim != "Retain" {
				t.Errorf("planned %+v", d)
			}
		})
	}
}

func TestTemplates(t *testing.T) {
	c := cluster()
	old, good := "old", "gp3"
	c.Classes = append(c.Classes, fleet.StorageClass{Name: old, Provisioner: fleet.EBSDriver, Parameters: map[string]string{"type": "gp2"}})
	c.StatefulSets = []fleet.StatefulSet{
		{Namespace: "db", Name: "pg", Templates: []fleet.Template{{Name: "data", Class: &old}, {Name: "wal", Class: &good}, {Name: "tmp"}},
			Annotations: map[string]string{"meta.helm.sh/release-name": "pg-prod"}},
		{Namespace: "app", Name: "kafka", Templates: []fleet.Template{{Name: "data", Class: &old}}},
	}
	p := plan(snapshot(nil, c), migration.Options{})
	if len(p.Templates) != 2 {
		t.Fatalf("%+v", p.Templates)
	}
	kafka, pg := p.Templates[0], p.Templates[1]
	if kafka.To != "gp3" || !strings.Contains(kafka.Patch, "kubectl delete -n app statefulset kafka --cascade=orphan") || !strings.Contains(kafka.Patch, `spec.storageClassName = "gp3"`) {
		t.Errorf("kafka: %+v", kafka)
	}
	if pg.Template != "data" || !strings.Contains(pg.Patch, "helm upgrade pg-prod") {
		t.Errorf("pg: %+v", pg)
	}
}

func TestEmit(t *testing.T) {
	p := plan(snapshot([]fleet.Volume{gp2("vol-1", 100), gp2("vol-2", 50)}, cluster("vol-1")), migration.Options{})
	for form, want := range map[migration.Form]string{
		migration.AWSCLI:    "aws ec2 modify-volume --region ap-northeast-2 --volume-id vol-2 --volume-type gp3 --size 50 --iops 3000 --throughput 125\n",
		migration.Kubectl:   `kubectl patch -n app persistentvolumeclaim data-0 --type merge -p '{"metadata":{"uid":"claim-data-0"},"spec":{"volumeAttributesClassName":"ebscope-gp3-3000-125"}}'`,
		migration.Terraform: "  throughput        = 125",
	} {
		var text bytes.Buffer
		if err := migration.Emit(&text, p, form); err != nil || !strings.Contains(text.String(), want) {
			t.Errorf("%s: %v\n%s", form, err, text.String())
		}
	}
}

func TestReverse(t *testing.T) {
	p := plan(snapshot([]fleet.Volume{gp2("vol-1", 100), gp2("vol-2", 50), gp2("vol-3", 50)}, cluster("vol-1", "vol-2")), migration.Options{Rules: migration.Rules{BatchSize: 1}})
	back := migration.Reverse(p, "sha256:x", map[fleet.VolumeID]migration.Carried{"vol-1": migration.Changed, "vol-2": migration.Declined}, ebs.Embedded())
	if len(back.Steps) != 2 {
		t.Fatalf("%+v", back.Steps)
	}
	one, two := back.Steps[0], back.Steps[1]
	if one.From != p.Steps[0].To || one.To != p.Steps[0].From || one.Class != "ebscope-gp2" || one.FromClass != "ebscope-gp3-3000-125" || one.Batch != 3 || one.Withdraw {
		t.Errorf("changed: %+v", one)
	}
	if two.From != two.To || two.Class != "" || !two.Withdraw || two.Batch != 2 {
		t.Errorf("declined: %+v", two)
	}
	if notes := strings.Join(back.Notes, "\n"); !strings.Contains(notes, "1 volumes become gp2") || !strings.Contains(notes, "one more of the 4") {
		t.Errorf("notes %s", notes)
	}
	read(t, back)
}

// BenchmarkPlan plans 50,000 volumes in a cluster, and writes and reads the plan.
func BenchmarkPlan(b *testing.B) {
	const n = 50_000
	volumes, ids := make([]fleet.Volume, n), make([]fleet.VolumeID, n)
	for i := range n {
		ids[i] = fleet.VolumeID(fmt.Sprintf("vol-%017x", i))
		volumes[i] = gp2(ids[i], int64(1+i%4000))
	}
	inventory := fleet.Join(snapshot(volumes, cluster(ids...)))
	rows := fleet.NewScan(inventory, fleet.Options{Catalog: ebs.Embedded()}).Document(nil).Volumes
	for b.Loop() {
		p := migration.Make(&inventory, rows, migration.Options{Catalog: ebs.Embedded()})
		var text bytes.Buffer
		if err := migration.Write(&text, p); err != nil {
			b.Fatal(err)
		}
		if _, _, err := migration.Read(&text, ebs.Embedded()); err != nil {
			b.Fatal(err)
		}
	}
}
