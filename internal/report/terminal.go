package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Widths of the terminal report. Narrower than the least, a table would lose its shape.
const (
	leastWidth     = 60
	widestSentence = 100
)

// Terminal writes the report as tables and sentences for a terminal of the given width in columns.
func Terminal(w io.Writer, r Report, width int, colour bool) error {
	t := terminal{Report: r, width: max(width, leastWidth), colour: colour}
	t.head()
	t.phases()
	t.spark()
	t.verdicts()
	t.cost()
	t.doubts()
	if _, err := io.WriteString(w, t.out.String()); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

type terminal struct {
	Report
	width  int
	colour bool
	out    strings.Builder
}

// Escape sequences of a terminal.
const (
	plain = "\x1b[0m"
	bold  = "\x1b[1m"
	faint = "\x1b[2m"
	red   = "\x1b[31m"
)

func (t *terminal) paint(style, s string) string {
	if !t.colour {
		return s
	}
	return style + s + plain
}

func (t *terminal) line(s string) { t.out.WriteString(strings.TrimRight(s, " ") + "\n") }

// sentence writes text that wraps at words; lines after the first are indented.
func (t *terminal) sentence(indent int, style, s string) {
	room := min(t.width, widestSentence) - indent
	for i, l := range wrap(clean(s), room) {
		l = t.paint(style, l)
		if i > 0 {
			l = strings.Repeat(" ", indent) + l
		}
		t.line(l)
	}
}

func (t *terminal) head() {
	run := t.Document.Run
	t.line(fmt.Sprintf("ebscope %s · %s · %s", clean(run.Profile), strings.Join(t.labels(), " · "), run.Started.UTC().Format("2006-01-02 15:04 UTC")))
	t.line("")
	t.sentence(0, bold, t.headline()+".")
	for _, advice := range t.advice() {
		t.sentence(0, "", advice)
	}
	t.line("")
}

// table starts a table whose columns from the given one on hold numbers.
func (t *terminal) table(header table.Row, numbersFrom int) table.Writer {
	tw := table.NewWriter()
	style := table.StyleLight
	style.Options = table.Options{SeparateHeader: true}
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Format.Header = text.FormatDefault
	tw.SetStyle(style)
	tw.AppendHeader(header)
	configs := make([]table.ColumnConfig, len(header))
	for i := range header {
		configs[i] = table.ColumnConfig{Number: i + 1}
		if i >= numbersFrom {
			configs[i].Align, configs[i].AlignHeader = text.AlignRight, text.AlignRight
		} else {
			configs[i].WidthMax = max(10, t.width/4)
		}
	}
	tw.SetColumnConfigs(configs)
	return tw
}

func (t *terminal) write(tw table.Writer) {
	for l := range strings.SplitSeq(tw.Render(), "\n") {
		t.line(l)
	}
	t.line("")
}

func (t *terminal) phases() {
	tw := t.table(table.Row{"Phase", "Volume", "IOPS", "expected", "MiB/s", "mean ms", "p50 ms", "p99 ms"}, 2)
	for _, g := range t.groups() {
		name := g.Name
		for _, m := range g.Members {
			tw.AppendRow(append(table.Row{clean(name), clean(m.Volume)}, t.figures(m)...))
			name = ""
		}
	}
	t.write(tw)
}

// figures are the columns of numbers of a phase; where it is not done, its state stands in the first.
func (t *terminal) figures(m member) []any {
	if !m.done() {
		return []any{t.paint(red, m.State), none, none, none, none, none}
	}
	prediction := none
	if m.Expected != nil {
		prediction = iops(m.Expected.IOPSMean)
	}
	if m.Latency == nil {
		return []any{iops(m.IOPS.Mean), prediction, mibps(m.ThroughputMiBps), none, none, none}
	}
	return []any{iops(m.IOPS.Mean), prediction, mibps(m.ThroughputMiBps),
		figure(m.Latency.Mean), optional(m.Latency.P50, figure), optional(m.Latency.P99, figure)}
}

func (t *terminal) spark() {
	for _, g := range t.groups()[:min(1, len(t.Document.Phases))] {
		const figures = 16 // room for "3,001 → 300" at the right
		names := 0
		for _, m := range g.Members {
			names = max(names, text.StringWidth(m.Volume))
		}
		room := min(t.width, widestSentence) - names - figures - 2
		drawn, over := t.sparks(g, room)
		if len(drawn) == 0 {
			return
		}
		t.line("IOPS of " + clean(g.Name) + ", over " + over)
		for _, d := range drawn {
			t.line(text.Pad(clean(d.Volume), names, ' ') + "  " + text.Pad(d.Line, room, ' ') + "  " + d.Text)
		}
		t.line("")
	}
}

func (t *terminal) verdicts() {
	for _, g := range t.groups() {
		for _, m := range g.Members {
			if m.preparation() && m.done() {
				continue
			}
			name, style := m.Volume+" "+g.Name+": ", ""
			if !m.done() {
				style = red
			}
			text := name + m.sentence()
			if limits := m.limits(); len(m.LimitedBy) > 1 {
				text += " Limited by " + limits + "."
			}
			t.sentence(2, style, text)
		}
	}
	t.line("")
}

func (t *terminal) cost() {
	options := t.options()
	if len(options) == 0 {
		return
	}
	tw := t.table(table.Row{"Configuration", "sustained IOPS", "MiB/s", "USD a month"}, 1)
	for _, p := range prices(options) {
		name := p.Configuration
		if p.Used != "" {
			name += " *"
		}
		tw.AppendRow(table.Row{name, p.Sustained, p.MiBps, p.Monthly})
	}
	tw.SetColumnConfigs([]table.ColumnConfig{
		{Number: 2, Align: text.AlignRight, AlignHeader: text.AlignRight},
		{Number: 3, Align: text.AlignRight, AlignHeader: text.AlignRight},
		{Number: 4, Align: text.AlignRight, AlignHeader: text.AlignRight},
	})
	t.write(tw)
	from, _ := t.prices()
	t.sentence(0, faint, fmt.Sprintf("* in this run. Prices of %s, as of %s.", from.Location, from.Date()))
	t.line("")
}

func (t *terminal) doubts() {
	if checks := t.checks(); len(checks) > 0 {
		failed := failedChecks(checks)
		if failed == 0 {
			t.line(fmt.Sprintf("All %d checks hold.", len(checks)))
		}
		for _, c := range checks {
			if !c.OK {
				t.sentence(2, red, fmt.Sprintf("Check failed on %s: %s: expected %s, measured %s", c.Phase, c.Text, c.Expected, c.Measured))
			}
		}
	}
	for _, w := range t.warnings() {
		for _, c := range w.Cases {
			where := ""
			switch others := len(c.Where) - 1 + len(w.Likewise); {
			case others > 0:
				where = fmt.Sprintf(" on %s and %d others", c.Where[0], others)
			case others == 0:
				where = " on " + c.Where[0]
			}
			t.sentence(2, "", "Warning"+where+": "+c.Text)
		}
	}
}

// wrap breaks a text into lines at spaces, but not between a number and its unit. A word longer than a line stays whole.
func wrap(s string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Split(tie(s), " ") {
		switch {
		case line == "":
			line = word
		case text.StringWidth(line)+1+text.StringWidth(word) <= width:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	lines = append(lines, line)
	for i := range lines {
		lines[i] = strings.ReplaceAll(lines[i], "\u00a0", " ")
	}
	return lines
}

// clean takes out of a text what would steer the terminal.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, s)
}
