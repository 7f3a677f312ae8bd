package log

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"sync"
)

const (
	blockSize = 256 << 10
	// maxLine is longer than any line of fio: a histogram's has 1,859 columns.
	maxLine = 64 << 10
	// slack bytes follow a block, so that eight bytes may be loaded at any place in it.
	slack = 16
)

// block is a piece of a log that ends at a line's end, or at the log's end.
type block struct {
	buf  []byte // holds the text, and slack behind it
	text int    // length
	line int    // the number of its first line, from 1
	last bool   // the log ends here; the last line may lack its end
}

// source cuts a log into blocks. Any number of goroutines may take the next.
type source struct {
	mu    sync.Mutex
	r     io.Reader
	size  int    // of the next block, at least
	rest  []byte // was read with the block before
	line  int
	ended bool // nothing is left in r
	done  bool
}

func newSource(r io.Reader) *source { return &source{r: r, size: headSize, line: 1} }

// next reads the next block into the buffer of an old one, and returns io.EOF after the last. The first block of an
// empty log is empty. Of a line that is longer than any log's, only the start is in the block.
func (s *source) next(buf []byte) (block, error) {
	s.lock()
	defer s.mu.Unlock()
	if s.done {
		return block{}, io.EOF
	}
	n, end := 0, 0
	for end == 0 && !s.done {
		if room := max(s.size, len(s.rest)+1, 2*n) + slack; len(buf) < room {
			buf = append(make([]byte, 0, room), buf[:n]...)[:room]
		}
		if n == 0 {
			n = copy(buf, s.rest)
			s.rest = s.rest[:0]
		}
		read, err := s.fill(buf[n : len(buf)-slack])
		if err != nil {
			return block{}, err
		}
		n += read
		end = bytes.LastIndexByte(buf[:n], '\n') + 1
		if s.ended {
			end, s.done = n, true
		} else if end == 0 && n >= maxLine {
			if end, err = s.cut(buf); err != nil {
				return block{}, err
			}
			n = end
		}
	}
	s.rest = append(s.rest, buf[end:n]...)
	b := block{buf: buf, text: end, line: s.line, last: s.done}
	s.line += bytes.Count(buf[:end], []byte{'\n'})
	clear(buf[end : end+slack])
	return b, nil
}

// lock waits for the goroutine that takes a block, which takes 50 µs, without going to sleep: a processor of a virtual machine
// may take as long again to wake up. A pipe that has nothing to give is waited for asleep.
func (s *source) lock() {
	for range 1000 {
		if s.mu.TryLock() {
			return
		}
		runtime.Gosched()
	}
	s.mu.Lock()
}

// fill reads until the buffer is full or the log ends.
func (s *source) fill(buf []byte) (n int, err error) {
	for n < len(buf) && !s.ended {
		read, err := s.r.Read(buf[n:])
		n += read
		if errors.Is(err, io.EOF) {
			s.ended = true
		} else if err != nil {
			return n, err
		}
	}
	return n, nil
}

// cut shortens the line that fills the buffer, however long it is, and keeps what follows it for the next block. It
// returns the length of what is left of the line.
func (s *source) cut(buf []byte) (int, error) {
	const kept = 80
	line := append([]byte(nil), buf[:kept]...)
	line = append(line, "…\n"...)
	for !s.ended {
		n, err := s.fill(buf[:len(buf)-slack])
		if err != nil {
			return 0, err
		}
		if at := bytes.IndexByte(buf[:n], '\n'); at >= 0 {
			s.rest = append(s.rest, buf[at+1:n]...)
			break
		}
	}
	s.done = s.ended && len(s.rest) == 0
	return copy(buf, line), nil
}
