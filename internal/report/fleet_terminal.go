package report

import (
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"ebscope/internal/fleet"
	"ebscope/internal/units"
)

// What of a fleet is shown on a terminal.
const (
	scanRows  = 20
	scanCases = 3 // of each finding
)

// ScanTerminal writes what was found about a fleet for a terminal of the given width in columns: the first volumes in the
// order of the document, what was found about all, and what could not be read.
func ScanTerminal(w io.Writer, d fleet.Document, width int, colour bool) error {
	t := terminal{width: max(width, leastWidth), colour: colour}
	v := fleetView{d}
	t.sentence(0, faint, "ebscope scan · "+v.source())
	t.line("")
	t.sentence(0, bold, v.headline()+".")
	t.line("")
	t.fleet(v)
	for _, g := range v.groups(scanCases) {
		style := bold
		if g.Level == fleet.Risk {
			style = red
		}
		t.sentence(0, style, fmt.Sprintf("%s: %s (%s)", g.Title, units.Thousands(float64(g.Count)), g.Code))
		for _, c := range g.Cases {
			t.sentence(2, "", c.Name+": "+c.Text)
		}
		if more := g.Count - len(g.Cases); more > 0 {
			t.sentence(2, faint, fmt.Sprintf("And %s more.", units.Thousands(float64(more))))
		}
		t.line("")
	}
	if dearer, more := v.beside(scanCases); len(dearer) > 0 {
		t.sentence(0, bold, "Dearer as gp3 at parity")
		for _, s := range dearer {
			t.sentence(2, "", s)
		}
		if more > 0 {
			t.sentence(2, faint, fmt.Sprintf("And %s more.", units.Thousands(float64(more))))
		}
		t.line("")
	}
	for _, m := range v.missing() {
		t.sentence(2, red, "Not read: "+m)
	}
	for _, warning := range d.Warnings {
		t.sentence(2, "", "Warning: "+warning.Text)
	}
	return t.flush(w)
}

// fleet is the table of volumes.
func (t *terminal) fleet(v fleetView) {
	if len(v.Volumes) == 0 {
		return
	}
	g := t.table(table.Row{"Volume", "now", "balance", "empty in", "a month", "gp3 saves"}, 2, 3, 4, 5, 2)
	for i := range v.Volumes[:min(scanRows, len(v.Volumes))] {
		r := fleetRowOf(&v.Volumes[i])
		name := r.ID
		if r.Claim != "" {
			name = r.ID + "\n" + text.Snip(r.Claim, widestClaim, "…")
		}
		g.AppendRow(table.Row{name, r.Now, r.Balance, r.Empty, r.Monthly, r.Saves})
	}
	g.AppendRow(table.Row{"all " + units.Thousands(float64(v.Totals.Volumes)), "", "", "", money(v.Totals.Monthly), money(v.Totals.Saving)})
	g.columns[0].WidthMax = widestClaim
	g.columns[1].WidthMax = widestClaim
	t.write(g)
	if more := len(v.Volumes) - scanRows; more > 0 {
		t.sentence(0, faint, fmt.Sprintf("And %s more; -o csv or -o json has them all.", units.Thousands(float64(more))))
		t.line("")
	}
}

// widestClaim is how much of a claim's name is shown: as much as a volume's ID takes.
const widestClaim = volumeID
