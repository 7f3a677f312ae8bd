package ebs_test

import (
	"errors"
	"strings"
	"testing"

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
		if err := v.Validate(); err != nil {
			t.Fatalf("%v: %v", v, err)
		}
		p := v.Performance()
		if p.Baseline != tt.baseline || p.Burst != tt.burst || p.Credits != tt.credits ||
			p.Throughput.MiBps() != tt.mibps {
			t.Errorf("%v: got %+v, want %+v", v, p, tt)
		}
	}
}

func TestGP3Performance(t *testing.T) {
	p := ebs.Volume{Type: ebs.GP3, Size: 100 * units.GiB}.Performance()
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
		{gp3(70_000, 0, 0), "1 GiB to 64 TiB"},
		{ebs.Volume{Type: ebs.GP2, Size: 17 * units.TiB}, "1 GiB to 16 TiB"},
		{ebs.Volume{Type: ebs.GP2, Size: units.GiB * 3 / 2}, "whole number of GiB"},
		{ebs.Volume{Type: ebs.GP2, Size: 100 * units.GiB, IOPS: 1000}, "cannot be set on gp2"},
		{ebs.Volume{Type: ebs.GP2, Size: 100 * units.GiB, Throughput: 1000}, "cannot be set on gp2"},
		{ebs.Volume{Type: "gp4", Size: 100 * units.GiB}, `unknown volume type "gp4"`},
	}
	for _, tt := range tests {
		err := tt.volume.Validate()
		if tt.want == "" {
			if err != nil {
				t.Errorf("%v: %v, want accepted", tt.volume, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: error %v, want one that says %q", tt.volume, err, tt.want)
		}
	}
}

func TestLookupInstance(t *testing.T) {
	i, err := ebs.LookupInstance("m5.xlarge")
	if err != nil {
		t.Fatal(err)
	}
	// 1,150 Mbps ÷ 8 = 143.75 MB/s; 4,750 Mbps ÷ 8 = 593.75 MB/s.
	if i.BaselineIOPS != 6000 || i.MaximumIOPS != 18750 || i.BaselineThroughput.MBps() != 143.75 || i.MaximumThroughput.MBps() != 593.75 || !i.Bursts() {
		t.Errorf("m5.xlarge: %+v", i)
	}
	_, err = ebs.LookupInstance("m5.xlrge")
	var unknown *ebs.UnknownError
	if !errors.As(err, &unknown) || len(unknown.Near) == 0 || unknown.Near[0] != "m5.xlarge" {
		t.Errorf("m5.xlrge: %v, want a hint to m5.xlarge", err)
	}
}

func TestLookupPrices(t *testing.T) {
	p, err := ebs.LookupPrices("ap-northeast-2")
	if err != nil {
		t.Fatal(err)
	}
	if p.GP2PerGiB != 0.114 || p.GP3PerGiB != 0.0912 || p.GP3PerIOPS != 0.0057 || p.GP3PerMiBps != 0.0456 {
		t.Errorf("Seoul: %+v", p)
	}
	if _, err := ebs.LookupPrices("mars-north-1"); err == nil {
		t.Error("mars-north-1: no error")
	}
}
