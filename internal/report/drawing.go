package report

import (
	"image"
	"math"

	xfont "golang.org/x/image/font"
	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// drawing draws the inside of a plot.
type drawing struct {
	chart
	x, y    axis
	colours palette
}

// Plot implements gonum.Plotter.
func (d drawing) Plot(c draw.Canvas, g *gonum.Plot) {
	x, y := g.Transforms(&c)
	line := func(style draw.LineStyle, from, to vg.Point) {
		c.StrokeLine2(style, from.X, from.Y, to.X, to.Y)
	}
	grid := draw.LineStyle{Color: d.colours["grid"], Width: 0.7}
	for _, t := range d.y.Ticks {
		line(grid, vg.Point{X: c.Min.X, Y: y(t.At)}, vg.Point{X: c.Max.X, Y: y(t.At)})
	}
	for _, t := range d.x.Ticks {
		line(grid, vg.Point{X: x(t.At), Y: c.Min.Y}, vg.Point{X: x(t.At), Y: c.Max.Y})
	}
	if d.Cells != nil {
		c.DrawImage(c.Rectangle, d.Cells.image(d.colours, d.x, d.y))
	}
	d.stalls(c, x)
	measured := 0
	for _, l := range d.Series {
		if !l.Predicted {
			measured++
		}
	}
	for _, l := range d.Series {
		style := draw.LineStyle{Color: lineColour(l, d.colours), Width: 1, Dashes: dashes}
		if !l.Predicted {
			measured--
			style.Width, style.Dashes = 1.8+2*vg.Length(measured), nil // lines that lie on each other stay visible
			if len(l.Times) > pictureWidth {
				style.Width = 1.1
			}
		}
		if len(l.Highs) > 0 {
			d.band(c, l, x, y)
		}
		d.line(c, l, style, x, y)
	}
	for _, at := range d.Bounds {
		line(draw.LineStyle{Color: d.colours["bad"], Width: 1.2, Dashes: dashes}, vg.Point{X: c.Min.X, Y: y(at)}, vg.Point{X: c.Max.X, Y: y(at)})
	}
	for _, m := range d.Marks {
		d.mark(c, m, x, y)
	}
}

// stalls tints where the rate stalled, never thinner than two points.
func (d drawing) stalls(c draw.Canvas, x func(float64) vg.Length) {
	tint := d.colours["bad"]
	tint.A = stallAlpha
	c.SetColor(tint)
	for _, s := range d.Stalls {
		left, right := x(s.From), min(c.Max.X, x(s.To))
		c.Fill(rectangle(left, c.Min.Y, max(2, right-left), c.Max.Y-c.Min.Y))
	}
}

// stallAlpha is how much of its colour the tint of a stall has, of 255.
const stallAlpha = 0x33

// line draws a series in steps, for a value is the mean of the window that ends there, or with dots.
func (d drawing) line(c draw.Canvas, l line, style draw.LineStyle, x, y func(float64) vg.Length) {
	var path vg.Path
	open := false
	inside := func(v float64) vg.Length { return min(c.Max.Y, max(c.Min.Y, y(v))) }
	for i, v := range l.Values {
		if v == nil {
			open = false
			continue
		}
		at := vg.Point{X: min(c.Max.X, x(l.Times[i])), Y: inside(*v)}
		switch {
		case !open:
			path.Move(at)
		case !l.Dots && i > 0:
			path.Line(vg.Point{X: min(c.Max.X, x(l.Times[i-1])), Y: at.Y})
			path.Line(at)
		default:
			path.Line(at)
		}
		open = true
		if l.Dots {
			c.DrawGlyph(draw.GlyphStyle{Color: style.Color, Radius: 3, Shape: draw.CircleGlyph{}}, at)
		}
	}
	if d.Kind == histogramChart && len(path) > 0 {
		area := append(vg.Path{}, path...)
		area.Line(vg.Point{X: x(l.Times[len(l.Times)-1]), Y: c.Min.Y})
		area.Line(vg.Point{X: x(l.Times[0]), Y: c.Min.Y})
		area.Close()
		tint := lineColour(l, d.colours)
		tint.A = 0x44
		c.SetColor(tint)
		c.Fill(area)
	}
	c.SetLineStyle(style)
	c.Stroke(path)
}

// band tints each window between its extremes.
func (d drawing) band(c draw.Canvas, l line, x, y func(float64) vg.Length) {
	tint := lineColour(l, d.colours)
	tint.A = bandAlpha
	c.SetColor(tint)
	var path vg.Path
	for i := 1; i < len(l.Times); i++ {
		if l.Lows[i] == nil || l.Highs[i] == nil {
			continue
		}
		left, right := x(l.Times[i-1]), min(c.Max.X, x(l.Times[i]))
		low, high := max(c.Min.Y, y(*l.Lows[i])), min(c.Max.Y, y(*l.Highs[i]))
		path = append(path, rectangle(left, low, max(1, right-left), max(0.5, high-low))...)
	}
	if len(path) > 0 {
		c.Fill(path)
	}
}

// bandAlpha is how much of the line's colour the band between the extremes has, of 255.
const bandAlpha = 0x66

// mark draws a fall, with its words between the two levels.
func (d drawing) mark(c draw.Canvas, m mark, x, y func(float64) vg.Length) {
	at := x(m.At)
	c.StrokeLine2(draw.LineStyle{Color: d.colours["ink"], Width: 1, Dashes: dashes}, at, c.Min.Y, at, c.Max.Y)
	if m.Text == "" {
		return
	}
	bold, plain := style(d.colours["ink"], 12, xfont.WeightBold), style(d.colours["ink"], 10.5, xfont.WeightNormal)
	words := vg.Point{X: at + 8, Y: y((m.Before+m.After)/2) + lineHeight}
	if at > c.Center().X {
		words.X, bold.XAlign, plain.XAlign = at-8, draw.XRight, draw.XRight
	}
	c.FillText(bold, words, m.Title)
	c.FillText(plain, words.Add(vg.Point{Y: -lineHeight + 2}), m.Text)
}

// image draws the fields on the whole of a plot, each as large as it is, and at least a pixel.
func (f cells) image(colours palette, x, y axis) image.Image {
	const wide, high = 1800, 960
	picture := image.NewNRGBA(image.Rect(0, 0, wide, high))
	column := func(at float64) int { return int(math.Round((at - x.Low) / (x.High - x.Low) * wide)) }
	line := func(at float64) int { return int(math.Round((y.High - at) / (y.High - y.Low) * high)) }
	rows := len(f.Edges) - 1
	for i, shade := range f.Shades {
		if shade == 0 {
			continue
		}
		c := colours.shade(shade)
		left, right := column(f.From[i/rows]), column(f.To[i/rows])
		top, bottom := line(f.Edges[i%rows+1]), line(f.Edges[i%rows])
		for py := top; py < max(bottom, top+1); py++ {
			for px := left; px < max(right, left+1); px++ {
				picture.SetNRGBA(px, py, c)
			}
		}
	}
	return picture
}
