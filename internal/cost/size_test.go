package cost_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ebscope/internal/cost"
	"ebscope/internal/ebs"
	"ebscope/internal/units"
)

// fits prints what was found for a need, one line for a type: the cheapest first.
func fits(t *testing.T, need cost.Need, region string) (found, missing []string) {
	t.Helper()
	catalog := ebs.Embedded()
	prices, err := catalog.Prices(region)
	if err != nil {
		t.Fatal(err)
	}
	all, unfit := cost.Cheapest(need, catalog.VolumeTypes(), catalog, prices)
	for _, f := range all {
		found = append(found, fmt.Sprintf("%v: %v; %s", f.Volume, f.Monthly, f.Rule))
	}
	for _, u := range unfit {
		missing = append(missing, fmt.Sprintf("%s: %s", u.Type, u.Reason))
	}
	return found, missing
}

func TestCheapest(t *testing.T) {
	const mib = units.MiBPerSecond
	tests := []struct {
		name           string
		need           cost.Need
		found, missing []string
	}{
		{"the need of the money table", cost.Need{Size: 100 * units.GiB, IOPS: 3000, Throughput: 125 * mib}, []string{
			"gp3 100 GiB, 3,000 IOPS, 125 MiB/s: $9.12; 3,000 IOPS come with every size",
			"gp2 1,000 GiB: $114.00; gp2 needs 1,000 GiB for 3,000 IOPS: 3 per GiB",
			"io1 100 GiB, 3,000 IOPS: $212.58; 3,000 IOPS provisioned", // 100 × 0.1278 + 3,000 × 0.0666 = 12.78 + 199.80
			"io2 100 GiB, 3,000 IOPS: $212.58; 3,000 IOPS provisioned",
		}, []string{
			"sc1: at most 192 IOPS at random", // 12 × 16 TiB = 192 MiB/s, 1 MiB each
			"st1: at most 500 IOPS at random",
			"standard: at most 40 IOPS at random",
		}},
		// 125 MiB/s in I/Os of 256 KiB are 500 IOPS: gp2 has them from 167 GiB on, io1 and io2 take 500 (488.3 by io2's ratio)
		{"throughput only", cost.Need{Size: 100 * units.GiB, Throughput: 125 * mib}, []string{
			"gp3 100 GiB, 3,000 IOPS, 125 MiB/s: $9.12; 3,000 IOPS come with every size",
			"gp2 167 GiB: $19.04; gp2 needs 167 GiB for 125 MiB/s for ever: its 501 IOPS of 256 KiB",
			"io1 100 GiB, 500 IOPS: $46.08; 125 MiB/s take 500 IOPS", // 12.78 + 500 × 0.0666
			"io2 100 GiB, 500 IOPS: $46.08; 125 MiB/s take 500 IOPS",
			"st1 3,200 GiB: $163.20; st1 needs 3,200 GiB for 125 MiB/s for ever: 40 MiB/s per TiB", // 3.125 TiB × 0.051
			// 125 ÷ 12 = 10.417 TiB = 10,666.7 GiB
			"sc1 10,667 GiB: $185.61; sc1 needs 10,667 GiB for 125 MiB/s for ever: 12 MiB/s per TiB",
		}, []string{"standard: at most 40 MiB/s for ever"}},
		{"a large cold store", cost.Need{Size: 16 * units.TiB, Throughput: 40 * mib}, []string{
			"sc1 16,384 GiB: $285.08; 16 TiB give 192 IOPS and 192 MiB/s for ever", // 16,384 × 0.0174
			"st1 16,384 GiB: $835.58; 16 TiB give 500 IOPS and 500 MiB/s for ever",
			"gp3 16,384 GiB, 3,000 IOPS, 125 MiB/s: $1,494.22; 3,000 IOPS come with every size",
			"gp2 16,384 GiB: $1,867.78; 16 TiB give 16,000 IOPS and 250 MiB/s for ever",
			"io1 16,384 GiB, 160 IOPS: $2,104.53; 40 MiB/s take 160 IOPS", // 40 × 4; 2,093.8752 + 10.656
			"io2 16,384 GiB, 160 IOPS: $2,104.53; 40 MiB/s take 160 IOPS",
		}, []string{"standard: at most 1 TiB"}},
		// gp3: 100,000 IOPS are too many. io2: 32,000 × 0.0666 + 32,000 × 0.04662 + 36,000 × 0.032634 = 2,131.20 + 1,491.84 + 1,174.824; + 12.78
		{"io2's three tiers", cost.Need{Size: 100 * units.GiB, IOPS: 100_000}, []string{
			"io2 100 GiB, 100,000 IOPS: $4,810.64; 100,000 IOPS provisioned, those above 32,000 at a lower price",
		}, []string{
			"gp2: at most 16,000 IOPS at random", "gp3: at most 80,000 IOPS at random", "io1: at most 64,000 IOPS at random",
			"sc1: at most 192 IOPS at random", "st1: at most 500 IOPS at random", "standard: at most 40 IOPS at random",
		}},
		// gp3 at 500 per GiB takes 40 GiB for 20,000; io1 at 50 takes 400; io2 at 1,000 takes 20
		{"ratios that make a volume larger", cost.Need{Size: 10 * units.GiB, IOPS: 20_000, Throughput: 10 * mib}, []string{
			// 40 × 0.0912 + 17,000 × 0.0057 = 3.648 + 96.90
			"gp3 40 GiB, 20,000 IOPS, 125 MiB/s: $100.55; 17,000 IOPS above the 3,000 included; gp3 needs 40 GiB for 20,000 IOPS: 500 per GiB",
			"io2 20 GiB, 20,000 IOPS: $1,334.56; 20,000 IOPS provisioned; io2 needs 20 GiB for 20,000 IOPS: 1,000 per GiB",
			"io1 400 GiB, 20,000 IOPS: $1,383.12; 20,000 IOPS provisioned; io1 needs 400 GiB for 20,000 IOPS: 50 per GiB",
		}, []string{
			"gp2: at most 16,000 IOPS at random",
			"sc1: at most 192 IOPS at random", "st1: at most 500 IOPS at random", "standard: at most 40 IOPS at random",
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			found, missing := fits(t, test.need, "ap-northeast-2")
			if diff := cmp.Diff(test.found, found); diff != "" {
				t.Error("found:", diff)
			}
			if diff := cmp.Diff(test.missing, missing); diff != "" {
				t.Error("missing:", diff)
			}
		})
	}
}

