package output

import (
	"bytes"
	"fmt"
)

// parser reads JSON as fio writes it, which is not always JSON: numbers may be nan or inf, keys may come twice, the
// program's messages may stand between its lines, and the end may be missing. What was read before a fault is kept.
type parser struct {
	*source
	name   string // of the file
	depth  int
	inside bool // a document of fio
	kept   int  // bytes of what was kept, roughly
	text   []byte
	names  map[string]string
	finds
}

// Bounds of what is read, so that no input takes more memory than is stated here.
const (
	maxDepth  = 64        // fio nests 6 deep, what wraps it a few more
	maxKept   = 256 << 20 // bytes of results, roughly
	maxText   = 64 << 10  // bytes of one name or option
	maxNumber = 512       // digits; %f of the largest double has 317
)

// fault says why JSON cannot be read on.
type fault struct {
	line   int
	offset int64
	cut    bool   // the text ended
	what   string // stands there otherwise
}

func (f *fault) Error() string {
	if f.cut {
		return fmt.Sprintf("cut off at byte %d", f.offset)
	}
	return fmt.Sprintf("damaged at byte %d: %s", f.offset, f.what)
}

func (p *parser) fault(format string, args ...any) error {
	return &fault{line: p.line, offset: p.offset(), what: fmt.Sprintf(format, args...)}
}

// unexpected is the fault where something else should stand.
func (p *parser) unexpected(wanted string) error {
	if p.peek(); p.at == p.end {
		return &fault{line: p.line, offset: p.offset(), cut: true}
	}
	there := p.more(20)
	return p.fault("%.20q stands where %s is expected", there[:min(len(there), 20)], wanted)
}

// keep counts memory that results take.
func (p *parser) keep(bytes int) error {
	if p.kept += bytes; p.kept > maxKept {
		return p.fault("more than %d MiB of results", maxKept>>20)
	}
	return nil
}

// next passes over space and returns the byte there, zero at the end. In a document it also passes over lines that are
// no JSON: what a program or the kernel printed in between.
func (p *parser) next() byte {
	for {
		newLine := p.space()
		c := p.peek()
		if !p.inside || !newLine || c == 0 || bytes.IndexByte([]byte(`"{}[]:,-+.0123456789`), c) >= 0 || literal(p.more(16)) {
			return c
		}
		p.strayLine()
	}
}

// literal says whether text begins with a word that stands for a value.
func literal(text []byte) bool {
	n := 0
	for n < len(text) && (text[n]|0x20 >= 'a' && text[n]|0x20 <= 'z') {
		n++
	}
	switch string(bytes.ToLower(text[:n])) {
	case "true", "false", "null", "nan", "inf", "infinity":
		return n == len(text) || text[n] != ' ' && text[n] != ':'
	}
	return false
}

// object reads an object, and each value with the function given, which must read one.
func (p *parser) object(value func(key string) error) error {
	return p.members('{', '}', func() error {
		if p.next() != '"' {
			return p.unexpected("a name")
		}
		raw, err := p.quoted(maxText)
		if err != nil {
			return err
		}
		key := p.intern(raw)
		if p.next() != ':' {
			return p.unexpected("a colon")
		}
		p.at++
		return value(key)
	})
}

// array reads an array, and each value with the function given, which must read one.
func (p *parser) array(value func() error) error { return p.members('[', ']', value) }

func (p *parser) members(open, end byte, member func() error) error {
	if p.next() != open {
		return p.unexpected(fmt.Sprintf("%q", open))
	}
	if p.depth == maxDepth {
		return p.fault("nested more than %d deep", maxDepth)
	}
	p.at++
	p.depth++
	defer func() { p.depth-- }()
	for first := true; ; first = false {
		c := p.next()
		if c == end {
			p.at++
			return nil
		}
		if !first {
			if c != ',' {
				return p.unexpected(fmt.Sprintf("a comma or %q", end))
			}
			p.at++
			p.next()
		}
		if err := member(); err != nil {
			return err
		}
	}
}

// intern returns a name as a string; fio repeats a few of them over and over.
func (p *parser) intern(raw []byte) string {
	if s, ok := p.names[string(raw)]; ok {
		return s
	}
	s := string(raw)
	if len(p.names) < 4096 && len(s) < 64 {
		p.names[s] = s
	}
	return s
}

// skip passes over a value, which the key names.
func (p *parser) skip(key string) error {
	switch p.next() {
	case '{':
		return p.object(p.skip)
	case '[':
		return p.array(func() error { return p.skip(key) })
	case '"':
		_, err := p.quoted(0)
		return err
	default:
		raw, err := p.word()
		if err == nil && p.inside && notNumber(raw) {
			p.doubt("%q is %.40q, no number: left out", key, raw)
		}
		return err
	}
}

// notNumber says whether a word is what a C program prints for a number that is none.
func notNumber(word []byte) bool {
	c := word[len(word)-1] | 0x20
	if c >= '0' && c <= '9' {
		return false
	}
	switch string(bytes.ToLower(bytes.TrimLeft(word, "+-"))) {
	case "nan", "inf", "infinity":
		return true
	}
	return false
}
