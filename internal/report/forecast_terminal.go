package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"ebscope/internal/forecast"
)

// ForecastTerminal writes a forecast as sentences, drawings and a table for a terminal of the given width in columns.
func ForecastTerminal(w io.Writer, d forecast.Document, width int, colour bool) error {
	t := terminal{width: max(width, leastWidth), colour: colour}
	v := forecastView{d}
	t.line(clean("ebscope forecast · " + d.Volume.Text + instanceWords(d.Instance)))
	t.sentence(0, faint, "Load: "+v.load()+".")
	t.line("")
	t.sentence(0, bold, v.headline()+".")
	for _, s := range v.details() {
		t.sentence(0, "", s)
	}
	t.line("")
	if v.bursts() {
		t.plot("Burst balance", "%", 100, v, func(p forecast.CoursePoint) float64 { return p.BalancePercent })
	}
	top := 0.0
	for _, p := range d.Course.Points {
		top = max(top, p.AskedIOPS, p.ServedIOPS)
	}
	t.plot("Operations served", "a second", top, v, func(p forecast.CoursePoint) float64 { return p.ServedIOPS })
	t.forecastTable(v)
	for _, warning := range d.Warnings {
		t.sentence(2, "", "Warning: "+warning.Text)
	}
	return t.flush(w)
}

func instanceWords(name string) string {
	if name == "" {
		return ""
	}
	return " on " + name
}

// plot draws a course with its scale. The fall is marked below.
func (t *terminal) plot(title, unit string, top float64, v forecastView, of func(forecast.CoursePoint) float64) {
	width := min(t.width, widestSentence) - plotMargin
	t.line(fmt.Sprintf("%s, %s", title, unit))
	for i, row := range plot(columns(v.Course.Points, width, of), top) {
		scale := ""
		switch i {
		case 0:
			scale = iops(top)
		case plotHeight - 1:
			scale = "0"
		}
		t.line(text.AlignRight.Apply(scale, plotMargin-1) + "▕" + row)
	}
	axis := "0" + text.AlignRight.Apply(long(v.Course.LengthS), width-1)
	if at := v.emptyAt(); at != nil {
		axis = markAxis(axis, width, *at/v.Course.LengthS, "▲ "+long(*at))
	}
	t.line(strings.Repeat(" ", plotMargin) + axis)
	t.line("")
}

// markAxis puts a mark on an axis where there is room for it beside the end.
func markAxis(axis string, width int, share float64, mark string) string {
	column := min(width-1, int(share*float64(width)))
	cells, written := []rune(axis), []rune(mark)
	if column+len(written) > len(cells) {
		written = written[:1]
	}
	for i := range written {
		if cells[column+i] != ' ' && i > 0 {
			written = written[:1]
			break
		}
	}
	copy(cells[column:], written)
	return string(cells)
}

func (t *terminal) forecastTable(v forecastView) {
	g := t.table(table.Row{"Configuration", "empty after", "throttled", "most waiting"}, 1, 4, 2)
	for _, r := range v.rows() {
		g.AppendRow(table.Row{r.Name, r.Empty, r.Throttled, r.Peak})
	}
	const figures = 3 * 15 // columns of the figures
	g.columns[0].WidthMax, g.columns[0].WidthMaxEnforcer = max(narrowestName, t.width-figures), text.WrapSoft
	t.write(g)
}

// flush writes what was gathered.
func (t *terminal) flush(w io.Writer) error {
	if _, err := io.WriteString(w, t.out.String()); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// volumeID is the length of an EBS volume's ID, vol- and 17 digits.
const volumeID = 21

// fleetRows is how many volumes of a fleet are listed.
const fleetRows = 20

// FleetTerminal writes the forecast of a fleet: the volumes that are held back longest.
func FleetTerminal(w io.Writer, d forecast.FleetDocument, width int, colour bool) error {
	t := terminal{width: max(width, leastWidth), colour: colour}
	worst := forecast.Worst(d.Volumes)
	empty := 0
	for _, v := range d.Volumes {
		if v.SecondsToEmpty != nil {
			empty++
		}
	}
	t.sentence(0, bold, fmt.Sprintf("%s of %s volumes are held back by their limits; %s run out of credits.",
		amount(float64(len(worst))), amount(float64(len(d.Volumes))), amount(float64(empty))))
	t.line("")
	if len(worst) > 0 {
		g := t.table(table.Row{"Volume", "Configuration", "empty after", "throttled", "most waiting"}, 2, 5, 2, 3)
		for _, v := range worst[:min(fleetRows, len(worst))] {
			r := forecastRowOf("", v.Course)
			g.AppendRow(table.Row{clean(v.ID), v.Volume.Text, r.Empty, r.Throttled, r.Peak})
		}
		g.columns[0].WidthMax = volumeID
		t.write(g)
	}
	if more := len(worst) - fleetRows; more > 0 {
		t.sentence(0, faint, fmt.Sprintf("And %s more; -o json has them all.", amount(float64(more))))
	}
	for _, warning := range d.Warnings {
		t.sentence(2, "", "Warning: "+warning.Text)
	}
	return t.flush(w)
}
