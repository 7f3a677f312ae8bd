package analyze_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"ebscope/internal/analyze"
	"ebscope/internal/ebs"
	"ebscope/internal/result"
	"ebscope/internal/units"
)

func TestWarmUp(t *testing.T) {
	p := one(t, given(t, gp3base, ""), logged(foreign(1, time.Minute), 400, 120, 3000, 300))
	if p.WarmUp == nil || p.Verdict != analyze.Sustained {
		t.Fatalf("warm-up %v, verdict %q", p.WarmUp, p.Verdict)
	}
	near(t, "until", p.WarmUp.UntilS, 120, 1)
	near(t, "steady", p.WarmUp.SteadyIOPS, 3000, 1)
	says(t, "summary", p.Summary, "400 IOPS on average for the first 2 min", "3,000 IOPS throughout, held by the volume's provisioned IOPS")
	says(t, "advice", p.Advice, "steady figure")
	// A rise, and then the fall that credits bring: both are told.
	p = one(t, given(t, gp2of100, ""), logged(foreign(1, time.Minute), 1000, 100, 3000, 300, 300, 300))
	if p.WarmUp == nil || p.Cliff == nil || p.Cliff.Cause != analyze.GP2Credits {
		t.Errorf("warm-up %v, cliff %v: %s", p.WarmUp, p.Cliff, p.Summary)
	}
	// A peak is no warm-up.
	p = one(t, given(t, gp3base, ""), logged(foreign(1, time.Minute), 1000, 100, 3000, 100, 1000, 100))
	if p.WarmUp != nil {
		t.Errorf("warm-up %+v", p.WarmUp)
	}
}

func TestFallsAndRecoveries(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	noisy := func(valueAndCount ...float64) result.Reading {
		r := logged(foreign(1, time.Minute), valueAndCount...)
		for i := range r.IOPS {
			r.IOPS[i].Value *= 1 + 0.05*random.NormFloat64()
		}
		return r
	}
	r := noisy(3000, 200, 300, 200, 3000, 200, 300, 200, 3000, 200)
	p := one(t, given(t, gp3base, ""), r)
	if len(p.Changes) != 4 {
		t.Fatalf("changes %+v", p.Changes)
	}
	for i, at := range []float64{200, 400, 600, 800} {
		near(t, "change", p.Changes[i].AtS, at, 2)
	}
	says(t, "unknown", p.Summary, "IOPS twice and recovered", "something else took it")
	// At its baseline a gp2 volume earns nothing to burst with again.
	p = one(t, given(t, gp2of100, ""), r)
	says(t, "baseline", p.Summary, "something else took it")
	if p.Verdict != analyze.Unstable {
		t.Errorf("verdict %q", p.Verdict)
	}
	// In a rest of 200 s a volume of 500 GiB earns 1,500 × 200 = 300,000 credits, which last 300,000 ÷ 1,500 = 200 s.
	gp2of500 := ebs.Volume{Type: ebs.GP2, Size: 500 * units.GiB}
	p = one(t, given(t, gp2of500, ""), noisy(3000, 200, 1500, 200, 0, 200, 3000, 200, 1500, 200))
	says(t, "rested", p.Summary, "IOPS twice", "the burst credits were spent, and they came back")
	if p.Verdict != analyze.BurstThenBaseline || p.Burst != analyze.GP2Credits {
		t.Errorf("verdict %q, burst %q", p.Verdict, p.Burst)
	}
}
