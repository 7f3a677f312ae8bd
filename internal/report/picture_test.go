package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"strings"
	"testing"

	"ebscope/internal/report"
)

// TestPictures draws every chart of a run and of a reading, in both themes and both formats.
func TestPictures(t *testing.T) {
	if testing.Short() {
		t.Skip("drawing is slow under the race detector; run without -short: go test ./internal/report")
	}
	for _, theme := range []report.Theme{report.Light, report.Dark} {
		for name, r := range map[string]report.Report{"run": fixture(t), "reading": perIO(t)} {
			r.Theme, r.Tool, r.Command = theme, "ebscope 0.2.0", "ebscope report x -o svg --title 'ä → b'"
			for i, p := range r.Pictures() {
				if i >= 4 && !testing.Verbose() {
					break
				}
				var svg, raster bytes.Buffer
				if err := p.SVG(&svg); err != nil {
					t.Fatal(err)
				}
				if err := p.PNG(&raster); err != nil {
					t.Fatal(err)
				}
				file := name + "-" + string(theme) + "-" + p.Name
				keep(t, file+".svg", svg.Bytes())
				keep(t, file+".png", raster.Bytes())
				if picture, err := png.Decode(&raster); err != nil {
					t.Errorf("%s: %v", file, err)
				} else if size := picture.Bounds().Size(); size.X != 1800 || size.Y != 960 {
					t.Errorf("%s is %v", file, size) // 900 × 480 points at 144 to the inch of 72
				}
				wellFormed(t, file, svg.String())
			}
		}
	}
}

func wellFormed(t *testing.T, name, text string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%s is not well-formed: %v", name, err)
		}
	}
}

// TestParameters reads back from every artefact what it was made from.
func TestParameters(t *testing.T) {
	r := fixture(t)
	r.Tool, r.Command, r.Title = "ebscope 0.2.0", "ebscope report run --title '<ä> -- → 🌊'", "<ä> -- → 🌊"
	want := r.Parameters()
	var svg, raster, markdown, page, document bytes.Buffer
	p := r.Pictures()[0]
	for _, err := range []error{p.SVG(&svg), p.PNG(&raster), report.Markdown(&markdown, r), report.HTML(&page, r), report.JSON(&document, r)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	between := func(text, from, to string) string {
		_, after, _ := strings.Cut(text, from)
		found, _, ok := strings.Cut(after, to)
		if !ok {
			t.Fatalf("no %s … %s", from, to)
		}
		return found
	}
	plain := strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")
	found := map[string]string{
		"SVG":      plain.Replace(between(svg.String(), "<metadata>", "</metadata>")),
		"PNG":      texts(t, raster.Bytes())["Parameters"],
		"Markdown": between(markdown.String(), "<!-- ebscope ", " -->"),
		"HTML":     between(page.String(), `id="parameters">`, "</script>"),
		"JSON":     "{" + between(document.String(), `"parameters": {`, "\n  }") + "}",
	}
	for format, text := range found {
		var got report.Parameters
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Errorf("%s: %v in %s", format, err, text)
			continue
		}
		if got.Title != want.Title || got.Command != want.Command || got.Tool != want.Tool || got.Run != want.Run || got.Compress != 60 {
			t.Errorf("%s says it was made from %+v", format, got)
		}
	}
}

// TestLabels: what is emulated and compressed is called so in every artefact.
func TestLabels(t *testing.T) {
	r := fixture(t)
	var csv, metrics, document, svg bytes.Buffer
	for _, err := range []error{report.CSV(&csv, r), report.OpenMetrics(&metrics, r), report.JSON(&document, r), r.Pictures()[0].SVG(&svg)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"csv": csv.String(), "openmetrics": metrics.String(), "json": document.String(), "svg": svg.String()} {
		if !strings.Contains(text, "emulated") || !strings.Contains(text, "60") {
			t.Errorf("%s does not say that the run was emulated and compressed", name)
		}
	}
	for i, line := range strings.Split(strings.TrimSpace(csv.String()), "\n") {
		if i > 0 && !strings.Contains(line, ",emulated,60,") {
			t.Fatalf("line %d of the CSV does not say so: %s", i+1, line)
		}
	}
}

// texts returns the tEXt chunks of a PNG file.
func texts(t *testing.T, file []byte) map[string]string {
	t.Helper()
	found := map[string]string{}
	for at := 8; at+12 <= len(file); {
		length := int(file[at])<<24 | int(file[at+1])<<16 | int(file[at+2])<<8 | int(file[at+3])
		if string(file[at+4:at+8]) == "tEXt" {
			keyword, text, _ := strings.Cut(string(file[at+8:at+8+length]), "\x00")
			found[keyword] = text
		}
		at += 12 + length
	}
	return found
}
