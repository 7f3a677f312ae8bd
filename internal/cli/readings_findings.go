package cli

import (
	"fmt"
	"strings"

	"ebscope/internal/analyze"
	"ebscope/internal/result"
)

// finding is something to be said about some readings in the same words.
type finding struct {
	text  string
	where []string
}

// findings keeps texts in order, each once.
type findings []finding

func (f *findings) add(text, where string) {
	for i := range *f {
		if (*f)[i].text == text {
			(*f)[i].where = append((*f)[i].where, where)
			return
		}
	}
	*f = append(*f, finding{text, []string{where}})
}

const (
	// mostFindings is how many paragraphs a part has, and mostNames how many readings one names.
	mostFindings = 12
	mostNames    = 3
)

// writeFindings prints what follows from the readings: first what to act on, then the doubts, each kind once.
func writeFindings(b *strings.Builder, d analyze.Document, width int) {
	var failed, found, doubts findings
	codes := map[string]int{} // of warnings, to their place in doubts
	for _, p := range d.Phases {
		switch {
		case p.State == string(result.Failed):
			failed.add(strings.TrimSpace(p.Summary+" "+adviceOf(p)), base(p))
		case worth(p):
			found.add(strings.TrimSpace(p.Summary+" "+adviceOf(p)), base(p))
		}
		for _, w := range p.Warnings {
			if told[w.Code] {
				continue
			}
			i, known := codes[w.Code]
			if !known {
				codes[w.Code] = len(doubts)
				doubts = append(doubts, finding{w.Text, []string{base(p)}})
				continue
			}
			if where := base(p); doubts[i].where[len(doubts[i].where)-1] != where {
				doubts[i].where = append(doubts[i].where, where)
			}
		}
	}
	for _, c := range d.Checks {
		if !c.OK && c.Code == "littles-law" {
			doubts.add(fmt.Sprintf("Little's law does not hold: %s ms would follow, %s ms are stated (%s). An engine that waits for each I/O leaves the queue empty.",
				milliseconds(c.Expected), milliseconds(c.Measured), c.Text), c.Phase)
		}
	}
	writePart(b, "Failed", failed, width)
	writePart(b, "Findings", found, width)
	writePart(b, "Doubts", doubts, width)
	writeCandidates(b, d.Phases, width)
}

// told are warnings that the table, the findings or the notes already tell of, or that say what everybody knows.
var told = map[string]bool{
	"failed": true, "above-any-volume": true, "no-series": true, "first-sample-excluded": true, "fio-message": true, "burst-only": true, "above-limit": true,
}

// worth says whether a finding is more than the table shows.
func worth(p analyze.Phase) bool {
	return p.Verdict != "" || p.Cliff != nil || p.WarmUp != nil || hasWarning(p, "above-limit") || hasWarning(p, "above-any-volume") ||
		len(p.Segments) > 0 || len(p.LimitedBy) > 0
}

func adviceOf(p analyze.Phase) string {
	if p.Foreign == nil {
		return ""
	}
	return p.Advice
}

func writePart(b *strings.Builder, title string, all findings, width int) {
	if len(all) == 0 {
		return
	}
	b.WriteString("\n" + title + "\n")
	for i, f := range all {
		if i == mostFindings {
			fmt.Fprintf(b, "  … and %d more; -o json has all\n", len(all)-i)
			return
		}
		where := strings.Join(f.where[:min(mostNames, len(f.where))], ", ")
		if more := len(f.where) - mostNames; more > 0 {
			where += fmt.Sprintf(" and %d more", more)
		}
		b.WriteString(wrapped(where+": "+visible(f.text), "  ", width))
	}
}

// writeCandidates prints what would explain a fall, or the level of a single reading.
func writeCandidates(b *strings.Builder, all []analyze.Phase, width int) {
	for _, p := range all {
		if p.Foreign == nil || len(p.Candidates) == 0 || p.Cliff == nil && len(all) > 1 {
			continue
		}
		fmt.Fprintf(b, "\nWould explain %s, the likeliest first\n", base(p))
		for _, c := range p.Candidates {
			b.WriteString(wrapped(c.Configuration+": "+c.Text, "  ", width))
		}
	}
}
