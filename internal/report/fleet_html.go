package report

import (
	"fmt"
	"io"

	"ebscope/internal/fleet"
	"ebscope/internal/units"
)

// What of a fleet is shown on a page, so that it stays one that a browser opens at once.
const (
	pageRows  = 1_000
	pageCases = 20 // of each finding
)

// fleetPage is what the template of a scan shows.
type fleetPage struct {
	frame
	Document             fleet.Document
	Source, Metrics      string
	Missing              []string
	Facts                []fact
	Groups               []pageGroup
	Dearer               []string
	MoreDearer           string // how many more there are, empty where there are none
	Rows                 []fleetRow
	All, Monthly, Saving string
	MoreRows             string
}

// pageGroup is a group of findings, and how many more there are.
type pageGroup struct {
	findingGroup
	More string
}

// ScanHTML writes what was found about a fleet as one page that loads nothing from anywhere. tool names the program and its
// version.
func ScanHTML(w io.Writer, d fleet.Document, tool string) error {
	v := fleetView{d}
	p := fleetPage{
		frame: newFrame(v.headline(), tool, "", Auto), Document: d, Source: v.source(), Missing: v.missing(), Facts: v.facts(),
		All: units.Thousands(float64(d.Totals.Volumes)), Monthly: money(d.Totals.Monthly), Saving: money(d.Totals.Saving),
		MoreRows: beyond(len(d.Volumes) - pageRows),
	}
	if d.WindowS > 0 {
		p.Metrics = long(d.WindowS)
	}
	for _, g := range v.groups(pageCases) {
		p.Groups = append(p.Groups, pageGroup{g, beyond(g.Count - len(g.Cases))})
	}
	dearer, more := v.beside(pageCases)
	p.Dearer, p.MoreDearer = dearer, beyond(more)
	for i := range d.Volumes[:min(pageRows, len(d.Volumes))] {
		p.Rows = append(p.Rows, fleetRowOf(&d.Volumes[i]))
	}
	if err := pageTemplate().ExecuteTemplate(w, "fleet.html", p); err != nil {
		return fmt.Errorf("write the page of the scan: %w", err)
	}
	return nil
}

// beyond prints how many more there are, nothing where there are none.
func beyond(n int) string {
	if n <= 0 {
		return ""
	}
	return units.Thousands(float64(n))
}

// facts are the figures that a reader takes along.
func (v fleetView) facts() []fact {
	t := v.Totals
	facts := []fact{{"Volumes", units.Thousands(float64(t.Volumes))}, {"Size", units.Thousands(float64(t.SizeGiB)) + " GiB"}}
	if t.Priced > 0 {
		facts = append(facts, fact{"USD a month", money(t.Monthly)}, fact{"After all changes", money(t.After)})
	}
	return append(facts, fact{"At risk", units.Thousands(float64(t.AtRisk))}, fact{"To change", units.Thousands(float64(t.Modify))})
}
