package report

import (
	"fmt"
	"math"
	"slices"
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

// cells are the fields of a heat map, column by column, each column from the fastest row on. A field is drawn where its
// I/Os were: between two instants and two latencies. Between columns there may be time of which nothing is known.
type cells struct {
	From  []float64 `json:"from"`  // of each column, in seconds of the volumes' own time
	To    []float64 `json:"to"`    // likewise
	Edges []float64 `json:"edges"` // of the rows, one more than those, in logarithms of milliseconds
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
	c.Cells = newCells(counts, low, high, columns)
	for i := range c.Cells.From {
		c.Cells.From[i] *= r.compress()
		c.Cells.To[i] *= r.compress()
	}
	c.Text = fmt.Sprintf("Latency of %s %s over time: I/Os took from %s ms to %s ms. A field stands for up to %s I/Os.",
		m.Volume, g.Name, figure(math.Pow(10, low)), figure(math.Pow(10, high)), units.Thousands(float64(c.Cells.Most)))
	return c, true
}

// extent returns the lowest and the highest latency of a map, as logarithms of milliseconds, and false where it is empty
// or does not fit together.
func extent(m result.LatencyMap) (low, high float64, ok bool) {
	low, high = math.Inf(1), math.Inf(-1)
	if len(m.Counts) != len(m.Ends) || len(m.Ends) == 0 || m.Ends[0] <= 0 ||
		!slices.IsSorted(m.Ends) || !slices.IsSorted(m.UpTo) {
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

// newCells adds up a map in at most about so many columns, and in no more than heatRows rows from the lowest to the highest latency.
func newCells(m result.LatencyMap, low, high float64, columns int) *cells {
	c := &cells{}
	row := c.rows(m.UpTo, low, high)
	starts := starts(m.Ends)
	together := (len(m.Ends) + columns - 1) / columns
	var counts []int64
	held := 0 // windows in the last column
	for i, column := range m.Counts {
		last := len(c.To) - 1
		from, to := starts[i].Seconds(), m.Ends[i].Seconds()
		// Time of which nothing is known ends a column, where it is so long that it can be seen.
		if last < 0 || held == together || from-c.To[last] >= float64(together)*(to-from) {
			c.From, c.To = append(c.From, from), append(c.To, to)
			counts = append(counts, make([]int64, len(c.Edges)-1)...)
			held, last = 0, last+1
		}
		c.To[last] = to
		held++
		for j, n := range column {
			if n > 0 && m.UpTo[j] > 0 {
				field := last*(len(c.Edges)-1) + row[j]
				counts[field] += n
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

// rows sets the edges to those of the map's own rows, several together where there are too many, and returns the row of
// each of the map's.
func (c *cells) rows(upTo []time.Duration, low, high float64) []int {
	first, last := -1, -1
	for j := range upTo {
		if upTo[j] <= 0 {
			continue
		}
		if from, to := bounds(upTo, j); to > low && from < high {
			if first < 0 {
				first = j
			}
			last = j
		}
	}
	together := (last - first + heatRows) / heatRows
	row := make([]int, len(upTo))
	c.Edges = []float64{low}
	for j := first; j <= last; j++ {
		row[j] = (j - first) / together
		_, to := bounds(upTo, j)
		if row[j]+1 == len(c.Edges) {
			c.Edges = append(c.Edges, to)
		}
		c.Edges[row[j]+1] = to
	}
	return row
}

// starts returns when each window starts: where the one before ends, unless that is so long ago that there was time in
// between. A window is as long as the median of all.
func starts(ends []time.Duration) []time.Duration {
	all, lengths := make([]time.Duration, len(ends)), make([]time.Duration, len(ends))
	for i, end := range ends {
		if i > 0 {
			all[i] = ends[i-1]
		}
		lengths[i] = end - all[i]
	}
	slices.Sort(lengths)
	length := lengths[(len(lengths)-1)/2]
	for i, end := range ends {
		if end-all[i] > length*3/2 {
			all[i] = end - length
		}
	}
	return all
}

// Most is the largest count of I/Os in a field, for people.
func (c chart) Most() string { return units.Thousands(float64(c.Cells.Most)) }
