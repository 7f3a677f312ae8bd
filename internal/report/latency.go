package report

import "math"

// latencyPlot is the chart of latency percentiles, on a logarithmic scale.
type latencyPlot struct {
	Ticks  []tick
	Groups []latencyGroup
}

// tick is a line of the scale; Position is its place from the left in percent.
type tick struct {
	Position float64
	Label    string
}

type latencyGroup struct {
	Name, Title string
	Rows        []latencyRow
}

// latencyRow holds the percentiles of one volume: as places from the left in percent, and in words.
type latencyRow struct {
	Volume        string
	Colour        int
	P50, P95, P99 float64
	Text          string
	Text50        string
	Text95        string
	Text99        string
}

// latencyPlot returns the percentiles of every phase but those that only prepare; nil where none is known.
func (r Report) latencyPlot() *latencyPlot {
	low, high := math.Inf(1), 0.0
	plot := &latencyPlot{}
	for _, g := range r.groups() {
		lg := latencyGroup{Name: g.Name, Title: g.Members[0].title()}
		for _, m := range g.Members {
			if !m.percentiles() || m.preparation() {
				continue
			}
			l := m.Latency
			low, high = min(low, *l.P50), max(high, *l.P99)
			row := latencyRow{Volume: m.Volume, Colour: m.colour(), P50: *l.P50, P95: *l.P95, P99: *l.P99,
				Text50: figure(*l.P50), Text95: figure(*l.P95), Text99: figure(*l.P99)}
			row.Text = m.Volume + ": p50 " + row.Text50 + " ms, p95 " + row.Text95 + " ms, p99 " + row.Text99 + " ms"
			lg.Rows = append(lg.Rows, row)
		}
		if len(lg.Rows) > 0 {
			plot.Groups = append(plot.Groups, lg)
		}
	}
	if len(plot.Groups) == 0 {
		return nil
	}
	scale := newLogScale(low, high)
	plot.Ticks = scale.ticks()
	for _, g := range plot.Groups {
		for i := range g.Rows {
			row := &g.Rows[i]
			row.P50, row.P95, row.P99 = scale.position(row.P50), scale.position(row.P95), scale.position(row.P99)
		}
	}
	return plot
}

// percentiles says whether all three percentiles are known and can stand on a logarithmic scale.
func (m member) percentiles() bool {
	if !m.done() || m.Latency == nil {
		return false
	}
	for _, p := range []*float64{m.Latency.P50, m.Latency.P95, m.Latency.P99} {
		if p == nil || !(*p > 0) || math.IsInf(*p, 0) {
			return false
		}
	}
	return true
}

// logScale maps values to places in percent. Its ends are 1, 2 or 5 times a power of ten, with some air.
type logScale struct{ low, high float64 }

func newLogScale(low, high float64) logScale {
	s := logScale{low: 1, high: 1}
	for _, step := range steps(low/100, high*100) {
		if step <= low*0.85 {
			s.low = step
		}
		if step >= high*1.15 {
			s.high = step
			break
		}
	}
	return s
}

func (s logScale) position(x float64) float64 {
	return math.Round(10000*math.Log(x/s.low)/math.Log(s.high/s.low)) / 100
}

func (s logScale) ticks() []tick {
	all := steps(s.low, s.high)
	var ticks []tick
	for _, x := range all {
		// Over more than two decades only the powers of ten have room for a label, and the ends.
		decade := math.Abs(math.Log10(x)-math.Round(math.Log10(x))) < 1e-9
		if len(all) <= 7 || decade {
			ticks = append(ticks, tick{s.position(x), decimals(x, 3)})
		}
	}
	return ticks
}

// steps lists 1, 2 and 5 times each power of ten from low to high.
func steps(low, high float64) []float64 {
	var all []float64
	for e := math.Floor(math.Log10(low)); e <= math.Ceil(math.Log10(high)); e++ {
		for _, digit := range []float64{1, 2, 5} {
			if x := digit * math.Pow(10, e); x >= low*0.999 && x <= high*1.001 {
				all = append(all, x)
			}
		}
	}
	return all
}
