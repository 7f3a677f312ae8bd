package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"ebscope/internal/compare"
	"ebscope/internal/result"
)

// spreadRow is one line of a spread in words.
type spreadRow struct{ phase, volume, figure, median, low, high, spread, outliers string }

// spreadRows names a phase once, above its figures.
func spreadRows(d compare.SpreadDocument) (rows []spreadRow) {
	names := map[string]string{"iops": "IOPS", "p99": "p99, ms", "fall": "fall at"}
	phase, volume := "", ""
	for _, s := range d.Spreads {
		show := figure
		switch s.Metric {
		case "iops":
			show = iops
		case "fall":
			show = span
		}
		r := spreadRow{figure: names[s.Metric], median: show(s.Median), low: show(s.Min), high: show(s.Max), spread: decimals(s.SpreadPercent, 1) + " %"}
		if s.Phase != phase || s.Volume != volume {
			r.phase, r.volume = s.Phase, s.Volume
		}
		phase, volume = s.Phase, s.Volume
		var far []string
		for _, o := range s.Outliers {
			far = append(far, fmt.Sprintf("%s (%s)", shortRun(d, o.Run), show(o.Value)))
		}
		r.outliers = strings.Join(far, ", ")
		rows = append(rows, r)
	}
	return rows
}

// shortRun is what tells a run from the others of its plan: "r3".
func shortRun(d compare.SpreadDocument, id string) string {
	if i := strings.LastIndex(id, "-"); i >= 0 && len(d.Runs) > 1 && strings.HasPrefix(d.Runs[0], id[:i+1]) {
		return id[i+1:]
	}
	return id
}

// spreadTitle says how many runs there are, and what they are.
func spreadTitle(d compare.SpreadDocument) string {
	text := fmt.Sprintf("Spread over %d runs", len(d.Runs))
	if len(d.Runs) == 1 {
		text = "Spread over 1 run"
	}
	if d.Target != "" && d.Target != result.Imported {
		text += " · " + string(d.Target)
	}
	if d.Compress > 1 {
		text += " · compressed " + factor(d.Compress) + "×"
	}
	return text
}

// SpreadTerminal writes how far runs of one plan lie apart as a table for a terminal of the given width in columns.
func SpreadTerminal(w io.Writer, d compare.SpreadDocument, width int, colour bool) error {
	t := terminal{width: max(width, leastWidth), colour: colour}
	t.line(t.paint(bold, spreadTitle(d)))
	t.line("")
	g := t.table(table.Row{"Phase", "Volume", "Figure", "median", "least", "most", "spread"}, 3, 5, 6)
	for _, r := range spreadRows(d) {
		g.AppendRow(table.Row{clean(r.phase), clean(r.volume), r.figure, r.median, r.low, r.high, r.spread})
	}
	t.write(g)
	far := false
	for _, s := range d.Spreads {
		for _, o := range s.Outliers {
			far = true
			t.sentence(2, "", fmt.Sprintf("Far from the others: %s, %s on %s: %s %s, median %s",
				shortRun(d, o.Run), s.Phase, s.Volume, figure(o.Value), s.Unit, figure(s.Median)))
		}
	}
	if !far && len(d.Runs) > 1 {
		t.sentence(0, "", "No run lies far from the others.")
	}
	if _, err := io.WriteString(w, t.out.String()); err != nil {
		return fmt.Errorf("write the spread: %w", err)
	}
	return nil
}

// SpreadMarkdown writes the same as Markdown.
func SpreadMarkdown(w io.Writer, d compare.SpreadDocument) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n| phase | volume | figure | median | least | most | spread | far from the others |\n|---|---|---|---:|---:|---:|---:|---|\n", spreadTitle(d))
	for _, r := range spreadRows(d) {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", escape(r.phase), escape(r.volume), r.figure, r.median, r.low, r.high, r.spread, escape(r.outliers))
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write the spread: %w", err)
	}
	return nil
}
