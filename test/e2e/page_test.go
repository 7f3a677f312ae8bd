package e2e

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"math"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// looksRight opens a report of the demonstration in a real browser and checks what is drawn: the series behind the
// chart, and the pixels of a screenshot, where the line of gp2 must stand high before the fall and low after it.
func looksRight(t testing.TB, page string) {
	t.Helper()
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("no chromium to look at the page with; run: scripts/install.sh chromium")
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(),
		chromedp.ExecPath(chromium), chromedp.UserDataDir(t.TempDir()), chromedp.NoSandbox, chromedp.Headless,
		chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true))
	defer stop()
	ctx, end := chromedp.NewContext(allocator)
	defer end()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1280, 900), chromedp.Navigate("file://"+page)); err != nil {
		t.Fatalf("open the page: %v", err)
	}
	// Where the plot and its two stretches are on the screen, and what it is made of.
	drawn, err := chromedp.Run(ctx, chromedp.Evaluate[plot](`(() => {
		const u = window.ebscope.charts[0], box = u.over.getBoundingClientRect();
		const i = u.series.findIndex(s => s.label === "gp2");
		const mean = (from, to) => {
			const v = u.data[0].map((t, n) => [t, u.data[i][n]]).filter(([t, y]) => t > from && t < to && y != null).map(p => p[1]);
			return v.reduce((a, b) => a + b, 0) / v.length;
		};
		const y = v => box.top + scrollY + u.valToPos(v, "y"), x = t => box.left + u.valToPos(t, "x");
		return {before: mean(60, 1900), after: mean(2100, 2650), highY: y(3000), lowY: y(300), beforeX: [x(700), x(1700)],
			afterX: [x(2200), x(2600)], colour: u.series[i].stroke()};
	})()`))
	if err != nil {
		t.Fatalf("read the chart: %v", err)
	}
	near(t, "drawn gp2 IOPS before the fall", drawn.Before, 3000, 0.01)
	near(t, "drawn gp2 IOPS after the fall", drawn.After, 300, 0.02)

	shot, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err != nil {
		t.Fatalf("screenshot: %v", err)
	}
	if dir := os.Getenv("EBSCOPE_SHOTS"); dir != "" {
		if err := os.WriteFile(dir+"/demonstration.png", shot, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	picture, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		t.Fatal(err)
	}
	for _, stretch := range []struct {
		name string
		x    [2]float64
		y    float64
	}{{"before the fall", drawn.BeforeX, drawn.HighY}, {"after the fall", drawn.AfterX, drawn.LowY}} {
		if share := covered(picture, drawn.Colour, stretch.x, stretch.y); share < 0.7 { // the dashes of the prediction lie over it
			t.Errorf("%s the line of gp2 is drawn in %.0f %% of the columns at its height, want at least 70 %%", stretch.name, 100*share)
		}
	}
	if share := covered(picture, drawn.Colour, drawn.AfterX, drawn.HighY); share > 0 {
		t.Errorf("after the fall the line of gp2 is still at 3,000 IOPS in %.0f %% of the columns", 100*share)
	}
}

// plot is what the page says of its first chart, in pixels of the whole page.
type plot struct {
	Before, After   float64
	HighY, LowY     float64
	BeforeX, AfterX [2]float64
	Colour          string
}

// covered returns the share of columns in which a colour, "#rrggbb", is within six pixels of a height: 120 IOPS, a disturbed sample.
func covered(picture image.Image, colour string, x [2]float64, y float64) float64 {
	hits, columns := 0, 0
	for px := int(x[0]); px < int(x[1]); px++ {
		columns++
		for py := int(y) - 6; py <= int(y)+6; py++ {
			if alike(picture, px, py, colour) {
				hits++
				break
			}
		}
	}
	return float64(hits) / float64(columns)
}

func alike(picture image.Image, x, y int, colour string) bool {
	r, g, b, _ := picture.At(x, y).RGBA()
	for i, channel := range []uint32{r, g, b} {
		if math.Abs(float64(channel>>8)-float64(hex(colour[1+2*i:3+2*i]))) > 24 {
			return false
		}
	}
	return true
}

func hex(digits string) (value int) {
	for _, d := range []byte(digits) {
		value *= 16
		switch {
		case d >= 'a':
			value += int(d-'a') + 10
		case d >= 'A':
			value += int(d-'A') + 10
		default:
			value += int(d - '0')
		}
	}
	return value
}
