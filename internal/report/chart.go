package report

import (
	"fmt"
	"slices"
	"strings"

	"ebscope/internal/result"
	"ebscope/internal/units"
)

// largeBlock is the block size from which a phase is drawn in MiB/s: up to there people speak of IOPS.
const largeBlock = int64(128 * units.KiB)

// chart is a drawing, which the page and the pictures show alike.
type chart struct {
	ID      string    `json:"id"`
	Kind    chartKind `json:"kind,omitempty"`
	Heading string    `json:"-"` // of a picture that stands alone: what was done
	Title   string    `json:"-"` // what the vertical axis counts
	Text    string    `json:"-"` // what the drawing shows, for those who do not see it
	Unit    string    `json:"unit"`
	// Span is the length of a drawing over time, in seconds of the volumes' own time.
	Span float64 `json:"span"`
	// Compressed says that the volumes' own time is not that of the clock on the wall.
	Compressed bool   `json:"compressed"`
	Series     []line `json:"series"`
	Marks      []mark `json:"marks"`
	// Stalls are where the rate was far below its level, and Bounds what volume and instance allow where a rate is above that.
	Stalls []stretch `json:"stalls,omitempty"`
	Bounds []float64 `json:"bounds,omitempty"`
	// Above puts the words of the marks above the plot. Beside a fall they would hide a line that rises again.
	Above bool `json:"above"`
	// X and Y are the axes where they are not those of a linear quantity over time.
	X     *axis  `json:"x,omitempty"`
	Y     *axis  `json:"y,omitempty"`
	Cells *cells `json:"cells,omitempty"` // of a heat map
}

// chartKind says what a chart shows; the empty one shows a quantity over time.
type chartKind string

const (
	ladderChart    chartKind = "ladder"    // latency by percentile
	histogramChart chartKind = "histogram" // share of all I/Os by latency
	heatChart      chartKind = "heat"      // I/Os by latency, over time
	sweepChart     chartKind = "sweep"     // a figure by the number of I/Os in flight
)

// axis is a scale whose values are already what is drawn: logarithms where it is logarithmic.
type axis struct {
	Label string  `json:"label"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Ticks []place `json:"ticks"`
}

// place is a labelled place on an axis.
type place struct {
	At    float64 `json:"at"`
	Label string  `json:"label"`
}

// mark is a fall, between two levels.
type mark struct {
	At     float64 `json:"at"`
	Before float64 `json:"before"`
	After  float64 `json:"after"`
	Colour int     `json:"colour"`
	Title  string  `json:"title"`
	Text   string  `json:"text"`
}

// chart draws the rate of a phase on all volumes, with at most maxPoints a series.
func (r Report) chart(g group, maxPoints int) chart {
	if slices.ContainsFunc(g.Members, func(m member) bool { return len(m.throughputs()) > 0 }) {
		return r.throughputChart(g, maxPoints)
	}
	unit, scale := "IOPS", 1.0
	if block := g.Members[0].BlockSize; block >= largeBlock {
		unit, scale = "MiB/s", units.Bytes(block).MiB()
	}
	c := r.draw(g, unit, scale, maxPoints, member.rates, func(m result.Measurement) result.Series { return m.IOPS })
	c.ID, c.Title = "rate-"+g.Name, unit
	return c
}

// latencyChart draws the mean latency of a phase over time; it is empty where no latency was logged.
func (r Report) latencyChart(g group, maxPoints int) chart {
	c := r.draw(g, "ms", 1, maxPoints, member.latencies, func(m result.Measurement) result.Series { return m.Latency })
	c.Heading = "Mean latency over time: " + c.Heading
	c.ID, c.Title, c.Text = "latency-"+g.Name, "Mean latency, ms", "Mean latency in milliseconds over time, "+g.Name+"."
	for i := range c.Marks {
		c.Marks[i].Before, c.Marks[i].After, c.Marks[i].Text = 0, 0, "" // those are IOPS
	}
	return c
}

// latencies is the series of mean latencies, nil where none is known.
func (m member) latencies() result.Series {
	if m.measured == nil {
		return nil
	}
	return m.measured.Latency
}

// draw draws a quantity on all volumes: what was measured, and what the model predicts.
func (r Report) draw(g group, unit string, scale float64, maxPoints int, measured func(member) result.Series, predicted func(result.Measurement) result.Series) chart {
	c := chart{Unit: unit, Heading: g.heading(), Compressed: r.compress() != 1, Series: []line{}, Marks: []mark{}}
	add := func(m member, of result.Series, predicted bool) {
		if len(of) == 0 {
			return
		}
		l := line{Label: m.Volume, Colour: m.colour(), Predicted: predicted}
		l.fill(of, r.compress(), scale, maxPoints)
		c.Series = append(c.Series, l)
		c.Span = max(c.Span, l.Times[len(l.Times)-1])
	}
	var texts []string
	for _, m := range g.Members {
		if m.done() && len(measured(m)) > 0 {
			add(m, measured(m), false)
			c.noteworthy(m, r.compress(), scale, unit != "ms")
		}
		texts = append(texts, r.describe(m, unit, scale))
	}
	for _, m := range g.Members {
		if m.predicted != nil && r.Document.Run.Target != result.Simulated { // a simulation is its own prediction
			add(m, predicted(*m.predicted), true)
		}
		if m.done() && m.Cliff != nil {
			c.Marks = append(c.Marks, mark{At: m.Cliff.AtSUncompressed, Colour: m.colour(), Title: span(m.Cliff.AtSUncompressed),
				Before: m.Cliff.BeforeIOPS * scale, After: m.Cliff.AfterIOPS * scale,
				Text: fmt.Sprintf("%s: %s → %s IOPS, %s", m.Volume, iops(m.Cliff.BeforeIOPS), iops(m.Cliff.AfterIOPS), m.cause())})
		}
	}
	c.Span = stated(g, c.Span)
	c.Text = fmt.Sprintf("%s over time, %s. %s", unit, g.Name, strings.Join(texts, " "))
	return c
}

// stated returns the longest duration that the profile gives the phase, where the series reach it. Their last windows can
// end a little later. Where the profile gives none, or they end before, it is theirs.
func stated(g group, seconds float64) float64 {
	longest := 0.0
	for _, m := range g.Members {
		longest = max(longest, m.spec.Duration.Seconds())
	}
	if longest > 0 && seconds > 0.95*longest {
		return longest
	}
	return seconds
}

// describe puts a series into words, level by level.
func (r Report) describe(m member, unit string, scale float64) string {
	if !m.done() {
		return m.Volume + ": " + m.sentence()
	}
	levels := make([]string, len(m.Segments))
	for i, s := range m.Segments {
		levels[i] = fmt.Sprintf("%s %s from %s to %s", iops(s.IOPSMean*scale), unit, span(s.FromS*r.compress()), span(s.ToS*r.compress()))
	}
	if len(levels) == 0 {
		levels = []string{fmt.Sprintf("mean %s %s", iops(m.IOPS.Mean*scale), unit)}
	}
	text := m.Volume + ": " + strings.Join(levels, ", then ") + "."
	if stalled := m.stalled(); stalled != none {
		text += " It stalled " + stalled + "."
	}
	if above := m.above(); above != none {
		text += " It is above " + above + "."
	}
	return text
}
