package report_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"ebscope/internal/report"
	"ebscope/internal/result"
)

// A simulated figure is called one, and stands alone: the model's would be the same number.
func TestSimulatedIsNotMeasured(t *testing.T) {
	r := fixture(t)
	r.Document.Run.Target, r.Run.Target = result.Simulated, result.Simulated
	for name, tt := range map[string]struct {
		draw func(io.Writer, report.Report) error
		want string
	}{
		"text":     {func(w io.Writer, r report.Report) error { return report.Terminal(w, r, 120, false) }, "simulated"},
		"markdown": {report.Markdown, "| Expected | Simulated | Holds |"},
		"html":     {report.HTML, `<th scope="col" class="n">Simulated</th>`},
	} {
		var b bytes.Buffer
		if err := tt.draw(&b, r); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), tt.want) {
			t.Errorf("%s: no %q", name, tt.want)
		}
		for _, wrong := range []string{"Measured", ">measured<", "(expected ", "  expected  ", ">model<"} {
			text := strings.ReplaceAll(b.String(), "nothing was measured", "")
			if i := strings.Index(text, wrong); i >= 0 {
				t.Errorf("%s: %q in …%s", name, wrong, text[max(0, i-100):min(len(text), i+100)])
			}
		}
	}
	var b bytes.Buffer
	if err := report.Markdown(&b, fixture(t)); err != nil || !strings.Contains(b.String(), "| Expected | Emulated | Holds |") {
		t.Errorf("an emulated run is not called one: %v", err)
	}
}
