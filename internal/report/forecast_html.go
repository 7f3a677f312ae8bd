package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"ebscope/internal/forecast"
)

// forecastPage is what the template of a forecast shows.
type forecastPage struct {
	frame
	Document       forecast.Document
	Load           string
	Details        []string
	Formula        string
	Facts          []fact
	Rate, Balance  section
	Rows           []forecastRow
	InstanceSuffix string
}

// loadColour is the grey one; the volume and its alternatives have the others.
const loadColour = colours - 1

// ForecastHTML writes a forecast as one page that loads nothing from anywhere. tool names the program and its version.
func ForecastHTML(w io.Writer, d forecast.Document, tool string) error {
	v := forecastView{d}
	p := forecastPage{
		frame: newFrame(v.headline(), tool, "", Auto), Document: d, Load: v.load(), Details: v.details(), Formula: v.formula(),
		Facts: v.facts(), Rows: v.rows(), InstanceSuffix: instanceWords(d.Instance),
	}
	rate := v.rateChart()
	p.Rate.Chart, p.Charts = &rate, append(p.Charts, rate)
	if v.bursts() {
		balance := v.balanceChart()
		p.Balance.Chart, p.Charts = &balance, append(p.Charts, balance)
	}
	if err := pageTemplate().ExecuteTemplate(w, "forecast.html", p); err != nil {
		return fmt.Errorf("write the page of the forecast: %w", err)
	}
	return nil
}

// facts are the figures that a reader takes along.
func (v forecastView) facts() []fact {
	optionalSpan := func(s *float64, otherwise string) string {
		if s == nil {
			return otherwise
		}
		return long(*s)
	}
	facts := []fact{{Name: "Credits run out after", Value: optionalSpan(v.SecondsToEmpty, "never")}}
	facts = append(facts, fact{Name: "Held back", Value: fmt.Sprintf("%s of the time", percent(v.Course.ThrottledS/v.Course.LengthS))})
	if v.bursts() {
		facts = append(facts, fact{Name: "Full again after a rest of", Value: optionalSpan(v.SecondsToRefill, none)})
	}
	if t := v.Alarm.ThresholdPercent; t != nil {
		facts = append(facts, fact{Name: fmt.Sprintf("Alarm for %s of warning", span(v.Alarm.WarnS)), Value: threshold(*t) + " %"})
	}
	return facts
}

// rateChart draws what was asked for and what each volume served.
func (v forecastView) rateChart() chart {
	served := func(p forecast.CoursePoint) float64 { return p.ServedIOPS }
	c := chart{ID: "rate", Title: "Operations a second", Unit: "IOPS", Span: v.Course.LengthS, Marks: []mark{}, Above: true}
	if v.counted() {
		c.Unit = "operations a second"
	}
	asked := "asked for"
	c.Series = append(c.Series, courseLine("", loadColour, v.Course, nil, func(p forecast.CoursePoint) float64 { return p.AskedIOPS }))
	c.Series = append(c.Series, courseLine(v.Volume.Text, 0, v.Course, nil, served))
	for i, a := range v.Alternatives {
		if a.Course.ThrottledS == 0 { // its line is that of the load
			asked += ", and served by " + a.Volume.Text
			break
		}
		c.Series = append(c.Series, courseLine(a.Volume.Text, (i+1)%loadColour, a.Course, nil, served))
	}
	c.Series[0].Label = asked
	if at := v.emptyAt(); at != nil {
		before, after := around(v.Course.Points, *at)
		c.Marks = append(c.Marks, mark{At: *at, Before: before, After: after, Title: long(*at),
			Text: fmt.Sprintf("%s → %s %s, credits spent", iops(before), iops(after), c.Unit)})
	}
	c.Text = fmt.Sprintf("Operations a second over %s. %s.", long(v.Course.LengthS), v.headline())
	return c
}

// around returns what was served in the windows before and after the one with a fall in it.
func around(points []forecast.CoursePoint, at float64) (before, after float64) {
	i, _ := slices.BinarySearchFunc(points, at, func(p forecast.CoursePoint, at float64) int { return cmp.Compare(p.EndS, at) })
	return points[max(0, i-1)].ServedIOPS, points[min(len(points)-1, i+1)].ServedIOPS
}

// balanceChart draws the credits.
func (v forecastView) balanceChart() chart {
	start := v.StartBalancePercent
	return chart{
		ID: "balance", Title: "Burst balance, %", Unit: "%", Span: v.Course.LengthS, Marks: []mark{},
		Text: fmt.Sprintf("Burst balance in percent over %s, from %s to %s; %s at its lowest.",
			long(v.Course.LengthS), percent(start/100), percent(v.Course.LastPercent/100), percent(v.Course.LowestPercent/100)),
		Series: []line{courseLine(v.Volume.Text, 0, v.Course, &start, func(p forecast.CoursePoint) float64 { return p.BalancePercent })},
	}
}

// courseLine turns a course into a series. It starts at zero with the given value, or with that of the first window.
func courseLine(label string, colour int, c forecast.Course, start *float64, of func(forecast.CoursePoint) float64) line {
	l := line{Label: label, Colour: colour}
	for i, p := range c.Points {
		if i == 0 {
			first := of(p)
			if start != nil {
				first = *start
			}
			l.Times, l.Values = append(l.Times, 0), append(l.Values, known(first))
		}
		l.Times, l.Values = append(l.Times, p.EndS), append(l.Values, known(of(p)))
	}
	return l
}
