package report_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"ebscope/internal/ebs"
	"ebscope/internal/forecast"
	"ebscope/internal/report"
	"ebscope/internal/units"
)

// forecastText is the forecast of a constant load on a full volume, for as long as is worth it, in one line.
func forecastText(t *testing.T, v ebs.Volume, load forecast.Load, block units.Bytes) string {
	t.Helper()
	q := forecast.Question{Candidate: candidate(v), Balance: 1, Warn: 5 * time.Minute, Constant: &load,
		Form: forecast.LoadForm{Kind: forecast.ConstantLoad, IOPS: float64(load.IOPS), BlockSize: int64(block)}}
	q.Load = slices.Values([]forecast.Interval{{Length: q.Horizon(), Load: load}})
	var out bytes.Buffer
	if err := report.ForecastTerminal(&out, q.Answer(), 200, false); err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(out.String()), " ")
}

// The credits run out at one time: in the headline, on the axes of both drawings and in the table.
func TestForecastTellsOneTime(t *testing.T) {
	for _, tt := range []struct {
		volume ebs.Volume
		iops   units.IOPS
		block  units.Bytes
		want   string
	}{
		// the throughput holds it at 500 × 80 ÷ 1,024 = 39.06 MiB/s: 512,000 MiB ÷ (39.06 − 5.86) = 15,421 s
		{ebs.Volume{Type: ebs.SC1, Size: 500 * units.GiB}, 200, units.MiB, "4 h 17 min"},
		{ebs.Volume{Type: ebs.GP2, Size: 200 * units.GiB}, 300, units.MiB, "3 h 45 min"},         // 5.4 M ÷ (1,000 − 600) = 13,500 s
		{ebs.Volume{Type: ebs.GP2, Size: 100 * units.GiB}, 1e9, 4 * units.KiB, "33 min 20 s"},    // 5.4 M ÷ 2,700 = 2,000 s
		{ebs.Volume{Type: ebs.GP2, Size: 100 * units.GiB}, 301, 4 * units.KiB, "62 days 12 h"},   // 5.4 M s = 62.5 days
		{ebs.Volume{Type: ebs.GP2, Size: 100 * units.GiB}, 1650, 4 * units.KiB, "66 min 40 s"},   // 5.4 M ÷ 1,350 = 4,000 s
		{ebs.Volume{Type: ebs.GP2, Size: 100 * units.GiB}, 1000, 4 * units.KiB, "2 h 9 min"},     // 5.4 M ÷ 700 = 7,714 s = 128.6 min
		{ebs.Volume{Type: ebs.GP2, Size: 100 * units.GiB}, 320, 4 * units.KiB, "3 days 3 h"},     // 5.4 M ÷ 20 = 270,000 s = 75 h
		{ebs.Volume{Type: ebs.GP2, Size: 100 * units.GiB}, 3000, 16 * units.KiB, "33 min 20 s"},  // one operation each
		{ebs.Volume{Type: ebs.GP2, Size: 100 * units.GiB}, 3000, 256 * units.KiB, "7 h 5 min"},   // 5.4 M ÷ (512 − 300) = 25,472 s
		{ebs.Volume{Type: ebs.GP2, Size: 100 * units.GiB}, 400, 512 * units.KiB, "7 h 5 min"},    // the same 128 MiB/s
		{ebs.Volume{Type: ebs.GP2, Size: 100 * units.GiB}, 10_000, 4 * units.KiB, "33 min 20 s"}, // the burst rate holds it
	} {
		text := forecastText(t, tt.volume, forecast.Of(tt.iops, tt.block), tt.block)
		if !strings.Contains(text, "runs out of credits after "+tt.want+" and") || strings.Count(text, "▲ "+tt.want) != 2 ||
			!strings.Contains(text, tt.volume.String()+" "+tt.want) {
			t.Errorf("%v at %v: not %s everywhere in\n%s", tt.volume, tt.iops, tt.want, text)
		}
	}
}

// Where an I/O is several operations, it is said what is meant.
func TestForecastTellsOperationsFromIO(t *testing.T) {
	gp2 := ebs.Volume{Type: ebs.GP2, Size: 200 * units.GiB}
	// 1 MiB ÷ 256 KiB = 4 operations; 600 ÷ 4 = 150
	text := forecastText(t, gp2, forecast.Of(300, units.MiB), units.MiB)
	for _, want := range []string{"gp2 counts each as 4 operations", "falls to 600 operations a second (150 IOPS of 1 MiB)"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if text := forecastText(t, gp2, forecast.Of(1000, 16*units.KiB), 16*units.KiB); strings.Contains(text, "counts each") || !strings.Contains(text, "falls to 600 IOPS.") {
		t.Errorf("one operation each:\n%s", text)
	}
}

// It is said when an instance's burst ends: 450 MB/s × 1,800 s go at 262.1 − 143.75 MB/s, in 6,842 s. Before a load that comes
// after that, it has ended.
func TestForecastTellsTheEndOfAnInstanceBurst(t *testing.T) {
	instance, err := ebs.Embedded().Instance("m5.xlarge")
	if err != nil {
		t.Fatal(err)
	}
	load := forecast.Of(250, units.MiB)
	for before, want := range map[time.Duration]string{
		0:             "The burst of m5.xlarge is spent after 114 min 2 s: the instance then passes on no more than its baseline.",
		3 * time.Hour: "The burst of m5.xlarge is spent from the start:",
	} {
		q := forecast.Question{Candidate: candidate(ebs.Volume{Type: ebs.GP3, Size: 100 * units.GiB, Throughput: 250 * units.MiBPerSecond}),
			Instance: &instance, InstanceName: "m5.xlarge", Balance: 1, Warn: 5 * time.Minute,
			Form: forecast.LoadForm{Kind: forecast.ConstantLoad, IOPS: 250, BlockSize: int64(units.MiB)},
			Load: slices.Values([]forecast.Interval{{Length: 24 * time.Hour, Load: load}})}
		if before > 0 {
			q.History = []forecast.Interval{{Length: before, Load: load}}
		}
		var out bytes.Buffer
		if err := report.ForecastTerminal(&out, q.Answer(), 200, false); err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(strings.Fields(out.String()), " "); !strings.Contains(text, want) {
			t.Errorf("after %v: no %q in\n%s", before, want, out.String())
		}
	}
}

// A balance that runs out comes back at rest: 5.4 M credits at 300 a second in 18,000 s, 1 TiB at 40 MiB/s in 26,214 s. A volume
// without one has nothing to fill.
func TestForecastTellsTheRefill(t *testing.T) {
	for v, want := range map[ebs.Volume]string{
		{Type: ebs.GP2, Size: 100 * units.GiB}:  "An empty balance is full again after a rest of 5 h.",
		{Type: ebs.ST1, Size: units.TiB}:        "An empty balance is full again after a rest of 7 h 17 min.",
		{Type: ebs.GP2, Size: 1000 * units.GiB}: "",
		{Type: ebs.GP3, Size: 100 * units.GiB}:  "",
	} {
		text := forecastText(t, v, forecast.Of(100, 4*units.KiB), 4*units.KiB)
		if !strings.Contains(text, want) || strings.Contains(text, "full again") != (want != "") {
			t.Errorf("%v: not %q in\n%s", v, want, text)
		}
	}
}
