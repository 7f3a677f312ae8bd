package report

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"io"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// The size of a picture in points, and how many pixels of a PNG make an inch of 72 points: 1,800 × 960 in all.
const (
	pictureWidth  = 900
	pictureHeight = 480
	pictureDPI    = 144
	picturePoints = 3_000 // of a series: two for each column of pixels
)

// Picture is a chart that stands alone.
type Picture struct {
	Name   string // for a file, without the format's ending
	chart  chart
	report Report
}

// Pictures returns every chart of the report. The first is that which shows the result.
func (r Report) Pictures() []Picture {
	var all []Picture
	names := map[string]int{}
	add := func(c chart) {
		name := fileName(c.ID)
		if names[name]++; names[name] > 1 {
			name += fmt.Sprintf("-%d", names[name])
		}
		all = append(all, Picture{name, c, r})
	}
	for _, s := range r.sweeps() {
		for _, c := range r.sweepCharts(s) {
			add(c)
		}
	}
	for _, g := range r.groups() {
		if c := r.chart(g, picturePoints); len(c.Series) > 0 {
			add(c)
		}
		if c := r.latencyChart(g, picturePoints); len(c.Series) > 0 {
			add(c)
		}
		for _, c := range r.distributions(g, heatColumns) {
			add(c)
		}
	}
	return all
}

// fileName keeps of a text what every file system takes.
func fileName(text string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_':
			return c
		}
		return '-'
	}, text)
}

// SVG writes the picture as SVG. Its text stays text, in Liberation Sans or what has the same measures.
func (p Picture) SVG(w io.Writer) error {
	canvas := vgsvg.New(pictureWidth, pictureHeight)
	p.draw(draw.New(canvas))
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return fmt.Errorf("draw %s: %w", p.Name, err)
	}
	text := b.String()
	start := strings.Index(text, "<svg")
	end := start + strings.Index(text[start:], ">") + 1
	text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + text[start:end-1] + ` role="img">` + fmt.Sprintf("\n<title>%s</title>\n<desc>%s</desc>\n<metadata>%s</metadata>\n",
		escapeXML(p.chart.Heading), escapeXML(p.chart.Text), escapeXML(p.report.Parameters().text())) + text[end:]
	text = strings.ReplaceAll(text, "font-family:Liberation Sans;", "font-family:'Liberation Sans',Arial,Helvetica,sans-serif;")
	if _, err := io.WriteString(w, text); err != nil {
		return fmt.Errorf("write %s: %w", p.Name, err)
	}
	return nil
}

// escapeXML makes a text literal in XML, which has no place for control characters.
func escapeXML(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(clean(text))
}

// PNG writes the picture as PNG.
func (p Picture) PNG(w io.Writer) error {
	var b bytes.Buffer
	if err := png.Encode(&b, p.image()); err != nil {
		return fmt.Errorf("draw %s: %w", p.Name, err)
	}
	parameters := p.report.Parameters()
	return writePNG(w, b.Bytes(), []textChunk{
		{"Title", latin(p.chart.Heading)}, {"Description", latin(p.chart.Text)},
		{"Software", latin(parameters.Tool)}, {"Parameters", parameters.text()},
	})
}

func (p Picture) image() image.Image {
	canvas := vgimg.NewWith(vgimg.UseWH(vg.Length(pictureWidth), vg.Length(pictureHeight)), vgimg.UseDPI(pictureDPI))
	p.draw(draw.New(canvas))
	return canvas.Image()
}
