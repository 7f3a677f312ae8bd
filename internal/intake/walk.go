package intake

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ebscope/internal/fio/log"
	"ebscope/internal/result"
)

// path reads everything at a path that the user gave.
func (f *finder) path(path string, stdin io.Reader) error {
	switch {
	case path == "":
		return &ArgumentError{`an empty path was given: name a file, a folder, or "-" for the standard input`}
	case path == Stdin && f.stdin:
		return &ArgumentError{`the standard input ("-") can be read once, and was given twice`}
	case path == Stdin:
		f.stdin = true
		r := abandonable(f.ctx, func() (io.ReadCloser, error) { return io.NopCloser(stdin), nil })
		defer r.Close()
		return ended(f.here("stdin", func(c *collector) error { return c.piece(piece{name: "stdin", r: r, given: true}) }))
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return ended(f.folder(path))
	case err == nil:
		return ended(f.file(path, true))
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("open the results: %w", err)
	}
	found, glob := matching(path)
	if len(found) == 0 {
		return &MissingError{Path: path, Glob: glob}
	}
	for _, each := range found {
		read := func() error { return f.file(each, true) }
		if info, err := os.Stat(each); err == nil && info.IsDir() {
			read = func() error { return f.folder(each) }
		}
		if err := read(); err != nil {
			return ended(err)
		}
	}
	return nil
}

// ended turns the end of a search into none.
func ended(err error) error {
	if errors.Is(err, errTooMany) {
		return nil
	}
	return err
}

// matching returns the files that a path stands for which does not exist itself: a glob that no shell has expanded, or a
// prefix of logs, and the JSON that belongs to it.
func matching(path string) (found []string, glob bool) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err == nil {
		for _, e := range entries {
			file := filepath.Join(filepath.Dir(path), e.Name())
			name, ok := log.ParseName(file)
			if !e.IsDir() && (ok && name.Prefix == filepath.Clean(path) || file == filepath.Clean(path)+".json") {
				found = append(found, file)
			}
		}
	}
	if len(found) > 0 || !strings.ContainsAny(path, "*?[") {
		return found, false
	}
	found, err = filepath.Glob(path)
	if err != nil {
		return nil, true // a pattern that is none matches nothing
	}
	return found, true
}

// folder reads everything in a folder.
func (f *finder) folder(root string) error {
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		hidden := strings.HasPrefix(entry.Name(), ".") && path != root && entry.Name() != ".."
		switch {
		case err != nil:
			f.part().skip(path, "cannot be read: %v", err)
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.IsDir() && hidden:
			return fs.SkipDir
		case hidden:
			return nil
		case entry.IsDir() && depth(root, path) > maxDepth:
			f.part().skip(path, "is left out: it is more than %d folders deep", maxDepth)
			return fs.SkipDir
		case entry.IsDir() && isRun(path):
			read := func(c *collector) error { c.run(path); return c.ctx.Err() }
			if err := f.here(path, read); err != nil {
				return err
			}
			return fs.SkipDir
		case entry.IsDir():
			return nil
		}
		// A link may lead to a file, but not to a folder, which could lead back here.
		info, err := os.Stat(path)
		switch {
		case err != nil:
			f.part().skip(path, "cannot be read: %v", err)
			return nil
		case !info.Mode().IsRegular():
			f.part().skip(path, "is no file but %s", kindOf(info))
			return nil
		}
		return f.file(path, false)
	})
}

func depth(root, path string) int {
	inside, err := filepath.Rel(root, path)
	if err != nil || inside == "." {
		return 0
	}
	return 1 + strings.Count(inside, string(filepath.Separator))
}

func kindOf(info fs.FileInfo) string {
	switch {
	case info.IsDir():
		return "a link to a folder"
	case info.Mode()&fs.ModeDevice != 0:
		return "a device"
	default:
		return "a pipe or a socket"
	}
}

// isRun says whether a folder is a run directory of ebscope.
func isRun(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, result.RunFile))
	return err == nil && info.Mode().IsRegular()
}

// file reads a file on disk, once.
func (f *finder) file(path string, given bool) error {
	if absolute, err := filepath.Abs(path); err == nil {
		if target, err := filepath.EvalSymlinks(absolute); err == nil {
			absolute = target // a link beside what it leads to is no second result
		}
		if f.seen[absolute] {
			return nil
		}
		f.seen[absolute] = true
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.Mode()&(fs.ModeNamedPipe|fs.ModeCharDevice) != 0:
		return f.here(path, func(c *collector) error {
			r := abandonable(c.ctx, func() (io.ReadCloser, error) { return os.Open(path) })
			defer r.Close()
			return c.piece(piece{name: path, r: r, given: given})
		})
	case err == nil && info.Mode().IsRegular() && info.Size() <= small:
		return f.beside(path, func(c *collector) error { return c.file(path, given) })
	default:
		return f.here(path, func(c *collector) error { return c.file(path, given) })
	}
}

// file reads a file on disk.
func (c *collector) file(path string, given bool) error {
	f, err := os.Open(path)
	if err != nil {
		c.skip(path, "cannot be read: %v", errors.Unwrap(err))
		return nil
	}
	defer f.Close()
	return c.piece(piece{name: path, r: f, given: given})
}

// companions are the kinds of files that lie beside results, and are no results.
var companions = []string{".fio", ".ini", ".job", ".sh", ".py", ".md", ".html", ".png", ".svg", ".pdf", ".yaml", ".yml", ".gp", ".gnuplot"}

func companion(name string) bool {
	name = strings.ToLower(filepath.Base(name))
	return slices.Contains(companions, filepath.Ext(name)) || strings.HasPrefix(name, "readme") || strings.HasPrefix(name, "license") || name == "stderr"
}
