package analyze_test

import (
	"testing"
	"time"

	"ebscope/internal/analyze"
	"ebscope/internal/result"
)

// 3,000 IOPS for 10 min, then 300, are gp2 of 100 GiB: 600 s × 2,700 IOPS above the baseline spend 1,620,000 of its
// 5,400,000 credits. A RAID that does so is no such volume.
func TestRAIDWithoutAVolume(t *testing.T) {
	r := logged(foreign(1, time.Minute), 3000, 600, 300, 600)
	if p := one(t, analyze.Given{}, r); len(p.Candidates) == 0 || p.Candidates[0].Type != "gp2" || text(p.Warnings, "raid") != "" {
		t.Fatalf("candidates %+v, warnings %v", p.Candidates, p.Warnings)
	}
	r.Disks = []result.Disk{{Name: "md0", Reads: 1000}, {Name: "nvme1n1", Reads: 500}, {Name: "nvme2n1", Reads: 500}}
	p := one(t, analyze.Given{}, r)
	says(t, "warning", text(p.Warnings, "raid"), "2 devices (nvme1n1, nvme2n1)", "limits of one volume do not hold")
	for _, c := range p.Candidates {
		if c.Type == "gp2" {
			t.Errorf("one volume explains a RAID: %+v", c)
		}
	}
}
