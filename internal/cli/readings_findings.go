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

// findings keeps texts in order, one of each key.
type findings struct {
	all []finding
	at  map[string]int
}

// add adds a text under its key, or another place to the text that is there.
func (f *findings) add(key, text, where string) {
	if i, known := f.at[key]; known {
		f.all[i].where = append(f.all[i].where, where)
		return
	}
	if f.at == nil {
		f.at = map[string]int{}
	}
	f.at[key] = len(f.all)
	f.all = append(f.all, finding{text, []string{where}})
}

const (
	// mostFindings is how many paragraphs a part has, and mostNames how many readings one names.
	mostFindings = 12
	mostNames    = 3
)

// writeFindings prints what follows from the readings: what failed, what was found and what to do about it, and the
// doubts, of each kind one.
func writeFindings(b *strings.Builder, d analyze.Document, width int) {
	var failed, found, next, doubts findings
	checks := map[result.Source][]analyze.Check{}
	for _, c := range d.Checks {
		if c.Source != nil && emptyQueue(c) {
			checks[*c.Source] = append(checks[*c.Source], c)
		}
	}
	for _, p := range d.Phases {
		where, isFailed := base(p), p.State == string(result.Failed)
		switch {
		case isFailed:
			failed.add(p.Summary, p.Summary, where)
		case worth(p) || givenWords(d) != "":
			found.add(p.Summary, p.Summary, where)
		}
		if p.Foreign == nil {
			continue
		}
		if p.Advice != "" && (isFailed || worth(p) || givenWords(d) != "") {
			next.add(p.Advice, p.Advice, where)
		}
		for _, w := range p.Warnings {
			if !told[w.Code] {
				doubts.add(w.Code, w.Text, where)
			}
		}
		for _, c := range checks[p.Source] {
			doubts.add(c.Code, fmt.Sprintf("The queue was not as deep as stated: %s ms of latency would follow from it, %s ms were measured (%s). An engine that waits for each I/O leaves it empty.",
				milliseconds(c.Expected), milliseconds(c.Measured), c.Text), where)
		}
	}
	writePart(b, "Failed", failed, width)
	writePart(b, "Findings", found, width)
	writePart(b, "What to do", next, width)
	writeCandidates(b, d.Phases, width)
	writePart(b, "Doubts", doubts, width)
}

// emptyQueue says whether latency is so far below what Little's law gives that most of the queue was empty.
func emptyQueue(c analyze.Check) bool {
	return c.Code == "littles-law" && !c.OK && c.Measured < c.Expected/2
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

func writePart(b *strings.Builder, title string, f findings, width int) {
	all := f.all
	if len(all) == 0 {
		return
	}
	b.WriteString("\n" + title + "\n")
	for i, f := range all {
		if i == mostFindings {
			fmt.Fprintf(b, "  … and %d more; -o json has all\n", len(all)-i)
			return
		}
		b.WriteString(wrapped(names(f.where)+": "+visible(f.text), "  ", width))
	}
}

// names names the first few of readings; those of the same name, once.
func names(all []string) string {
	var unique []string
	counts := map[string]int{}
	for _, name := range all {
		if counts[name]++; counts[name] == 1 {
			unique = append(unique, name)
		}
	}
	var shown []string
	for _, name := range unique[:min(mostNames, len(unique))] {
		if n := counts[name]; n > 1 {
			name += fmt.Sprintf(" (%d of them)", n)
		}
		shown = append(shown, name)
	}
	text := strings.Join(shown, ", ")
	if more := len(unique) - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// writeCandidates prints what would explain a fall, or the level of a single reading.
func writeCandidates(b *strings.Builder, all []analyze.Phase, width int) {
	for _, p := range all {
		if p.Foreign == nil || len(p.Candidates) == 0 || p.Cliff == nil && len(all) > 1 {
			continue
		}
		title := "Would explain"
		if p.Candidates[0].Fit < analyze.LikelyFit {
			title = "Might explain, by chance as well,"
		}
		b.WriteString("\n" + wrapped(fmt.Sprintf("%s %s, the likeliest first", title, base(p)), "", width))
		for _, c := range p.Candidates {
			b.WriteString(wrapped(c.Configuration+": "+c.Text, "  ", width))
		}
	}
}
