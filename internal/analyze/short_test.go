package analyze_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"ebscope/internal/analyze"
	"ebscope/internal/ebs"
	"ebscope/internal/result"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

var layout = workload.Phase{Pattern: workload.Write, BlockSize: units.MiB, QueueDepth: 1, Jobs: 1}

// A phase shorter than two samples has its mean, and no verdict. gp3 lets 125 MiB through at once, and the rest at 125 MiB/s.
func TestShortPhase(t *testing.T) {
	for name, tt := range map[string]struct {
		samples    []float64
		ios        int64
		runtime    time.Duration
		credits    *result.Credits
		verdict    analyze.Verdict
		summary    string
		aboveLimit bool
	}{
		"no sample":  {nil, 32, 51 * time.Millisecond, nil, "", "627 MiB/s on average: the phase is too short to show a level.", false},
		"one sample": {levels(140, 1), 200, 1600 * time.Millisecond, nil, "", "125 MiB/s on average: the phase is too short to show a level.", false},
		"too fast": {nil, 200, 51 * time.Millisecond, nil, "",
			"3,922 MiB/s is more than the 125 MiB/s that volume and instance allow: a cache, or blocks that were never written, served the I/O.", true},
		"no series": {nil, 12_500, 100 * time.Second, nil, "", "125 MiB/s on average: without a series, no level can be seen.", false},
		"credits went": {levels(140, 1), 200, 1600 * time.Millisecond, &result.Credits{Start: 5000}, analyze.BurstThenBaseline,
			"125 MiB/s on average: the burst credits were spent, but there are too few samples to show when.", false},
	} {
		volume := gp3base
		if tt.credits != nil {
			volume = gp2of100
		}
		run, measured := handMade(volume, layout, "", time.Second, tt.samples...)
		run.Phases[0].Credits = tt.credits
		rate := float64(tt.ios) / tt.runtime.Seconds()
		measured[0].Total.IOs, measured[0].Total.Runtime, measured[0].Total.IOPS = tt.ios, tt.runtime, units.IOPS(rate)
		p := analyze.Run(ebs.Embedded(), run, measured, nil).Phases[0]
		if p.Verdict != tt.verdict || p.Summary != tt.summary {
			t.Errorf("%s: %q, %q; want %q, %q", name, p.Verdict, p.Summary, tt.verdict, tt.summary)
		}
		off := math.Abs(p.IOPS.Mean/rate-1) + math.Abs(p.IOPS.FioMean/rate-1)
		if off > 1e-9 || p.IOPS.Min != nil || p.IOPS.Max != nil || len(p.LimitedBy) != 0 {
			t.Errorf("%s: %+v, limited by %v; want the summary's %v and no limit", name, p.IOPS, p.LimitedBy, rate)
		}
		if slices.Contains(codes(p.Warnings), "above-limit") != tt.aboveLimit {
			t.Errorf("%s: warnings %v, want one of a rate above the limits: %v", name, p.Warnings, tt.aboveLimit)
		}
	}
}
