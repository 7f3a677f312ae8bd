package report_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"math"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"ebscope/internal/report"
)

// where is what the page says of its first chart: places on the screen in pixels, and the colour of the line.
type where struct {
	From, To, Level, Calm float64 // the dip's start and end, its level, and that beside it
	Colour                []int
}

// TestDip looks at the page of a 45-minute log of single I/Os: a dip of one second is drawn at every zoom level.
func TestDip(t *testing.T) {
	browser := browser(t)
	start := time.Now()
	var page bytes.Buffer
	if err := report.HTML(&page, perIO(t)); err != nil {
		t.Fatal(err)
	}
	t.Logf("the page has %d bytes and took %v", page.Len(), time.Since(start))
	if page.Len() > mostBytes {
		t.Errorf("the page has %d bytes", page.Len())
	}
	for _, test := range []struct {
		scheme string
		width  int64
	}{{"light", 1280}, {"dark", 1280}, {"light", 390}, {"dark", 390}} {
		t.Run(fmt.Sprintf("%s-%d", test.scheme, test.width), func(t *testing.T) {
			tab := openPage(t, browser, page, test.scheme, test.width)
			if wide := evaluate[int64](t, tab, "document.documentElement.scrollWidth"); wide > test.width {
				t.Errorf("the page is %d pixels wide in a window of %d", wide, test.width)
			}
			tab.complained(t)
			keep(t, fmt.Sprintf("per-io-%s-%d.png", test.scheme, test.width), run(t, tab, chromedp.FullScreenshot(100)))
			checkDistributions(t, tab)
			for zoom, seconds := range []float64{perIOs, 450, 60, 6} {
				from := max(0, math.Min(dipAt+0.5-seconds/2, perIOs-seconds))
				evaluate[bool](t, tab, fmt.Sprintf(`(u => { u.setScale("x", {min: %v, max: %v}); return true })(ebscope.charts[0])`, from, from+seconds))
				checkDip(t, tab, zoom, test.scheme, test.width)
			}
		})
	}
}

func checkDip(t *testing.T, tab *tab, zoom int, scheme string, width int64) {
	t.Helper()
	w := evaluate[where](t, tab, fmt.Sprintf(`(u => {
		const box = u.over.getBoundingClientRect(), x = t => box.left + scrollX + u.valToPos(t, "x"), y = v => box.top + scrollY + u.valToPos(v, "y");
		const hex = u.series[1].stroke();
		return {From: x(%d), To: x(%d), Level: y(%d), Calm: y(3000), Colour: [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16))};
	})(ebscope.charts[0])`, dipAt, dipAt+1, dipLevel))
	shot := run(t, tab, chromedp.FullScreenshot(100))
	keep(t, fmt.Sprintf("dip-%s-%d-zoom%d.png", scheme, width, zoom), shot)
	picture, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		t.Fatal(err)
	}
	// The line reaches down to the dip's level, within the pixels of its second and the width of the line; and between the
	// levels there is no gap.
	left, right := int(w.From)-2, int(math.Ceil(w.To))+2
	lowest, gaps := 0, 0
	for y := int(w.Calm); y <= int(w.Level)+3; y++ {
		if drawn(picture, left, right, y, w.Colour) {
			lowest = y
		} else if y < int(w.Level) {
			gaps++
		}
	}
	if math.Abs(float64(lowest)-w.Level) > 3 {
		t.Errorf("zoom %d: the line reaches down to pixel %d, the dip is at %.0f", zoom, lowest, w.Level)
	}
	if gaps > 0 {
		t.Errorf("zoom %d: %d pixels of the line into the dip are not drawn", zoom, gaps)
	}
	if drawn(picture, left-40, left-12, int(w.Level), w.Colour) {
		t.Errorf("zoom %d: the line is down before the dip", zoom)
	}
}

// drawn says whether a pixel of a colour is in a part of a row. A thin line mixes with what lies behind it.
func drawn(picture image.Image, left, right, y int, colour []int) bool {
	for x := left; x <= right; x++ {
		r, g, b, _ := picture.At(x, y).RGBA()
		off := math.Abs(float64(r>>8)-float64(colour[0])) + math.Abs(float64(g>>8)-float64(colour[1])) + math.Abs(float64(b>>8)-float64(colour[2]))
		if off < 120 {
			return true
		}
	}
	return false
}

