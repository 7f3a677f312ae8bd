package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"ebscope/internal/report"
)

// visible takes out of a text what would steer the terminal, or the reader.
func visible(s string) string { return strings.Map(report.Visible, s) }

// narrowest is the least width that texts are fitted to.
const narrowest = 20

// textWidth is how wide a text may be: the terminal's width, at most the plain one.
func textWidth(w io.Writer) int {
	width, _ := canvas(w)
	if width <= 0 { // a terminal that does not know its size
		return plainWidth
	}
	return max(narrowest, min(width, plainWidth))
}

// wrapped breaks a text into lines of a width, each with an indent.
func wrapped(s, indent string, width int) string {
	var b strings.Builder
	column := 0
	for i, word := range strings.Fields(s) {
		length := text.StringWidth(word)
		switch {
		case i == 0:
			b.WriteString(indent)
			column = len(indent)
		case column+1+length > width:
			b.WriteString("\n" + indent)
			column = len(indent)
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += length
	}
	return b.String() + "\n"
}

// writeColumns prints rows in columns as wide as they need to be, within a width; a row of one cell is a sentence. Where they do not fit, the columns move together, then the last one wraps, and then it is left out.
func writeColumns(w io.Writer, rows [][]string, width int) error {
	var b strings.Builder
	g := newGrid(rows)
	switch {
	case g.width() <= width:
	case g.count > 2 && g.close().width() <= width:
		g = g.close()
	default:
		for g.count > 2 && g.rest(width) < g.longestWord() {
			g.count--
		}
	}
	g.write(&b, width)
	if left := rows[0][min(g.count, len(rows[0])):]; len(left) > 0 {
		b.WriteString(wrapped(fmt.Sprintf("Left out, for want of room: %s. -o json has all.", strings.Join(left, ", ")), "", width))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// grid is the first columns of rows, with a gap between them.
type grid struct {
	rows       [][]string
	columns    []int // their widths
	count, gap int
}

func newGrid(rows [][]string) grid {
	g := grid{rows: rows, gap: 2}
	for _, row := range rows {
		g.count = max(g.count, len(row))
	}
	g.columns = make([]int, g.count)
	for _, row := range rows {
		if len(row) == 1 {
			continue // a sentence
		}
		for i, cell := range row {
			g.columns[i] = max(g.columns[i], text.StringWidth(cell))
		}
	}
	return g
}

// close moves the columns together.
func (g grid) close() grid { return grid{g.rows, g.columns, g.count, 1} }

// before is the width of what stands before the last column.
func (g grid) before() int {
	width := 0
	for i := range g.count - 1 {
		width += g.columns[i] + g.gap
	}
	return width
}

func (g grid) width() int         { return g.before() + g.columns[g.count-1] }
func (g grid) rest(width int) int { return width - g.before() }

// longestWord is that of the last column, which cannot be narrower.
func (g grid) longestWord() int {
	longest := 0
	for _, row := range g.rows {
		if len(row) >= g.count {
			for _, word := range strings.Fields(row[g.count-1]) {
				longest = max(longest, text.StringWidth(word))
			}
		}
	}
	return longest
}

func (g grid) write(b *strings.Builder, width int) {
	before := g.before()
	for _, row := range g.rows {
		if len(row) == 1 {
			b.WriteString(wrapped(row[0], "", width))
			continue
		}
		for i, cell := range row[:g.count-1] {
			b.WriteString(cell + strings.Repeat(" ", g.columns[i]+g.gap-text.StringWidth(cell)))
		}
		last := wrapped(row[g.count-1], "", max(narrowest/2, width-before))
		b.WriteString(strings.ReplaceAll(strings.TrimSuffix(last, "\n"), "\n", "\n"+strings.Repeat(" ", before)) + "\n")
	}
}
