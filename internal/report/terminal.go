package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Widths of the terminal report. Narrower than the least, no table fits.
const (
	leastWidth     = 40
	widestSentence = 100
)

// Terminal writes the report as tables and sentences for a terminal of the given width in columns.
func Terminal(w io.Writer, r Report, width int, colour bool) error {
	t := terminal{Report: r, width: max(width, leastWidth), colour: colour}
	t.head()
	t.phases()
	t.sweeps()
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
	if !t.colour || style == "" {
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
	about := append([]string{strings.TrimSpace("ebscope " + run.Profile)}, t.labels()...)
	if date := when(run.Started, "2006-01-02 15:04 UTC"); date != "" {
		about = append(about, date)
	}
	t.sentence(2, "", strings.Join(about, " · "))
	t.line("")
	t.sentence(0, bold, t.headline()+".")
	for _, advice := range t.advice() {
		t.sentence(0, "", advice)
	}
	t.line("")
}

// grid is a table, and the numbers of the columns that it can do without, the least needed first.
type grid struct {
	table.Writer
	columns     []table.ColumnConfig
	dispensable []int
}

// table starts a table whose columns from the given one on hold numbers.
func (t *terminal) table(header table.Row, numbersFrom int, dispensable ...int) *grid {
	g := &grid{table.NewWriter(), make([]table.ColumnConfig, len(header)), dispensable}
	style := table.StyleLight
	style.Options = table.Options{SeparateHeader: true}
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Format.Header = text.FormatDefault
	g.SetStyle(style)
	g.AppendHeader(header)
	for i := range header {
		g.columns[i] = table.ColumnConfig{Number: i + 1}
		if i >= numbersFrom {
			g.columns[i].Align, g.columns[i].AlignHeader = text.AlignRight, text.AlignRight
		} else {
			g.columns[i].WidthMax = max(narrowestName, t.width/4)
		}
	}
	g.SetColumnConfigs(g.columns)
	return g
}

// narrowestName is the width to which names are cut at most.
const narrowestName = 14

// write adds the table to the report, without the columns for which there is no room.
func (t *terminal) write(g *grid) {
	lines := strings.Split(g.Render(), "\n")
	for _, number := range g.dispensable {
		if text.LongestLineLen(strings.TrimRight(lines[0], " ")) <= t.width {
			break
		}
		g.columns[number-1].Hidden = true
		g.SetColumnConfigs(g.columns)
		lines = strings.Split(g.Render(), "\n")
	}
	for i, l := range lines {
		if i == 1 {
			l = text.Trim(l, t.width) // the rule below the header goes on below the last column's padding
		}
		t.line(l)
	}
	t.line("")
}

func (t *terminal) phases() {
	groups := t.groups()
	some := func(such func(member) bool) bool {
		return slices.ContainsFunc(groups, func(g group) bool { return slices.ContainsFunc(g.Members, such) })
	}
	throughput := "MiB/s"
	logged := some(func(m member) bool { return m.done() && len(m.rates()) > 1 })
	if logged {
		throughput += "*"
	}
	g := t.table(table.Row{"Phase", "Volume", "IOPS", "expected", throughput, "mean ms", "p50 ms", "p99 ms"}, 2, 7, 4, 5, 8, 6)
	for _, group := range groups {
		name := group.Name
		for _, m := range group.Members {
			volume := m.Volume
			if volume == m.Name { // a log alone, of which neither is known
				volume = ""
			}
			g.AppendRow(append(table.Row{clean(name), clean(volume)}, t.figures(m)...))
			name = ""
		}
	}
	if !some(func(m member) bool { return m.Expected != nil }) {
		const expected = 4
		g.columns[expected-1].Hidden = true
		g.SetColumnConfigs(g.columns)
	}
	t.write(g)
	if logged {
		t.sentence(0, faint, "* of the whole phase, as latencies are; IOPS leave out the first sample.")
		t.line("")
	}
}

// sweeps says where the curves of the profile's sweeps bend, and prints the tables of a tool whose table people know.
func (t *terminal) sweeps() {
	for _, s := range t.Report.sweeps() {
		for i, c := range s.Curves {
			t.sentence(2, "", fmt.Sprintf("%s on %s: %s", s.Name, s.label(i), kneeSentence(c)))
		}
		t.line("")
	}
	for _, table := range t.crystalTables() {
		t.sentence(0, bold, clean(table.Name)+", as CrystalDiskMark prints it")
		for line := range strings.Lines(table.Value) {
			t.line(strings.TrimSuffix(line, "\n"))
		}
		t.line("")
	}
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
		return []any{m.figure(m.IOPS.Mean, iops), prediction, m.figure(m.ThroughputMiBps, mibps), none, none, none}
	}
	return []any{m.figure(m.IOPS.Mean, iops), prediction, m.figure(m.ThroughputMiBps, mibps),
		m.figure(m.Latency.Mean, figure), optional(m.Latency.P50, figure), optional(m.Latency.P99, figure)}
}

