package cost_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ebscope/internal/cost"
	"ebscope/internal/ebs"
	"ebscope/internal/units"
)

func TestLike(t *testing.T) {
	p, ok := cost.Like(ebs.Volume{Type: ebs.GP2, Size: 500 * units.GiB}, ebs.Embedded(), seoul(t))
	if !ok {
		t.Fatal("gp2 and gp3 are sold in Seoul")
	}
	want := []row{
		{"gp2 500 GiB", "$57.00", 1500, 3000, 3600e9, 250},                   // 500 × 0.114; 5.4 M ÷ 1,500 = 3,600 s
		{"gp3 500 GiB, 3,000 IOPS, 125 MiB/s", "$45.60", 3000, 3000, 0, 125}, // 500 × 0.0912
		{"gp3 500 GiB, 3,000 IOPS, 250 MiB/s", "$51.30", 3000, 3000, 0, 250}, // 45.60 + 125 × 0.0456
	}
	if diff := cmp.Diff(want, rows([]cost.Option{p.Stay, p.Default, p.Equal})); diff != "" {
		t.Error(diff)
	}
}

// From 171 GiB on, 125 MiB/s more are carried over and charged. The size saves gp2 − gp3 for each GiB, so that it is dearer
// below 125 × (price per MiB/s) ÷ (gp2 − gp3): below 250 GiB in all regions where a MiB/s costs twice the difference.
func TestParityIsDearerFrom171To249GiBInEveryRegion(t *testing.T) {
	catalog := ebs.Embedded()
	regions := catalog.Regions()
	if len(regions) != 31 {
		t.Errorf("%d regions, want 31", len(regions))
	}
	usual := 0
	for _, prices := range regions {
		p, ok := cost.Like(ebs.Volume{Type: ebs.GP2, Size: 200 * units.GiB}, catalog, prices)
		if !ok {
			t.Errorf("%s: gp2 or gp3 is not sold", prices.Region)
			continue
		}
		saved := prices.Volumes[ebs.GP2].PerGiB - prices.Volumes[ebs.GP3].PerGiB
		even := 125 * float64(prices.Volumes[ebs.GP3].PerMiBps/saved)
		last := math.Ceil(even-1e-6) - 1
		if last == 249 {
			usual++
		}
		want := []cost.SizeRange{{From: 171 * units.GiB, To: units.Bytes(last) * units.GiB}}
		if diff := cmp.Diff(want, p.Dearer); diff != "" {
			t.Errorf("%s, even at %.3f GiB: %s", prices.Region, even, diff)
		}
	}
	// Zurich alone has another ratio: 0.05712 ÷ 0.0288, even at 247.9 GiB.
	if usual != 30 {
		t.Errorf("249 GiB is the last size in %d regions, want 30", usual)
	}
}
