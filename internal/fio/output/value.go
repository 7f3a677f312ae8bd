package output

import (
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// quoted reads a string. The result, of at most so many bytes, holds until the next call.
func (p *parser) quoted(limit int) ([]byte, error) {
	p.at++
	p.text = p.text[:0]
	for {
		window := p.more(1)
		i := 0
		for i < len(window) && window[i] != '"' && window[i] != '\\' && window[i] != '\n' {
			i++
		}
		p.text = append(p.text, window[:min(i, max(0, limit-len(p.text)))]...)
		p.at += i
		switch {
		case len(window) == 0 || i < len(window) && window[i] == '\n':
			return nil, p.unexpected("the end of a string")
		case i == len(window):
		case window[i] == '"':
			p.at++
			return p.text, nil
		default:
			p.escape(limit)
		}
	}
}

// escape reads a backslash and what it stands for.
func (p *parser) escape(limit int) {
	window := p.more(12)
	if len(window) < 2 {
		p.at = p.end
		return
	}
	length, r := 2, rune(window[1])
	switch window[1] {
	case 'n':
		r = '\n'
	case 't':
		r = '\t'
	case 'r':
		r = '\r'
	case 'b', 'f':
		r = ' '
	case 'u':
		if r = hex4(window[2:]); r < 0 {
			r = utf8.RuneError
			break
		}
		length = 6
		if len(window) >= 12 && window[6] == '\\' && window[7] == 'u' {
			if both := utf16.DecodeRune(r, hex4(window[8:])); both != utf8.RuneError {
				r, length = both, 12
			}
		}
	}
	if window[1] == '\n' {
		length = 1 // the string ends here, as its reader will find
	}
	p.at += length
	if len(p.text) < limit {
		p.text = utf8.AppendRune(p.text, r)
	}
}

func hex4(digits []byte) rune {
	if len(digits) < 4 {
		return -1
	}
	x, err := strconv.ParseUint(string(digits[:4]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(x)
}

// word reads what is neither string nor array nor object. The result holds until the source is read on.
func (p *parser) word() ([]byte, error) {
	window := p.more(maxNumber)
	window = window[:min(len(window), maxNumber)]
	n := 0
	for n < len(window) && (window[n] == '-' || window[n] == '+' || window[n] == '.' ||
		window[n] >= '0' && window[n] <= '9' || window[n]|0x20 >= 'a' && window[n]|0x20 <= 'z') {
		n++
	}
	if n == 0 || n == maxNumber {
		return nil, p.unexpected("a value")
	}
	if n == len(window) {
		p.at = p.end
		return nil, p.unexpected("more")
	}
	p.at += n
	return window[:n], nil
}

// number reads a number. Where there is none, such as fio's nan, it is zero, which means unknown, with a note of it.
func (p *parser) number(key string) (float64, error) {
	switch p.next() {
	case '{', '[':
		p.doubt("%q is no number: unknown", key)
		return 0, p.skip(key)
	case '"': // some programs that pass fio's results on quote every number
		raw, err := p.quoted(maxNumber)
		if err != nil {
			return 0, err
		}
		return p.value(key, raw), nil
	default:
		raw, err := p.word()
		if err != nil || string(raw) == "null" {
			return 0, err
		}
		return p.value(key, raw), nil
	}
}

func (p *parser) value(key string, raw []byte) float64 {
	x, ok := parse(raw)
	if !ok {
		p.doubt("%q is %.40q, no number: unknown", key, raw)
	}
	return x
}

// parse reads a number, and says whether it is one that counts.
func parse(raw []byte) (float64, bool) {
	if x, ok := whole(raw); ok {
		return x, true
	}
	x, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, false
	}
	return x, true
}

// whole reads a whole number that a double holds exactly: most of fio's numbers are.
func whole(raw []byte) (float64, bool) {
	if len(raw) == 0 || len(raw) > 15 {
		return 0, false
	}
	n := int64(0)
	for _, c := range raw {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return float64(n), true
}

// string reads a string, and a number or word as its text.
func (p *parser) string() (string, error) {
	var raw []byte
	var err error
	switch p.next() {
	case '{', '[':
		return "", p.skip("")
	case '"':
		raw, err = p.quoted(maxText)
	default:
		raw, err = p.word()
	}
	if err != nil {
		return "", err
	}
	return string(raw), p.keep(len(raw))
}
