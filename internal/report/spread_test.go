package report_test

import (
	"strings"
	"testing"

	"ebscope/internal/compare"
	"ebscope/internal/report"
)

var spread = compare.SpreadDocument{
	Runs: []string{"20261201T052101Z-quick-kubernetes-r1", "20261201T052101Z-quick-kubernetes-r2"}, Target: "kubernetes", Compress: 60,
	Spreads: []compare.Spread{
		{Phase: "randread-qd32", Volume: "gp3", Metric: "iops", Unit: "IOPS", Runs: 2, Median: 2700, Min: 2400, Max: 3000, SpreadPercent: 22.22,
			Outliers: []compare.Outlier{{Run: "20261201T052101Z-quick-kubernetes-r2", Value: 2400}}},
		{Phase: "randread-qd32", Volume: "gp3", Metric: "p99", Unit: "ms", Runs: 2, Median: 10.7, Min: 10.6, Max: 10.8, SpreadPercent: 1.87},
	},
}

func TestSpreadTerminal(t *testing.T) {
	var b strings.Builder
	if err := report.SpreadTerminal(&b, spread, 80, false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Spread over 2 runs · kubernetes · compressed 60×", "2,700  2,400  3,000  22.2 %", "Far from the others: r2, randread-qd32 on gp3: 2,400 IOPS, median 2,700"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
	for line := range strings.Lines(b.String()) {
		if len([]rune(line)) > 81 {
			t.Errorf("wider than 80 columns: %s", line)
		}
	}
}

func TestSpreadMarkdown(t *testing.T) {
	var b strings.Builder
	if err := report.SpreadMarkdown(&b, spread); err != nil {
		t.Fatal(err)
	}
	if want := "| randread-qd32 | gp3 | IOPS | 2,700 | 2,400 | 3,000 | 22.2 % | r2 (2,400) |"; !strings.Contains(b.String(), want) {
		t.Errorf("%q is missing in\n%s", want, b.String())
	}
}
