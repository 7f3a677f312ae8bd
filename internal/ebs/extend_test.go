package ebs_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ebscope/internal/ebs"
	"ebscope/internal/units"
)

const users = `
source: our contract
date: 2026-11-01
volume_types:
  gp3:
    iops: {max: 100000, included: 4000}
instances:
  m5.xlarge: {baseline_iops: 7000}
  x9.huge: {baseline_iops: 100_000, maximum_iops: 100_000, baseline_mbps: 20000, maximum_mbps: 40000, source: its launch}
regions:
  ap-northeast-2:
    prices:
      gp3: {gib_month: 0.08}
  mars-north-1:
    location: Olympus Mons
    prices:
      gp2: {gib_month: 0.5}
      io2: {gib_month: 1, iops_month: [0.3, 0.2, 0.1]}
      standard: {gib_month: 0.1, per_io: 1e-7}
`

func extended(t *testing.T, text string) *ebs.Catalog {
	t.Helper()
	c, err := ebs.Embedded().Extend(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestExtend(t *testing.T) {
	c := extended(t, users)
	gp3, err := c.VolumeType(ebs.GP3)
	if err != nil {
		t.Fatal(err)
	}
	if gp3.IOPS.Max != 100_000 || gp3.IOPS.PerGiB != 500 || gp3.Source != "our contract" || gp3.Date != "2026-11-01" {
		t.Errorf("gp3: only the maximum is another: %+v", gp3)
	}
	if err := c.Validate(ebs.Volume{Type: ebs.GP3, Size: units.TiB, IOPS: 100_000}); err != nil {
		t.Errorf("100,000 IOPS: %v", err)
	}
	m5, err := c.Instance("m5.xlarge")
	if err != nil {
		t.Fatal(err)
	}
	if m5.BaselineIOPS != 7000 || m5.MaximumIOPS != 18_750 || m5.BaselineThroughput.MBps() != 143.75 || m5.Source != "our contract" {
		t.Errorf("m5.xlarge: only the baseline IOPS are others: %+v", m5)
	}
	huge, err := c.Instance("x9.huge")
	if err != nil {
		t.Fatal(err)
	}
	// 20,000 Mbps ÷ 8 = 2,500 MB/s
	if huge.BaselineIOPS != 100_000 || huge.BaselineThroughput.MBps() != 2500 || huge.Source != "its launch" || huge.Date != "2026-11-01" {
		t.Errorf("x9.huge: %+v", huge)
	}
	seoul, err := c.Prices("ap-northeast-2")
	if err != nil {
		t.Fatal(err)
	}
	// The price per IOPS stays, but begins above the 4,000 that are now included.
	want := ebs.Price{PerGiB: 0.08, IOPS: []ebs.IOPSTier{{Above: 4000, PerIOPS: 0.0057}}, PerMiBps: 0.0456,
		ThroughputAbove: 125 * units.MiBPerSecond, Source: "our contract", Date: "2026-11-01"}
	if diff := cmp.Diff(want, seoul.Volumes[ebs.GP3]); diff != "" {
		t.Errorf("gp3 in Seoul: %s", diff)
	}
	if seoul.Volumes[ebs.GP2].PerGiB != 0.114 || seoul.Location != "Asia Pacific (Seoul)" {
		t.Errorf("the rest of Seoul changed: %+v", seoul)
	}
	mars, err := c.Prices("mars-north-1")
	if err != nil {
		t.Fatal(err)
	}
	if len(mars.Volumes) != 3 || mars.Volumes[ebs.IO2].IOPS[2] != (ebs.IOPSTier{Above: 64_000, PerIOPS: 0.1}) || mars.Volumes[ebs.Standard].PerIO != 1e-7 {
		t.Errorf("mars-north-1: %+v", mars)
	}
}

// A price of one's own has its own date, and the region's others keep theirs.
func TestDateOfPrices(t *testing.T) {
	seoul, err := extended(t, "date: 2026-11-01\nregions: {ap-northeast-2: {prices: {gp2: {gib_month: 0.1}}}}").Prices("ap-northeast-2")
	if err != nil {
		t.Fatal(err)
	}
	if own, both := seoul.Date(ebs.GP2), seoul.Date(ebs.GP2, ebs.GP3); own != "2026-11-01" || both != seoul.Volumes[ebs.GP3].Date || both != seoul.Date() {
		t.Errorf("gp2: %s, with gp3: %s, all: %s", own, both, seoul.Date())
	}
}

// The shipped catalog is not touched by what extends it.
func TestExtendLeavesTheShippedAlone(t *testing.T) {
	before, err := ebs.Embedded().Prices("ap-northeast-2")
	if err != nil {
		t.Fatal(err)
	}
	extended(t, users)
	after, err := ebs.Embedded().Prices("ap-northeast-2")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Error(diff)
	}
	if _, err := ebs.Embedded().Instance("x9.huge"); err == nil {
		t.Error("the shipped catalog has x9.huge")
	}
	if gp3, err := ebs.Embedded().VolumeType(ebs.GP3); err != nil || gp3.IOPS.Max != 80_000 {
		t.Errorf("the shipped gp3: %+v, %v", gp3, err)
	}
	if ebs.Embedded().Added() != "" {
		t.Error("the shipped catalog says that something was added to it")
	}
}

// What a run records of its catalog gives the same catalog again, and so do two catalogs one over the other.
func TestAddedGivesTheCatalogAgain(t *testing.T) {
	twice, err := extended(t, users).Extend(strings.NewReader("instances: {m5.xlarge: {baseline_iops: 8000}}"))
	if err != nil {
		t.Fatal(err)
	}
	again := extended(t, twice.Added())
	for _, c := range []*ebs.Catalog{twice, again} {
		m5, err := c.Instance("m5.xlarge")
		if err != nil || m5.BaselineIOPS != 8000 || m5.Source != "the user's catalog" || m5.Date != "" {
			t.Errorf("m5.xlarge: %+v, %v", m5, err)
		}
	}
	if diff := cmp.Diff(twice.Regions(), again.Regions()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(twice.VolumeTypes(), again.VolumeTypes()); diff != "" {
		t.Error(diff)
	}
}

func TestExtendRefuses(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"nothing":             {"", "the catalog is empty"},
		"unknown key":         {"instance: {}", "line 1: key instance is unknown in a catalog"},
		"unknown limit":       {"volume_types:\n  gp3:\n    iops: {maxx: 5}", "line 3: key maxx is unknown in iops"},
		"unknown price":       {"regions:\n  r:\n    prices:\n      gp3: {gb_month: 5}", "line 4: key gb_month is unknown in a price"},
		"key given twice":     {"instances:\n  m5.large: {baseline_iops: 5}\n  m5.large: {baseline_iops: 5}", "line 3"},
		"unknown type":        {"volume_types:\n  gp33:\n    iops: {max: 5}", `line 3: unknown volume type "gp33"; did you mean gp3`},
		"unknown type priced": {"regions:\n  us-east-1:\n    prices:\n      gp4: {gib_month: 5}", `line 4: region us-east-1: unknown volume type "gp4"`},
		"price of zero":       {"regions:\n  us-east-1:\n    prices:\n      gp3: {gib_month: 0}", "line 4: 0: a limit or price is above zero"},
		"negative price":      {"regions:\n  us-east-1:\n    prices:\n      gp3: {gib_month: -0.08}", "line 4: -0.08"},
		"price of NaN":        {"regions:\n  us-east-1:\n    prices:\n      gp3: {gib_month: .nan}", `line 4: ".nan" is not a number`},
		"NaN":                 {"instances:\n  m5.large: {baseline_iops: NaN}", `line 2: "NaN" is not a number`},
		"endless":             {"instances:\n  m5.large: {baseline_iops: 1e999}", `line 2: "1e999" is not a number`},
		"infinite":            {"instances:\n  m5.large: {baseline_iops: +Inf}", "line 2: +Inf"},
		"no number":           {"instances:\n  m5.large: {baseline_iops: many}", `line 2: "many" is not a number`},
		"a list":              {"instances:\n  m5.large: {baseline_iops: [1]}", "line 2"},
		"no name":             {"instances:\n  \"\": {baseline_iops: 1, maximum_iops: 1, baseline_mbps: 1, maximum_mbps: 1}", `line 2: instance type ""`},
		"a strange region":    {"regions:\n  \"\\e[2J\": {location: x}", "use lower-case letters"},
		"not a mapping":       {"instances: [1, 2]", "line 1: cannot unmarshal !!seq into names, each with an instance type"},
		"size as a number":    {"volume_types:\n  gp3: {size: 5}", "line 2: cannot unmarshal !!int `5` into a size range"},
		"steps as one":        {"volume_types:\n  gp2: {throughput: {by_size: 5}}", "into a list, each a step of by_size"},
		"a vague date":        {"date: yesterday", `line 1: date "yesterday": write it like 2026-11-01 or 2026-11`},
		"an impossible day":   {"regions:\n  r:\n    prices:\n      gp2: {gib_month: 5, date: 2026-02-30}", `line 4: date "2026-02-30"`},
		"missing value":       {"instances:\n  m5.large: {baseline_iops: }", "line 2: a value is missing"},
		"half an instance":    {"instances:\n  x9.huge: {baseline_iops: 5}", "line 2: instance type x9.huge: needs baseline_iops, maximum_iops"},
		"baseline too high":   {"instances:\n  m5.large: {baseline_iops: 50000}", "line 2: instance type m5.large: a baseline is above its maximum"},
		"no price for IOPS":   {"regions:\n  r:\n    prices:\n      io1: {gib_month: 5}", "line 4: region r: io1: needs one price as iops_month"},
		"too few tiers":       {"regions:\n  r:\n    prices:\n      io2: {gib_month: 5, iops_month: 1}", "needs a list of 3 prices"},
		"IOPS of gp2":         {"regions:\n  us-east-1:\n    prices:\n      gp2: {iops_month: 1}", "line 4: region us-east-1: gp2: iops_month: IOPS are not charged"},
		"no throughput":       {"regions:\n  r:\n    prices:\n      gp3: {gib_month: 5, iops_month: 1}", "needs mibps_month"},
		"no unit":             {"volume_types:\n  gp3:\n    size: {max: 5}", "line 3: size \"5\" has no unit"},
		"decimal":             {"volume_types:\n  gp3:\n    size: {max: 5TB}", "line 3"},
		"bad throughput":      {"volume_types:\n  gp3:\n    throughput: {max: 5MB/s}", "line 3: throughput \"5MB/s\""},
		"zero throughput":     {"volume_types:\n  gp3:\n    throughput: {max: 0MiB/s}", "line 3: 0MiB/s: a limit or price is above zero"},
		"min above max":       {"volume_types:\n  gp3:\n    iops: {min: 90000}", "line 3: volume type gp3: iops: min 90,000 IOPS is above max"},
		"half a burst":        {"volume_types:\n  gp3:\n    iops: {burst: 90000}", "burst and credits go together"},
		"tiers without price": {"volume_types:\n  io1:\n    iops: {price_tiers: [32000]}", "volume type io1: its price in"},
		"steps in no order":   {"volume_types:\n  gp2:\n    throughput: {by_size: [{up_to: 100GiB, limit: 5MiB/s}, {up_to: 50GiB, limit: 6MiB/s}]}", "up_to 50 GiB comes after 100 GiB"},
		"an empty step":       {"volume_types:\n  gp2:\n    throughput: {by_size: [{up_to: 5GiB}]}", "each step has up_to and limit"},
		"an alias bomb":       {"a: &a [x,x]\nb: &b [*a,*a]\n", "line 1"},
		"not YAML":            {"\t{", ""},
	} {
		_, err := ebs.Embedded().Extend(strings.NewReader(tt.text))
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "ebs.") || strings.Contains(err.Error(), "yaml:") {
			t.Errorf("%s: error %v, want one that says %q", name, err, tt.want)
		}
	}
}

func FuzzExtend(f *testing.F) {
	f.Add(users)
	f.Add("instances: {a: {baseline_iops: 1, maximum_iops: 1, baseline_mbps: 1, maximum_mbps: 1}}\n---\nregions: {}")
	f.Add("volume_types: {gp2: {throughput: {by_size: []}}}")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ebs.Embedded().Extend(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, v := range c.VolumeTypes() {
			volume := c.Provisioned(ebs.Volume{Type: v.Type, Size: v.MinSize, IOPS: v.IOPS.Included})
			if p := c.Performance(volume); c.Validate(volume) == nil && !(p.Throughput >= 0 && p.Baseline >= 0) {
				t.Errorf("%v: %+v", volume, p)
			}
		}
		for _, i := range c.Instances() {
			if !(i.BaselineIOPS > 0 && i.BaselineIOPS <= i.MaximumIOPS && i.BaselineThroughput > 0) {
				t.Errorf("%+v", i)
			}
		}
		for _, r := range c.Regions() {
			for name, p := range r.Volumes {
				if !(p.PerGiB > 0) {
					t.Errorf("%s in %s: %+v", name, r.Region, p)
				}
			}
		}
	})
}
