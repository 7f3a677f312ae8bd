package report_test

import (
	"bytes"
	"strings"
	"testing"

	"ebscope/internal/ebs"
	"ebscope/internal/report"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

// The cost table speaks of what is held for ever: of HDD volumes at random, and of no more than the instance passes on.
func TestCostTableHoldsForEver(t *testing.T) {
	for _, tt := range []struct {
		volume       ebs.Volume
		instance     string
		row, instead string
	}{
		// 500 × 40 ÷ 1,024 = 19.5 MiB/s, of which each random I/O takes a whole MiB
		{ebs.Volume{Type: ebs.ST1, Size: 500 * units.GiB}, "", "20 19.5 $22.50", ""},
		// 1,024 × 12 ÷ 1,024
		{ebs.Volume{Type: ebs.SC1, Size: units.TiB}, "", "12 12 $15.36", ""},
		// 1,150 Mbps ÷ 8 = 143.75 MB/s = 137.1 MiB/s; 500 × 0.08 + 13,000 × 0.005 + 875 × 0.04
		{ebs.Volume{Type: ebs.GP3, Size: 500 * units.GiB, IOPS: 16_000, Throughput: 1000 * units.MiBPerSecond}, "m5.xlarge", "6,000 137.1 $140.00",
			"Sustained IOPS and MiB/s are at most the 6,000 IOPS and 137.1 MiB/s that m5.xlarge holds for all its volumes."},
		// 347 Mbps ÷ 8 = 43.4 MB/s = 41.4 MiB/s
		{ebs.Volume{Type: ebs.GP3, Size: 500 * units.GiB}, "t3.medium", "2,000 41.4 $40.00",
			"Sustained IOPS and MiB/s are at most the 2,000 IOPS and 41.4 MiB/s that t3.medium holds for all its volumes."},
	} {
		r := fixture(t)
		r.Run.Profile.Region, r.Run.Profile.Instance = "us-east-1", tt.instance
		r.Run.Profile.Volumes = []workload.Volume{{Name: "v", Config: tt.volume, Balance: 1}}
		var out bytes.Buffer
		if err := report.Terminal(&out, r, 200, false); err != nil {
			t.Fatal(err)
		}
		text := strings.Join(strings.Fields(out.String()), " ")
		row := ebs.Embedded().Provisioned(tt.volume).String() + " * " + tt.row
		if !strings.Contains(text, row) || !strings.Contains(text, tt.instead) {
			t.Errorf("no %q or no %q in\n%s", row, tt.instead, out.String())
		}
	}
}
