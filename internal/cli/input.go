package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"ebscope/internal/lazy"
)

// maxProfile bounds what is read as a profile before it is parsed; a real one is a few KiB.
const maxProfile = 1 << 20

// readLimited reads a file, or a pipe, of a bounded size.
func readLimited(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("%s is larger than %d bytes", path, limit)
	}
	return text, err
}

var plainWord = lazy.Regexp(`^[A-Za-z0-9_./:=,@%+-]+$`)

// quoted puts a word of a command line in quotes where a shell needs them.
func quoted(word string) string {
	if plainWord().MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
