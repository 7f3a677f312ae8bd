package report

import (
	"math"

	"ebscope/internal/units"
)

// axes returns the scales of a picture. The page makes its own, which follow the window and the zoom.
func (c chart) axes() (x, y axis) {
	if c.X != nil {
		x = *c.X
	} else {
		x = c.timeAxis()
	}
	if c.Y != nil {
		return x, *c.Y
	}
	y = axis{Label: c.Title, High: c.top() * 1.06}
	step := niceStep(y.High/5, []float64{1, 2, 2.5, 5, 10})
	for at := 0.0; at <= y.High; at += step {
		y.Ticks = append(y.Ticks, place{at, tickLabel(at)})
	}
	return x, y
}

// top is the highest value that is drawn, 1 where there is none above zero.
func (c chart) top() float64 {
	top := 0.0
	for _, l := range c.Series {
		for _, v := range append(l.Values[:len(l.Values):len(l.Values)], l.Highs...) {
			if v != nil {
				top = max(top, *v)
			}
		}
	}
	if top == 0 {
		return 1
	}
	return top
}

// timeAxis counts in one unit, which its label names.
func (c chart) timeAxis() axis {
	unit, label := 1.0, "seconds"
	switch {
	case c.Span > 4*3600:
		unit, label = 3600, "hours"
	case c.Span > 180:
		unit, label = 60, "minutes"
	}
	if c.Compressed {
		label += " of the volume's own time"
	}
	a := axis{Label: label, High: c.Span}
	if a.High <= 0 {
		a.High = 1
	}
	step := niceStep(a.High/unit/8, []float64{1, 2, 5, 10})
	for at := 0.0; at <= a.High/unit*1.0001; at += step {
		a.Ticks = append(a.Ticks, place{at * unit, tickLabel(at)})
	}
	return a
}

// niceStep returns the least step of the given digits times a power of ten that is at least x.
func niceStep(x float64, digits []float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(x)))
	for _, d := range digits {
		if d*power >= x*0.999 {
			return d * power
		}
	}
	return 10 * power
}

func tickLabel(x float64) string {
	if math.Abs(x) >= 1000 {
		return units.Thousands(x)
	}
	return decimals(x, 3)
}