func (t *terminal) spark() {
	for _, g := range t.groups()[:min(1, len(t.Document.Phases))] {
		const figures = 16 // room for "3,001 → 300" at the right
		names := 0
		for _, m := range g.Members {
			names = max(names, text.StringWidth(m.Volume))
		}
		const least = 10 // in less, a fall looks like noise
		room := min(t.width, widestSentence) - names - figures - 2
		if room < least {
			return
		}
		drawn, over := t.sparks(g, room)
		if len(drawn) == 0 {
			return
		}
		t.sentence(0, "", "IOPS of "+g.Name+", over "+over)
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
			name, style := m.about()+": ", ""
			if !m.done() {
				style = red
			}
			text := name + m.sentence()
			if limits := m.limits(); len(m.LimitedBy) > 1 {
				text += " Limited by " + limits + "."
			}
			t.sentence(2, style, strings.TrimSpace(text+" "+m.advice()))
		}
	}
	t.line("")
}

func (t *terminal) cost() {
	options := t.options()
	if len(options) == 0 {
		return
	}
	g := t.table(table.Row{"Configuration", "sustained IOPS", "MiB/s", "USD a month"}, 1, 3, 2)
	for _, p := range prices(options) {
		name := p.Configuration
		if p.Used != "" {
			name += " *"
		}
		g.AppendRow(table.Row{name, p.Sustained, p.MiBps, p.Monthly})
	}
	g.columns[0].WidthMax, g.columns[0].WidthMaxEnforcer = t.width/2, text.WrapSoft
	g.SetColumnConfigs(g.columns)
	t.write(g)
	from, _ := t.prices()
	note := fmt.Sprintf("* in this run. Prices of %s, as of %s.", from.Location, t.pricesDate())
	if held := t.heldNote(); held != "" {
		note += " " + held
	}
	t.sentence(0, faint, note)
	t.line("")
}

func (t *terminal) doubts() {
	if checks := t.checks(); len(checks) > 0 {
		failed := failedChecks(checks)
		if failed == 0 {
			t.line(allHold(len(checks)))
		}
		for _, c := range checks {
			if !c.OK {
				t.sentence(2, red, fmt.Sprintf("Check failed on %s: %s: expected %s, %s %s", c.Phase, c.Text, c.Expected, t.obtained(), c.Measured))
			}
		}
	}
	for _, w := range t.warnings() {
		for _, c := range w.Cases {
			where := ""
			switch others := len(c.Where) - 1 + len(w.Likewise); {
			case len(c.Where) == 0:
			case others > 1:
				where = fmt.Sprintf(" on %s and %d others", c.Where[0], others)
			case others == 1:
				where = fmt.Sprintf(" on %s and one other", c.Where[0])
			case others == 0:
				where = " on " + c.Where[0]
			}
			t.sentence(2, "", "Warning"+where+": "+c.Text)
		}
	}
}

// allHold says that every check holds.
func allHold(n int) string {
	if n == 1 {
		return "The check holds."
	}
	return fmt.Sprintf("All %d checks hold.", n)
}

// wrap breaks a text into lines at spaces, but not between a number and its unit. A word longer than a line is broken.
func wrap(s string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Split(tie(s), " ") {
		for text.StringWidth(word) > width {
			start := text.Trim(word, width)
			if line != "" {
				lines = append(lines, line)
				line = ""
			}
			lines, word = append(lines, start), word[len(start):]
		}
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

// oneLine makes a single line of a text, without what would steer the terminal.
func oneLine(s string) string { return strings.Join(strings.Fields(clean(s)), " ") }

// clean takes out of a text what would steer the terminal, or the reader.
func clean(s string) string { return strings.Map(Visible, s) }

// Visible maps a character of a text of anyone's to what may be shown of it: one that would steer a terminal, or break the
// line, to a space, and one that is not seen itself but turns, hides or joins what is around it, to nothing.
func Visible(r rune) rune {
	switch {
	case unicode.IsControl(r), r == '\u2028', r == '\u2029':
		return ' '
	case unicode.Is(unicode.Cf, r):
		return -1
	}
	return r
}
