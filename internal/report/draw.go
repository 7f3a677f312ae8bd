package report

import (
	"image/color"
	"sort"
	"strings"

	xfont "golang.org/x/image/font"
	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Measures of a picture in points.
const (
	edge       = 20 // around everything
	lineHeight = 19
	keySize    = 9
)

// draw draws the whole picture: what it is about, the keys, the plot, and what it was made from.
func (p Picture) draw(c draw.Canvas) {
	colours := p.report.Theme.palette()
	c.SetColor(colours["card"])
	c.Fill(c.Path())
	c = draw.Crop(c, edge, -edge, edge*0.6, -edge)

	y, width := c.Max.Y, c.Max.X-c.Min.X
	heading := style(colours["ink"], 15, xfont.WeightBold)
	c.FillText(heading, vg.Point{X: c.Min.X, Y: y}, fitted(p.title(), heading, width))
	y -= lineHeight + 3
	quiet := style(colours["quiet"], 10.5, xfont.WeightNormal)
	c.FillText(quiet, vg.Point{X: c.Min.X, Y: y}, fitted(p.origin(), quiet, width))
	y -= lineHeight + 2
	p.keys(c, y, colours)
	y -= lineHeight

	foot := p.report.Parameters()
	small := style(colours["quiet"], 8, xfont.WeightNormal)
	c.FillText(small, vg.Point{X: c.Min.X, Y: c.Min.Y + 9}, fitted("Made by "+foot.Tool+" from "+p.source(), small, width))
	p.plot(colours).Draw(draw.Crop(c, 0, 0, 16, y-c.Max.Y))
}

// fitted makes one line of a text, which ends with an ellipsis where it is longer than there is room.
func fitted(words string, s text.Style, width vg.Length) string {
	words = oneLine(words)
	if s.Width(words) <= width {
		return words
	}
	all := []rune(words)
	n := sort.Search(len(all), func(n int) bool { return s.Width(string(all[:n])+"…") > width })
	return strings.TrimSpace(string(all[:max(0, n-1)])) + "…"
}

// title is the given one, else what was done.
func (p Picture) title() string {
	if p.report.Title != "" {
		return p.report.Title + ": " + p.chart.Heading
	}
	return p.chart.Heading
}

// origin says what kind of run it is, before any figure.
func (p Picture) origin() string {
	words := p.report.labels()
	if profile := p.report.Document.Run.Profile; profile != "" {
		words = append(words, "profile "+profile)
	}
	if date := when(p.report.Document.Run.Started, "2 January 2006, 15:04 UTC"); date != "" {
		words = append(words, date)
	}
	return strings.Join(words, " · ")
}

// source names the run, or the file where there is one.
func (p Picture) source() string {
	if id := p.report.Document.Run.ID; id != "" {
		return id
	}
	if len(p.report.Readings) > 0 {
		return p.report.Readings[0].Source.File
	}
	return "a run"
}

// style is a text style whose anchor is the upper left corner.
func style(c color.Color, size vg.Length, weight xfont.Weight) text.Style {
	return text.Style{Color: c, Font: font.Font{Typeface: "Liberation", Variant: "Sans", Weight: weight, Size: size},
		XAlign: draw.XLeft, YAlign: draw.YTop, Handler: gonum.DefaultTextHandler}
}

// keys draws what the colours stand for, in a line below y.
func (p Picture) keys(c draw.Canvas, y vg.Length, colours palette) {
	s := style(colours["ink"], 10.5, xfont.WeightNormal)
	x := c.Min.X
	word := func(words string) {
		c.FillText(s, vg.Point{X: x, Y: y}, words)
		x += s.Width(words)
	}
	if p.chart.Cells != nil {
		word("1 ")
		const width = 110
		for i := range width {
			c.SetColor(colours.shade(byte(1 + 254*i/(width-1))))
			c.Fill(rectangle(x+vg.Length(i), y-keySize-1.5, 1.5, keySize))
		}
		x += width
		word(" " + p.chart.Most() + " I/Os in a field")
		return
	}
	for _, l := range p.chart.Series {
		if !l.Predicted {
			c.SetColor(lineColour(l, colours))
			c.Fill(rectangle(x, y-keySize-1.5, keySize, keySize))
			x += keySize + 5
			word(l.Label)
			x += 18
		}
	}
	if p.chart.HasBand() {
		word("shaded: the extremes within each window")
		x += 18
	}
	if len(p.chart.Stalls) > 0 {
		tint := colours["bad"]
		tint.A = stallAlpha
		c.SetColor(tint)
		c.Fill(rectangle(x, y-keySize-1.5, keySize, keySize))
		x += keySize + 5
		word("stalled")
		x += 18
	}
	dashed := func(of color.Color, words string) {
		var path vg.Path
		path.Move(vg.Point{X: x, Y: y - keySize/2 - 1.5})
		path.Line(vg.Point{X: x + 22, Y: y - keySize/2 - 1.5})
		c.SetLineStyle(draw.LineStyle{Color: of, Width: 1.2, Dashes: dashes})
		c.Stroke(path)
		x += 27
		word(words)
		x += 18
	}
	if len(p.chart.Bounds) > 0 {
		dashed(colours["bad"], "the most that volume and instance allow")
	}
	if p.chart.HasPredicted() {
		dashed(colours["ink"], "predicted by the model")
	}
}

var dashes = []vg.Length{4, 4}

func lineColour(l line, colours palette) color.NRGBA {
	name := "v"
	if l.Predicted {
		name = "p"
	}
	return colours[name+string(rune('0'+l.Colour))]
}

func rectangle(x, y, width, height vg.Length) vg.Path {
	var p vg.Path
	p.Move(vg.Point{X: x, Y: y})
	p.Line(vg.Point{X: x + width, Y: y})
	p.Line(vg.Point{X: x + width, Y: y + height})
	p.Line(vg.Point{X: x, Y: y + height})
	p.Close()
	return p
}

// plot is the chart with its axes.
func (p Picture) plot(colours palette) *gonum.Plot {
	c, g := p.chart, gonum.New()
	g.BackgroundColor = color.Transparent
	x, y := c.axes()
	for _, a := range []struct {
		to   *gonum.Axis
		from axis
	}{{&g.X, x}, {&g.Y, y}} {
		a.to.Min, a.to.Max, a.to.Padding = a.from.Low, a.from.High, 0
		a.to.Label.Text, a.to.Label.Padding = a.from.Label, 6
		a.to.Label.TextStyle.Font, a.to.Label.TextStyle.Color = style(nil, 10.5, xfont.WeightNormal).Font, colours["quiet"]
		a.to.Tick.Label.Font, a.to.Tick.Label.Color = style(nil, 10.5, xfont.WeightNormal).Font, colours["quiet"]
		a.to.Tick.Length, a.to.Tick.Width, a.to.Tick.Color = 4, 0.7, colours["rule"]
		a.to.Width, a.to.Color = 0.7, colours["rule"]
		var ticks gonum.ConstantTicks
		for _, t := range a.from.Ticks {
			ticks = append(ticks, gonum.Tick{Value: t.At, Label: t.Label})
		}
		a.to.Tick.Marker = ticks
	}
	g.Add(drawing{c, x, y, colours})
	return g
}
