package report

import (
	"fmt"
	"math"
	"time"

	"ebscope/internal/result"
	"ebscope/internal/units"
)

// The finest a heat map is drawn: about a column for each pixel of a page in one column, and rows that can be told apart.
const (
	heatColumns  = 600
	leastColumns = 60
	heatRows     = 48
	heatShare    = 100 // as many times fewer columns than points of a line, where there are too many for one page
)

// cells are the fields of a heat map, column by column from the start, each column from the fastest row on.
type cells struct {
	Columns int     `json:"columns"`
	Rows    int     `json:"rows"`
	Wide    float64 `json:"wide"` // what a column stands for, in seconds of the volumes' own time
	// Most is the largest count of I/Os in a field.
	Most int64 `json:"most"`
	// Shades holds a byte for each field: 0 where there was no I/O, else 1 to 255, the logarithm of its count. So a field
	// with a single I/O can be seen.
	Shades []byte `json:"shades"` // base64 in JSON
}

// heat draws how the latencies of a phase were spread over time, and false where that was not recorded.
func (r Report) heat(g group, m member, columns int) (chart, bool) {
	if m.reading == nil || m.reading.LatencyMap == nil || !m.done() {
		return chart{}, false
	}
	counts := *m.reading.LatencyMap
	low, high, ok := extent(counts)
	if !ok {
		return chart{}, false
	}
	span := counts.Ends[len(counts.Ends)-1]
	c := chart{ID: fmt.Sprintf("heat-%s-%d", g.Name, m.colour()), Kind: heatChart, Heading: "Latency over time: " + g.heading() + ", " + m.Volume,
		Title: "Latency over time, ms", Unit: "ms", Compressed: r.compress() != 1, Span: seconds(span, r.compress()),
		Series: []line{}, Marks: []mark{}, Y: decades(low, high, "latency in ms, logarithmic")}
	c.Cells = newCells(counts, c.Y, columns, rowsWithin(counts.UpTo, low, high))
	c.Cells.Wide *= r.compress()
	c.Text = fmt.Sprintf("Latency of %s %s over time: I/Os took from %s ms to %s ms. A field stands for up to %s I/Os.",
		m.Volume, g.Name, figure(math.Pow(10, low)), figure(math.Pow(10, high)), units.Thousands(float64(c.Cells.Most)))
	return c, true
}

// extent returns the lowest and the highest latency of a map, as logarithms of milliseconds, and false where it is empty
// or does not fit together.
func extent(m result.LatencyMap) (low, high float64, ok bool) {
	low, high = math.Inf(1), math.Inf(-1)
	if len(m.Counts) != len(m.Ends) || len(m.Ends) == 0 || m.Ends[len(m.Ends)-1] <= 0 {
		return 0, 0, false
	}
	for _, column := range m.Counts {
		if len(column) > len(m.UpTo) {
			return 0, 0, false
		}
		for j, n := range column {
			if n > 0 && m.UpTo[j] > 0 {
				from, to := bounds(m.UpTo, j)
				low, high = min(low, from), max(high, to)
			}
		}
	}
	return low, high, low < high
}

// bounds returns the logarithms of the milliseconds between which a row of a map lies.
func bounds(upTo []time.Duration, j int) (from, to float64) {
	to = math.Log10(upTo[j].Seconds() * 1000)
	from = to - math.Log10(2) // the first row begins at zero, which has no logarithm
	if j > 0 && upTo[j-1] > 0 {
		from = math.Log10(upTo[j-1].Seconds() * 1000)
	}
	return from, to
}

// rowsWithin counts the rows of a map for each unit of the axis, a decade.
func rowsWithin(upTo []time.Duration, low, high float64) float64 {
	n := 0
	for j := range upTo {
		if _, to := bounds(upTo, j); to > low && to <= high {
			n++
		}
	}
	return float64(n) / (high - low)
}

// newCells adds up a map in fields of equal size on the drawing, in at most so many columns and no finer than the map's own rows, perDecade of them. A
// column is a whole number of the map's windows, as far as those are equal: else some would hold more than their neighbours.
func newCells(m result.LatencyMap, y *axis, columns int, perDecade float64) *cells {
	together := (len(m.Ends) + columns - 1) / columns
	span := m.Ends[len(m.Ends)-1]
	wide := span.Seconds() / float64(len(m.Ends)) * float64(together)
	c := &cells{Columns: (len(m.Ends) + together - 1) / together, Rows: min(heatRows, max(1, int(perDecade*(y.High-y.Low)))), Wide: wide}
	row := func(at float64) int {
		return min(c.Rows-1, max(0, int((at-y.Low)/(y.High-y.Low)*float64(c.Rows))))
	}
	counts := make([]int64, c.Columns*c.Rows)
	start := time.Duration(0)
	for i, column := range m.Counts {
		middle := (start + m.Ends[i]) / 2
		start = m.Ends[i]
		x := min(c.Columns-1, max(0, int(middle.Seconds()/wide)))
		for j, n := range column {
			if n <= 0 || m.UpTo[j] <= 0 {
				continue
			}
			// A row of the map that lies across several fields is spread over them.
			from, to := bounds(m.UpTo, j)
			const edge = 1e-6 // what ends where a field begins is not in it
			first, last := row(from+edge), row(to-edge)
			for r := first; r <= last; r++ {
				field := x*c.Rows + r
				counts[field] += max(1, n/int64(last-first+1))
				c.Most = max(c.Most, counts[field])
			}
		}
	}
	c.Shades = make([]byte, len(counts))
	for i, n := range counts {
		switch {
		case n == 0:
		case c.Most == 1:
			c.Shades[i] = 255
		default:
			c.Shades[i] = byte(1 + math.Round(254*math.Log(float64(n))/math.Log(float64(c.Most))))
		}
	}
	return c
}

// Most is the largest count of I/Os in a field, for people.
func (c chart) Most() string { return units.Thousands(float64(c.Cells.Most)) }
