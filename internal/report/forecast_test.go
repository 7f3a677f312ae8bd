package report_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/chromedp/chromedp"

	"ebscope/internal/ebs"
	"ebscope/internal/forecast"
	"ebscope/internal/report"
	"ebscope/internal/units"
)

func candidate(v ebs.Volume) forecast.Candidate {
	v = ebs.Embedded().Provisioned(v)
	return forecast.Candidate{Name: string(v.Type), Volume: v, Performance: ebs.Embedded().Performance(v)}
}

// cliffForecast is 100 GiB of gp2 at 3,000 IOPS for an hour; 33 min 20 s of it on credits.
func cliffForecast() forecast.Document {
	load := forecast.Of(3000, 4*units.KiB)
	return forecast.Question{
		Candidate: candidate(ebs.Volume{Type: ebs.GP2, Size: 100 * units.GiB}), Balance: 1, Warn: 5 * time.Minute, Constant: &load,
		Form:         forecast.LoadForm{Kind: forecast.ConstantLoad, IOPS: 3000, BlockSize: 4096},
		Load:         slices.Values([]forecast.Interval{{Length: time.Hour, Load: load}}),
		Alternatives: []forecast.Candidate{candidate(ebs.Volume{Type: ebs.GP3, Size: 100 * units.GiB})},
	}.Answer()
}

// weekForecast is a week of daily peaks on 200 GiB, to which one gp3 is too slow and another is not.
func weekForecast() forecast.Document {
	p := forecast.Pattern{Every: 24 * time.Hour, For: 2 * time.Hour, Peak: forecast.Of(4000, 4*units.KiB), Then: forecast.Of(150, 4*units.KiB)}
	return forecast.Question{
		Candidate: candidate(ebs.Volume{Type: ebs.GP2, Size: 200 * units.GiB}), Balance: 0.5, Warn: 5 * time.Minute,
		Form: forecast.LoadForm{Kind: forecast.PatternLoad, IOPS: 4000, BlockSize: 4096, EveryS: 86_400, ForS: 7200, ThenIOPS: 150},
		Load: p.Over(7 * 24 * time.Hour),
		Alternatives: []forecast.Candidate{candidate(ebs.Volume{Type: ebs.GP3, Size: 200 * units.GiB}),
			candidate(ebs.Volume{Type: ebs.GP3, Size: 200 * units.GiB, IOPS: 5000})},
	}.Answer()
}

func TestForecastTerminal(t *testing.T) {
	for _, width := range []int{80, 40} {
		var out bytes.Buffer
		for _, d := range []forecast.Document{cliffForecast(), weekForecast()} {
			if err := report.ForecastTerminal(&out, d, width, false); err != nil {
				t.Fatal(err)
			}
			out.WriteString("\n")
		}
		for i, line := range strings.Split(out.String(), "\n") {
			if n := utf8.RuneCountInString(line); n > width {
				t.Errorf("line %d has %d columns of %d: %s", i+1, n, width, line)
			}
		}
		if width == 80 {
			golden(t, "forecast.txt", out.Bytes())
		}
	}
}

// What the headline and the sentences say in each case.
func TestForecastSentences(t *testing.T) {
	for _, tt := range []struct {
		volume  ebs.Volume
		iops    units.IOPS
		balance float64
		warn    time.Duration
		want    []string
	}{
		{ebs.Volume{Type: ebs.GP2, Size: 100 * units.GiB}, 3000, 0, time.Minute, []string{"has no credits left and gives 300 IOPS", "at 3 % leaves 1 min"}},
		{ebs.Volume{Type: ebs.GP2, Size: 100 * units.GiB}, 200, 1, time.Minute, []string{"does not run out of credits", "stays full", "needs no alarm"}},
		{ebs.Volume{Type: ebs.GP2, Size: 100 * units.GiB}, 200, 0.5, time.Minute, []string{"50 % at its lowest"}},
		{ebs.Volume{Type: ebs.GP2, Size: 100 * units.GiB}, 3000, 1, time.Hour, []string{"even a full balance"}},
		{ebs.Volume{Type: ebs.GP2, Size: 1000 * units.GiB}, 3000, 1, time.Minute, []string{"has no credits that could run out"}},
		{ebs.Volume{Type: ebs.GP3, Size: 100 * units.GiB}, 4000, 1, time.Minute, []string{"holds the load back: it waits for provisioned IOPS"}},
		{ebs.Volume{Type: ebs.ST1, Size: units.TiB}, 250, 1, time.Minute, []string{"falls to 40.0 MiB/s"}},
	} {
		load := forecast.Of(tt.iops, 4*units.KiB)
		q := forecast.Question{Candidate: candidate(tt.volume), Balance: tt.balance, Warn: tt.warn, Constant: &load,
			Form: forecast.LoadForm{Kind: forecast.ConstantLoad, IOPS: float64(tt.iops), BlockSize: 4096},
			Load: slices.Values([]forecast.Interval{{Length: time.Hour, Load: load}})}
		var out bytes.Buffer
		if err := report.ForecastTerminal(&out, q.Answer(), 200, false); err != nil {
			t.Fatal(err)
		}
		for _, want := range tt.want {
			if text := strings.ReplaceAll(out.String(), "\n", " "); !strings.Contains(text, want) {
				t.Errorf("%v at %v: no %q in\n%s", tt.volume, tt.iops, want, out.String())
			}
		}
	}
}

