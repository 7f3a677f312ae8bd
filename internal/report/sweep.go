package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"ebscope/internal/analyze"
	"ebscope/internal/result"
	"ebscope/internal/units"
)

// sweep is what one sweep found with one pattern and block size: a curve for each volume, and for each number of jobs.
type sweep struct {
	Name, Title string
	Curves      []analyze.Sweep
}

// sweepSection is a sweep on the page.
type sweepSection struct {
	sweep
	Volumes []volumeLine
	Charts  []section
}

// sweeps returns the curves that have steps, by sweep.
func (r Report) sweeps() []sweep {
	var all []sweep
	for _, c := range r.Document.Sweeps {
		if len(c.Steps) == 0 {
			continue
		}
		title := capital(word(patternWords, c.RW)) + ", " + units.Bytes(c.BlockSize).String()
		n := slices.IndexFunc(all, func(s sweep) bool { return s.Name == c.Name && s.Title == title })
		if n < 0 {
			n = len(all)
			all = append(all, sweep{Name: c.Name, Title: title})
		}
		all[n].Curves = append(all[n].Curves, c)
	}
	return all
}

// label names the i-th curve: by its volume, and the number of jobs where the volume has several curves.
func (s sweep) label(i int) string {
	c := s.Curves[i]
	if c.Jobs > 1 || s.several() {
		return fmt.Sprintf("%s, jobs %d", c.Volume, c.Jobs)
	}
	return c.Volume
}

// several says whether a volume has more than one curve.
func (s sweep) several() bool {
	for i, c := range s.Curves {
		if slices.ContainsFunc(s.Curves[:i], func(o analyze.Sweep) bool { return o.Volume == c.Volume }) {
			return true
		}
	}
	return false
}

// colour is that of the curve's volume or, where a volume has several curves, one of its own.
func (r Report) curveColour(s sweep, i int) int {
	volume := slices.IndexFunc(r.Document.Volumes, func(v analyze.Volume) bool { return v.Name == s.Curves[i].Volume })
	if s.several() || volume < 0 {
		return i % colours
	}
	return volume % colours
}

// kneeSentence says where a curve bends, with its arithmetic.
func kneeSentence(c analyze.Sweep) string {
	k := c.Knee
	if k == nil {
		return "Too few of its steps are done to show a knee."
	}
	latency := "a median of " + figure(k.LatencyMS) + " ms"
	if k.Assumed {
		latency += ", which the profile assumes"
	}
	text := fmt.Sprintf("%s IOPS (%s) × %s = %s: ", iops(k.LimitIOPS), word(limitWords, k.Limit), latency, figure(k.Exact))
	if k.PlateauIOPS == nil {
		return text + fmt.Sprintf("%d I/Os in flight reach the limit, more than this sweep has.", k.InFlight)
	}
	return text + fmt.Sprintf("from %d in flight on, more I/Os only wait. The plateau is %s IOPS.", k.InFlight, iops(*k.PlateauIOPS))
}

// sections returns the sweeps for the page.
func (r Report) sweepSections() (sections []sweepSection, charts []chart) {
	for _, s := range r.sweeps() {
		out := sweepSection{sweep: s}
		for i, c := range s.Curves {
			out.Volumes = append(out.Volumes, volumeLine{Name: s.label(i), Colour: r.curveColour(s, i), Sentence: kneeSentence(c), Done: c.Knee != nil})
		}
		for _, c := range r.sweepCharts(s) {
			charts = append(charts, c)
			out.Charts = append(out.Charts, section{}.WithChart(c))
		}
		sections = append(sections, out)
	}
	return sections, charts
}

