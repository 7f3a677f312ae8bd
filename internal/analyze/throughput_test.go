package analyze_test

import (
	"strings"
	"testing"
	"time"

	"ebscope/internal/analyze"
	"ebscope/internal/ebs"
	"ebscope/internal/result"
	"ebscope/internal/units"
)

// throughputOf is a reading of a bandwidth log alone, in MiB/s a second.
func throughputOf(values ...float64) result.Reading {
	r := result.Reading{Summed: true}
	r.Total.Runtime = time.Duration(len(values)) * time.Second
	for i, v := range values {
		r.Total.Throughput += units.Throughput(v/float64(len(values))) * units.Throughput(units.MiB)
		r.Throughput = append(r.Throughput, result.Point{End: time.Duration(i+1) * time.Second, Value: v})
	}
	return r
}

// st1 has 40 MiB/s per TiB and bursts to 250 per TiB, at most 500: 500 then 80 are 2 TiB, 250 then 40 are 1 TiB. 500 then 40
// are none: what has a baseline of 40 bursts to 250.
func TestFallOfThroughputAlone(t *testing.T) {
	for _, c := range []struct {
		before, after float64
		given         analyze.Given
		verdict       analyze.Verdict
		cause         analyze.Cause
		summary       string
		candidate     string
	}{
		{500, 80, analyze.Given{}, analyze.BurstThenBaseline, analyze.HDDCredits, "500 MiB/s for 5 min, then 80 MiB/s: it fits st1 2,048 GiB", "st1"},
		{250, 40, analyze.Given{}, analyze.BurstThenBaseline, analyze.HDDCredits, "it fits st1 1,024 GiB", "st1"},
		{500, 40, analyze.Given{}, analyze.Unstable, "", "500 MiB/s for 5 min, then 40 MiB/s: no limit that is known explains the fall", ""},
		{250, 40, analyze.Given{Volume: &ebs.Volume{Type: ebs.ST1, Size: units.TiB}}, analyze.BurstThenBaseline, analyze.HDDCredits, "then 40 MiB/s: the burst credits were spent", ""},
		{250, 240, analyze.Given{}, "", "", "", ""}, // 4 % apart is no fall
	} {
		reading := throughputOf(append(levels(c.before, 300), levels(c.after, 300)...)...)
		d := analyze.Readings(ebs.Embedded(), []result.Reading{reading}, nil, c.given)
		p := d.Phases[0]
		if p.Verdict != c.verdict || p.Burst != c.cause || !strings.Contains(p.Summary, c.summary) {
			t.Errorf("%v to %v: %s, %s: %s", c.before, c.after, p.Verdict, p.Burst, p.Summary)
		}
		if c.candidate == "" && len(p.Candidates) > 0 || c.candidate != "" && (len(p.Candidates) == 0 || p.Candidates[0].Type != c.candidate) {
			t.Errorf("%v to %v: candidates %v, want %q", c.before, c.after, p.Candidates, c.candidate)
		}
		if c.verdict == "" {
			continue
		}
		for _, w := range p.Warnings {
			if w.Code == "no-series" {
				t.Errorf("a fall was seen, and a warning says that none can be: %s", w.Text)
			}
		}
		if len(p.ThroughputChanges) != 1 {
			t.Fatalf("changes %v", p.ThroughputChanges)
		}
		near(t, "change", p.ThroughputChanges[0].AtS, 300, 1)
		near(t, "MiB/s before", p.ThroughputChanges[0].BeforeMiBpS, c.before, 1)
		near(t, "MiB/s after", p.ThroughputChanges[0].AfterMiBpS, c.after, 1)
	}
}
