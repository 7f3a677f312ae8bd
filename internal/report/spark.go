package report

import (
	"math"
	"strings"

	"ebscope/internal/result"
)

var sparks = []rune("▁▂▃▄▅▆▇█")

// spark is the drawing of one volume in text.
type spark struct{ Volume, Line, Text string }

// sparks draws a phase in text, all volumes on one scale, and names the length of time that the width stands for.
func (r Report) sparks(g group, width int) (drawn []spark, over string) {
	length, top := 0.0, 0.0
	for _, m := range g.Members {
		if s := m.rates(); m.done() && len(s) > 0 {
			length = max(length, s[len(s)-1].End.Seconds())
		}
	}
	cells := map[string][]float64{}
	for _, m := range g.Members {
		if m.done() {
			cells[m.Volume] = lows(m.rates(), length, width)
			for _, x := range cells[m.Volume] {
				top = max(top, x)
			}
		}
	}
	for _, m := range g.Members {
		line := sparkline(cells[m.Volume], top)
		if line == "" {
			continue
		}
		text := iops(m.IOPS.Mean)
		if m.Cliff != nil {
			text = iops(m.Cliff.BeforeIOPS) + " → " + iops(m.Cliff.AfterIOPS)
		}
		drawn = append(drawn, spark{m.Volume, line, text})
	}
	return drawn, span(stated(g, length*r.compress()))
}

// lows cuts a series into cells, of which width stand for a length of time in seconds, and returns the lowest of the
// windows that end in each, so that a stall of a single one shows. The first window, with the one-off burst of the rate bucket, is left out.
func lows(s result.Series, length float64, width int) []float64 {
	if len(s) < 2 || !(length > 0) {
		return nil
	}
	cell := func(p result.Point) int {
		return min(width-1, max(0, int(math.Ceil(p.End.Seconds()/length*float64(width)))-1))
	}
	cells, ended := make([]float64, cell(s[len(s)-1])+1), make([]bool, width)
	for _, p := range s[1:] {
		if at := cell(p); !ended[at] || p.Value < cells[at] {
			cells[at], ended[at] = p.Value, true
		}
	}
	level := s[1].Value
	for i := range cells {
		if ended[i] { // a cell in which no window ends lies within one
			level = cells[i]
		}
		cells[i] = level
	}
	return cells
}

// sparkline draws values as shares of top.
func sparkline(values []float64, top float64) string {
	if !(top > 0) {
		return ""
	}
	var line strings.Builder
	for _, x := range values {
		line.WriteRune(sparks[min(len(sparks)-1, max(0, int(x/top*float64(len(sparks)))))])
	}
	return line.String()
}
