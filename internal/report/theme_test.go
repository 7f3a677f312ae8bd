package report_test

import (
	"bytes"
	"strings"
	"testing"

	"ebscope/internal/report"
)

// A page with a theme has its colours whatever its reader's settings; without one it follows them.
func TestThemes(t *testing.T) {
	browser := browser(t)
	const light, dark = "#fbfbf9", "#14171b" // --page of the style sheet
	for _, test := range []struct {
		theme          report.Theme
		reader, colour string
	}{
		{report.Light, "dark", light}, {report.Dark, "light", dark}, {report.Auto, "dark", dark}, {report.Auto, "light", light}, {"", "dark", dark},
	} {
		r := fixture(t)
		r.Theme = test.theme
		tab := open(t, browser, r, test.reader, 800)
		got := evaluate[string](t, tab, `getComputedStyle(document.documentElement).getPropertyValue("--page").trim()`)
		if got != test.colour {
			t.Errorf("theme %q for a reader who likes it %s is %s, want %s", test.theme, test.reader, got, test.colour)
		}
		tab.complained(t)
	}
}

// What was read from files has its sparkline, and no zero where nothing is known.
func TestTerminalOfReadings(t *testing.T) {
	r := perIO(t)
	r.Document.Phases[0].ThroughputMiBps = 0
	var text bytes.Buffer
	if err := report.Terminal(&text, r, 80, false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"IOPS of randread, over 45 min", "fio.json  ██████", "2,999"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the terminal does not say %q:\n%s", want, text.String())
		}
	}
	for line := range strings.Lines(text.String()) {
		if strings.HasPrefix(line, "randread") && strings.Contains(line, " 0.0 ") {
			t.Errorf("an unknown throughput is shown as zero: %s", line)
		}
	}
}