// checkDistributions reads the ladder, the histogram and the heat map from their pixels.
func checkDistributions(t *testing.T, tab *tab) {
	t.Helper()
	for _, check := range []struct {
		chart         string
		x, want, near float64
	}{
		// p75 is 1 ms, p99.5 is 100 ms: in logarithms 0 and 2. Two pixels of a chart of 210 are 0.04.
		{"ladder-randread", -math.Log10(0.25), 0, 0.05}, {"ladder-randread", -math.Log10(0.005), 2, 0.05},
		// 4,019,000 of 8,100,000 I/Os took 1 ms to 1.12 ms, 81,000 took 100 ms to 112 ms.
		{"histogram-randread", 0.025, 49.617, 2}, {"histogram-randread", 2.025, 1, 2},
	} {
		n := evaluate[int](t, tab, `JSON.parse(document.getElementById("charts").textContent).findIndex(c => c.id == "`+check.chart+`")`)
		got := evaluate[float64](t, tab, fmt.Sprintf("("+pixelLevel+`)(%d, %v, "--v0")`, n, check.x))
		if math.Abs(got-check.want) > check.near {
			t.Errorf("%s at %.3f is drawn at %.2f, want %v", check.chart, check.x, got, check.want)
		}
	}
	shade := func(seconds, logMS float64) []int {
		return evaluate[[]int](t, tab, fmt.Sprintf(`(u => [...u.ctx.getImageData(Math.round(u.valToPos(%v, "x", true)), Math.round(u.valToPos(%v, "y", true)), 1, 1).data])(
			ebscope.charts[JSON.parse(document.getElementById("charts").textContent).findIndex(c => c.id == "heat-randread-0")])`, seconds, logMS))
	}
	// The rows are those up to 1 ms and 100 ms; a row is a twentieth of a decade. The single I/O, up to 10^1.3 ms, is in the
	// window that ends at 1,400 s. Nothing took 6.3 ms.
	most, few, single, nothing := shade(1000, -0.025), shade(1000, 1.975), shade(1399, 1.275), shade(1000, 0.8)
	for name, pixel := range map[string][]int{"the fast hump": most, "the slow hump": few, "a single I/O": single} {
		if pixel[3] < 200 {
			t.Errorf("the heat map does not show %s", name)
		}
	}
	if fmt.Sprint(most) == fmt.Sprint(few) || fmt.Sprint(few) == fmt.Sprint(single) {
		t.Errorf("the heat map's shades do not differ: %v, %v, %v", most, few, single)
	}
	if nothing[3] != 0 {
		t.Errorf("the heat map draws what did not happen: %v", nothing)
	}
}

// Whoever drags across the chart sees that part of it, and the whole again after two clicks.
func TestZoom(t *testing.T) {
	tab := open(t, browser(t), perIO(t), "light", 1280)
	box := evaluate[[]float64](t, tab, `(b => [b.left, b.top, b.width, b.height])(ebscope.charts[0].over.getBoundingClientRect())`)
	mouse := func(kind string, share float64, times int) {
		evaluate[bool](t, tab, fmt.Sprintf(`ebscope.charts[0].over.dispatchEvent(new MouseEvent(%q, {clientX: %v, clientY: %v, movementX: 1, movementY: 0, button: 0, detail: %d, bubbles: true}))`,
			kind, box[0]+share*box[2], box[1]+box[3]/2, times))
	}
	span := func() float64 {
		return evaluate[float64](t, tab, `(s => s.max - s.min)(ebscope.charts[0].scales.x)`)
	}
	mouse("mouseenter", 0.4, 0)
	mouse("mousemove", 0.4, 0)
	mouse("mousedown", 0.4, 1)
	mouse("mousemove", 0.5, 0)
	mouse("mouseup", 0.5, 1)
	if got := span(); math.Abs(got-0.1*perIOs) > 5 {
		t.Errorf("dragged over a tenth, the chart shows %.0f s, want %d", got, perIOs/10)
	}
	mouse("dblclick", 0.5, 2)
	if got := span(); got != perIOs {
		t.Errorf("after two clicks it shows %.0f s, want %d", got, perIOs)
	}
}
