package cli

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// Help fits a plain terminal, but for examples, which are copied as they are.
func TestHelpFits(t *testing.T) {
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		args := append(strings.Fields(cmd.CommandPath()), "--help")
		var stdout, stderr bytes.Buffer
		if code := Main(t.Context(), args, &stdout, &stderr); code != exitDone || stderr.Len() > 0 {
			t.Errorf("%v: exit code %d, %s", args, code, stderr.String())
		}
		examples := false
		for line := range strings.SplitSeq(stdout.String(), "\n") {
			if line != "" && line[0] != ' ' {
				examples = line == "Examples:"
			}
			if n := utf8.RuneCountInString(line); n > plainWidth && !examples && len(strings.Fields(line)) > 1 { // a word cannot be broken
				t.Errorf("%v: %d columns: %s", args, n, line)
			}
		}
		for _, c := range cmd.Commands() {
			visit(c)
		}
	}
	visit(newRootCommand())
}

func TestReflowed(t *testing.T) {
	long := strings.Repeat("word ", 20) // 16 words of 5 are 79 columns without the last space
	got := reflowed(long + "\nand\n\n  as it    is\nend")
	want := strings.TrimSpace(strings.Repeat("word ", 16)) + "\nword word word word and\n\n  as it    is\nend\n"
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
