package fleet_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ebscope/internal/ebs"
	"ebscope/internal/fleet"
)

const usd = 100_000_000 // Money of a dollar

// The prices of Seoul: gp2 0.114 per GiB; gp3 0.0912 per GiB, 0.0057 per IOPS above 3,000, 0.0456 per MiB/s above 125.
func TestFleetAddsUpToTheCent(t *testing.T) {
	alone := gp2("vol-e", 2000)
	alone.State, alone.Attachments = "available", nil
	d := scan(inSeoul(0, gp2("vol-a", 100), gp2("vol-b", 171), gp2("vol-c", 1000), gp3("vol-d", 100, 6000, 125), alone))
	type line struct{ Now, After, Difference float64 }
	got := map[fleet.VolumeID]line{}
	var sum fleet.Money
	for _, r := range d.Volumes {
		l := line{Now: float64(*r.Monthly) / usd}
		if c := r.Recommendation.Choice; c != nil {
			l.After, l.Difference = float64(*c.Monthly)/usd, float64(*c.Difference)/usd
		}
		got[r.ID] = l
		sum += *r.Monthly
	}
	want := map[fleet.VolumeID]line{
		"vol-a": {11.40, 9.12, -2.28},      // 100 × 0.114; 100 × 0.0912
		"vol-b": {19.494, 21.2952, 1.8012}, // 171 × 0.114; 171 × 0.0912 + 125 × 0.0456 = 15.5952 + 5.70
		"vol-c": {114.00, 96.90, -17.10},   // 91.20 + 5.70
		"vol-d": {26.22, 0, 0},             // 9.12 + 3,000 × 0.0057; no metrics say that it needs less
		"vol-e": {228.00, 205.20, -22.80},  // 182.40 + 3,000 × 0.0057 + 5.70: it saves 0.0057 × 2,000 + 11.40
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	totals := fleet.Totals{
		Volumes: 5, SizeGiB: 3371, Priced: 5, Modify: 3, AtRisk: 2,
		Monthly: 39911400000, // 11.40 + 19.494 + 114.00 + 26.22 + 228.00 = 399.114
		Saving:  4218000000,  // 2.28 + 17.10 + 22.80
		After:   35693400000,
		ByType:  []fleet.Part{{Type: ebs.GP2, Volumes: 4, SizeGiB: 3271, Monthly: 37289400000}, {Type: ebs.GP3, Volumes: 1, SizeGiB: 100, Monthly: 2622000000}},
	}
	if diff := cmp.Diff(totals, d.Totals); diff != "" {
		t.Error(diff)
	}
	if sum != d.Totals.Monthly {
		t.Errorf("the rows add up to %v, the total is %v", sum.USD(), d.Totals.Monthly.USD())
	}
}

// A 171 GiB gp2 volume at parity is dearer by 1.80 USD, with the cheaper choice beside it.
func TestParityOf171GiBIsDearer(t *testing.T) {
	r := row(t, scan(inSeoul(0, gp2("vol-b", 171))), "vol-b").Recommendation
	if r.Action != fleet.Keep || r.Difference.USD().String() != "$1.80" || !strings.Contains(r.Reason, "dearer by $1.80 a month") {
		t.Errorf("got %s, %v: %s", r.Action, r.Difference.USD(), r.Reason)
	}
	want := fleet.Setting{Type: ebs.GP3, SizeGiB: 171, IOPS: 3000, ThroughputMiBps: 125}
	if c := r.Cheaper; c == nil || c.Setting != want || c.Difference.USD().String() != "−$3.90" || c.Monthly.USD().String() != "$15.60" {
		t.Errorf("beside it stands %+v", c)
	} else if !strings.Contains(c.Text, "125 MiB/s where gp2 gives 250 MiB/s; no metrics") {
		t.Errorf("of it is said %q", c.Text)
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`"action":"none"`, `"type":"gp3","size_gib":171,"iops":3000,"throughput_mib_s":250,"usd_month":21.2952,"usd_month_difference":1.8012`,
		`"cheaper":{"type":"gp3","size_gib":171,"iops":3000,"throughput_mib_s":125,"usd_month":15.5952,"usd_month_difference":-3.8988`} {
		if !strings.Contains(string(text), part) {
			t.Errorf("no %s in %s", part, text)
		}
	}
}

func TestMoneyIsExactInJSON(t *testing.T) {
	for money, want := range map[fleet.Money]string{0: "0", 1: "0.00000001", -228 * usd / 100: "-2.28", 1140000000: "11.4", 399 * usd: "399"} {
		text, err := json.Marshal(money)
		if err != nil || string(text) != want {
			t.Errorf("%d is %s (%v), want %s", money, text, err, want)
		}
		var back fleet.Money
		if err := json.Unmarshal(text, &back); err != nil || back != money {
			t.Errorf("%s read again is %d (%v), want %d", text, back, err, money)
		}
	}
	for _, text := range []string{`"11.40"x`, `null1`, `1e30`, `[]`} {
		var m fleet.Money
		if json.Unmarshal([]byte(text), &m) == nil {
			t.Errorf("%s is no money", text)
		}
	}
}

// Where nothing is sold, or the region is not known, there is no price, and the volume still has a setting to go to.
func TestWithoutAPrice(t *testing.T) {
	s := inSeoul(0, gp2("vol-a", 500))
	s.Regions[0].Name = "mars-north-1"
	d := scan(s)
	r := row(t, d, "vol-a")
	want := fleet.Setting{Type: ebs.GP3, SizeGiB: 500, IOPS: 3000, ThroughputMiBps: 250}
	if r.Monthly != nil || r.Recommendation.Action != fleet.Modify || r.Recommendation.Setting != want || r.Recommendation.Difference != nil {
		t.Errorf("got %v and %+v", r.Monthly, r.Recommendation)
	}
	if d.Totals.Priced != 0 || d.Totals.Monthly != 0 || d.Totals.Modify != 1 {
		t.Errorf("totals %+v", d.Totals)
	}
}
