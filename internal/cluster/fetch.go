package cluster

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
)

// sendScript sends the files below $1 whose names it is given, a line each up to a line with a dot.
const sendScript = `cd "$1" || exit 1
set --
while IFS= read -r f && [ "$f" != . ]; do set -- "$@" "$f"; done
exec tar -cf - "$@"
`

// batch is how many files are sent in one stream: their names have to fit a command line there.
const batch = 500

// partSuffix is of a file that is not whole yet.
const partSuffix = ".part"

// localError is a fault on this side, for which asking again is of no use.
type localError struct{ err error }

func (e *localError) Error() string { return e.err.Error() }
func (e *localError) Unwrap() error { return e.err }

// fetch writes files of a results volume below a folder, and calls got for each that is whole. What comes and is not one of
// them is refused; what comes damaged is left out, and is missing afterwards.
func fetch(ctx context.Context, run shell, root string, dir *os.Root, files []remoteFile, got func(remoteFile)) error {
	for len(files) > 0 {
		some := files[:min(batch, len(files))]
		files = files[len(some):]
		if err := fetchBatch(ctx, run, root, dir, some, got); err != nil {
			return err
		}
	}
	return nil
}

func fetchBatch(ctx context.Context, run shell, root string, dir *os.Root, files []remoteFile, got func(remoteFile)) error {
	var names strings.Builder
	wanted := make(map[string]remoteFile, len(files))
	for _, f := range files {
		names.WriteString(f.name + "\n")
		wanted[f.name] = f
	}
	names.WriteString(".\n")
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, to := io.Pipe()
	sent := make(chan error, 1)
	go func() {
		err := run(ctx, strings.NewReader(names.String()), to, sendScript, root)
		to.CloseWithError(err) // nil is the end of the stream
		sent <- err
	}()
	err := unpack(stream, dir, wanted, got)
	if err == nil {
		// tar pads its end, and fails after it.
		_, err = io.Copy(io.Discard, stream)
	}
	cancel()
	stream.CloseWithError(err)
	if remote := <-sent; remote != nil && !errors.Is(remote, context.Canceled) {
		var local *localError
		var unsafe *UnsafeResultsError
		if !errors.As(err, &local) && !errors.As(err, &unsafe) {
			return remote
		}
	}
	return err
}

func unpack(stream io.Reader, dir *os.Root, wanted map[string]remoteFile, got func(remoteFile)) error {
	archive := tar.NewReader(stream)
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the results: %w", err)
		}
		f, ok := wanted[h.Name]
		switch {
		case !ok:
			return &UnsafeResultsError{fmt.Sprintf("%.200q came without being asked for", h.Name)}
		case h.Typeflag != tar.TypeReg:
			return &UnsafeResultsError{f.name + " came as something else than a file"}
		}
		delete(wanted, h.Name) // once
		if h.Size != f.size {
			continue // it has changed since it was listed
		}
		whole, err := store(archive, dir, f)
		if err != nil {
			return err
		}
		if whole {
			got(f)
		}
	}
}

// store writes a file beside its place and puts it there once it is known to be whole.
func store(from io.Reader, dir *os.Root, f remoteFile) (whole bool, err error) {
	if err := dir.MkdirAll(path.Dir(f.name), 0o755); err != nil {
		return false, &localError{fmt.Errorf("make a folder for the results: %w", err)}
	}
	part := f.name + partSuffix
	file, err := dir.Create(part)
	if err != nil {
		return false, &localError{fmt.Errorf("write the results: %w", err)}
	}
	sum := sha256.New()
	to := &writer{file: file}
	_, err = io.Copy(io.MultiWriter(to, sum), io.LimitReader(from, f.size))
	if closeErr := file.Close(); to.err == nil {
		to.err = closeErr
	}
	whole = err == nil && to.err == nil && hex.EncodeToString(sum.Sum(nil)) == f.sum
	if whole {
		to.err = dir.Rename(part, f.name)
	}
	if to.err != nil {
		_ = dir.Remove(part) // the fault is told already
		return false, &localError{fmt.Errorf("write the results: %w", to.err)}
	}
	if !whole {
		_ = dir.Remove(part) // it is written over by the next attempt
	}
	if err != nil {
		return false, fmt.Errorf("read the results: %w", err)
	}
	return whole, nil
}

// writer tells a fault of the disk from one of the stream.
type writer struct {
	file *os.File
	err  error
}

func (w *writer) Write(p []byte) (int, error) {
	n, err := w.file.Write(p)
	if err != nil {
		w.err = err
	}
	return n, err
}
