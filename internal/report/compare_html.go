package report

import (
	"fmt"
	"io"
	"strings"

	"ebscope/internal/compare"
	"ebscope/internal/result"
)

// comparisonPage is what the template of a comparison shows.
type comparisonPage struct {
	frame
	Subjects    []comparedSubject
	Differences []string
	Tables      []comparisonTable
	Regressions []string
	Notes       []string
	Sections    []section
}

// comparedSubject is a subject with its letter and the colour of its lines.
type comparedSubject struct {
	Letter, Name, Label string
	Colour              int
}

// comparisonTable is the figures of a subject.
type comparisonTable struct {
	Letter, Summary string
	Rows            []comparisonRow
}

type comparisonRow struct {
	Where, Name, A, B, Change, P string
	Regression                   bool
}

// ComparisonHTML writes a comparison as one page that loads nothing from anywhere, with the series of all subjects from the
// start of each phase, one over the other. The subjects are those of the document, in its order; tool names the program
// and its version.
func ComparisonHTML(w io.Writer, d compare.Document, subjects []compare.Subject, tool string) error {
	v := comparisonView{d}
	p := comparisonPage{
		frame: newFrame(v.title(), tool, "", Auto), Differences: v.differences(), Regressions: d.Regressions, Notes: v.notes(),
	}
	for i, s := range d.Subjects {
		p.Subjects = append(p.Subjects, comparedSubject{subjectLetter(i), subjectName(s), subjectLabel(s), i % colours})
	}
	for i, s := range d.Subjects[1:] {
		rows := v.rows(s)
		t := comparisonTable{Letter: subjectLetter(i + 1), Summary: summaryOf(rows)}
		for _, r := range told(rows) {
			t.Rows = append(t.Rows, comparisonRow{r.Where(), r.Name() + unitSuffix(r), valueOf(r, r.A), valueOf(r, r.B), changeOf(r), pValue(r), r.Regression})
		}
		p.Tables = append(p.Tables, t)
	}
	for _, c := range overlays(d, subjects) {
		p.Sections = append(p.Sections, section{Name: c.ID, Title: c.Title, Chart: &c.chart})
		p.Charts = append(p.Charts, c.chart)
	}
	if err := pageTemplate().ExecuteTemplate(w, "compare.html", p); err != nil {
		return fmt.Errorf("write the page of the comparison: %w", err)
	}
	return nil
}

func (v comparisonView) title() string {
	switch len(v.Regressions) {
	case 0:
		return summaryOf(v.Rows)
	case 1:
		return "Regression: " + v.Regressions[0]
	default:
		return fmt.Sprintf("%d regressions", len(v.Regressions))
	}
}

// overlay is a chart with the name of its phase as a heading.
type overlay struct {
	chart
	Title string
}

// overlayPoints are those of all series together, which keep the page below 1 MB.
const overlayPoints = 40_000

// overlays draws each phase that was compared, all subjects from its start. Of repeated runs the first is drawn.
func overlays(d compare.Document, subjects []compare.Subject) (all []overlay) {
	series := 0
	for _, s := range subjects {
		series += len(s.Phases)
	}
	n := overlayPoints / max(1, series)
	for _, a := range subjects[0].Phases {
		phases := matched(d, subjects, a)
		if len(phases) < 2 {
			continue
		}
		c := overlay{chart{ID: fmt.Sprintf("rate-%d", len(all)), Title: "IOPS", Unit: "IOPS", Series: []line{}, Marks: []mark{}}, heading(phases, a)}
		scale := 1.0
		if block := a.Workload.BlockSize; int64(block) >= largeBlock {
			c.chart.Title, c.Unit, scale = "MiB/s", "MiB/s", block.MiB()
		}
		var labels []string
		for i, p := range phases {
			if p == nil || len(p.Runs) == 0 || len(p.Runs[0].IOPS) == 0 {
				continue
			}
			l := line{Label: strings.TrimSpace(subjectLetter(i) + " " + p.Volume), Colour: i % colours}
			l.fill(p.Runs[0].IOPS, max(1, p.Compress), scale, n)
			c.Span, c.Compressed = max(c.Span, l.Times[len(l.Times)-1]), c.Compressed || p.Compress > 1
			c.Series = append(c.Series, l)
			labels = append(labels, fmt.Sprintf("%s: mean %s", l.Label, iops(meanOf(p.Runs[0].IOPS)*scale)))
		}
		c.Text = fmt.Sprintf("%s over time, %s. %s.", c.Unit, c.Title, strings.Join(labels, ", "))
		if len(c.Series) > 1 {
			all = append(all, c)
		}
	}
	return all
}

// heading names a phase, and its volume where it is that of all subjects.
func heading(phases []*compare.Phase, a compare.Phase) string {
	for _, p := range phases {
		if p != nil && p.Volume != a.Volume {
			return a.Name
		}
	}
	return strings.TrimSpace(a.Volume + " " + a.Name)
}

// matched returns the phase of every subject that was compared with one of the first, at the subject's index; nil where
// there is none.
func matched(d compare.Document, subjects []compare.Subject, a compare.Phase) []*compare.Phase {
	phases := make([]*compare.Phase, len(subjects))
	phases[0] = &a
	found := false
	for _, r := range d.Rows {
		if r.Phase != a.Name || r.AVolume != a.Volume {
			continue
		}
		name := r.Phase
		if r.BPhase != "" {
			name = r.BPhase
		}
		for i := range subjects[1:] {
			for j, p := range subjects[i+1].Phases {
				if subjects[i+1].Name == r.Subject && p.Name == name && p.Volume == r.BVolume {
					phases[i+1], found = &subjects[i+1].Phases[j], true
				}
			}
		}
	}
	if !found {
		return nil
	}
	return phases
}

func meanOf(s result.Series) float64 {
	var sum float64
	for _, p := range s {
		sum += p.Value
	}
	return sum / float64(len(s))
}
