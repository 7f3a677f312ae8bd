package analyze_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"ebscope/internal/analyze"
	"ebscope/internal/ebs"
	"ebscope/internal/result"
	"ebscope/internal/units"
)

func TestCandidatesOfAFall(t *testing.T) {
	for name, tt := range map[string]struct {
		reading result.Reading
		want    string // in the first candidate's configuration
		cause   analyze.Cause
		text    string
	}{
		// 300 ÷ 3 = 100 GiB; 5.4 M ÷ 2,700 = 2,000 s.
		"gp2 of 100 GiB": {logged(foreign(1, time.Minute), 3000, 1999, 300, 700), "gp2 100 GiB", analyze.GP2Credits,
			"300 IOPS ÷ 3 per GiB = 100 GiB; a bucket of 5,400,000 credits is empty after 33 min 20 s."},
		// After 1,000 s it had spent 2.7 M of 5.4 M.
		"half a bucket": {logged(foreign(1, time.Minute), 3000, 1000, 300, 700), "gp2 100 GiB", analyze.GP2Credits, "50 % of a full bucket"},
		"the smallest":  {logged(foreign(1, time.Minute), 3000, 1862, 100, 700), "gp2 of at most 33 GiB", analyze.GP2Credits, "31 min 2 s"},
		// m5.large: 18,750 IOPS for 30 minutes, then 3,600.
		"instance": {logged(foreign(1, time.Minute), 18750, 1800, 3600, 900), "m5.large", analyze.InstanceBurst, "18,750 IOPS for 30 min, then 3,600 IOPS"},
		// st1 of 1 TiB: 250 MiB/s, then 40.
		"st1": {logged(rated(foreign(1, time.Minute), 1, units.MiB, time.Minute), 250, 600, 40, 600), "st1 1,024 GiB", analyze.HDDCredits, "40 MiB/s ÷ 40 MiB/s per TiB = 1.0 TiB"},
	} {
		p := one(t, analyze.Given{}, tt.reading)
		if len(p.Candidates) == 0 {
			t.Errorf("%s: no candidate, %s", name, p.Summary)
			continue
		}
		first := p.Candidates[0]
		if !strings.Contains(first.Configuration, tt.want) || first.Cause != tt.cause || p.Cliff.Cause != tt.cause || p.Verdict != analyze.BurstThenBaseline {
			t.Errorf("%s: %+v, cliff %+v, verdict %q", name, p.Candidates, p.Cliff, p.Verdict)
		}
		says(t, name, first.Text, tt.text)
	}
	// After 4,000 s at 3,000 IOPS, 10.8 M credits would have been spent: no gp2 volume has so many.
	p := one(t, analyze.Given{}, logged(foreign(1, time.Minute), 3000, 4000, 300, 700))
	if len(p.Candidates) != 0 || p.Cliff.Cause != analyze.UnknownCause {
		t.Errorf("too late for a bucket: %+v", p.Candidates)
	}
	// Noise hides neither the levels nor the size.
	random := rand.New(rand.NewPCG(1, 2))
	r := logged(foreign(1, time.Minute), 3000, 1999, 300, 700)
	for i := range r.IOPS {
		r.IOPS[i].Value *= 1 + 0.07*random.NormFloat64()
	}
	if p = one(t, analyze.Given{}, r); len(p.Candidates) == 0 || p.Candidates[0].Configuration != "gp2 100 GiB" {
		t.Errorf("with noise: %+v", p.Candidates)
	}
}

func TestCandidatesOfALevel(t *testing.T) {
	configurations := func(r result.Reading) string {
		var all []string
		for _, c := range one(t, analyze.Given{}, r).Candidates {
			all = append(all, c.Configuration)
		}
		return strings.Join(all, "; ")
	}
	// gp3's included 3,000 IOPS, or gp2's burst: in a minute, no size of it runs out.
	got := configurations(foreign(3000, time.Minute))
	says(t, "3,000 IOPS", got, "gp3 with 3,000 IOPS, which are included; gp2 below 1,000 GiB on burst credits")
	// In 45 minutes a gp2 volume below (3,000 − 5.4 M ÷ 2,700) ÷ 3 = 333.3 GiB would have run out.
	says(t, "45 min", configurations(foreign(3000, 45*time.Minute)), "gp2 of 334 to 1,000 GiB")
	says(t, "125 MiB/s", configurations(rated(foreign(1, time.Minute), 125, units.MiB, time.Minute)), "gp3 with 125 MiB/s, which are included")
	says(t, "250 MiB/s", configurations(rated(foreign(1, time.Minute), 250, units.MiB, time.Minute)), "gp2 above 170 GiB")
	says(t, "300 IOPS", configurations(logged(foreign(1, time.Minute), 300, 60)), "gp2 100 GiB on its baseline")
	says(t, "16,000 IOPS", configurations(logged(foreign(1, time.Minute), 16000, 60)), "gp3 with 16,000 provisioned IOPS")
	// A mean alone is held against what is the same for everybody: 2,000 IOPS are 667 GiB of gp2, as any figure is some size.
	says(t, "mean of 16,000 IOPS", configurations(foreign(16000, time.Minute)), "gp2 with 16,000 IOPS, the most that it has")
	for _, c := range one(t, analyze.Given{}, foreign(2000, time.Minute)).Candidates {
		t.Errorf("2,000 IOPS on average: %+v", c)
	}
	// m5.large holds 3,600 IOPS: that is worth a word where it is the instance, and where none is given, some have any number.
	says(t, "mean on an instance", one(t, given(t, ebs.Volume{}, "m5.large"), foreign(3600, time.Minute)).Summary, "held by the instance's IOPS", "the EBS limit of m5.large")
	p := one(t, analyze.Given{}, foreign(2990, time.Minute))
	says(t, "a mean", p.Summary, "It may be gp3 with 3,000 IOPS")
	if p.Candidates[0].Fit >= analyze.LikelyFit {
		t.Errorf("a mean is no evidence: %+v", p.Candidates[0])
	}
	// What one I/O at a time gives tells of no limit.
	r := foreign(3000, time.Minute)
	r.Total.Latency.Mean /= 32
	if got = configurations(r); got != "" {
		t.Errorf("at depth 1: %s", got)
	}
	if p := one(t, analyze.Given{}, foreign(3000, time.Minute)); p.Verdict != "" {
		t.Errorf("verdict %q on a volume that nobody knows", p.Verdict)
	}
}

// 3,000 IOPS for 2,000 s, then 300, are 100 GiB of gp2: 5.4 M ÷ 2,700. One of 200 GiB falls to 600.
func TestAnotherVolumeThanGiven(t *testing.T) {
	r := logged(foreign(1, time.Minute), 3000, 1999, 300, 700)
	gp2of200 := gp2of100
	gp2of200.Size = 200 * units.GiB
	p := one(t, given(t, gp2of200, ""), r)
	says(t, "another", p.Summary, "The levels are those of gp2 100 GiB: was another volume measured?")
	says(t, "advice", p.Advice, "Check which volume")
	if p = one(t, given(t, gp2of100, ""), r); text(p.Warnings, "another-volume") != "" || strings.Contains(p.Summary, "another") {
		t.Errorf("it is the one: %s", p.Summary)
	}
	// After 4,000 s at 3,000 IOPS, 10.8 M credits would have been spent.
	if p = one(t, given(t, gp2of200, ""), logged(foreign(1, time.Minute), 3000, 4000, 300, 700)); strings.Contains(p.Summary, "another") {
		t.Errorf("no gp2 volume bursts for 4,000 s: %s", p.Summary)
	}
}
