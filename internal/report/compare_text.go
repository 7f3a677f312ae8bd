package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"ebscope/internal/compare"
)

// ComparisonMarkdown writes a comparison as Markdown.
func ComparisonMarkdown(w io.Writer, d compare.Document) error {
	v := comparisonView{d}
	var b strings.Builder
	b.WriteString("# Comparison\n\n")
	for i, s := range d.Subjects {
		fmt.Fprintf(&b, "- **%s** %s\n", subjectLetter(i), escape(subjectTitle(s)))
	}
	if texts := v.differences(); len(texts) > 0 {
		b.WriteString("\n## What differs\n\n")
		for _, x := range texts {
			fmt.Fprintf(&b, "- %s\n", escape(x))
		}
	}
	for i, s := range d.Subjects[1:] {
		rows := v.rows(s)
		fmt.Fprintf(&b, "\n## %s against A\n\n%s\n", subjectLetter(i+1), summaryOf(rows))
		if len(rows) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n| phase | figure | A | %s | change | p |\n|---|---|---:|---:|---:|---:|\n", subjectLetter(i+1))
		for _, r := range told(rows) {
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", escape(r.Where()), r.Name()+unitSuffix(r), valueOf(r, r.A), valueOf(r, r.B), changeOf(r), pValue(r))
		}
	}
	if d.Regression {
		b.WriteString("\n## Regressions\n\n")
		for _, r := range d.Regressions {
			fmt.Fprintf(&b, "- %s\n", escape(r))
		}
	}
	b.WriteString("\n")
	for _, text := range v.notes() {
		fmt.Fprintf(&b, "%s\n\n", escape(text))
	}
	if _, err := io.WriteString(w, strings.TrimSuffix(b.String(), "\n")); err != nil {
		return fmt.Errorf("write the comparison: %w", err)
	}
	return nil
}

// ComparisonCSV writes the rows of a comparison; what is not known is empty.
func ComparisonCSV(w io.Writer, d compare.Document) error {
	c := csv.NewWriter(w)
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	known := func(x *float64) string {
		if x == nil {
			return ""
		}
		return number(*x)
	}
	_ = c.Write([]string{"baseline", "subject", "phase", "a_volume", "b_volume", "metric", "direction", "part", "unit", "a", "b", "ratio", "ratio_low", "ratio_high", "p_value",
		"significant", "regression", "method", "a_target", "a_compress", "b_target", "b_compress"})
	side := func(name string) (target, compress string) {
		for _, s := range d.Subjects {
			if s.Name == name && s.Compress > 0 {
				return s.Target, number(s.Compress)
			} else if s.Name == name {
				return s.Target, ""
			}
		}
		return "", ""
	}
	for _, r := range d.Rows {
		aTarget, aCompress := side(r.Baseline)
		bTarget, bCompress := side(r.Subject)
		_ = c.Write([]string{r.Baseline, r.Subject, r.Phase, r.AVolume, r.BVolume, string(r.Metric), r.Direction, r.Part, r.Unit, number(r.A), number(r.B),
			known(r.Ratio), known(r.RatioLow), known(r.RatioHigh), known(r.PValue), strconv.FormatBool(r.Significant), strconv.FormatBool(r.Regression), string(r.Method),
			aTarget, aCompress, bTarget, bCompress})
	}
	c.Flush()
	if err := c.Error(); err != nil { // of every Write too
		return fmt.Errorf("write the comparison: %w", err)
	}
	return nil
}