func TestFleetTerminal(t *testing.T) {
	d := forecast.FleetDocument{}
	for i := range 25 {
		at := float64(1000 - i)
		d.Volumes = append(d.Volumes, forecast.FleetOutcome{ID: "vol-" + string(rune('a'+i)), Volume: forecast.Volume{Text: "gp2 100 GiB"},
			SecondsToEmpty: &at, Course: forecast.Course{EmptyAtS: &at, ThrottledS: float64(60 * i), PeakBacklog: 1}})
	}
	var out bytes.Buffer
	if err := report.FleetTerminal(&out, d, 80, false); err != nil {
		t.Fatal(err)
	}
	// The first is not held back at all; of the other 24, 20 are shown, the worst first.
	for _, want := range []string{"24 of 25 volumes are held back", "25 run out of credits", "And 4 more"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if first, last := strings.Index(out.String(), "vol-y"), strings.Index(out.String(), "vol-x"); first < 0 || last < first {
		t.Errorf("vol-y, held back longest, is not first:\n%s", out.String())
	}
}

func TestForecastPage(t *testing.T) {
	browser := browser(t)
	for _, tt := range []struct {
		name, scheme string
		width        int64
		document     forecast.Document
		series       int // of the chart of rates
	}{
		{"forecast-light-1280", "light", 1280, cliffForecast(), 2}, // the load, which gp3 serves, and gp2
		{"forecast-dark-390", "dark", 390, cliffForecast(), 2},
		{"forecast-week-light-1280", "light", 1280, weekForecast(), 3}, // and the gp3 that is too slow
		{"forecast-week-light-390", "light", 390, weekForecast(), 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var html bytes.Buffer
			if err := report.ForecastHTML(&html, tt.document, "ebscope test"); err != nil {
				t.Fatal(err)
			}
			tab := openPage(t, browser, html, tt.scheme, tt.width)
			if wide := evaluate[int64](t, tab, "document.documentElement.scrollWidth"); wide > tt.width {
				t.Errorf("the page is %d pixels wide in a window of %d", wide, tt.width)
			}
			if n := evaluate[int](t, tab, "ebscope.charts[0].series.length"); n != tt.series+1 { // and the time
				t.Errorf("the chart of rates has %d series, want %d", n-1, tt.series)
			}
			// The balance starts and ends where the document says.
			ends := evaluate[[]float64](t, tab, "[ebscope.charts[1].data[1][0], ebscope.charts[1].data[1].at(-1)]")
			if ends[0] != tt.document.StartBalancePercent || ends[1]-tt.document.Course.LastPercent > 0.1 {
				t.Errorf("the balance is drawn from %v to %v, want %v to %v", ends[0], ends[1], tt.document.StartBalancePercent, tt.document.Course.LastPercent)
			}
			if mark := evaluate[string](t, tab, `document.querySelector(".mark strong").textContent`); !strings.Contains(mark, " min ") {
				t.Errorf("the fall is marked with %q", mark)
			}
			hides := evaluate[bool](t, tab, `(u => {
				const text = u.over.querySelector(".mark p").getBoundingClientRect(), plot = u.over.getBoundingClientRect(), all = u.root.getBoundingClientRect();
				return text.bottom > plot.top || text.top < all.top || text.left < all.left || text.right > all.right;
			})(ebscope.charts[0])`)
			if hides {
				t.Error("the words on the fall hide the lines, or leave the chart")
			}
			checkContrast(t, tab)
			tab.complained(t)
			keep(t, tt.name+".png", run(t, tab, chromedp.FullScreenshot(100)))
		})
	}
}
