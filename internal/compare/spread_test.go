package compare

import (
	"fmt"
	"math"
	"testing"

	"ebscope/internal/analyze"
)

// measuredRuns are runs of one phase with the given rates.
func measuredRuns(rates ...float64) (all []analyze.Document) {
	for i, r := range rates {
		p99 := 32 / r * 1000
		p := analyze.Phase{Name: "randread", Volume: "gp3", State: "done", IOPS: analyze.IOPS{Mean: r}, Latency: &analyze.Latency{P99: &p99}}
		all = append(all, analyze.Document{Run: analyze.Identity{ID: fmt.Sprint("run", i+1)}, Phases: []analyze.Phase{p, {Name: "lost", Volume: "gp3", State: "cut"}}})
	}
	return all
}

// Of 3,000, 3,001, 2,999, 3,002 and 2,400 the median is 3,000 and the range 602, 20.07 %. The quartiles lie around 3,000, so
// that 2 %, 60 IOPS, is what a run may lie away from them: 2,400 is far off.
func TestSpread(t *testing.T) {
	d := SpreadOf(measuredRuns(3000, 3001, 2999, 3002, 2400))
	if len(d.Runs) != 5 || len(d.Spreads) != 2 {
		t.Fatalf("%d runs, %d spreads; want 5 runs, IOPS and p99", len(d.Runs), len(d.Spreads))
	}
	s := d.Spreads[0]
	if s.Metric != "iops" || s.Runs != 5 || s.Median != 3000 || s.Min != 2400 || s.Max != 3002 || math.Abs(s.SpreadPercent-20.07) > 0.01 {
		t.Errorf("%+v", s)
	}
	if len(s.Outliers) != 1 || s.Outliers[0] != (Outlier{"run5", 2400}) {
		t.Errorf("outliers %v, want run5 alone", s.Outliers)
	}
}

// Figures that agree within a per mille have no outlier that anybody would care for, and of four runs none can be told.
func TestSpreadWithoutOutliers(t *testing.T) {
	for _, rates := range [][]float64{{3000, 3000, 3000, 3000, 3000, 3003}, {3000, 3000, 3000, 2400}, {3000}} {
		if s := SpreadOf(measuredRuns(rates...)).Spreads[0]; len(s.Outliers) > 0 || s.Runs != len(rates) {
			t.Errorf("%v: %+v", rates, s)
		}
	}
	if d := SpreadOf(nil); len(d.Spreads) != 0 {
		t.Errorf("of no run: %+v", d)
	}
}
