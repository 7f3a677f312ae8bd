package report_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"ebscope/internal/report"
)

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; write it with: go test ./internal/report -update", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (-want +got); if that is meant: go test ./internal/report -update\n%s", path, diff)
	}
}

func TestTerminal(t *testing.T) {
	var out bytes.Buffer
	if err := report.Terminal(&out, fixture(t), 80, false); err != nil {
		t.Fatal(err)
	}
	golden(t, "terminal.txt", out.Bytes())
}

// Whatever the width, every line fits, and the phases keep their names and their IOPS.
func TestTerminalWidths(t *testing.T) {
	for _, width := range []int{1, 40, 45, 50, 59, 60, 70, 80, 120, 300} {
		var out bytes.Buffer
		if err := report.Terminal(&out, fixture(t), width, false); err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(out.String(), "\n") {
			if n := utf8.RuneCountInString(line); n > max(width, 40) {
				t.Errorf("width %d: line %d has %d columns: %s", width, i+1, n, line)
			}
		}
		for _, want := range []string{"randwrite-qd32", "2,299", "$114.00"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("width %d: there is no %s", width, want)
			}
		}
		for column, from := range map[string]int{"expected": 70, "p50 ms": 80} {
			if strings.Contains(out.String(), column) != (width >= from) {
				t.Errorf("width %d: shows the column %q: %v", width, column, width < from)
			}
		}
	}
}

// Names that leave no room for a drawing.
func TestTerminalWithLongNames(t *testing.T) {
	r := fixture(t)
	for i := range r.Document.Volumes {
		r.Document.Volumes[i].Name += strings.Repeat("x", 40)
	}
	for i := range r.Document.Phases {
		r.Document.Phases[i].Volume += strings.Repeat("x", 40)
	}
	if err := report.Terminal(new(bytes.Buffer), r, 40, false); err != nil {
		t.Fatal(err)
	}
}

// Each line that is styled ends its style, and others have none.
func TestTerminalStyles(t *testing.T) {
	var out bytes.Buffer
	if err := report.Terminal(&out, fixture(t), 80, true); err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(out.String(), "\n") {
		if resets := strings.Count(line, "\x1b[0m"); 2*resets != strings.Count(line, "\x1b[") {
			t.Errorf("%q ends a style that it did not begin, or the other way round", line)
		}
	}
	if !strings.Contains(out.String(), "\x1b[1m") {
		t.Error("nothing is bold")
	}
}

func TestMarkdown(t *testing.T) {
	var out bytes.Buffer
	if err := report.Markdown(&out, fixture(t)); err != nil {
		t.Fatal(err)
	}
	golden(t, "report.md", out.Bytes())
}
