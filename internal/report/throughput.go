package report

import (
	"fmt"

	"ebscope/internal/result"
)

// throughputs is the series in MiB/s of a reading whose IOPS no log tells; nil for every other.
func (m member) throughputs() result.Series {
	if m.reading == nil {
		return nil
	}
	return m.reading.Throughput
}

// throughputChart draws a reading of which only throughput was logged, with a mark where it fell.
func (r Report) throughputChart(g group, maxPoints int) chart {
	c := chart{ID: "rate-" + g.Name, Title: "MiB/s", Unit: "MiB/s", Heading: g.heading(), Series: []line{}, Marks: []mark{}}
	for _, m := range g.Members {
		of := m.throughputs()
		if !m.done() || len(of) == 0 {
			continue
		}
		l := line{Label: m.Volume, Colour: m.colour()}
		l.fill(of, 1, 1, maxPoints)
		c.Series = append(c.Series, l)
		c.Span = max(c.Span, l.Times[len(l.Times)-1])
		c.Text = fmt.Sprintf("MiB/s over time, %s. %s: mean %s MiB/s.", g.Name, m.Volume, m.figure(m.ThroughputMiBps, mibps))
		for _, change := range m.ThroughputChanges {
			text := fmt.Sprintf("%s → %s MiB/s", mibps(change.BeforeMiBpS), mibps(change.AfterMiBpS))
			c.Text += fmt.Sprintf(" At %s: %s.", span(change.AtS), text)
			if change.AfterMiBpS < change.BeforeMiBpS {
				c.Marks = append(c.Marks, mark{
					At: change.AtS, Before: change.BeforeMiBpS, After: change.AfterMiBpS, Colour: m.colour(),
					Title: span(change.AtS), Text: m.Volume + ": " + text,
				})
			}
		}
	}
	return c
}
