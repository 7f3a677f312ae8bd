package log

import (
	"fmt"
	"slices"

	"ebscope/internal/result"
)

// maxNotes is how many skipped lines are named, of a log in which perhaps none is good.
const maxNotes = 24

// notes are what one goroutine skipped: the first lines, for it takes blocks in ascending order.
type notes struct {
	first   []result.Note
	skipped int64 // lines
	doubts  int64 // lines of which a part is missing
	// Lines that were read although they have another number of columns, and the first of them.
	uneven     int64
	unevenFrom int
}

// other notes that a line has another number of columns than most.
func (n *notes) other(line int) {
	if n.uneven++; n.uneven == 1 {
		n.unevenFrom = line
	}
}

func (n *notes) skip(line int, format string, arguments ...any) {
	n.skipped++
	if len(n.first) < maxNotes {
		n.first = append(n.first, result.Note{Source: result.Source{Line: line}, Text: fmt.Sprintf(format, arguments...), Skipped: true})
	}
}

// doubt notes that a part of a line is missing.
func (n *notes) doubt(line int, format string, arguments ...any) {
	n.skip(line, format, arguments...)
	n.skipped--
	n.doubts++
}

func (n *notes) join(o notes) {
	n.skipped += o.skipped
	n.doubts += o.doubts
	if o.uneven > 0 && (n.uneven == 0 || o.unevenFrom < n.unevenFrom) {
		n.unevenFrom = o.unevenFrom
	}
	n.uneven += o.uneven
	n.first = append(n.first, o.first...)
}

// list returns the notes of a file, in the order of lines.
func (n *notes) list(file string) []result.Note {
	slices.SortFunc(n.first, func(a, b result.Note) int { return a.Line - b.Line })
	all := n.first[:min(len(n.first), maxNotes)]
	for i := range all {
		all[i].File = file
	}
	if more := n.skipped + n.doubts - int64(len(all)); more > 0 {
		all = append(all, result.Note{Source: result.Source{File: file}, Text: fmt.Sprintf("%d more lines are like these", more), Skipped: true})
	}
	return all
}
