package report_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// pixelLevel reads from the canvas of a chart, counted from 0, at which level a series' colour stands at a place of the
// horizontal axis: for the lead chart, at which IOPS at a time in seconds.
const pixelLevel = `(chart, seconds, colour) => {
	const u = ebscope.charts[chart], x = Math.round(u.valToPos(seconds, "x", true));
	const probe = document.createElement("canvas").getContext("2d");
	probe.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(colour).trim();
	probe.fillRect(0, 0, 1, 1);
	const [r, g, b] = probe.getImageData(0, 0, 1, 1).data;
	const column = u.ctx.getImageData(x, 0, 1, u.ctx.canvas.height).data, hits = [];
	for (let y = 0; y < u.ctx.canvas.height; y++) {
		const d = Math.abs(column[4*y] - r) + Math.abs(column[4*y+1] - g) + Math.abs(column[4*y+2] - b);
		if (d < 24 && column[4*y+3] > 200) hits.push(y);
	}
	if (!hits.length) return -1;
	return u.posToVal((hits[0] + hits[hits.length - 1]) / 2, "y", true);
}`

func TestPage(t *testing.T) {
	tests := []struct {
		name, scheme string
		width        int64
	}{
		{"light-1280", "light", 1280}, {"dark-1280", "dark", 1280}, {"light-390", "light", 390}, {"dark-390", "dark", 390},
	}
	browser := browser(t)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			tab := open(t, browser, fixture(t), test.scheme, test.width)

			// Nothing is wider than the window.
			if wide := evaluate[int64](t, tab, "document.documentElement.scrollWidth"); wide > test.width {
				t.Errorf("the page is %d pixels wide in a window of %d", wide, test.width)
			}
			checkLeadData(t, tab)
			checkMark(t, tab)
			checkContrast(t, tab)
			tab.complained(t) // before pixels are read, about which Chromium has advice to give
			checkLeadPixels(t, tab)

			keep(t, test.name+".png", run(t, tab, chromedp.FullScreenshot(100)))
		})
	}
	t.Run("print", func(t *testing.T) {
		tab := open(t, browser, fixture(t), "dark", 1280)
		dark := evaluate[string](t, tab, chartColour)

		// What the browser does around printing: the charts become light, and narrow enough for paper.
		evaluate[bool](t, tab, `dispatchEvent(new Event("beforeprint"))`)
		if got := evaluate[string](t, tab, chartColour); got == dark {
			t.Errorf("in print the charts keep the dark scheme's %s", got)
		}
		if got := evaluate[int](t, tab, "ebscope.charts[0].width"); got != 664 {
			t.Errorf("in print the chart is %d pixels wide, want 664", got)
		}
		checkLeadPixels(t, tab)
		evaluate[bool](t, tab, `dispatchEvent(new Event("afterprint"))`)
		if got := evaluate[string](t, tab, chartColour); got != dark {
			t.Errorf("after printing the charts stay %s", got)
		}
		if got := evaluate[int](t, tab, "ebscope.charts[0].width"); got < 900 {
			t.Errorf("after printing the chart stays %d pixels wide", got)
		}

		pdf := run(t, tab, chromedp.PrintToPDF(chromedp.PDFPaper(chromedp.PaperA4), chromedp.PDFPreferCSSPageSize()))
		keep(t, "print.pdf", pdf)
		if pages := len(pdfPage.FindAll(pdf, -1)); pages < 3 || pages > 8 {
			t.Errorf("the page prints on %d sheets", pages)
		}
	})
}

const chartColour = `getComputedStyle(document.documentElement).getPropertyValue("--v1").trim()`

var pdfPage = regexp.MustCompile(`/Type\s*/Page\b[^s]`)

