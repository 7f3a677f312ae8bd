package report_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// Three latencies of a processor's cache are wider than their column: they wrap, and the page does not scroll sideways.
func TestLongValuesWrap(t *testing.T) {
	r := perIO(t)
	p50, p95, p99 := 0.00012, 0.00034, 0.00099
	l := r.Document.Phases[0].Latency
	l.P50, l.P95, l.P99 = &p50, &p95, &p99
	tab := open(t, browser(t), r, "light", 768)
	if n := evaluate[int64](t, tab, "document.querySelectorAll('.strip .values').length"); n == 0 {
		t.Fatal("no values of latency")
	}
	if wide := evaluate[int64](t, tab, "document.documentElement.scrollWidth"); wide > 768 {
		t.Errorf("%d pixels wide", wide)
	}
}

// Zoomed in to steps below a second, no two places of the time axis read alike: 20 min 34 s is 1,234 s.
func TestPlacesOfADeepZoom(t *testing.T) {
	source, err := os.ReadFile("assets/page.js")
	if err != nil {
		t.Fatal(err)
	}
	_, helpers, _ := strings.Cut(string(source), "  const number =")
	helpers, _, found := strings.Cut(helpers, "  // The axis counts in one unit")
	if !found {
		t.Fatal("the functions that write places are not where they were")
	}
	tab := open(t, browser(t), perIO(t), "light", 768)
	for _, tt := range []struct {
		at, step float64
		want     string
	}{
		{1234, 0.05, "20 min 34.00 s"}, {1234.05, 0.05, "20 min 34.05 s"}, {1234.5, 0.5, "20 min 34.5 s"}, {1260, 0.2, "21 min 0.0 s"},
		{34.02, 0.02, "34.02 s"}, {90, 30, "1 min 30 s"},
	} {
		js := fmt.Sprintf("(() => { const number = %s; return place(%v, %v); })()", helpers, tt.at, tt.step)
		if got := evaluate[string](t, tab, js); got != tt.want {
			t.Errorf("%v s in steps of %v: %q, want %q", tt.at, tt.step, got, tt.want)
		}
	}
}

// On a telephone, the last label of the axis of latencies reaches over the axis' end, and the page does not scroll sideways.
func TestNoSidewaysScrollOnATelephone(t *testing.T) {
	r := perIO(t)
	p50, p95, p99 := 0.5, 500.0, 9999.0 // whose axis ends at 10,000 ms
	l := r.Document.Phases[0].Latency
	l.P50, l.P95, l.P99 = &p50, &p95, &p99
	tab := open(t, browser(t), r, "light", 390)
	last := evaluate[string](t, tab, "[...document.querySelectorAll('.ticks span')].at(-1).textContent")
	if last != "10000" {
		t.Fatalf("the axis ends at %s", last)
	}
	if wide := evaluate[int64](t, tab, "document.documentElement.scrollWidth"); wide > 390 {
		t.Errorf("%d pixels wide", wide)
	}
}
