package cli

import "strings"

// visible takes out of a text what would steer the terminal.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, s)
}

// wrapped breaks a text into lines of the plain width, each with an indent.
func wrapped(s, indent string) string {
	var b strings.Builder
	column := 0
	for i, word := range strings.Fields(s) {
		length := len([]rune(word))
		switch {
		case i == 0:
			b.WriteString(indent)
			column = len(indent)
		case column+1+length > plainWidth:
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
