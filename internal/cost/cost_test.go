package cost_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ebscope/internal/cost"
	"ebscope/internal/ebs"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

func seoul(t *testing.T) ebs.Prices {
	t.Helper()
	p, err := ebs.Embedded().Prices("ap-northeast-2")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// row is an option as a person reads it: the price to the cent, the time to the second.
type row struct {
	Volume, Price    string
	Sustained, Burst units.IOPS
	BurstFor         time.Duration
	MiBps            float64
}

func rows(options []cost.Option) []row {
	var all []row
	for _, o := range options {
		all = append(all, row{o.Volume.String(), o.Monthly.String(), o.Sustained, o.Burst, o.BurstFor.Round(time.Second), o.Throughput.MiBps()})
	}
	return all
}

func TestAlternatives(t *testing.T) {
	tests := []struct {
		name string
		gib  units.Bytes
		want []row
	}{
		{"100 GiB", 100, []row{
			{"gp2 100 GiB", "$11.40", 300, 3000, 2000 * time.Second, 128},        // 100 × 0.114; 5.4 M ÷ 2,700
			{"gp3 100 GiB, 3,000 IOPS, 125 MiB/s", "$9.12", 3000, 3000, 0, 125},  // 100 × 0.0912
			{"gp3 100 GiB, 6,000 IOPS, 125 MiB/s", "$26.22", 6000, 6000, 0, 125}, // 9.12 + 3,000 × 0.0057
			{"gp3 100 GiB, 3,000 IOPS, 250 MiB/s", "$14.82", 3000, 3000, 0, 250}, // 9.12 + 125 × 0.0456
			{"gp2 1,000 GiB", "$114.00", 3000, 3000, 0, 250},                     // 1,000 × 0.114
		}},
		// 10 GiB of gp3 take at most 5,000 IOPS, so 6,000 are left out. 5.4 M ÷ (3,000 − 100) = 1,862 s.
		{"10 GiB", 10, []row{
			{"gp2 10 GiB", "$1.14", 100, 3000, 1862 * time.Second, 128},
			{"gp3 10 GiB, 3,000 IOPS, 125 MiB/s", "$0.91", 3000, 3000, 0, 125},
			{"gp3 10 GiB, 3,000 IOPS, 250 MiB/s", "$6.61", 3000, 3000, 0, 250}, // 0.912 + 5.70
			{"gp2 1,000 GiB", "$114.00", 3000, 3000, 0, 250},
		}},
		// From 1,000 GiB on gp2 needs no larger size.
		{"2,000 GiB", 2000, []row{
			{"gp2 2,000 GiB", "$228.00", 6000, 6000, 0, 250},
			{"gp3 2,000 GiB, 3,000 IOPS, 125 MiB/s", "$182.40", 3000, 3000, 0, 125},
			{"gp3 2,000 GiB, 6,000 IOPS, 125 MiB/s", "$199.50", 6000, 6000, 0, 125},
			{"gp3 2,000 GiB, 3,000 IOPS, 250 MiB/s", "$188.10", 3000, 3000, 0, 250},
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, rows(cost.Alternatives(ebs.Embedded(), test.gib*units.GiB, seoul(t)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestForProfile(t *testing.T) {
	volume := func(name string, v ebs.Volume) workload.Volume { return workload.Volume{Name: name, Config: v} }
	gp2 := ebs.Volume{Type: ebs.GP2, Size: 100 * units.GiB}
	gp3 := ebs.Volume{Type: ebs.GP3, Size: 100 * units.GiB}
	written := ebs.Volume{Type: ebs.GP3, Size: 100 * units.GiB, IOPS: 3000, Throughput: 125 * units.MiBPerSecond}
	fast := ebs.Volume{Type: ebs.GP3, Size: 40 * units.GiB, IOPS: 10_000, Throughput: 500 * units.MiBPerSecond}

	options := cost.ForProfile(ebs.Embedded(), workload.Profile{Volumes: []workload.Volume{
		volume("fast", fast), volume("plain", gp3), volume("old", gp2), volume("written-out", written),
	}}, seoul(t))

	used := map[string][]string{}
	for _, o := range options {
		used[o.Volume.String()] = o.Used
	}
	want := map[string][]string{
		"gp2 100 GiB":                        {"old"},
		"gp3 100 GiB, 3,000 IOPS, 125 MiB/s": {"plain", "written-out"}, // defaults written out are the same volume
		"gp3 100 GiB, 6,000 IOPS, 125 MiB/s": nil,
		"gp3 100 GiB, 3,000 IOPS, 250 MiB/s": nil,
		"gp2 1,000 GiB":                      nil,
		"gp3 40 GiB, 10,000 IOPS, 500 MiB/s": {"fast"},
	}
	if diff := cmp.Diff(want, used); diff != "" {
		t.Error(diff)
	}
	// 40 × 0.0912 + 7,000 × 0.0057 + 375 × 0.0456 = 3.648 + 39.90 + 17.10
	if got := options[len(options)-1].Monthly.String(); got != "$60.65" {
		t.Errorf("the fast volume costs %s, want $60.65", got)
	}
	if got := cost.ForProfile(ebs.Embedded(), workload.Profile{}, seoul(t)); got != nil {
		t.Errorf("a profile without volumes has options: %v", got)
	}
}

// A type-only change from gp2 to gp3 saves money on small and large volumes but costs more from 171 to 249 GiB,
// where 125 MiB/s more are carried over and charged (5.70) than the size saves (0.0228 × GiB).
func TestSuccessorSaving(t *testing.T) {
	tests := []struct {
		gib  int64
		want units.USD
	}{
		{100, 2.28},                 // 0.0228 × 100
		{170, 3.876},                // the last size with 128 MiB/s
		{171, 3.8988 - 5.70},        // rises
		{249, 5.6772 - 5.70},        // still rises
		{250, 0},                    // even
		{251, 5.7228 - 5.70},        // saves
		{1000, 22.80 - 5.70},        // 17.10 = 0.0057 × 1,000 + 11.40
		{1100, 0.0057*1100 + 11.40}, // 3,300 IOPS carried over
		{5000, 0.0057*5000 + 11.40},
	}
	p := seoul(t)
	for _, test := range tests {
		gp2 := ebs.Volume{Type: ebs.GP2, Size: units.Bytes(test.gib) * units.GiB}
		gp3 := cost.Successor(ebs.Embedded(), gp2)
		if err := ebs.Embedded().Validate(gp3); err != nil {
			t.Errorf("%d GiB: %v", test.gib, err)
		}
		before, _ := cost.Monthly(gp2, p)
		after, _ := cost.Monthly(gp3, p)
		got := before - after
		if math.Abs(float64(got-test.want)) > 1e-6 {
			t.Errorf("%d GiB: saves %.4f, want %.4f", test.gib, got, test.want)
		}
	}
}

// A catalog in which gp2 never reaches its burst rate for ever has no volume that is large enough for it.
func TestAlternativesWithoutALargeEnoughVolume(t *testing.T) {
	catalog, err := ebs.Embedded().Extend(strings.NewReader("source: test\ndate: 2026-11-01\nvolume_types: {gp2: {iops: {max: 2000}}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := cost.Alternatives(catalog, 100*units.GiB, seoul(t)); len(got) != 4 {
		t.Errorf("%d alternatives, want the 4 of 100 GiB: %v", len(got), rows(got))
	}
}
