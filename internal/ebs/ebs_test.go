package ebs_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ebscope/internal/ebs"
	"ebscope/internal/units"
)

// AWS's own examples of gp2: EBS user guide, "General Purpose SSD volumes".
func TestGP2Performance(t *testing.T) {
	tests := []struct {
		gib             units.Bytes
		baseline, burst units.IOPS
		credits         units.Ops
		mibps           float64
	}{
		{30, 100, 3000, 5_400_000, 128},   // 3 × 30 = 90, raised to the minimum of 100
		{100, 300, 3000, 5_400_000, 128},  // 3 × 100
		{170, 510, 3000, 5_400_000, 128},  // last size with 128 MiB/s
		{171, 513, 3000, 5_400_000, 250},  // 250 while credits last
		{334, 1002, 3000, 5_400_000, 250}, // 3 × 334; first size with 250 MiB/s for ever
		{750, 2250, 3000, 5_400_000, 250},
		{1000, 3000, 3000, 0, 250}, // baseline reaches the burst rate: no bucket
		{5334, 16000, 16000, 0, 250},
		{16384, 16000, 16000, 0, 250},
	}
	for _, tt := range tests {
		v := ebs.Volume{Type: ebs.GP2, Size: tt.gib * units.GiB}
		if err := ebs.Embedded().Validate(v); err != nil {
			t.Fatalf("%v: %v", v, err)
		}
		p := ebs.Embedded().Performance(v)
		if p.Baseline != tt.baseline || p.Burst != tt.burst || p.Credits != tt.credits ||
			p.Throughput.MiBps() != tt.mibps {
			t.Errorf("%v: got %+v, want %+v", v, p, tt)
		}
	}
}

func TestGP3Performance(t *testing.T) {
	p := ebs.Embedded().Performance(ebs.Volume{Type: ebs.GP3, Size: 100 * units.GiB})
	if p.Baseline != 3000 || p.Burst != 3000 || p.Bursts() || p.Throughput.MiBps() != 125 {
		t.Errorf("default gp3: got %+v, want 3,000 IOPS, 125 MiB/s and no burst", p)
	}
}

