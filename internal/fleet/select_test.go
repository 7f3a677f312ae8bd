package fleet_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ebscope/internal/ebs"
	"ebscope/internal/fleet"
)

func TestSelect(t *testing.T) {
	s := inSeoul(20, gp2("vol-1", 100), gp2("vol-2", 500), gp3("vol-3", 200, 6000, 125), gp2("vol-4", 50))
	s.Regions[0].Volumes[0].Tags = map[string]string{"team": "shop", "kubernetes.io/created-for/pvc/namespace": "prod-a"}
	s.Regions[0].Volumes[3].Tags = map[string]string{"team": "bank", "kubernetes.io/created-for/pvc/namespace": "prod-b"}
	alone := gp2("vol-9", 10)
	alone.State = "available"
	s.Regions = append(s.Regions, fleet.Region{Account: account, Name: "us-east-1", Volumes: []fleet.Volume{alone}})
	// vol-1: 2.7 M ÷ 900 = 3,000 s. vol-2 (1,500 IOPS): never. vol-4 (150 IOPS): 5.4 M ÷ 150 = 36,000 s.
	d := scan(s, reads("vol-1", 20, 1200, 50), reads("vol-2", 20, 100, 100), reads("vol-4", 20, 300, 100))
	for name, tt := range map[string]struct {
		filter fleet.Filter
		by     fleet.Key
		want   []fleet.VolumeID
	}{
		"all":                  {fleet.Filter{}, fleet.ByID, []fleet.VolumeID{"vol-1", "vol-2", "vol-3", "vol-4", "vol-9"}},
		"by size":              {fleet.Filter{}, fleet.BySize, []fleet.VolumeID{"vol-2", "vol-3", "vol-1", "vol-4", "vol-9"}},
		"by price":             {fleet.Filter{}, fleet.ByPrice, []fleet.VolumeID{"vol-2", "vol-3", "vol-1", "vol-4", "vol-9"}}, // 57.00, 35.34, 11.40, 5.70, 1.00
		"by time to empty":     {fleet.Filter{}, fleet.ByTimeToEmpty, []fleet.VolumeID{"vol-1", "vol-4", "vol-2", "vol-3", "vol-9"}},
		"by saving":            {fleet.Filter{Types: []ebs.Type{ebs.GP2}}, fleet.BySaving, []fleet.VolumeID{"vol-2", "vol-1", "vol-4", "vol-9"}}, // 5.70, 2.28, 1.14, 0.20
		"gp3":                  {fleet.Filter{Types: []ebs.Type{ebs.GP3}}, fleet.ByID, []fleet.VolumeID{"vol-3"}},
		"a namespace":          {fleet.Filter{Namespaces: []string{"prod-*"}}, fleet.ByID, []fleet.VolumeID{"vol-1", "vol-4"}},
		"a region":             {fleet.Filter{Regions: []string{"us-*", "eu-*"}}, fleet.ByID, []fleet.VolumeID{"vol-9"}},
		"a tag":                {fleet.Filter{Tags: []string{"team"}}, fleet.ByID, []fleet.VolumeID{"vol-1", "vol-4"}},
		"a tag with its value": {fleet.Filter{Tags: []string{"team=bank"}}, fleet.ByID, []fleet.VolumeID{"vol-4"}},
		"a finding":            {fleet.Filter{Findings: []fleet.Code{fleet.Unattached, fleet.BelowGP2}}, fleet.ByID, []fleet.VolumeID{"vol-2", "vol-3", "vol-9"}},
		"nothing":              {fleet.Filter{Types: []ebs.Type{ebs.GP3}, Tags: []string{"team"}}, fleet.ByID, []fleet.VolumeID{}},
	} {
		chosen := d.Select(tt.filter, tt.by)
		got := []fleet.VolumeID{}
		var sum fleet.Money
		for _, r := range chosen.Volumes {
			got = append(got, r.ID)
			sum += *r.Monthly
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if chosen.Totals.Monthly != sum || chosen.Totals.Volumes != len(got) {
			t.Errorf("%s: totals %+v, the rows add up to %v", name, chosen.Totals, sum.USD())
		}
	}
	if len(d.Volumes) != 5 || d.Volumes[0].ID != "vol-1" {
		t.Error("selecting changed the document")
	}
}

func TestSelectionsThatAreNone(t *testing.T) {
	for _, f := range []fleet.Filter{{Namespaces: []string{"[x"}}, {Regions: []string{"\\"}}, {Findings: []fleet.Code{"gp2"}}} {
		if f.Validate() == nil {
			t.Errorf("%+v is accepted", f)
		}
	}
	if fleet.Key("age").Validate() == nil || fleet.BySaving.Validate() != nil || (fleet.Filter{Findings: []fleet.Code{fleet.Unattached}}).Validate() != nil {
		t.Error("keys and filters are judged wrongly")
	}
}
