package cli

import (
	"io"
	"syscall"
)

// resultWriter is stdout. It remembers the first error of writing to it.
type resultWriter struct {
	io.Writer
	err error
}

func (w *resultWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if w.err == nil {
		w.err = err
	}
	return n, err
}

// readerGone says whether nothing went wrong but that the reader of the output has gone, as head does when it has its
// lines.
func readerGone(err error) bool {
	switch e := err.(type) { //nolint:errorlint // every branch of the tree is looked at
	case interface{ Unwrap() []error }:
		for _, part := range e.Unwrap() {
			if !readerGone(part) {
				return false
			}
		}
		return true
	case interface{ Unwrap() error }:
		return readerGone(e.Unwrap())
	default:
		return err == syscall.EPIPE //nolint:errorlint // the end of a chain
	}
}
