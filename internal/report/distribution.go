package report

import (
	"fmt"
	"math"
	"strings"
	"time"

	"ebscope/internal/result"
)

// topNines is the end of a ladder: four nines, 99.99 %.
const topNines = 4

// finest is how close two steps of a ladder may be: a third of a pixel.
const finest = 0.002

// binsPerDecade is how fine the bars of a histogram are: about 12 % wide.
const binsPerDecade = 20

// ladder draws latency by percentile, on an axis that gives every further nine the same room; it has no series where no
// percentile is known.
func (r Report) ladder(g group) chart {
	c := chart{ID: "ladder-" + g.Name, Kind: ladderChart, Heading: "Latency by percentile: " + g.heading(), Title: "Latency by percentile, ms", Unit: "ms", Series: []line{}, Marks: []mark{}}
	var texts []string
	low, high := math.Inf(1), math.Inf(-1)
	for _, m := range g.Members {
		l := m.ladder()
		if len(l.Times) == 0 {
			continue
		}
		c.Series = append(c.Series, l)
		for _, v := range l.Values {
			low, high = min(low, *v), max(high, *v)
		}
		texts = append(texts, fmt.Sprintf("%s: from %s ms to %s ms", m.Volume, figure(math.Pow(10, *l.Values[0])), figure(math.Pow(10, *l.Values[len(l.Values)-1]))))
	}
	if len(c.Series) == 0 {
		return c
	}
	c.X = &axis{Label: "percentile", High: topNines, Ticks: []place{{0, "0"}, {nines(50), "50"}, {1, "90"}, {2, "99"}, {3, "99.9"}, {topNines, "99.99"}}}
	c.Y = decades(low, high, "latency in ms, logarithmic")
	c.Text = fmt.Sprintf("Latency by percentile, %s. %s.", g.Name, strings.Join(texts, ". "))
	return c
}

// nines is the place of a percentile on the axis of a ladder: 90 is 1, 99 is 2, 99.9 is 3.
func nines(percent float64) float64 { return -math.Log10(1 - percent/100) }

// ladder returns the distribution of the latencies: all of it where bins are known, else the percentiles that are.
func (m member) ladder() line {
	l := line{Label: m.Volume, Colour: m.colour()}
	d, ok := m.distribution()
	if !ok {
		return l
	}
	add := func(x float64, latency time.Duration) {
		y := math.Round(1000*math.Log10(latency.Seconds()*1000)) / 1000
		l.Times, l.Values = append(l.Times, x), append(l.Values, &y)
	}
	total := int64(0)
	for _, b := range d.Bins {
		total += max(0, b.Count)
	}
	seen := int64(0)
	for _, b := range d.Bins {
		if b.Count <= 0 || b.At <= 0 {
			continue
		}
		if seen == 0 {
			add(0, b.At)
		}
		seen += b.Count
		x := min(topNines, nines(100*float64(seen)/float64(total)))
		if last := len(l.Times) - 1; last > 0 && x-l.Times[last-1] < finest { // of steps too narrow to see, the slowest
			l.Times, l.Values = l.Times[:last], l.Values[:last]
		}
		add(math.Round(x*1000)/1000, b.At)
		if x == topNines {
			break
		}
	}
	if len(l.Times) > 0 {
		return l
	}
	l.Dots = true
	for _, p := range d.Percentiles {
		if x := nines(p.Percent); p.Value > 0 && x >= 0 && x <= topNines+1e-9 {
			add(math.Round(x*1000)/1000, p.Value)
		}
	}
	return l
}

// histogram draws what share of all I/Os took how long; it has no series where no bins are known.
func (r Report) histogram(g group) chart {
	c := chart{ID: "histogram-" + g.Name, Kind: histogramChart, Heading: "Share of I/Os by latency: " + g.heading(), Title: "Share of I/Os by latency, %", Unit: "%", Series: []line{}, Marks: []mark{}}
	low, high := math.Inf(1), math.Inf(-1)
	for _, m := range g.Members {
		if d, ok := m.distribution(); ok {
			for _, b := range d.Bins {
				if b.Count > 0 && b.At > 0 {
					x := math.Log10(b.At.Seconds() * 1000)
					low, high = min(low, x), max(high, x)
				}
			}
		}
	}
	if low > high {
		return c
	}
	first := int(math.Floor(low*binsPerDecade)) - 1
	count := int(math.Floor(high*binsPerDecade)) + 2 - first
	for _, m := range g.Members {
		if l := m.histogram(first, count); len(l.Times) > 0 {
			c.Series = append(c.Series, l)
		}
	}
	c.X = decades(low, high, "latency in ms, logarithmic")
	c.X.Low, c.X.High = min(c.X.Low, float64(first)/binsPerDecade), max(c.X.High, float64(first+count)/binsPerDecade)
	c.Text = fmt.Sprintf("Share of I/Os by latency, %s, from %s ms to %s ms.", g.Name, figure(math.Pow(10, low)), figure(math.Pow(10, high)))
	return c
}

// histogram counts the member's I/Os in count bars from the given one on; the bar i ends at i+1 twentieths of a decade.
func (m member) histogram(first, count int) line {
	l := line{Label: m.Volume, Colour: m.colour()}
	d, ok := m.distribution()
	if !ok || len(d.Bins) == 0 {
		return l
	}
	bars, total := make([]float64, count), 0.0
	for _, b := range d.Bins {
		if b.Count > 0 && b.At > 0 {
			i := int(math.Floor(math.Log10(b.At.Seconds()*1000)*binsPerDecade)) - first
			bars[i] += float64(b.Count)
			total += float64(b.Count)
		}
	}
	if total == 0 {
		return l
	}
	for i, n := range bars {
		share := math.Round(100_000*n/total) / 1000
		l.Times = append(l.Times, math.Round(1000*float64(first+i+1)/binsPerDecade)/1000)
		l.Values = append(l.Values, &share)
	}
	return l
}

// distribution returns the latencies of a phase that is done, and false where nothing is known of them.
func (m member) distribution() (result.Latency, bool) {
	if !m.done() || m.measured == nil {
		return result.Latency{}, false
	}
	d := m.measured.Total.Latency
	return d, len(d.Bins) > 0 || len(d.Percentiles) > 0
}

// decades is a logarithmic axis of milliseconds, from values given as logarithms, with a little air. Its ticks are the
// powers of ten, and 2 and 5 times them where there are few.
func decades(low, high float64, label string) *axis {
	air := max(0.05, 0.06*(high-low))
	a := &axis{Label: label, Low: math.Floor((low-air)*20) / 20, High: math.Ceil((high+air)*20) / 20}
	digits := []float64{1, 2, 5}
	if a.High-a.Low > 3 {
		digits = digits[:1]
	}
	for e := math.Floor(a.Low); e <= math.Ceil(a.High); e++ {
		for _, d := range digits {
			if at := e + math.Log10(d); at >= a.Low && at <= a.High {
				a.Ticks = append(a.Ticks, place{at, decimals(d*math.Pow(10, e), 6)})
			}
		}
	}
	if len(a.Ticks) < 2 {
		a.Ticks = []place{{a.Low, figure(math.Pow(10, a.Low))}, {a.High, figure(math.Pow(10, a.High))}}
	}
	return a
}
