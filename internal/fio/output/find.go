package output

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"ebscope/internal/lazy"
	"ebscope/internal/result"
)

// finds is what a parser found in a text.
type finds struct {
	documents []Document
	notes     []result.Note
	said      []string // lines of text since the last document
	all       []string // lines of text, wherever they stood
	current   []byte   // the text of the present line
	people    bool     // output for people was seen, whose figures are below indented
	collected []byte   // lines of text that came each in a JSON object of its own, from a line on
	from      int
}

// Bounds of what is kept of text that is no result.
const (
	maxLine      = 64 << 10 // bytes of a line; terse lines are the long ones
	maxMessage   = 300      // bytes of a line that is quoted
	maxMessages  = 100      // with a broken disk, fio prints a line for every I/O
	maxNotes     = 100
	maxEmbedded  = 64 << 20 // bytes of a document that comes inside a string
	maxEmbedding = 3        // strings in documents in strings
)

func newParser(name string, r io.Reader) *parser {
	return &parser{source: newSource(r), name: name, names: map[string]string{}}
}

// find looks for documents and terse lines in all of a text. It fails where the text cannot be read.
func find(name string, r io.Reader) (*parser, error) {
	p := newParser(name, r)
	p.scan(0)
	if len(p.collected) > 0 {
		p.embedded(p.collected, p.from, 0)
	}
	if n := len(p.documents); n > 0 {
		p.documents[n-1].Messages = append(p.documents[n-1].Messages, p.said...)
	}
	if !errors.Is(p.err, io.EOF) {
		err := fmt.Errorf("read %s: %w", name, p.err)
		if len(p.documents) == 0 {
			return p, err
		}
		p.leftOut(0, "could not be read beyond byte %d: %v", p.offset(), p.err)
	}
	return p, nil
}

// scan goes through text, and reads each object that may begin in it. The nesting counts texts inside strings.
func (p *parser) scan(nesting int) {
	p.at += prefix(p.more(maxPrefix), nil)
	for {
		window := p.more(1)
		if len(window) == 0 {
			p.endLine()
			return
		}
		i := bytes.IndexAny(window, "{[\n")
		if i < 0 {
			i = len(window)
		}
		p.current = append(p.current, window[:min(i, max(0, maxLine-len(p.current)))]...)
		p.at += i
		if i == len(window) {
			continue
		}
		// What looks ahead moves the bytes of the window.
		switch c := window[i]; {
		case c == '\n':
			p.endLine()
			p.nextLine()
		case c == '[' && p.opensStrings(), c == '{' && p.opensObject():
			p.common = slices.Clone(p.current[:min(len(p.current), maxPrefix/2)])
			p.endLine()
			// Where it is no JSON, it was text.
			_ = p.search(nesting)
			p.inside, p.depth = false, 0
		case c == '[':
			p.pass(1)
		default:
			p.pass(braces(p.more(1)))
		}
	}
}

// pass takes so many of the bytes that come next as text.
func (p *parser) pass(n int) {
	p.current = append(p.current, p.buf[p.at:p.at+min(n, max(0, maxLine-len(p.current)))]...)
	p.at += n
}

// opensObject says whether the brace that comes next is followed by a name in quotes.
func (p *parser) opensObject() bool {
	ahead := p.more(2 * maxPrefix)[1:]
	for len(ahead) > 0 {
		switch ahead[0] {
		case '\n':
			ahead = ahead[1:]
			ahead = ahead[prefix(ahead, p.current):]
		case ' ', '\t', '\r':
			ahead = ahead[1:]
		default:
			return ahead[0] == '"'
		}
	}
	return false
}

// endLine takes the present line of text: as a terse result, as a message, or as nothing.
func (p *parser) endLine() {
	text := clean(p.current)
	indented := len(p.current) > 0 && p.current[0] == ' '
	p.current = p.current[:0]
	switch {
	case strings.Trim(text, "{}[],:\"'` ") == "":
	case isTerse(text):
		p.terse(text)
	case forPeople().MatchString(text):
		p.people = true
	case p.people && indented:
	case isProgress(text):
	default:
		p.say(text)
	}
}

