// Package intake finds results that any tool wrote: in files, folders, archives and on the standard input. It tells each
// piece by its content, reads it, and joins logs to the jobs that wrote them. A piece that cannot be used is a note, and
// the rest is still read.
package intake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"ebscope/internal/result"
)

// Stdin is the path that stands for the standard input.
const Stdin = "-"

// Bounds on what is read, so that no archive and no folder keeps the program busy for ever.
const (
	maxEntries = 100_000 // files of all paths together
	maxDepth   = 32      // folders in one another, in an archive or on disk
	maxNested  = 4       // packings around one another, such as a gzip in a tar in a gzip
)

// MissingError says that there is nothing at a path.
type MissingError struct {
	Path string
	Glob bool
}

func (e *MissingError) Error() string {
	if e.Glob {
		return fmt.Sprintf("%s matches no file", e.Path)
	}
	return fmt.Sprintf("%s does not exist, and no log has it for a prefix (%s_iops.1.log)", e.Path, e.Path)
}

// Unwrap makes it an fs.ErrNotExist.
func (e *MissingError) Unwrap() error { return fs.ErrNotExist }

// ArgumentError says that a path is none.
type ArgumentError struct{ text string }

func (e *ArgumentError) Error() string { return e.text }

// NothingError says that no result was found.
type NothingError struct {
	Paths []string
	Notes []result.Note // what was there instead
}

// Expected names what is read.
const Expected = "fio's JSON (--output-format=json or json+) or terse output, fio's logs (write_iops_log and others), CrystalDiskMark's saved text, or a run directory of ebscope"

func (e *NothingError) Error() string {
	text := fmt.Sprintf("no result in %s; expected %s", strings.Join(e.Paths, ", "), Expected)
	const most = 10
	for i, n := range e.Notes {
		if i == most {
			return text + fmt.Sprintf("\n… and %d more", len(e.Notes)-most)
		}
		text += "\n" + Line(n)
	}
	return text
}

// Line says a note in a line, with its place.
func Line(n result.Note) string {
	switch {
	case n.File == "" || strings.HasPrefix(n.Text, n.File):
		return n.Text
	case n.Line > 0:
		return fmt.Sprintf("%s:%d: %s", n.File, n.Line, n.Text)
	default:
		return n.File + ": " + n.Text
	}
}

// Open reads every result at the paths. A path is a file, a folder with everything in it, a glob, a prefix of logs, an
// archive (tar, gzip, zstd, bzip2), or Stdin. A MissingError says that there is nothing at a path, a NothingError that
// nothing at them is a result. What was left out, or read with doubt, is in the notes.
func Open(ctx context.Context, paths []string, stdin io.Reader, o Options) ([]result.Reading, []result.Note, error) {
	// Of a large log only sums are kept: collecting often costs no time, and keeps memory near what they take.
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	f := newFinder(ctx, o)
	defer f.end()
	for _, path := range paths {
		if err := f.path(path, stdin); err != nil {
			return nil, nil, err
		}
	}
	c, err := f.collected()
	if err != nil {
		return nil, nil, err
	}
	c.join()
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	if len(c.readings) == 0 {
		return nil, nil, &NothingError{Paths: paths, Notes: c.notes}
	}
	return c.readings, c.notes, nil
}

// Options is what the user knows beside the files. All of it may be left out.
type Options struct {
	// LatencyUnit is that of latencies in logs of which neither a line nor a document beside them shows it.
	LatencyUnit time.Duration
}

// collector gathers what is found in a piece, or in all.
type collector struct {
	ctx      context.Context // of the call that it lives for
	options  Options
	entries  *atomic.Int64   // files of all paths
	workers  int             // of a log; zero is all
	names    map[string]bool // of pieces
	readings []result.Reading
	logs     []logFile
	owned    []string // run directories of ebscope in archives, whose files are not somebody else's
	notes    []result.Note
}

// skip records that a piece was left out.
func (c *collector) skip(file string, format string, args ...any) {
	c.notes = append(c.notes, result.Note{Source: result.Source{File: file}, Text: fmt.Sprintf(format, args...), Skipped: true})
}

// remark records what a reader should know about a piece that was read, or that is no result by its nature.
func (c *collector) remark(file string, format string, args ...any) {
	c.notes = append(c.notes, result.Note{Source: result.Source{File: file}, Text: fmt.Sprintf(format, args...)})
}

// errTooMany ends the search.
var errTooMany = errors.New("too many files")

// count counts a file, and returns an error where there are too many.
func (c *collector) count(file string) error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	n := c.entries.Add(1)
	if n == maxEntries+1 {
		c.skip(file, "this and what follows was left out: there are more than %d files", maxEntries)
	}
	if n > maxEntries {
		return errTooMany
	}
	return nil
}