func TestValidateNamesTheRule(t *testing.T) {
	gp3 := func(gib units.Bytes, iops units.IOPS, mibps units.Throughput) ebs.Volume {
		return ebs.Volume{Type: ebs.GP3, Size: gib * units.GiB, IOPS: iops, Throughput: mibps * units.MiBPerSecond}
	}
	tests := []struct {
		volume ebs.Volume
		want   string // empty: accepted
	}{
		{gp3(160, 80_000, 2_000), ""}, // 80,000 ÷ 160 = 500 per GiB
		{gp3(16, 8_000, 2_000), ""},   // 2,000 ÷ 8,000 = 0.25 MiB/s per IOPS
		{gp3(1, 0, 0), ""},            // the base of 3,000 IOPS comes with every size
		{gp3(1000, 80_001, 0), "3,000 to 80,000 IOPS"},
		{gp3(100, 2_999, 0), "3,000 to 80,000 IOPS"},
		{gp3(100, 16_000, 2_001), "125 to 2,000 MiB/s"},
		{gp3(20, 15_000, 0), "500 IOPS per GiB"},        // 15,000 ÷ 20 = 750
		{gp3(100, 3_000, 1_000), "0.25 MiB/s per IOPS"}, // 1,000 ÷ 3,000 = 0.333
		// 751 ÷ 3,000 = 0.2503, which no rounding may turn into the 0.25 that is allowed; 751 ÷ 0.25 = 3,004
		{gp3(100, 3_000, 751), "751 MiB/s at 3,000 IOPS are more; use at least 3,004 IOPS or at most 750 MiB/s"},
		{gp3(70_000, 0, 0), "1 GiB to 64 TiB"},
		{ebs.Volume{Type: ebs.GP2, Size: 17 * units.TiB}, "1 GiB to 16 TiB"},
		{ebs.Volume{Type: ebs.GP2, Size: units.GiB * 3 / 2}, "whole number of GiB"},
		{ebs.Volume{Type: ebs.GP2, Size: 100 * units.GiB, IOPS: 1000}, "cannot be set on gp2"},
		{ebs.Volume{Type: ebs.GP2, Size: 100 * units.GiB, Throughput: 1000}, "cannot be set on gp2"},
		{ebs.Volume{Type: ebs.IO1, Size: 100 * units.GiB}, "need IOPS: 100 to 64,000"},
		{ebs.Volume{Type: ebs.IO1, Size: 100 * units.GiB, IOPS: 5_001}, "at most 50 IOPS per GiB"},
		{ebs.Volume{Type: ebs.IO2, Size: 100 * units.GiB, IOPS: 100_000}, ""},
		{ebs.Volume{Type: ebs.IO2, Size: 3 * units.GiB, IOPS: 100}, "4 GiB to 64 TiB"},
		{ebs.Volume{Type: ebs.IO2, Size: 100 * units.GiB, IOPS: 100, Throughput: 1}, "follows from the IOPS"},
		{ebs.Volume{Type: ebs.ST1, Size: 100 * units.GiB}, "125 GiB to 16 TiB"},
		{ebs.Volume{Type: ebs.SC1, Size: 125 * units.GiB, IOPS: 300}, "cannot be set on sc1"},
		{ebs.Volume{Type: ebs.Standard, Size: 2 * units.TiB}, "1 GiB to 1 TiB"},
		{gp3(100, units.IOPS(math.NaN()), 0), "must be a number"},
		{ebs.Volume{Type: "gp4", Size: 100 * units.GiB}, `unknown volume type "gp4"`},
	}
	for _, tt := range tests {
		err := ebs.Embedded().Validate(tt.volume)
		if tt.want == "" {
			if err != nil {
				t.Errorf("%v: %v, want accepted", tt.volume, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: error %v, want one that says %q", tt.volume, err, tt.want)
		}
	}
}

func TestInstance(t *testing.T) {
	i, err := ebs.Embedded().Instance("m5.xlarge")
	if err != nil {
		t.Fatal(err)
	}
	// 1,150 Mbps ÷ 8 = 143.75 MB/s; 4,750 Mbps ÷ 8 = 593.75 MB/s.
	if i.BaselineIOPS != 6000 || i.MaximumIOPS != 18750 || i.BaselineThroughput.MBps() != 143.75 || i.MaximumThroughput.MBps() != 593.75 || !i.Bursts() {
		t.Errorf("m5.xlarge: %+v", i)
	}
	_, err = ebs.Embedded().Instance("m5.xlrge")
	var unknown *ebs.UnknownError
	if !errors.As(err, &unknown) || len(unknown.Near()) == 0 || unknown.Near()[0] != "m5.xlarge" {
		t.Errorf("m5.xlrge: %v, want a hint to m5.xlarge", err)
	}
}

func TestPrices(t *testing.T) {
	p, err := ebs.Embedded().Prices("ap-northeast-2")
	if err != nil {
		t.Fatal(err)
	}
	type tiers = []ebs.IOPSTier
	const list, date = "EBS price list", "2026-09-02"
	// facts, prices.json of Seoul. gp3 includes 3,000 IOPS and 125 MiB/s; io2 has its own price up to 32,000, up to
	// 64,000 and above.
	want := map[ebs.Type]ebs.Price{
		ebs.GP2: {PerGiB: 0.114, Source: list, Date: date},
		ebs.GP3: {PerGiB: 0.0912, IOPS: tiers{{3000, 0.0057}}, PerMiBps: 0.0456, ThroughputAbove: 125 * units.MiBPerSecond, Source: list, Date: date},
		ebs.IO1: {PerGiB: 0.1278, IOPS: tiers{{0, 0.0666}}, Source: list, Date: date},
		ebs.IO2: {PerGiB: 0.1278, IOPS: tiers{{0, 0.0666}, {32_000, 0.04662}, {64_000, 0.032634}}, Source: list, Date: date},
		ebs.ST1: {PerGiB: 0.051, Source: list, Date: date}, ebs.SC1: {PerGiB: 0.0174, Source: list, Date: date},
		ebs.Standard: {PerGiB: 0.08, PerIO: 8e-8, Source: list, Date: date},
	}
	if diff := cmp.Diff(want, p.Volumes); diff != "" {
		t.Errorf("Seoul: %s", diff)
	}
	osaka, err := ebs.Embedded().Prices("ap-northeast-3")
	if err != nil {
		t.Fatal(err)
	}
	if _, sold := osaka.Volumes[ebs.IO2]; sold || len(osaka.Volumes) != 6 {
		t.Errorf("Osaka: io2 has no price in the list, but got %+v", osaka.Volumes)
	}
	if _, err := ebs.Embedded().Prices("mars-north-1"); err == nil {
		t.Error("mars-north-1: no error")
	}
}

// Every row of the catalogs that ship is read, is above zero, and has a source and a date.
func TestEmbeddedIsWhole(t *testing.T) {
	c := ebs.Embedded()
	if got := len(c.Instances()); got != 1266 {
		t.Errorf("%d instance types, want 1,266", got)
	}
	for _, i := range c.Instances() {
		if !(i.BaselineIOPS > 0 && i.BaselineIOPS <= i.MaximumIOPS && i.BaselineThroughput > 0 && i.BaselineThroughput <= i.MaximumThroughput) ||
			i.Source == "" || i.Date == "" {
			t.Errorf("%s: %+v", i.Type, i)
		}
	}
	if got := len(c.Regions()); got != 31 {
		t.Errorf("%d regions, want 31", got)
	}
	for _, r := range c.Regions() {
		for name, p := range r.Volumes {
			if p.PerGiB <= 0 || p.Source == "" || p.Date == "" {
				t.Errorf("%s of %s: %+v", name, r.Region, p)
			}
			for _, tier := range p.IOPS {
				if tier.PerIOPS <= 0 {
					t.Errorf("%s of %s: %+v", name, r.Region, p)
				}
			}
		}
		if len(r.Volumes) < 6 || r.Date() == "" || r.Location == "" {
			t.Errorf("%s: %d prices as of %q", r.Region, len(r.Volumes), r.Date())
		}
	}
	if got := len(c.VolumeTypes()); got != 7 {
		t.Errorf("%d volume types, want 7", got)
	}
	for _, v := range c.VolumeTypes() {
		if v.Title == "" || v.MaxSize == 0 || v.AccountingUnit == 0 || v.IOPS.Max == 0 || v.Throughput.Max == 0 || v.Source == "" || v.Date == "" {
			t.Errorf("%s: %+v", v.Type, v)
		}
	}
}

// The other types, from the user guide's tables (facts: "Others").
func TestPerformanceOfOtherTypes(t *testing.T) {
	perf := func(name ebs.Type, gib units.Bytes, iops units.IOPS) ebs.Performance {
		v := ebs.Volume{Type: name, Size: gib * units.GiB, IOPS: iops}
		if err := ebs.Embedded().Validate(v); err != nil {
			t.Errorf("%v: %v", v, err)
		}
		return ebs.Embedded().Performance(v)
	}
	for _, tt := range []struct {
		perf            ebs.Performance
		iops            units.IOPS
		baseline, burst float64 // MiB/s
		creditsGiB      float64
	}{
		{perf(ebs.IO1, 100, 1_000), 1_000, 250, 250, 0},         // 1,000 × 256 KiB
		{perf(ebs.IO1, 1_000, 32_000), 32_000, 500, 500, 0},     // at most 500 up to here
		{perf(ebs.IO1, 1_280, 48_000), 48_000, 750, 750, 0},     // 48,000 × 16 KiB
		{perf(ebs.IO1, 1_280, 64_000), 64_000, 1_000, 1_000, 0}, // 64,000 × 16 KiB
		{perf(ebs.IO2, 100, 1_000), 1_000, 256, 256, 0},         // 1,000 × 0.256
		{perf(ebs.IO2, 256, 256_000), 256_000, 4_000, 4_000, 0},
		{perf(ebs.ST1, 1_024, 0), 500, 40, 250, 1_024},
		{perf(ebs.ST1, 2_048, 0), 500, 80, 500, 2_048},
		{perf(ebs.ST1, 12_800, 0), 500, 500, 500, 0}, // 12.5 TiB: the base has reached the cap
		{perf(ebs.ST1, 16_384, 0), 500, 500, 500, 0},
		{perf(ebs.SC1, 1_024, 0), 250, 12, 80, 1_024},
		{perf(ebs.SC1, 3_200, 0), 250, 37.5, 250, 3_200}, // 3.125 TiB: the burst has reached the cap
		{perf(ebs.SC1, 16_384, 0), 250, 192, 250, 16_384},
		{perf(ebs.Standard, 100, 0), 40, 40, 40, 0},
	} {
		p := tt.perf
		if p.Baseline != tt.iops || p.Burst != tt.iops || p.Credits != 0 || math.Abs(p.BaselineThroughput.MiBps()-tt.baseline) > 1e-9 ||
			math.Abs(p.Throughput.MiBps()-tt.burst) > 1e-9 || p.DataCredits.GiB() != tt.creditsGiB || p.BurstsData() != (tt.creditsGiB > 0) {
			t.Errorf("got %+v, want %+v", p, tt)
		}
	}
}

// EBS user guide, "I/O characteristics": 1,024 KiB are 4 operations on an SSD and one on an HDD, where 8 sequential
// 128 KiB are merged into one, and 8 random ones are 8, each of a full MiB of throughput.
func TestAccounting(t *testing.T) {
	ssd := ebs.Embedded().Performance(ebs.Volume{Type: ebs.GP3, Size: 100 * units.GiB})
	hdd := ebs.Embedded().Performance(ebs.Volume{Type: ebs.ST1, Size: 1 * units.TiB})
	for _, tt := range []struct {
		perf       ebs.Performance
		size       units.Bytes
		sequential bool
		operations float64
		data       units.Bytes
	}{
		{ssd, units.MiB, true, 4, units.MiB},
		{ssd, 4 * units.KiB, false, 1, 4 * units.KiB},
		{hdd, units.MiB, true, 1, units.MiB},
		{hdd, 128 * units.KiB, true, 0.125, 128 * units.KiB},
		{hdd, 128 * units.KiB, false, 1, units.MiB},
		{hdd, units.MiB + 1, false, 2, 2 * units.MiB},
	} {
		if o, d := tt.perf.Operations(tt.size, tt.sequential), tt.perf.Data(tt.size, tt.sequential); o != tt.operations || d != tt.data {
			t.Errorf("%v: %v operations and %v, want %+v", tt.size, o, d, tt)
		}
	}
}
