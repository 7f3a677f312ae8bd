package log

import (
	"slices"
	"time"

	"ebscope/internal/result"
)

// seriesWidth is how long the windows of a series of single I/Os are. They hold about a hundred, so that chance alone
// moves a rate by a tenth, and are no shorter than 50 ms, nor than makes some thousand points, for neither of which they
// become longer than a quarter of a second: of a dip that lasts one, parts of two windows would show half. At low rates, for
// fifty I/Os, they become twice as long, which still leaves one of them empty. They cannot be shorter than the cells of any
// track.
func seriesWidth(all []part) time.Duration {
	const enough, shortest, longest, points = 100, 50 * time.Millisecond, time.Millisecond << quarter, 1 << 14
	width := time.Millisecond
	var count int64
	for _, p := range all {
		count += p.Count
		width = max(width, p.Width)
	}
	end := ending(all)
	hundred := time.Duration(float64(end) * enough / float64(max(count, 1)))
	wanted := max(shortest, min(max(hundred, end/points), longest), min(hundred/2, 2*longest))
	for width < wanted {
		width *= 2
	}
	return width
}

// ending is when the last cell ends.
func ending(all []part) (end time.Duration) {
	for _, p := range all {
		if n := len(p.Cells); n > 0 {
			end = max(end, p.Cells[n-1].End)
		}
	}
	return end
}

// regular sums up tracks of single I/Os in windows of one width. Windows without I/Os are empty cells.
func regular(all []part, width time.Duration) []Cell {
	cells := make([]Cell, (ending(all)+width-1)/width)
	for i := range cells {
		cells[i].End = time.Duration(i+1) * width
	}
	for _, p := range all {
		for _, c := range p.Cells {
			w := &cells[(c.End-1)/width]
			if w.Count == 0 {
				w.Min = c.Min
			}
			c.End = w.End
			w.join(c)
		}
	}
	return cells
}

// countRates is the rate of single I/Os by window. The last window is left out where less than half of it was logged, and
// where cells are so wide that how much of it was logged is unknown.
func countRates(all []part, width time.Duration) (series result.Series) {
	end := ending(all)
	wide := slices.ContainsFunc(all, func(p part) bool { return p.Width > time.Millisecond })
	for i, c := range regular(all, width) {
		length := min(width, end-time.Duration(i)*width)
		if i > 0 && (length < width/2 || wide && end <= time.Duration(i+1)*width) {
			break
		}
		series = append(series, result.Point{End: time.Duration(i)*width + length, Value: float64(c.Count) / length.Seconds()})
	}
	return series
}

// singleLatencies is the mean latency of single I/Os by window in ms, with the extremes.
func singleLatencies(all []part, width time.Duration) (series result.Series) {
	for _, c := range regular(all, width) {
		if c.Count > 0 {
			series = append(series, c.point())
		}
	}
	return series
}
