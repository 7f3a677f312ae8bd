package report

import (
	"math"
	"strings"

	"ebscope/internal/result"
)

var sparks = []rune("▁▂▃▄▅▆▇█")

// sparkline draws a series in a line of text. A cell shows the mean of the windows that end in it, as a share of top;
// the line is as long as the series' share of the time that width stands for.
func sparkline(s result.Series, span, top float64, width int) string {
	if len(s) == 0 || !(span > 0) || !(top > 0) {
		return ""
	}
	cells := min(width, max(1, int(math.Round(s[len(s)-1].End.Seconds()/span*float64(width)))))
	sums, counts := make([]float64, cells), make([]float64, cells)
	for _, p := range s {
		i := min(cells-1, max(0, int(math.Ceil(p.End.Seconds()/span*float64(width)))-1))
		sums[i] += p.Value
		counts[i]++
	}
	var line strings.Builder
	level := 0.0
	for i := range cells {
		if counts[i] > 0 { // a cell without a window of its own lies within the one before
			level = sums[i] / counts[i]
		}
		n := int(level / top * float64(len(sparks)))
		line.WriteRune(sparks[min(len(sparks)-1, max(0, n))])
	}
	return line.String()
}

// spark is the drawing of one volume in text.
type spark struct{ Volume, Line, Text string }

// sparks draws a phase in text, all volumes on one scale, and names the length of time that the width stands for.
func (r Report) sparks(g group, width int) (drawn []spark, over string) {
	var length, top float64
	for _, m := range g.Members {
		if !m.done() || m.measured == nil || len(m.measured.IOPS) == 0 {
			continue
		}
		s := m.measured.IOPS
		length = max(length, s[len(s)-1].End.Seconds())
		top = max(top, highest(s))
	}
	for _, m := range g.Members {
		if !m.done() || m.measured == nil {
			continue
		}
		if line := sparkline(m.measured.IOPS, length, top, width); line != "" {
			text := iops(m.IOPS.Mean)
			if m.Cliff != nil {
				text = iops(m.Cliff.BeforeIOPS) + " → " + iops(m.Cliff.AfterIOPS)
			}
			drawn = append(drawn, spark{m.Volume, line, text})
		}
	}
	return drawn, span(stated(g, length*r.compress()))
}

// highest is the largest value of a series but for its first, which holds the one-off burst of the rate bucket.
func highest(s result.Series) float64 {
	if len(s) > 1 {
		s = s[1:]
	}
	top := 0.0
	for _, p := range s {
		top = max(top, p.Value)
	}
	return top
}

// stated returns the longest duration that the profile gives the phase, where a measured one is about that. The last window
// of a series can end a little later.
func stated(g group, seconds float64) float64 {
	longest := 0.0
	for _, m := range g.Members {
		longest = max(longest, m.spec.Duration.Seconds())
	}
	if math.Abs(seconds/longest-1) < 0.01 {
		return longest
	}
	return seconds
}
