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
	for i, line := range strings.Split(out.String(), "\n") {
		if n := utf8.RuneCountInString(line); n > 80 {
			t.Errorf("line %d has %d columns: %s", i+1, n, line)
		}
	}
	golden(t, "terminal.txt", out.Bytes())
}

func TestMarkdown(t *testing.T) {
	var out bytes.Buffer
	if err := report.Markdown(&out, fixture(t)); err != nil {
		t.Fatal(err)
	}
	golden(t, "report.md", out.Bytes())
}
