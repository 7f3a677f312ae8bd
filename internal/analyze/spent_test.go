package analyze_test

import (
	"slices"
	"testing"
	"time"

	"ebscope/internal/analyze"
	"ebscope/internal/ebs"
	"ebscope/internal/result"
	"ebscope/internal/simulate"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

// Credits that last for less than a sample or two leave no level to fall from.
func TestCreditsSpentAtOnce(t *testing.T) {
	const atOnce = "Within the first sample (1.0 s) the burst credits were spent, then 300 IOPS remained."
	for name, tt := range map[string]struct {
		values  []float64
		credits *result.Credits
		verdict analyze.Verdict
		summary string
	}{
		"known": {levels(6000, 1, 300, 59), &result.Credits{Start: 5700}, analyze.BurstThenBaseline, atOnce},
		// 0.45 s between two phases earn 135, less than the 300 of the first sample.
		"a gap's":                   {levels(435, 1, 300, 59), &result.Credits{Start: 135}, analyze.Sustained, "300 IOPS throughout, held by the volume's baseline IOPS."},
		"none, but a cache":         {levels(6000, 1, 300, 59), &result.Credits{}, analyze.Sustained, "300 IOPS throughout, held by the volume's baseline IOPS."},
		"not known, but they show":  {levels(3000, 1, 300, 59), nil, analyze.BurstThenBaseline, atOnce},
		"not known, and hardly any": {levels(435, 1, 300, 59), nil, analyze.Sustained, "300 IOPS throughout, held by the volume's baseline IOPS."},
		"up to the second sample": {[]float64{910, 560, 300, 300, 160, 440, 260, 340, 300, 300, 300, 180, 420, 300, 300, 300, 280, 320}, nil,
			analyze.BurstThenBaseline, "Within the first 2 samples (2.0 s) the burst credits were spent, then 300 IOPS remained."},
		"not spent": {levels(6000, 1, 3000, 59), &result.Credits{Start: 5.4e6, End: 5.2e6}, analyze.BurstOnly, "3,000 IOPS on burst credits to the end: at this rate a full bucket lasts 33 min 20 s, then 300 IOPS remain; what was left lasts 32 min 6 s."},
		"spent on a restless machine": {
			levels(1104, 1, 680, 1, 420, 1, 745, 1, 960, 1, 840, 1, 1000, 1, 320, 1, 420, 1, 576, 1, 795, 1, 300, 6),
			&result.Credits{Start: 5000}, analyze.Unstable,
			// (6,756 + 6 × 300) ÷ 16
			"535 IOPS on average: the burst credits were spent, but the samples show no single fall."},
		// 1,000 a second for 59 s, 300 of them earned: 41,300 are spent when the phase ends.
		"spent at the end": {levels(1000, 60), &result.Credits{Start: 42000}, analyze.BurstThenBaseline,
			"1,000 IOPS on average: the burst credits were spent so late that the samples show no fall."},
		"a machine as restless, credits left": {
			levels(1104, 1, 680, 1, 420, 1, 745, 1, 960, 1, 840, 1, 1000, 1, 320, 1, 420, 1, 576, 1, 795, 1, 300, 6),
			&result.Credits{Start: 5000, End: 20}, analyze.Unstable, "535 IOPS on average, but samples lie between 300 and 1,000 IOPS."},
	} {
		run, measured := handMade(gp2of100, small, "", time.Second, tt.values...)
		run.Phases[0].Credits = tt.credits
		dry := time.Second
		p := analyze.Run(ebs.Embedded(), run, measured, []simulate.Phase{{Measurement: *measured[0], Credits: tt.credits, Dry: &dry}}).Phases[0]
		if p.Verdict != tt.verdict || p.Summary != tt.summary {
			t.Errorf("%s: %s, %q; want %s, %q", name, p.Verdict, p.Summary, tt.verdict, tt.summary)
		}
		if slices.Contains(codes(p.Warnings), "differs-from-model") {
			t.Errorf("%s: differs from what the model says just so: %v", name, p.Warnings)
		}
	}
}

// Where the balance is known, it tells a burst from a baseline that is hardly less.
func TestCreditsSpentNearTheBaseline(t *testing.T) {
	iops := ebs.Volume{Type: ebs.GP2, Size: 999 * units.GiB}       // 2,997 of 3,000
	throughput := ebs.Volume{Type: ebs.GP2, Size: 170 * units.GiB} // 510 operations of 512: 127.5 MiB/s of 128
	for name, tt := range map[string]struct {
		volume  ebs.Volume
		phase   workload.Phase
		values  []float64
		credits result.Credits
		verdict analyze.Verdict
		summary string
	}{
		// 600 × 3 = 1,800, and 3,000 in the first second; 5.4 M ÷ 3 = 20.8 days
		"spending": {iops, small, levels(6000, 1, 3000, 599), result.Credits{Start: 5.4e6, End: 5_395_200}, analyze.BurstOnly,
			"3,000 IOPS on burst credits to the end: at this rate a full bucket lasts 21 days, then 2,997 IOPS remain; what was left lasts 21 days."},
		"spending, by throughput": {throughput, large, levels(256, 1, 128, 7199), result.Credits{Start: 5.4e6, End: 5_385_088}, analyze.BurstOnly,
			"128 MiB/s on burst credits to the end: at this rate a full bucket lasts 31 days, then 127.5 MiB/s remain; what was left lasts 31 days."},
		"a full bucket": {iops, small, levels(2997, 600), result.Credits{Start: 5.4e6, End: 5.4e6}, analyze.Sustained,
			"2,997 IOPS throughout, held by the volume's baseline IOPS."},
		"spent meanwhile": {iops, small, levels(6000, 1, 2999, 599), result.Credits{Start: 4000}, analyze.BurstThenBaseline,
			"2,999 IOPS throughout: the burst credits were spent, but the burst is too near to the baseline to show when."},
	} {
		tt.phase.Duration = time.Duration(len(tt.values)) * time.Second
		run, measured := handMade(tt.volume, tt.phase, "", time.Second, tt.values...)
		run.Phases[0].Credits = &tt.credits
		p := analyze.Run(ebs.Embedded(), run, measured, nil).Phases[0]
		if p.Verdict != tt.verdict || p.Summary != tt.summary {
			t.Errorf("%s: %s, %q; want %s, %q", name, p.Verdict, p.Summary, tt.verdict, tt.summary)
		}
	}
}

// What arithmetic leaves of an empty bucket is nothing.
func TestCreditsAreWhole(t *testing.T) {
	run, measured := handMade(gp2of100, small, "", time.Second, levels(6000, 1, 300, 59)...)
	run.Phases[0].Credits = &result.Credits{Start: 5700, End: 5.738e-08}
	if end := analyze.Run(ebs.Embedded(), run, measured, nil).Phases[0].Credits.End; end == nil || *end != 0 {
		t.Errorf("%v credits at the end, want 0", end)
	}
}

// Of a RAID 0, one volume without credits holds the others, which keep theirs: nothing is spent, and nothing at once.
func TestCreditsThatAStripeCannotSpend(t *testing.T) {
	run, measured := handMade(gp2of100, small, "", time.Second, levels(600, 60)...)
	second := run.Profile.Volumes[0]
	second.Name = "w"
	run.Profile.Volumes = append(run.Profile.Volumes, second)
	run.Profile.Stripes = []workload.Stripe{{Name: "raid", Volumes: []string{run.Profile.Volumes[0].Name, "w"}, ChunkSize: 64 * units.KiB}}
	run.Profile.Phases[0].Volume, run.Phases[0].Volume = "raid", "raid"
	for end, want := range map[units.Ops]analyze.Verdict{1781: analyze.Sustained, 15: analyze.BurstThenBaseline} {
		// 15 of 1,781 are less than the 32 I/Os in flight: they ran out.
		run.Phases[0].Credits = &result.Credits{Start: 1781, End: end}
		if p := analyze.Run(ebs.Embedded(), run, measured, nil).Phases[0]; p.Verdict != want {
			t.Errorf("%v credits at the end: %s, %q; want %s", end, p.Verdict, p.Summary, want)
		}
	}
}