// checkLeadData reads the drawn series from the plot itself.
func checkLeadData(t *testing.T, tab *tab) {
	t.Helper()
	labels := evaluate[[]string](t, tab, `ebscope.charts[0].series.slice(1).map(s => s.label)`)
	if got, want := strings.Join(labels, ", "), "gp3, gp2, gp3 predicted, gp2 predicted"; got != want {
		t.Fatalf("the lead chart draws %q, want %q", got, want)
	}
	// Windows of 50 ms are 3 s of the volume's time; the fall is at 1,998.9 s.
	value := func(series string, seconds string) float64 {
		return evaluate[float64](t, tab, `(u => u.data[1 + u.series.slice(1).findIndex(s => s.label == "`+series+`")][u.data[0].indexOf(`+seconds+`)])(ebscope.charts[0])`)
	}
	for _, check := range []struct {
		series, seconds string
		want            float64
	}{
		{"gp2", "1200", 3001}, {"gp2", "1998", 3001}, {"gp2", "2004", 300}, {"gp2", "2700", 300}, {"gp3", "600", 3000},
		{"gp2 predicted", "1998", 3001}, {"gp2 predicted", "2004", 300},
	} {
		if got := value(check.series, check.seconds); got < check.want*0.99 || got > check.want*1.01 {
			t.Errorf("%s at %s s is drawn at %v, want %v", check.series, check.seconds, got, check.want)
		}
	}
}

// checkLeadPixels reads them from the picture.
func checkLeadPixels(t *testing.T, tab *tab) {
	t.Helper()
	for _, check := range []struct {
		seconds string
		want    float64
	}{{"1000", 3001}, {"1950", 3001}, {"2050", 300}, {"2600", 300}} {
		got := evaluate[float64](t, tab, "("+pixelLevel+")(0, "+check.seconds+`, "--v1")`)
		if got < check.want-60 || got > check.want+60 {
			t.Errorf("at %s s the gp2 line stands at %.0f IOPS in the picture, want %.0f", check.seconds, got, check.want)
		}
	}
}

// checkMark holds the line of the fall and the readout under the pointer against the data.
func checkMark(t *testing.T, tab *tab) {
	t.Helper()
	off := evaluate[float64](t, tab, `(u => Math.abs(u.over.querySelector(".mark").offsetLeft - u.valToPos(1998.9, "x")))(ebscope.charts[0])`)
	if off > 2 {
		t.Errorf("the mark of the fall stands %.0f pixels beside it", off)
	}
	inside := evaluate[bool](t, tab, `(u => {
		const text = u.over.querySelector(".mark p").getBoundingClientRect(), plot = u.over.getBoundingClientRect();
		return text.left >= plot.left && text.right <= plot.right && text.top >= plot.top && text.bottom <= plot.bottom;
	})(ebscope.charts[0])`)
	if !inside {
		t.Error("the words beside the fall leave the chart")
	}
	text := evaluate[string](t, tab, `(u => {
		u.setCursor({left: u.valToPos(2400, "x"), top: 10});
		const text = u.over.querySelector(".readout").textContent;
		u.setCursor({left: -10, top: -10});
		return text;
	})(ebscope.charts[0])`)
	// A pixel of a narrow chart is 10 s and more; at 2,400 s gp2 stands at 300 ± 0.4 % and gp3 has ended.
	if !strings.Contains(text, " min") || !strings.Contains(text, "gp2 ") || !strings.Contains(text, " IOPS") || strings.Contains(text, "gp3") {
		t.Errorf("at 40 min the readout says %q", text)
	}
}

// contrast computes the WCAG 2 contrast ratio of two colours of the style sheet.
const contrast = `(a, b) => {
	const luminance = name => {
		const hex = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
		const [r, g, b] = [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16) / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
		return 0.2126 * r + 0.7152 * g + 0.0722 * b;
	};
	const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
	return (high + 0.05) / (low + 0.05);
}`

// checkContrast: 4.5 for text, 3 for what is drawn (WCAG 2.2, 1.4.3 and 1.4.11).
func checkContrast(t *testing.T, tab *tab) {
	t.Helper()
	pairs := map[string]float64{"--label-ink on --label": 4.5}
	for _, ground := range []string{"--page", "--card"} {
		for _, ink := range []string{"--ink", "--quiet", "--bad"} {
			pairs[ink+" on "+ground] = 4.5
		}
		for _, line := range []string{"--v0", "--v1", "--v2", "--v3", "--v4", "--v5"} {
			pairs[line+" on "+ground] = 3
		}
	}
	for pair, least := range pairs {
		a, b, _ := strings.Cut(pair, " on ")
		if got := evaluate[float64](t, tab, "("+contrast+`)("`+a+`", "`+b+`")`); !(got >= least) {
			t.Errorf("contrast of %s is %.2f, want %v", pair, got, least)
		}
	}
}
