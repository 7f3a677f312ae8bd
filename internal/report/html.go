package report

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"regexp"
	"time"

	"ebscope/internal/result"
	"ebscope/internal/workload"
)

//go:embed assets
var assets embed.FS

// pageTemplate is the page. uPlot 1.6.32 (MIT, assets/uPlot.LICENSE) draws the charts over time; it is part of the page.
var pageTemplate = template.Must(template.New("page.html").Funcs(template.FuncMap{
	"span": func(d time.Duration) string { return span(d.Seconds()) },
	"tie":  tie,
	"inc":  func(i int) int { return i + 1 },
}).ParseFS(assets, "assets/*.html"))

// Bounds that keep the page small and quick: a screen shows no more points than that in a series, and the whole page
// stays below 1 MB.
const (
	maxSeriesPoints = 3_000
	maxPagePoints   = 40_000
)

// page is what the template shows.
type page struct {
	Report               Report
	Title, Notice        string
	Labels, Advice       []string
	Date                 string
	Lead                 *section
	Facts                []fact
	Reasons              []reason
	Prices               []price
	PricesFrom, HeldNote string
	Latency              *latencyPlot
	Sections             []section
	Checks               []check
	ChecksFailed, Alarms int
	Warnings             []warning
	Environment          []fact
	Profile              workload.Profile
	Charts               []chart
	CSS, PlotCSS         template.CSS
	JS, PlotJS           template.JS
}

// section is a phase on the page.
type section struct {
	Name, Title string
	Volumes     []volumeLine
	Rows        []row
	Ratios      []string
	Expected    bool // the model's figures stand beside the measured ones
	Chart       *chart
	Spike       bool // the first window of the chart stands out
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
	p := page{
		Report: r, Title: r.headline(), Notice: r.notice(), Labels: r.labels(), Advice: r.advice(),
		Date:    r.Document.Run.Started.UTC().Format("2 January 2006, 15:04 UTC"),
		Facts:   r.keyFacts(),
		Reasons: r.reasons(), Prices: prices(r.options()), Latency: r.latencyPlot(),
		Checks: r.checks(), Warnings: r.warnings(), Environment: r.environment(), Profile: r.Run.Profile,
		Charts: []chart{},
		//nolint:gosec // these are part of the build, not input
		CSS: template.CSS(asset("page.css")), PlotCSS: template.CSS(asset("uPlot.min.css")),
		JS: template.JS(asset("page.js")), PlotJS: template.JS("/*\n" + asset("uPlot.LICENSE") + "*/\n" + asset("uPlot.iife.min.js")), //nolint:gosec // likewise
	}
	p.ChecksFailed, p.Alarms = failedChecks(p.Checks), alarms(p.Warnings)
	if from, ok := r.prices(); ok {
		p.PricesFrom = fmt.Sprintf("%s (%s), prices as of %s", from.Location, from.Region, r.pricesDate())
		p.HeldNote = r.heldNote()
	}
	groups := r.groups()
	n := r.seriesPoints()
	lead := r.leadName()
	for _, g := range groups {
		s := r.section(g)
		if c := r.chart(g, n); len(c.Series) > 0 {
			s.Chart = &c
			p.Charts = append(p.Charts, c)
		}
		if g.Name == lead {
			shown := s
			shown.Spike = g.spike()
			p.Lead = &shown
			// The rate of this phase stands at the top of the page; here stands what it did to latency.
			s.Chart = nil
			if c := r.latencyChart(g, n); len(c.Series) > 0 {
				s.Chart = &c
				p.Charts = append(p.Charts, c)
			}
		}
		p.Sections = append(p.Sections, s)
	}
	if err := pageTemplate.Execute(w, p); err != nil {
		return fmt.Errorf("write the HTML report: %w", err)
	}
	return nil
}

func (r Report) section(g group) section {
	s := section{Name: g.Name, Title: g.Members[0].title(), Rows: r.rows(g), Ratios: r.ratios(g.Name)}
	for _, m := range g.Members {
		s.Volumes = append(s.Volumes, volumeLine{Name: m.Volume, Colour: m.colour(), Sentence: m.sentence(), Done: m.done()})
		s.Expected = s.Expected || m.done() && m.Expected != nil
	}
	return s
}

// seriesPoints returns how many points a series may have: as many as a screen can show, or fewer where there are so many
// series that the page would grow too large.
func (r Report) seriesPoints() int {
	total := 0
	for _, all := range [][]*result.Measurement{r.Measured, r.Predicted} {
		for _, m := range all {
			if m != nil {
				total += min(len(m.IOPS), maxSeriesPoints)
			}
		}
	}
	return maxSeriesPoints * maxPagePoints / max(total, maxPagePoints)
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
	beforeUnit = regexp.MustCompile(`(\d) (%|(?:IOPS|MiB/s|[KMGT]iB|min|ms|s|h|million|credits)\b)`)
	afterUnit  = regexp.MustCompile(`(min|h) (\d)`)
)

// tie keeps a number and its unit on one line.
func tie(text string) string {
	text = beforeUnit.ReplaceAllString(text, "$1\u00a0$2")
	return afterUnit.ReplaceAllString(text, "$1\u00a0$2")
}

func asset(name string) string {
	text, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic(err) // the embedded folder is part of the build
	}
	return string(text)
}