// 1,000 MiB/s take 4,000 IOPS on gp3, which take 8 GiB; 2,000 MiB/s take 8,000 and 16 GiB.
func TestCheapestKeepsTheThroughputRatio(t *testing.T) {
	for mibps, want := range map[units.Throughput]string{
		1000: "gp3 8 GiB, 4,000 IOPS, 1,000 MiB/s: $46.33; 1,000 MiB/s take 4,000 IOPS: 0.25 MiB/s per IOPS; 875 MiB/s above the 125 included; gp3 needs 8 GiB for 4,000 IOPS: 500 per GiB",
		2000: "gp3 16 GiB, 8,000 IOPS, 2,000 MiB/s: $115.46",
	} {
		found, _ := fits(t, cost.Need{Size: units.GiB, Throughput: mibps * units.MiBPerSecond}, "ap-northeast-2")
		if !strings.HasPrefix(found[0], want) {
			t.Errorf("%v MiB/s: %s, want %s", float64(mibps), found[0], want)
		}
	}
}

// A need of 300 IOPS with bursts of 3,000 for half an hour: 100 GiB of gp2 burst for 2,000 s, which is enough; an hour
// takes 5.4 M ÷ 3,600 = 1,500 a second above the baseline, which leaves a baseline of 1,500, 500 GiB.
func TestCheapestWithABurst(t *testing.T) {
	need := cost.Need{Size: 100 * units.GiB, IOPS: 300, Burst: 3000, BurstFor: 30 * time.Minute}
	for burstFor, want := range map[time.Duration]string{
		30 * time.Minute: "gp2 100 GiB: $11.40; 100 GiB give 300 IOPS and 75 MiB/s for ever",
		time.Hour:        "gp2 500 GiB: $57.00; gp2 needs 500 GiB for a burst of 3,000 IOPS for 1h",
	} {
		need.BurstFor = burstFor
		found, _ := fits(t, need, "ap-northeast-2")
		if found[0] != "gp3 100 GiB, 3,000 IOPS, 125 MiB/s: $9.12; 3,000 IOPS come with every size" || found[1] != want {
			t.Errorf("%v: %q, want %s", burstFor, found[:2], want)
		}
	}
}

func TestCheapestWhereATypeIsNotSold(t *testing.T) {
	_, missing := fits(t, cost.Need{Size: 100 * units.GiB, IOPS: 100}, "eu-west-3")
	if len(missing) == 0 || missing[0] != "io2: not sold in eu-west-3, or its price there is not known" {
		t.Errorf("missing: %q", missing)
	}
}

func TestWithin(t *testing.T) {
	instance, err := ebs.Embedded().Instance("m5.xlarge")
	if err != nil {
		t.Fatal(err)
	}
	got, cuts := cost.Need{IOPS: 16_000, Throughput: 250 * units.MiBPerSecond, Burst: 20_000, BurstFor: time.Minute}.Within(instance)
	// 1,150 Mbps ÷ 8 = 143.75 MB/s = 137.09 MiB/s
	want := cost.Need{IOPS: 6_000, Throughput: 137 * units.MiBPerSecond, Burst: 18_750, BurstFor: time.Minute}
	if diff := cmp.Diff(want, got); diff != "" || len(cuts) != 3 {
		t.Error(diff, cuts)
	}
	if !strings.HasPrefix(cuts[0], "m5.xlarge caps at 6,000 IOPS for ever, below the 16,000 IOPS") {
		t.Error(cuts[0])
	}
	// An hour is longer than the instance's burst.
	if got, _ := (cost.Need{Burst: 8_000, BurstFor: time.Hour}).Within(instance); got.Burst != 6_000 {
		t.Errorf("a burst of an hour was cut to %v, want 6,000", got.Burst)
	}
	small := cost.Need{IOPS: 6_000, Throughput: 137 * units.MiBPerSecond}
	if got, cuts := small.Within(instance); got != small || len(cuts) != 0 {
		t.Errorf("a need within the limits was cut: %v", cuts)
	}
}
