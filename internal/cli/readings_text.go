package cli

import (
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"ebscope/internal/analyze"
	"ebscope/internal/intake"
	"ebscope/internal/result"
)

// writeReadings prints readings as a table, then what was found, then what was skipped.
func writeReadings(w io.Writer, d analyze.Document, width int) error {
	var b strings.Builder
	if against := givenWords(d); against != "" {
		b.WriteString(wrapped("Held against "+against+".", "", width) + "\n")
	}
	writeReadingTable(&b, d.Phases, width)
	writeFindings(&b, d, width)
	writeNotes(&b, d.Notes, commonFolder(d.Phases), width)
	_, err := io.WriteString(w, b.String())
	return err
}

// givenWords says what the user gave to hold the figures against, "" for nothing.
func givenWords(d analyze.Document) string {
	var parts []string
	for _, v := range d.Volumes {
		parts = append(parts, v.Configuration)
	}
	if d.Run.Instance != "" {
		parts = append(parts, "the limits of "+d.Run.Instance)
	}
	return strings.Join(parts, ", and ")
}

// base is the last part of a source's name, to speak of it.
func base(p analyze.Phase) string {
	if p.Foreign == nil {
		return p.Name
	}
	name := path.Base(strings.ReplaceAll(p.Source.File, ":", "/"))
	if p.Source.Document > 1 {
		name += "#" + strconv.Itoa(p.Source.Document)
	}
	if p.Name != "" {
		name += " " + p.Name
	}
	const room = 64 // of a line; nobody reads more of a name
	return shortened(visible(name+hostWords(p)), room)
}

// writeNotes prints what was skipped, and then what else there is to know about the input.
func writeNotes(b *strings.Builder, notes []result.Note, folder string, width int) {
	const most = 20
	for _, part := range []struct {
		title   string
		skipped bool
	}{{"Skipped", true}, {"About the input", false}} {
		n := 0
		for _, note := range notes {
			if note.Skipped != part.skipped {
				continue
			}
			if n++; n == 1 {
				b.WriteString("\n" + part.title + "\n")
			}
			if n <= most {
				note.File = strings.TrimPrefix(note.File, folder)
				b.WriteString(wrapped(visible(intake.Line(note)), "  ", width))
			}
		}
		if n > most {
			fmt.Fprintf(b, "  … and %d more; -o json has all\n", n-most)
		}
	}
}
