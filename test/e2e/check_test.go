package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The example has three statements that cannot be, two that can, and one that implies something.
func TestCheckExample(t *testing.T) {
	example, err := filepath.Abs(filepath.Join("..", "..", "docs", "examples", "claims.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	got := run(t, t.TempDir(), "check", example, "-o", "json")
	if got.code != 3 || !strings.Contains(got.stderr, "3 of 6 claims cannot be") {
		t.Errorf("exit %d, stderr %q; want 3 and three claims", got.code, got.stderr)
	}
	var document struct {
		Claims []struct {
			Name, Verdict string
			Line          int
			Findings      []struct{ Verdict, Law, Text string }
		}
	}
	if err := json.Unmarshal([]byte(got.stdout), &document); err != nil {
		t.Fatal(err)
	}
	want := []struct{ verdict, law string }{
		{"impossible", "ratio"}, {"impossible", "credits"}, {"impossible", "littles-law"}, {"possible", ""}, {"possible", ""}, {"implies", "credits"},
	}
	if len(document.Claims) != len(want) {
		t.Fatalf("%d claims, want %d", len(document.Claims), len(want))
	}
	for i, w := range want {
		c := document.Claims[i]
		if c.Verdict != w.verdict || c.Line == 0 || len(c.Findings) == 0 {
			t.Errorf("%s: %+v, want %s", c.Name, c, w.verdict)
		}
		for _, f := range c.Findings {
			if f.Verdict == w.verdict && w.law != "" && f.Law != w.law {
				t.Errorf("%s is %s by %s, want %s", c.Name, f.Verdict, f.Law, w.law)
			}
		}
	}
	text := run(t, t.TempDir(), "check", example)
	if !strings.Contains(text.stdout, "IMPOSSIBLE: p99 under 2 ms at queue depth 8\n  8 outstanding ÷ 2,900 IOPS = a mean of 2.76 ms") {
		t.Errorf("text:\n%s", text.stdout)
	}
	for line := range strings.Lines(text.stdout) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

func TestCheckWhatIsPossible(t *testing.T) {
	cmd := command(t, t.TempDir(), "check", "-")
	cmd.Stdin = strings.NewReader("claims: [{name: a gp3 volume, volume: {type: gp3, size: 100GiB}, result: {iops: 3000}}]")
	if got := finish(t, cmd, nil); got.code != 0 || !strings.HasPrefix(got.stdout, "possible: a gp3 volume\n") {
		t.Errorf("exit %d: %s%s", got.code, got.stdout, got.stderr)
	}
}

func TestCheckRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"claims:\n  - name: a\n    result: {iops: -1}":                   "line 3: IOPS",
		"claims:\n  - name: a\n    result: {p999: 1ms}":                  "line 3: key p999 is unknown in a result",
		"claims:\n  - name: a\n    region: x\n    result: {iops: 1}":     `line 2: claim "a": unknown region "x"`,
		"claims:\n  - name: a\n   result: {iops: 1}":                     "line 1: did not find",
		"claims:\n  - name: a\n    volume: {size: 1TB, type: gp3}\n":     "line 3: size \"1TB\" is in decimal TB",
		"claims:\n  - {name: \"\\e[31mred\", result: {iops_after: 300}}": "iops_after needs falls_after",
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "claims.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got := run(t, dir, "check", path)
		if got.code != 2 || !strings.Contains(got.stderr, want) || strings.Contains(got.stderr, "\x1b") || got.stdout != "" {
			t.Errorf("%q: exit %d, stdout %q, stderr %q; want 2 and %q", text, got.code, got.stdout, got.stderr, want)
		}
	}
	if got := run(t, t.TempDir(), "check", "missing.yaml"); got.code != 2 || !strings.Contains(got.stderr, "missing.yaml") {
		t.Errorf("a missing file: exit %d, %s", got.code, got.stderr)
	}
	if got := run(t, t.TempDir(), "check"); got.code != 2 || !strings.Contains(got.stderr, "a file of claims") {
		t.Errorf("no argument: exit %d, %s", got.code, got.stderr)
	}
}
