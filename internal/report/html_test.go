package report_test

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"ebscope/internal/report"
	"ebscope/internal/result"
)

func html(t *testing.T, r report.Report) string {
	t.Helper()
	var out bytes.Buffer
	if err := report.HTML(&out, r); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// What makes a browser load something: an address in an attribute, in a style sheet, or in a script's call.
var loads = regexp.MustCompile(`(?i)(src|href|action|data)\s*=\s*["']?\s*(https?:)?//|url\(\s*["']?(https?:)?//|@import|fetch\(|XMLHttpRequest|new WebSocket|<(iframe|object|embed|link rel="stylesheet")`)

const mostBytes = 1_500_000

func TestHTMLIsSelfContained(t *testing.T) {
	page := html(t, fixture(t))
	if found := loads.FindString(page); found != "" {
		t.Errorf("the page loads something: %q", found)
	}
	if len(page) > mostBytes {
		t.Errorf("the page has %d bytes", len(page))
	}
	for _, want := range []string{"emulated", "compressed 60×", "$11.40", "$9.12", "$26.22", "$14.82", "$114.00",
		"5.4 million ÷ (3,000 − 300) = 2,000 s", "32 ÷ 300 = 106.7 ms", "ebscope bench --profile gp2-vs-gp3 --compress 60", `<html lang="en">`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// A day of samples in each phase must not make the page large, nor lose the fall or a single deep sample.
func TestHTMLOfLongRunStaysSmall(t *testing.T) {
	r := fixture(t)
	for i := range r.Measured {
		var s result.Series
		for second := 1; second <= 86_400; second++ {
			value := 3000.0
			switch {
			case second == 40_000:
				value = 17
			case second > 50_000:
				value = 300
			}
			s = append(s, result.Point{End: time.Duration(second) * time.Second, Value: value})
		}
		r.Measured[i] = &result.Measurement{Window: time.Second, IOPS: s}
	}
	page := html(t, r)
	if len(page) > mostBytes {
		t.Errorf("the page has %d bytes", len(page))
	}
	if n := strings.Count(page, ",17,"); n < len(r.Document.Volumes) {
		t.Errorf("the single deep sample was drawn %d times", n)
	}
}

// Names and errors are a user's or a program's input.
func TestEscaping(t *testing.T) {
	const attack = `</script><img src=x onerror=alert(1)>|*_"'&`
	r := fixture(t)
	r.Document.Run.Profile = attack
	r.Run.Profile.Name = attack
	r.Run.Profile.Description = attack
	r.Run.Command = attack
	r.Run.Environment.CPU = attack
	r.Document.Warnings = []result.Warning{{Code: attack, Text: attack + "\x1b[31m\n# heading"}}
	for i := range r.Document.Volumes {
		r.Document.Volumes[i].Name += attack
		r.Run.Profile.Volumes[i].Name += attack
	}
	for i := range r.Document.Phases {
		r.Document.Phases[i].Volume += attack
		r.Document.Phases[i].Name += attack
		r.Run.Phases[i].Volume += attack
		r.Run.Phases[i].Name += attack
		r.Run.Profile.Phases[i].Volume += attack
		r.Run.Profile.Phases[i].Name += attack
	}
	page := html(t, r)
	if strings.Contains(page, "<img") {
		t.Error("HTML: a name became an element")
	}
	// Only the scripts of the page itself end: parameters, data, the pixel ratio, uPlot, the page's.
	if n := strings.Count(page, "</script>"); n != 5 {
		t.Errorf("HTML: %d ends of scripts, want 5", n)
	}
	var text bytes.Buffer
	if err := report.Markdown(&text, r); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(text.String(), "\n") {
		if !strings.HasPrefix(line, "    ") && strings.Contains(line, "<img") { // an indented line is a block of code
			t.Errorf("Markdown: a name became an element: %s", line)
		}
		if strings.HasPrefix(line, "# heading") {
			t.Error("Markdown: a warning became a heading")
		}
	}
	text.Reset()
	if err := report.Terminal(&text, r, 80, false); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsRune(text.String(), '\x1b') {
		t.Error("terminal: a warning steers the terminal")
	}
}

// What is not seen itself turns a name around (U+202E, U+2066), hides in it (U+200B, U+00AD, U+FEFF) or steers.
func TestInvisibleCharacters(t *testing.T) {
	const hidden = "a\u202eb\u2066c\u200bd\u00ade\ufefff\x1b[31m"
	r := fixture(t)
	r.Document.Warnings = []result.Warning{{Code: "hidden", Text: hidden}}
	r.Run.Command += hidden
	for i := range r.Document.Phases {
		r.Document.Phases[i].Name += hidden
		r.Run.Phases[i].Name += hidden
		r.Run.Profile.Phases[i].Name += hidden
	}
	for form, write := range map[string]func(io.Writer) error{
		"terminal":    func(w io.Writer) error { return report.Terminal(w, r, 80, false) },
		"Markdown":    func(w io.Writer) error { return report.Markdown(w, r) },
		"OpenMetrics": func(w io.Writer) error { return report.OpenMetrics(w, r) },
	} {
		var text strings.Builder
		if err := write(&text); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text.String(), "abcdef") {
			t.Errorf("%s: what is seen is gone", form)
		}
		for _, c := range text.String() {
			if unicode.Is(unicode.Cf, c) || unicode.IsControl(c) && c != '\n' {
				t.Fatalf("%s has %U", form, c)
			}
		}
	}
}
