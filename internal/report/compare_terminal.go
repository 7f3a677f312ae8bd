package report

import (
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"

	"ebscope/internal/compare"
)

// Comparison writes a comparison for a terminal of the given width in columns: what differs, then the figures.
func Comparison(w io.Writer, d compare.Document, width int, colour bool) error {
	t, v := terminal{width: max(width, leastWidth), colour: colour}, comparisonView{d}
	for i, s := range d.Subjects {
		t.sentence(3, "", subjectLetter(i)+"  "+subjectTitle(s))
	}
	t.line("")
	t.differences(v)
	for i, s := range d.Subjects[1:] {
		rows := v.rows(s)
		if len(d.Subjects) > 2 {
			t.sentence(0, bold, fmt.Sprintf("%s against A", subjectLetter(i+1)))
		}
		if len(rows) > 0 {
			t.changes(rows, subjectLetter(i+1))
		}
		t.sentence(0, bold, summaryOf(rows))
		t.line("")
	}
	for _, r := range d.Regressions {
		t.sentence(2, red, "Regression: "+r+".")
	}
	for _, text := range v.notes() {
		t.sentence(2, "", text)
	}
	if _, err := io.WriteString(w, t.out.String()); err != nil {
		return fmt.Errorf("write the comparison: %w", err)
	}
	return nil
}

func (t *terminal) differences(v comparisonView) {
	if len(v.Differences) == 0 {
		return
	}
	t.sentence(0, bold, "What differs, before any figure:")
	for _, x := range v.differences() {
		t.sentence(4, "", "  "+x)
	}
	t.line("")
}

func (t *terminal) changes(rows []compare.Row, b string) {
	g := t.table(table.Row{"", "A", b, "change", "p"}, 1, 5)
	g.columns[0].WidthMax = t.width / 2
	g.SetColumnConfigs(g.columns)
	last := ""
	for _, r := range told(rows) {
		if where := r.Where(); where != last {
			g.AppendRow(table.Row{clean(where)})
			last = where
		}
		change := changeOf(r)
		if r.Regression {
			change = t.paint(red, change)
		}
		g.AppendRow(table.Row{"  " + r.Name() + unitSuffix(r), valueOf(r, r.A), valueOf(r, r.B), change, pValue(r)})
	}
	t.write(g)
}
