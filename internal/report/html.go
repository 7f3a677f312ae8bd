package report

import (
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"slices"
	"sync"
	"time"

	"ebscope/internal/lazy"
	"ebscope/internal/workload"
)

//go:embed assets
var assets embed.FS

// pageTemplate is the page. uPlot 1.6.32 (MIT, assets/uPlot.LICENSE) draws the charts over time; it is part of the page.
var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page.html").Funcs(template.FuncMap{
		"span": func(d time.Duration) string { return span(d.Seconds()) },
		"tie":  tie,
		"inc":  func(i int) int { return i + 1 },
	}).ParseFS(assets, "assets/*.html"))
})

// Bounds of a page. A series may have more points than a screen can show at once: whoever zooms in sees more of them. The
// charts together stay so small that the page stays below 1.5 MB.
const (
	maxLeadPoints  = 70_000    // of a series in the chart at the top
	leadShare      = 4         // as many times fewer has a series in another chart
	maxChartsBytes = 1_100_000 // of all charts
	leastPoints    = 2 * 200   // in so few, a fall and a spike can still be seen
)

// page is what the template shows.
type page struct {
	frame
	Report               Report
	Notice               string
	Labels, Advice       []string
	Date                 string
	Lead                 *section
	Facts                []fact
	Reasons              []reason
	Prices               []price
	PricesFrom, HeldNote string
	Latency              *latencyPlot
	Sweeps               []sweepSection
	Tables               []fact // of a tool whose table people know
	Sections             []section
	Checks               []check
	ChecksFailed, Alarms int
	Obtained             string // how the figures came about, as a heading
	Warnings             []warning
	Environment          []fact
	Profile              workload.Profile
	Parameters           Parameters
}

// section is a phase on the page.
type section struct {
	Name, Title string
	Volumes     []volumeLine
	Rows        []row
	Ratios      []string
	Expected    bool   // the model's figures stand beside the others
	Obtained    string // how those came about, in a word
	Chart       *chart
	Spike       bool    // the first window of the chart stands out
	More        []chart // of latency
}

// WithChart is the section with another of its charts as the main one, for the template.
func (s section) WithChart(c chart) section {
	s.Chart = &c
	return s
}

// volumeLine is the verdict on one volume.
type volumeLine struct {
	Name     string
	Colour   int
	Sentence string
	Done     bool
}

// HTML writes the report as one page that loads nothing from anywhere.
func HTML(w io.Writer, r Report) error {
	parameters := r.Parameters()
	p := page{
		frame:  newFrame(r.headline(), parameters.Tool, parameters.Command, r.Theme),
		Report: r, Notice: r.notice(), Labels: r.labels(), Advice: r.advice(),
		Date:    when(r.Document.Run.Started, "2 January 2006, 15:04 UTC"),
		Facts:   r.keyFacts(),
		Reasons: r.reasons(), Prices: prices(r.options()), Latency: r.latencyPlot(),
		Checks: r.checks(), Obtained: capital(r.obtained()), Warnings: r.warnings(), Environment: r.environment(), Profile: r.Run.Profile,
		Parameters: parameters,
	}
	p.ChecksFailed, p.Alarms = failedChecks(p.Checks), alarms(p.Warnings)
	if from, ok := r.prices(); ok {
		p.PricesFrom = fmt.Sprintf("%s (%s), prices as of %s", from.Location, from.Region, r.pricesDate())
		p.HeldNote = r.heldNote()
	}
	sweeps, sweepCharts := r.sweepSections()
	p.Sweeps, p.Tables = sweeps, r.crystalTables()
	for n := maxLeadPoints; ; n /= 2 {
		p.Lead, p.Sections, p.Charts = r.sections(n)
		p.Charts = append(p.Charts, sweepCharts...)
		if size(p.Charts) <= maxChartsBytes || n <= leastPoints {
			break
		}
	}
	if err := pageTemplate().Execute(w, p); err != nil {
		return fmt.Errorf("write the HTML report: %w", err)
	}
	return nil
}

