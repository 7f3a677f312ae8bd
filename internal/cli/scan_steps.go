package cli

import (
	"fmt"
	"io"
	"sync"
	"time"
	"unicode/utf8"
)

// How often steps says where it is: on a terminal, and in a log.
const (
	stepOnTerminal = 100 * time.Millisecond
	stepInLog      = 10 * time.Second
)

// steps says where something that takes its time is: on a terminal in one line that changes, elsewhere by a line now and then.
// What is done soon leaves no line behind. It is safe for concurrent use.
type steps struct {
	mu       sync.Mutex
	w        io.Writer
	terminal bool
	width    int
	last     time.Time
}

func newSteps(w io.Writer) *steps {
	s := &steps{w: w, last: time.Now()}
	s.width, s.terminal = terminal(w)
	return s
}

func (s *steps) at(format string, arguments ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pause := stepInLog
	if s.terminal {
		pause = stepOnTerminal
	}
	if time.Since(s.last) < pause {
		return
	}
	s.last = time.Now()
	text := visible(fmt.Sprintf(format, arguments...))
	if !s.terminal {
		fmt.Fprintln(s.w, text)
		return
	}
	if most := max(narrowest, s.width) - 1; utf8.RuneCountInString(text) > most {
		text = string([]rune(text)[:most])
	}
	fmt.Fprint(s.w, clearLine+text)
}

// clearLine goes to the line's beginning and empties it.
const clearLine = "\r\x1b[K"

func (s *steps) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.terminal {
		fmt.Fprint(s.w, clearLine)
	}
}
