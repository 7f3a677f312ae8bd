package report

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	xfont "golang.org/x/image/font"

	"ebscope/internal/result"
)

func TestNumbers(t *testing.T) {
	for _, test := range []struct{ name, got, want string }{
		{"figure", figure(106.66), "106.7"},
		{"figure", figure(3.333), "3.33"},
		{"figure", figure(0.5687), "0.569"},
		{"figure", figure(12345.6), "12,346"},
		{"figure", figure(math.NaN()), none},
		{"iops", iops(2998.7), "2,999"},
		{"iops", iops(4.25), "4.25"},
		{"iops", iops(0), "0"},
		{"mibps", mibps(127.13), "127.1"},
		{"mibps", mibps(0.52), "0.520"},
		{"mibps", mibps(1999.6), "2,000"},
		{"percent", percent(0.741), "74 %"},
		{"percent", percent(0.004), "<1 %"},
		{"percent", percent(0.996), ">99 %"},
		{"percent", percent(1), "100 %"},
		{"span", span(0.05), "0.05 s"},
		{"span", span(13.32), "13.3 s"},
		{"span", span(60), "1 min"},
		{"span", span(1998.9), "33 min 19 s"},
		{"span", span(7199.6), "2 h"},
		{"span", span(18000), "5 h"},
		{"span", span(25260), "7 h 1 min"},
		{"span", span(15419), "4 h 17 min"}, // 256.98 min
		{"amount", amount(5.4e6), "5.4 million"},
		{"amount", amount(5994.25e6), "5,994 million"},
		{"amount", amount(36120), "36,120"},
		{"tie", tie("33 min 19 s, 26 %, 3,000 IOPS"), "33\u00a0min\u00a019\u00a0s, 26\u00a0%, 3,000\u00a0IOPS"},
	} {
		if test.got != test.want {
			t.Errorf("%s prints %q, want %q", test.name, test.got, test.want)
		}
	}
}

func TestLogScale(t *testing.T) {
	// From 0.569 to 107.1 ms with 15 % of air: 0.2 to 200, three decades.
	s := newLogScale(0.569, 107.1)
	if diff := cmp.Diff(logScale{0.2, 200}, s, cmp.AllowUnexported(logScale{}), within(1e-9)); diff != "" {
		t.Error(diff)
	}
	// One decade is a third of the width.
	if diff := cmp.Diff([]tick{{23.3, "1"}, {56.63, "10"}, {89.97, "100"}}, s.ticks(), within(0.01)); diff != "" {
		t.Error(diff)
	}
	// Within a decade all steps are named.
	narrow := newLogScale(2.5, 4)
	if diff := cmp.Diff([]tick{{0, "2"}, {100, "5"}}, narrow.ticks(), within(0.01)); diff != "" {
		t.Error(diff)
	}
}

func within(tolerance float64) cmp.Option {
	return cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= tolerance })
}

func TestSparkline(t *testing.T) {
	var s result.Series
	for i := 1; i <= 20; i++ { // the first window is the rate bucket's, then 10 high and 9 low
		value := 300.0
		switch {
		case i == 1:
			value = 6000
		case i <= 11:
			value = 3000
		}
		s = append(s, result.Point{End: time.Duration(i) * time.Second, Value: value})
	}
	// Ten cells of two windows; the sixth holds one of each, and shows the lower: 300 of 3,000 is 0.8 of 8 steps.
	if got, want := sparkline(lows(s, 20, 10), 3000), "█████▁▁▁▁▁"; got != want {
		t.Errorf("draws %s, want %s", got, want)
	}
	// One second without I/O in 20: it is in the second of ten cells.
	stall := slices.Clone(s[:11])
	stall[3].Value = 0
	if got, want := sparkline(lows(stall, 20, 10), 3000), "█▁████"; got != want {
		t.Errorf("draws %s, want %s", got, want)
	}
	// A series that ends half way is half as long, and a cell without a window repeats the one before.
	if got, want := sparkline(lows(s[:5], 10, 20), 3000), "██████████"; got != want {
		t.Errorf("draws %s, want %s", got, want)
	}
	if got := sparkline(lows(nil, 10, 10), 3000); got != "" {
		t.Errorf("draws %q of nothing", got)
	}
}