func (r Report) section(g group) section {
	s := section{Name: g.Name, Title: g.Members[0].title(), Rows: r.rows(g), Ratios: r.ratios(g.Name), Obtained: r.obtained()}
	for _, m := range g.Members {
		s.Volumes = append(s.Volumes, volumeLine{Name: m.Volume, Colour: m.colour(), Sentence: m.concluded(), Done: m.done()})
		s.Expected = s.Expected || m.done() && m.Expected != nil
	}
	return s
}

// sections returns the phases with their charts, of which the lead's series have at most n points.
func (r Report) sections(n int) (lead *section, sections []section, charts []chart) {
	charts = []chart{}
	name := r.leadName()
	for _, g := range r.groups() {
		s := r.section(g)
		points := n / leadShare
		if g.Name == name {
			points = n
		}
		if c := r.chart(g, points); len(c.Series) > 0 {
			s.Chart = &c
			charts = append(charts, c)
		}
		if g.Name == name {
			shown := s
			shown.Spike = g.spike()
			lead = &shown
			// The rate of this phase stands at the top of the page; here stands what it did to latency.
			s.Chart = nil
			if c := r.latencyChart(g, points); len(c.Series) > 0 {
				s.Chart = &c
				charts = append(charts, c)
			}
		}
		if g.Name == name || r.Readings != nil {
			s.More = r.distributions(g, n/heatShare)
			charts = append(charts, s.More...)
		}
		sections = append(sections, s)
	}
	return lead, sections, charts
}

// distributions are the charts of how latencies were spread; a heat map has at most so many columns.
func (r Report) distributions(g group, columns int) []chart {
	var all []chart
	for _, c := range []chart{r.ladder(g), r.histogram(g)} {
		if len(c.Series) > 0 {
			all = append(all, c)
		}
	}
	for _, m := range g.Members {
		if c, ok := r.heat(g, m, min(heatColumns, max(leastColumns, columns))); ok {
			all = append(all, c)
		}
	}
	return all
}

// size is what the charts take on the page.
func size(charts []chart) int {
	text, err := json.Marshal(charts)
	if err != nil {
		panic(err) // numbers that JSON cannot hold have become gaps
	}
	return len(text)
}

// HasPredicted says whether the model's curve is drawn.
func (c chart) HasPredicted() bool {
	for _, l := range c.Series {
		if l.Predicted {
			return true
		}
	}
	return false
}

// HasBand says whether the extremes within each window are drawn.
func (c chart) HasBand() bool {
	return slices.ContainsFunc(c.Series, func(l line) bool { return len(l.Highs) > 0 })
}

// spike says whether the first window of a series stands out: the one-off burst of a rate bucket.
func (g group) spike() bool {
	for _, m := range g.Members {
		if m.measured != nil && len(m.measured.IOPS) > 1 && m.measured.IOPS[0].Value > 1.1*m.measured.IOPS[1].Value {
			return true
		}
	}
	return false
}

// Rests says whether a phase of the profile waits before it starts.
func (p page) Rests() bool {
	for _, phase := range p.Profile.Phases {
		if phase.Rest > 0 {
			return true
		}
	}
	return false
}

var (
	beforeUnit = lazy.Regexp(`(\d) (%|(?:IOPS|MiB/s|[KMGT]iB|min|ms|s|h|million|credits)\b)`)
	afterUnit  = lazy.Regexp(`(min|h) (\d)`)
)

// tie keeps a number and its unit on one line.
func tie(text string) string {
	text = beforeUnit().ReplaceAllString(text, "$1\u00a0$2")
	return afterUnit().ReplaceAllString(text, "$1\u00a0$2")
}

func asset(name string) string {
	text, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic(err) // the embedded folder is part of the build
	}
	return string(text)
}
