package forecast

import (
	"time"

	"ebscope/internal/units"
)

// maxPoints is how many points a curve has at most; it always has at least half as many once it is that long.
const maxPoints = 1_000

// Curve is a drawing of a volume's course. It begins with windows of a second and halves its resolution whenever it is
// full, so that a minute and a year take the same room.
type Curve struct {
	window time.Duration
	points []Point
	open   Point // of the window that is not full yet; its rates are operations
	filled time.Duration
}

// Point is a window of a curve that ends at End: the mean rates in it, and the credits at its end as a share.
type Point struct {
	End           time.Duration
	Asked, Served units.IOPS
	Balance       float64
}

// NewCurve returns an empty curve.
func NewCurve() *Curve { return &Curve{window: time.Second, points: make([]Point, 0, maxPoints)} }

// Points returns the windows in ascending time. The last may be shorter than the others.
func (c *Curve) Points() []Point {
	if c.filled == 0 {
		return c.points
	}
	return append(c.points[:len(c.points):len(c.points)], c.mean())
}

// room returns how much time the open window still takes.
func (c *Curve) room() time.Duration { return c.window - c.filled }

// add draws a stretch that is no longer than room.
func (c *Curve) add(length time.Duration, asked, served units.IOPS, balance float64) {
	seconds := units.IOPS(length.Seconds())
	c.filled += length
	c.open.End += length
	c.open.Asked += asked * seconds
	c.open.Served += served * seconds
	c.open.Balance = balance
	if c.filled < c.window {
		return
	}
	c.points = append(c.points, c.mean())
	c.filled, c.open.Asked, c.open.Served = 0, 0, 0
	if len(c.points) == maxPoints {
		c.halve()
	}
}

// mean returns the open window as a point.
func (c *Curve) mean() Point {
	p, seconds := c.open, units.IOPS(c.filled.Seconds())
	p.Asked /= seconds
	p.Served /= seconds
	return p
}

// halve joins each two windows.
func (c *Curve) halve() {
	for i := range len(c.points) / 2 {
		a, b := c.points[2*i], c.points[2*i+1]
		b.Asked, b.Served = (a.Asked+b.Asked)/2, (a.Served+b.Served)/2
		c.points[i] = b
	}
	c.points = c.points[:len(c.points)/2]
	c.window *= 2
}
