package report

import (
	"strings"

	"ebscope/internal/forecast"
)

// Sizes of a drawing in text.
const (
	plotHeight = 5
	plotMargin = 8 // columns for the scale
)

// blocks are the eighths of a cell.
var blocks = []rune(" ▁▂▃▄▅▆▇█")

// plot draws values, one a column, as shares of top.
func plot(values []float64, top float64) []string {
	rows := make([]string, plotHeight)
	for i := range rows {
		var row strings.Builder
		for _, x := range values {
			eighths := 0.0
			if top > 0 {
				eighths = (x/top*plotHeight - float64(plotHeight-1-i)) * 8
			}
			row.WriteRune(blocks[min(8, max(0, int(eighths+0.5)))])
		}
		rows[i] = row.String()
	}
	return rows
}

// columns cuts a course into columns of equal time and returns the mean of a value in each.
func columns(points []forecast.CoursePoint, width int, of func(forecast.CoursePoint) float64) []float64 {
	sums, weights := make([]float64, width), make([]float64, width)
	if len(points) == 0 || points[len(points)-1].EndS <= 0 {
		return sums
	}
	column := points[len(points)-1].EndS / float64(width)
	from := 0.0
	for _, p := range points {
		for i := min(width-1, int(from/column)); i < width && float64(i)*column < p.EndS; i++ {
			part := min(p.EndS, float64(i+1)*column) - max(from, float64(i)*column)
			sums[i] += part * of(p)
			weights[i] += part
		}
		from = p.EndS
	}
	for i := range sums {
		if weights[i] > 0 {
			sums[i] /= weights[i]
		}
	}
	return sums
}