func TestPoints(t *testing.T) {
	s := result.Series{{End: time.Second, Value: 10}, {End: 2 * time.Second, Value: math.NaN()}, {End: 3 * time.Second, Value: 30}}
	var l line
	l.fill(s, 60, 2, 100)
	if diff := cmp.Diff([]float64{0, 60, 120, 180}, l.Times); diff != "" {
		t.Error(diff)
	}
	ten, thirty := 20.0, 60.0
	if diff := cmp.Diff([]*float64{&ten, &ten, nil, &thirty}, l.Values); diff != "" {
		t.Errorf("no number must become a gap: %s", diff)
	}
}

// Thinned to a few points, the lowest and the highest of each stretch stay, be they means or extremes within a window.
func TestThinning(t *testing.T) {
	var s result.Series
	for i := range 1000 {
		p := result.Point{End: time.Duration(i+1) * time.Second, Value: 100, Min: 90, Max: 110}
		switch i {
		case 123:
			p.Value = 95 // a low mean, within its neighbours' extremes
		case 456:
			p.Max = 9000 // a single spike
		case 789:
			p.Min = 1 // a single dip
		}
		s = append(s, p)
	}
	var l line
	l.fill(s, 1, 1, 20)
	if len(l.Times) > 22 {
		t.Fatalf("%d points stay of 1,000, want about 20", len(l.Times))
	}
	found := map[string]bool{}
	for i, at := range l.Times {
		found["mean"] = found["mean"] || at == 124 && *l.Values[i] == 95
		found["spike"] = found["spike"] || at == 457 && *l.Highs[i] == 9000
		found["dip"] = found["dip"] || at == 790 && *l.Lows[i] == 1
	}
	if len(found) != 3 || !found["mean"] || !found["spike"] || !found["dip"] {
		t.Errorf("what stays at its time: %v", found)
	}
}

// The steps between times are written as runs, in thousandths of a second.
func TestLineJSON(t *testing.T) {
	one, two := 1.0, 2.0
	l := line{Label: "a", Times: []float64{0, 0.5, 1, 1.25}, Values: []*float64{&one, &one, nil, &two}}
	text, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"label":"a","colour":0,"predicted":false,"steps":[0,1,500,2,250,1],"v":[1,1,null,2]}`
	if string(text) != want {
		t.Errorf("got %s, want %s", text, want)
	}
}

// A ladder: 10 ms up to the 96.6th percentile, which is 1.469 nines, and 100 ms from there on. Bins with hardly an I/O on
// either side of the jump must not move it.
func TestLadder(t *testing.T) {
	m := member{measured: &result.Measurement{}}
	m.State = string(result.Done)
	m.measured.Total.Latency.Bins = []result.Bin{
		{At: 500 * time.Microsecond, Count: 1}, {At: 9 * time.Millisecond, Count: 2}, {At: 10 * time.Millisecond, Count: 965_996},
		{At: 11 * time.Millisecond, Count: 1}, {At: 100 * time.Millisecond, Count: 2}, {At: 100 * time.Millisecond, Count: 33_998},
	}
	l := m.ladder()
	at := func(x float64) float64 { // as a step line has it
		for i, end := range l.Times {
			if end >= x {
				return *l.Values[i]
			}
		}
		return math.NaN()
	}
	for x, want := range map[float64]float64{0.01: 1, nines(50): 1, nines(96): 1, nines(97): 2, nines(99.9): 2, topNines: 2} {
		if got := at(x); got != want {
			t.Errorf("at %.3f nines the ladder stands at 10^%v ms, want 10^%v", x, got, want)
		}
	}
}

// What is very small keeps two digits: 250 ns are 0.00025 ms.
func TestSmallFigures(t *testing.T) {
	for x, want := range map[float64]string{0.00025: "0.00025", 0.0012: "0.0012", 0.0096: "0.0096", 0.05: "0.050", 0.5: "0.500", 0: "0.000", -0.00025: "-0.00025"} {
		if got := figure(x); got != want {
			t.Errorf("%v is %q, want %q", x, got, want)
		}
	}
}

// A title is one line, no longer than there is room.
func TestFittedTitle(t *testing.T) {
	s := style(nil, 10, xfont.WeightNormal)
	if got := fitted("a\nb\t\x1b[31m  c", s, 1000); got != "a b [31m c" {
		t.Errorf("one line: %q", got)
	}
	long := strings.Repeat("word ", 200)
	if got := fitted(long, s, 300); s.Width(got) > 300 || s.Width(got) < 260 || !strings.HasSuffix(got, "…") {
		t.Errorf("%v points wide: %q", s.Width(got), got)
	}
}

func TestChecksInWords(t *testing.T) {
	for n, want := range map[int]string{1: "The check holds.", 2: "All 2 checks hold."} {
		if got := allHold(n); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