// sweepCharts are IOPS, p50 and p99 against the number of I/Os in flight, all on logarithmic scales.
func (r Report) sweepCharts(s sweep) []chart {
	id := s.Name + "-" + s.Curves[0].RW + "-" + units.Bytes(s.Curves[0].BlockSize).Fio()
	percentile := func(of func(analyze.SweepStep) *float64) func(analyze.SweepStep) float64 {
		return func(step analyze.SweepStep) float64 {
			if v := of(step); v != nil {
				return *v
			}
			return 0
		}
	}
	all := []struct {
		id, what, unit string
		of             func(analyze.SweepStep) float64
		model          func(analyze.SweepFigure) float64
	}{
		{"sweep-iops-", "IOPS", "IOPS", func(step analyze.SweepStep) float64 { return step.IOPS }, func(f analyze.SweepFigure) float64 { return f.IOPS }},
		{"sweep-p50-", "p50 latency", "ms", percentile(func(s analyze.SweepStep) *float64 { return s.P50 }), func(f analyze.SweepFigure) float64 { return f.P50 }},
		{"sweep-p99-", "p99 latency", "ms", percentile(func(s analyze.SweepStep) *float64 { return s.P99 }), func(f analyze.SweepFigure) float64 { return f.P99 }},
	}
	var charts []chart
	for _, a := range all {
		c := chart{ID: a.id + id, Kind: sweepChart, Unit: a.unit, Series: []line{}, Marks: s.knees(), Above: true,
			Title:   a.what + " by I/Os in flight",
			Heading: fmt.Sprintf("%s by I/Os in flight: %s", a.what, s.Title)}
		var texts []string
		for i, curve := range s.Curves {
			measured, predicted := line{Label: s.label(i), Colour: r.curveColour(s, i), Dots: true}, line{Label: s.label(i), Colour: r.curveColour(s, i), Dots: true, Predicted: true}
			for _, step := range curve.Steps {
				measured.addLog(step.InFlight, a.of(step))
				if step.Expected != nil && r.Document.Run.Target != result.Simulated { // a simulation is its own prediction
					predicted.addLog(step.InFlight, a.model(*step.Expected))
				}
				if v := a.of(step); v > 0 {
					texts = append(texts, fmt.Sprintf("%s at %d: %s", s.label(i), step.InFlight, figure(v)))
				}
			}
			for _, l := range []line{measured, predicted} {
				if len(l.Times) > 0 {
					c.Series = append(c.Series, l)
				}
			}
		}
		if len(c.Series) == 0 {
			continue
		}
		c.scale(a.unit)
		c.Text = fmt.Sprintf("%s by I/Os in flight, %s. %s.", a.what, s.Title, strings.Join(texts, "; "))
		charts = append(charts, c)
	}
	return charts
}

// addLog adds a point as logarithms; what is not above zero has none.
func (l *line) addLog(x int, y float64) {
	if x > 0 && y > 0 {
		at := math.Round(1000*math.Log10(y)) / 1000
		l.Times, l.Values = append(l.Times, math.Log10(float64(x))), append(l.Values, &at)
	}
}

// scale gives a sweep's chart its axes, a tick for each step that was taken.
func (c *chart) scale(unit string) {
	lowX, highX, lowY, highY := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	var ticks []place
	for _, l := range c.Series {
		for i, x := range l.Times {
			lowX, highX = min(lowX, x), max(highX, x)
			lowY, highY = min(lowY, *l.Values[i]), max(highY, *l.Values[i])
			if !slices.ContainsFunc(ticks, func(p place) bool { return math.Abs(p.At-x) < 0.12 }) {
				ticks = append(ticks, place{x, units.Thousands(math.Pow(10, x))})
			}
		}
	}
	c.X = &axis{Label: "I/Os in flight, logarithmic", Low: lowX - 0.05, High: highX + 0.05, Ticks: ticks}
	c.Y = decades(lowY, highY, unit+", logarithmic")
	for i := range c.Marks { // words at the foot, where a knee's curve is not
		c.Marks[i].Before = c.Y.Low + (c.Y.High-c.Y.Low)/8
		c.Marks[i].After = c.Marks[i].Before
	}
}

// knees marks where curves bend, once for all that bend at the same number in flight.
func (s sweep) knees() []mark {
	marks := []mark{}
	for i, c := range s.Curves {
		if c.Knee == nil || c.Knee.PlateauIOPS == nil || c.Knee.Exact < 1 {
			continue
		}
		title := fmt.Sprintf("knee at %d", c.Knee.InFlight)
		if n := slices.IndexFunc(marks, func(m mark) bool { return m.Title == title }); n >= 0 {
			marks[n].Text += ", " + s.label(i)
			continue
		}
		marks = append(marks, mark{At: math.Log10(c.Knee.Exact), Colour: i, Title: title, Text: s.label(i)})
	}
	return marks
}
