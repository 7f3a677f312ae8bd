package analyze_test

import (
	"strings"
	"testing"
	"time"

	"ebscope/internal/analyze"
	"ebscope/internal/result"
)

func TestStalls(t *testing.T) {
	base := foreign(1, time.Minute)
	for name, tt := range map[string]struct {
		levels   []float64
		stalls   []analyze.Stall
		verdict  analyze.Verdict // on gp3 with 3,000 IOPS
		summary  string
		explains bool // without a volume: 3,000 IOPS, not the mean of all
	}{
		"outage": {[]float64{3000, 300, 0, 60, 3000, 300}, []analyze.Stall{{FromS: 300, ToS: 360, IOPS: 0, Level: 3000}},
			analyze.Unstable, "3,000 IOPS, with a stall to 0 IOPS from 300 s to 360 s.", true},
		// 60 of 360 s are a sixth of the time, and a fifth of what is around them.
		"long outage": {[]float64{3000, 150, 0, 60, 3000, 150}, []analyze.Stall{{FromS: 150, ToS: 210, IOPS: 0, Level: 3000}},
			analyze.Unstable, "3,000 IOPS, with a stall to 0 IOPS from 150 s to 210 s.", true},
		"a second": {[]float64{3000, 40, 100, 1, 3000, 40}, []analyze.Stall{{FromS: 40, ToS: 41, IOPS: 100, Level: 3000}},
			analyze.Sustained, "with one second at 100 IOPS (at 40 s).", true},
		"not below half":     {[]float64{3000, 40, 1600, 1, 3000, 40}, nil, analyze.Sustained, "3,000 IOPS throughout", true},
		"without recovery":   {[]float64{3000, 300, 300, 300}, nil, analyze.Unstable, "then 300 IOPS", false},
		"falls, no stalls":   {[]float64{3000, 200, 300, 200, 3000, 200, 300, 200, 3000, 200}, nil, analyze.Unstable, "twice and recovered", false},
		"a level of its own": {[]float64{3000, 200, 1000, 100, 3000, 100}, nil, analyze.Unstable, "", false},
	} {
		r := logged(base, tt.levels...)
		p := one(t, given(t, gp3base, ""), r)
		if p.Verdict != tt.verdict {
			t.Errorf("%s: verdict %q, want %q: %s", name, p.Verdict, tt.verdict, p.Summary)
		}
		says(t, name, p.Summary, tt.summary)
		if len(p.Stalls) != len(tt.stalls) {
			t.Errorf("%s: stalls %+v, want %+v", name, p.Stalls, tt.stalls)
			continue
		}
		for i, want := range tt.stalls {
			near(t, name+": from", p.Stalls[i].FromS, want.FromS, 0.01)
			near(t, name+": to", p.Stalls[i].ToS, want.ToS, 0.01)
			near(t, name+": IOPS", p.Stalls[i].IOPS, want.IOPS, 0.01)
			near(t, name+": level", p.Stalls[i].Level, want.Level, 1)
			says(t, name+": warning", text(p.Warnings, "stalls"), "came back")
			says(t, name+": advice", p.Advice, "what held I/O up at the times of the stalls")
		}
		p = one(t, analyze.Given{}, r)
		if tt.explains {
			says(t, name+", no volume", p.Summary, "It fits gp3 with 3,000 IOPS, which are included.")
		} else if p.Cliff == nil && (len(p.Candidates) > 0 || strings.Contains(p.Summary, "fits")) {
			t.Errorf("%s: what would explain the mean of what held no level: %s %+v", name, p.Summary, p.Candidates)
		}
	}
}

// A dip of a second is found wherever it falls into the windows. Each window is the mean of what it holds: with windows of
// 128 ms, one that the dip fills by two fifths has 0.6 × 1,000 + 0.4 × 50 = 620 IOPS and is not below half. Of the four windows
// of 270 ms that a second fills by 0.9, 1, 1 and 0.8, the two in the middle tell how low it was.
func TestStallsBetweenWindows(t *testing.T) {
	for _, window := range []float64{0.05, 0.128, 0.25, 0.27, 0.5} {
		for _, low := range []float64{0, 1, 50, 300} {
			for shift := 0.0; shift < 1; shift += 0.1 {
				for length, want := range map[float64]bool{1: true, 0.8: false} {
					if !want && window == 0.5 {
						continue // 0.8 s in two windows of 0.5 s look like 1 s that is less low
					}
					start := 100 + shift*window
					r := foreign(1000, 200*time.Second)
					for end := window; end < 200; end += window {
						in := min(1, max(0, min(end, start+length)-max(end-window, start))/window)
						r.IOPS = append(r.IOPS, result.Point{End: time.Duration(end * float64(time.Second)), Value: 1000 - in*(1000-low)})
					}
					p := one(t, analyze.Given{}, r)
					if (len(p.Stalls) == 1) != want {
						t.Errorf("window %v, %v IOPS for %v s from %v s: %+v", window, low, length, start, p.Stalls)
						continue
					}
					if want {
						near(t, "from", p.Stalls[0].FromS, start, 0.03)
						near(t, "to", p.Stalls[0].ToS, start+length, 0.03)
						off := 0.01
						if window == 0.5 { // it may be that no window lies within the second
							off = 30
						}
						near(t, "IOPS", p.Stalls[0].IOPS, low, off)
					}
				}
			}
		}
	}
}