func clean(line []byte) string {
	return strings.TrimSpace(strings.TrimPrefix(strings.ToValidUTF8(string(line), "\uFFFD"), "\uFEFF"))
}

// forPeople is a heading of fio's output for people, of a job without an error or of a group.
var forPeople = lazy.Regexp(`^.+: \(groupid=\d+, jobs=\d+\): err= 0:|^Run status group \d+ \(all jobs\):`)

// isProgress says whether a line is what fio prints while it runs, or a heading without anything below.
func isProgress(line string) bool {
	return strings.HasPrefix(line, "Jobs: ") && strings.Contains(line, " (f=") || line == "Disk stats (read/write):"
}

func (p *parser) say(text string) {
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + "…"
	}
	for _, lines := range []*[]string{&p.said, &p.all} {
		switch n := len(*lines); {
		case n < maxMessages:
			*lines = append(*lines, text)
		case n == maxMessages:
			*lines = append(*lines, "… and more")
		}
	}
}

// strayLine takes a line of text inside a document as a message.
func (p *parser) strayLine() {
	p.current = p.current[:0]
	for {
		window := p.more(1)
		i := bytes.IndexByte(window, '\n')
		end := i
		if i < 0 {
			end = len(window)
		}
		p.current = append(p.current, window[:min(end, max(0, maxLine-len(p.current)))]...)
		p.at += end
		if i >= 0 || len(window) == 0 {
			break
		}
	}
	text := clean(p.current)
	p.current = p.current[:0]
	p.say(text)
}

// leftOut notes that a part of the input is missing in what was found.
func (p *parser) leftOut(document int, format string, args ...any) {
	p.note(document, true, format, args...)
}

// doubt notes that a part of the document that is being read is left out.
func (p *parser) doubt(format string, args ...any) { p.leftOut(len(p.documents)+1, format, args...) }

// note records something about what is at the present line.
func (p *parser) note(document int, skipped bool, format string, args ...any) {
	switch n := len(p.notes); {
	case n < maxNotes:
		source := result.Source{File: p.name, Line: p.line, Document: document}
		p.notes = append(p.notes, result.Note{Source: source, Text: fmt.Sprintf(format, args...), Skipped: skipped})
	case n == maxNotes:
		p.notes = append(p.notes, result.Note{Source: result.Source{File: p.name}, Text: "… and more", Skipped: skipped})
	case skipped:
		p.notes[maxNotes].Skipped = true
	}
}

// search reads any value and takes the documents in it, however deep they are.
func (p *parser) search(nesting int) error {
	switch p.next() {
	case '{':
		return p.candidate(nesting)
	case '[':
		return p.array(func() error { return p.search(nesting) })
	case '"':
		text, err := p.quoted(maxEmbedded)
		if err == nil && nesting < maxEmbedding && begins(text) {
			p.embedded(slices.Clone(text), p.line, nesting)
		}
		return err
	default:
		return p.skip("")
	}
}

// begins says whether a document of fio is in a text, or in a string in it.
func begins(text []byte) bool {
	for _, key := range []string{`"jobs"`, `"client_stats"`, `"jobs\`, `"client_stats\`} {
		if bytes.Contains(text, []byte(key)) {
			return true
		}
	}
	return false
}

// embedded looks for documents in a text that was a string, or several, from a line on.
func (p *parser) embedded(text []byte, from, nesting int) {
	inner := newParser(p.name, bytes.NewReader(text))
	inner.line = from
	inner.finds, inner.kept = p.finds, p.kept
	inner.current, inner.collected = nil, nil
	inner.scan(nesting + 1)
	inner.current, inner.collected, inner.from = p.current, p.collected, p.from
	p.finds, p.kept = inner.finds, inner.kept
}
