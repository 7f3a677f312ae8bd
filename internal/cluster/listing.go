package cluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"ebscope/internal/lazy"
	"ebscope/internal/units"
)

// Limits of what is taken from a results volume. A run of an hour leaves some hundred files and tens of MiB; a pod is not
// trusted to keep to that.
const (
	maxFiles   = 50_000
	maxFile    = 2 * units.GiB
	maxResults = 16 * units.GiB
	maxListing = 16 << 20 // bytes of text
)

// listScript prints the size and the sha256 of each file of the results in $1, each in lines of its own. A phase that is on
// its way is left out, unless $2 says that nothing is: then it was left by a pod that was lost.
const listScript = `cd "$1" || exit 1
ended=$2
set --
for f in phases/* pods done; do
	case $f in *.running) [ "$ended" = yes ] || continue ;; esac
	[ ! -e "$f" ] || set -- "$@" "$f"
done
[ $# -gt 0 ] || exit 0
find "$@" -type f ! -name '*.new' -exec wc -c {} + || exit 1
exec find "$@" -type f ! -name '*.new' -exec sha256sum {} +
`

// remoteFile is a file on the results volume.
type remoteFile struct {
	name string // with slashes, below the results
	size int64
	sum  string // sha256, hexadecimal
}

// Lines of listScript. Names are those that the runner and fio give, and nothing that could leave a folder. wc adds totals.
var (
	sizeForm = lazy.Regexp(`^ *([0-9]+) (` + nameForm + `|` + totalName + `)$`)
	sumForm  = lazy.Regexp(`^([0-9a-f]{64}) [ *](` + nameForm + `)$`)
)

const (
	totalName = "total"
	nameForm  = `(?:phases|pods)/[A-Za-z0-9][A-Za-z0-9._/-]*|done`
)

// UnsafeResultsError says that a results volume has something that no runner leaves there. Nothing of it was written.
type UnsafeResultsError struct {
	What string
}

func (e *UnsafeResultsError) Error() string {
	return "the results are not taken: " + e.What + "; see what is on the results volume"
}

// list asks for the files on a results volume.
func list(ctx context.Context, run shell, root string, ended bool) ([]remoteFile, error) {
	all := "no"
	if ended {
		all = "yes"
	}
	out := &limited{most: maxListing + 1}
	if err := run(ctx, nil, out, listScript, root, all); err != nil {
		return nil, err
	}
	if out.text.Len() > maxListing {
		return nil, &UnsafeResultsError{fmt.Sprintf("the list of their files is longer than %d bytes", maxListing)}
	}
	return parseListing(out.text.Bytes())
}

func parseListing(text []byte) (files []remoteFile, err error) {
	var total int64
	sizes := map[string]int64{}
	for line := range bytes.Lines(text) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		if m := sizeForm().FindSubmatch(line); m != nil {
			name := string(m[2])
			size, err := strconv.ParseInt(string(m[1]), 10, 64)
			if name != totalName && (err != nil || size > int64(maxFile)) {
				return nil, &UnsafeResultsError{fmt.Sprintf("%s has %s bytes, and %d is the most", name, m[1], int64(maxFile))}
			}
			sizes[name] = size
			continue
		}
		m := sumForm().FindSubmatch(line)
		if m == nil || !fs.ValidPath(string(m[2])) {
			return nil, &UnsafeResultsError{fmt.Sprintf("the list of their files has the line %.200q", line)}
		}
		f := remoteFile{name: string(m[2]), sum: string(m[1])}
		size, known := sizes[f.name]
		if !known {
			continue // it came while the list was made
		}
		delete(sizes, f.name)
		f.size = size
		files = append(files, f)
		if total += f.size; total > int64(maxResults) || len(files) > maxFiles {
			return nil, &UnsafeResultsError{fmt.Sprintf("they are more than %d files or %d bytes", maxFiles, int64(maxResults))}
		}
	}
	return files, nil
}

// missing returns the files that a folder does not have, or has otherwise.
func missing(dir *os.Root, files []remoteFile) (lacking []remoteFile, err error) {
	for _, f := range files {
		same, err := holds(dir, f)
		if err != nil {
			return nil, err
		}
		if !same {
			lacking = append(lacking, f)
		}
	}
	return lacking, nil
}

func holds(dir *os.Root, f remoteFile) (same bool, err error) {
	info, err := dir.Lstat(f.name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look at %s: %w", f.name, err)
	}
	if !info.Mode().IsRegular() || info.Size() != f.size {
		return false, nil
	}
	file, err := dir.Open(f.name)
	if err != nil {
		return false, fmt.Errorf("read what was collected before: %w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return false, fmt.Errorf("read what was collected before: %w", err)
	}
	return strings.EqualFold(hex.EncodeToString(sum.Sum(nil)), f.sum), nil
}
