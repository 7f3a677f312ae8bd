package report

import (
	"fmt"
	"io"
	"strings"
)

// Markdown writes the report in GitHub's Markdown.
func Markdown(w io.Writer, r Report) error {
	m := markdown{Report: r}
	m.head()
	m.why()
	m.sweeps()
	m.phases()
	m.cost()
	m.checked()
	m.doubts()
	m.again()
	if _, err := io.WriteString(w, m.out.String()); err != nil {
		return fmt.Errorf("write the Markdown report: %w", err)
	}
	return nil
}

type markdown struct {
	Report
	out strings.Builder
}

func (m *markdown) printf(format string, args ...any) { fmt.Fprintf(&m.out, format, args...) }

func (m *markdown) head() {
	run := m.Document.Run
	m.printf("# %s\n\n", escape(m.headline()))
	m.printf("**%s**", escape(strings.Join(m.labels(), " · ")))
	for _, about := range []string{run.Profile, when(run.Started, "2 January 2006, 15:04 UTC")} {
		if about != "" {
			m.printf(" · %s", escape(about))
		}
	}
	m.printf("\n\n")
	for _, advice := range m.advice() {
		m.printf("%s\n\n", escape(advice))
	}
	if notice := m.notice(); notice != "" {
		m.printf("> %s\n\n", escape(notice))
	}
}

func (m *markdown) why() {
	reasons := m.reasons()
	if len(reasons) == 0 {
		return
	}
	m.printf("## Why\n\n")
	for _, reason := range reasons {
		m.printf("%s\n\n", escape(reason.Text))
		for _, formula := range reason.Formulas {
			m.printf("    %s\n", formula)
		}
		if len(reason.Formulas) > 0 {
			m.printf("\n")
		}
	}
}

// sweeps has the curves of the profile's sweeps, and the tables of a tool whose table people know.
func (m *markdown) sweeps() {
	for _, s := range m.Report.sweeps() {
		m.printf("## Sweep: %s (%s)\n\n", escape(s.Title), escape(s.Name))
		var lines [][]string
		for i, c := range s.Curves {
			m.printf("- **%s**: %s\n", escape(s.label(i)), escape(kneeSentence(c)))
			for _, step := range c.Steps {
				lines = append(lines, []string{s.label(i), fmt.Sprint(step.InFlight), iops(step.IOPS), optional(step.P50, figure), optional(step.P99, figure)})
			}
		}
		m.printf("\n")
		m.table([]string{"", "I/Os in flight", "IOPS", "p50, ms", "p99, ms"}, 1, lines)
	}
	for _, t := range m.crystalTables() {
		m.printf("## %s, as CrystalDiskMark prints it\n\n", escape(t.Name))
		for line := range strings.Lines(t.Value) {
			m.printf("    %s", line)
		}
		m.printf("\n")
	}
}

func (m *markdown) phases() {
	m.printf("## Phases\n\n")
	groups := m.groups()
	if len(groups) > 0 {
		const width = 60
		if drawn, over := m.sparks(groups[0], width); len(drawn) > 0 {
			m.printf("IOPS of %s, over %s:\n\n", escape(groups[0].Name), over)
			for _, d := range drawn {
				m.printf("    %-8s %s  %s\n", clean(d.Volume), d.Line, d.Text)
			}
			m.printf("\n")
		}
	}
	for _, g := range groups {
		m.printf("### %s (%s)\n\n", escape(g.Members[0].title()), escape(g.Name))
		header := []string{""}
		for _, member := range g.Members {
			m.printf("- **%s**: %s\n", escape(member.Volume), escape(member.concluded()))
			header = append(header, member.Volume)
		}
		m.printf("\n")
		rows := m.rows(g)
		lines := make([][]string, len(rows))
		for i, row := range rows {
			lines[i] = []string{row.Label}
			for _, c := range row.Cells {
				text := c.Text
				if c.Expected != "" {
					text += " (expected " + c.Expected + ")"
				}
				if c.Note != "" {
					text += " (" + c.Note + ")"
				}
				lines[i] = append(lines[i], text)
			}
		}
		m.table(header, 1, lines)
	}
}

func (m *markdown) cost() {
	from, ok := m.prices()
	if !ok {
		return
	}
	m.printf("## Cost\n\nPrices of %s (%s), as of %s.\n\n", escape(from.Location), escape(from.Region), escape(m.pricesDate()))
	var lines [][]string
	for _, p := range prices(m.options()) {
		used := p.Used
		if used == "" {
			used = none
		}
		lines = append(lines, []string{p.Configuration, used, p.Sustained, p.Burst, p.MiBps, p.Monthly})
	}
	m.table([]string{"Configuration", "In this run", "Sustained IOPS", "Burst IOPS", "MiB/s", "USD a month"}, 2, lines)
	if note := m.heldNote(); note != "" {
		m.printf("%s\n\n", escape(note))
	}
}

func (m *markdown) checked() {
	var lines [][]string
	for _, c := range m.checks() {
		holds := "yes"
		if !c.OK {
			holds = "no"
		}
		lines = append(lines, []string{c.Phase, c.Text, c.Expected, c.Measured, holds})
	}
	if len(lines) > 0 {
		m.printf("## Checks\n\n%d of %d hold.\n\n", len(lines)-failedChecks(m.checks()), len(lines))
		m.table([]string{"Phase", "Check", "Expected", capital(m.obtained()), "Holds"}, 2, lines)
	}
}

func (m *markdown) doubts() {
	warnings := m.warnings()
	if len(warnings) == 0 {
		return
	}
	m.printf("## Warnings\n\n")
	for _, w := range warnings {
		for _, c := range w.Cases {
			m.printf("- %s (%s)", escape(c.Text), escape(w.Code))
			if len(c.Where) > 0 {
				m.printf(": %s", escape(strings.Join(c.Where, ", ")))
			}
			m.printf("\n")
		}
		if len(w.Likewise) > 0 {
			m.printf("  Likewise: %s\n", escape(strings.Join(w.Likewise, ", ")))
		}
	}
	m.printf("\n")
}

func (m *markdown) again() {
	m.printf("## Environment\n\n")
	var lines [][]string
	for _, f := range m.environment() {
		lines = append(lines, []string{f.Name, f.Value})
	}
	m.table([]string{"", ""}, 2, lines)
	if command := m.Run.Command; command != "" {
		m.printf("## Run it again\n\n    %s\n\n", clean(command))
	}
	m.printf("<!-- ebscope %s -->\n", strings.ReplaceAll(m.Parameters().text(), "--", `-\u002d`))
}

// table writes a table whose columns from the given one on hold numbers.
func (m *markdown) table(header []string, numbersFrom int, lines [][]string) {
	row := func(cells []string) {
		for i, c := range cells {
			m.printf("| %s ", escape(c))
			if i == len(cells)-1 {
				m.printf("|\n")
			}
		}
	}
	row(header)
	for i := range header {
		if i < numbersFrom {
			m.printf("|---")
		} else {
			m.printf("|---:")
		}
	}
	m.printf("|\n")
	for _, l := range lines {
		row(l)
	}
	m.printf("\n")
}

// escape makes a text literal in Markdown: no markup, no HTML, no new line.
var escaper = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `&lt;`, ">", `&gt;`, "&", "&amp;", "|", `\|`, "#", `\#`, "~", `\~`)

func escape(s string) string { return escaper.Replace(clean(s)) }
