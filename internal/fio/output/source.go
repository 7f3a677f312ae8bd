package output

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"ebscope/internal/lazy"
)

// source is text that is read through a buffer of fixed size, whatever its length and that of its lines.
type source struct {
	r       io.Reader
	buf     []byte // of which [at:end] is unread
	at, end int
	passed  int64 // bytes of text before buf
	line    int   // of the next byte, from 1
	err     error // that ended the reading, io.EOF included
	// common is what stands before the document on its line, in case it stands before all of its lines.
	common []byte
}

const bufferSize = 64 << 10

// newSource reads UTF-8, and UTF-16 where a byte order mark says so: PowerShell redirects output in that form.
func newSource(r io.Reader) *source {
	buffered := bufio.NewReaderSize(r, 4<<10)
	if mark, _ := buffered.Peek(2); bytes.Equal(mark, []byte{0xFF, 0xFE}) || bytes.Equal(mark, []byte{0xFE, 0xFF}) {
		r = transform.NewReader(buffered, unicode.BOMOverride(encoding.Nop.NewDecoder()))
	} else {
		r = buffered
	}
	return &source{r: r, buf: make([]byte, bufferSize), line: 1}
}

// more returns the unread bytes in the buffer: at least n, or all that are left. It passes over none.
func (s *source) more(n int) []byte {
	for s.end-s.at < n && s.err == nil {
		s.end = copy(s.buf, s.buf[s.at:s.end])
		s.passed += int64(s.at)
		s.at = 0
		var got int
		got, s.err = io.ReadAtLeast(s.r, s.buf[s.end:], n-s.end)
		if errors.Is(s.err, io.ErrUnexpectedEOF) {
			s.err = io.EOF
		}
		s.end += got
	}
	return s.buf[s.at:s.end]
}

// offset is the number of bytes before the next.
func (s *source) offset() int64 { return s.passed + int64(s.at) }

// peek returns the next byte, and zero at the end.
func (s *source) peek() byte {
	if s.at == s.end && len(s.more(1)) == 0 {
		return 0
	}
	return s.buf[s.at]
}

// space passes over white space, and over what a collector of logs puts before each line. It says whether a line ended.
func (s *source) space() (newLine bool) {
	for {
		for s.at < s.end {
			switch s.buf[s.at] {
			case ' ', '\t', '\r':
				s.at++
			case '\n':
				newLine = true
				s.nextLine()
			default:
				return newLine
			}
		}
		if len(s.more(1)) == 0 {
			return newLine
		}
	}
}

// maxPrefix bounds what a collector of logs may put before a line.
const maxPrefix = 512

// nextLine passes over the end of a line and what stands before the text of the next.
func (s *source) nextLine() {
	s.at++
	s.line++
	if c := s.peek(); len(s.common) == 0 && c != '[' && (c < '0' || c > '9') {
		return
	}
	s.at += prefix(s.more(maxPrefix), s.common)
}

// stamp is what kubectl logs, docker logs, container runtimes and CI services put before each line.
var stamp = lazy.Regexp(`^(?:\[[^\]\n]{1,200}\] )?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?(?: std(?:out|err) [FP])? ?`)

// prefix returns how many bytes of a line were put before it: a stamp, or what stands before every line.
func prefix(line, common []byte) int {
	n := 0
	if len(line) > 0 && (line[0] == '[' || line[0] >= '0' && line[0] <= '9') {
		n = len(stamp().Find(line[:min(len(line), maxPrefix)]))
	}
	if len(common) > 0 && bytes.HasPrefix(line[n:], common) {
		n += len(common)
	}
	return n
}

// braces is how many bytes of a text that begins with a brace can be passed over, for none of the braces in them opens an
// object: what follows each is another one, and what follows the first was looked at.
func braces(text []byte) int {
	n := 1
	for i := 1; i < len(text) && (text[i] == '{' || text[i] == ' ' || text[i] == '\t'); i++ {
		if text[i] == '{' {
			n = i
		}
	}
	return n
}
