package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"ebscope/internal/ebs"
	"ebscope/internal/migration"
)

// readable carries out a command line whose output keeps to a terminal's width.
func readable(t *testing.T, words ...string) (stdout, stderr string, code int) {
	t.Helper()
	stdout, stderr, code = plain(t, words...)
	for line := range strings.SplitSeq(stdout, "\n") {
		if utf8.RuneCountInString(line) > plainWidth && !strings.Contains(line, os.TempDir()) { // but for a path
			t.Errorf("%d columns: %s", utf8.RuneCountInString(line), line)
		}
	}
	return stdout, stderr, code
}

// A plan is made, applied, looked at, and taken back.
func TestMigrate(t *testing.T) {
	e := newEstate(t)
	e.aws.Run(10_000)
	path := filepath.Join(t.TempDir(), "plan.json")
	out, told, code := readable(t, "plan", "--out", path)
	if code != exitDone || !strings.Contains(out, "vol-1") || !strings.Contains(out, "shop/data-db-0") || strings.Contains(out, "vol-2") || !strings.Contains(out, "ebscope migrate apply") {
		t.Fatalf("plan: %d\n%s%s", code, out, told)
	}
	// Seoul: 110 GiB at 0.114 become 110 at 0.0912 USD.
	if !strings.Contains(out, "$12.54 a month become $10.032") {
		t.Errorf("money: %s", out)
	}
	withoutDefaults(t, path)
	if out, _, code := readable(t, "status", path); code != exitDone || !strings.Contains(out, "not begun") {
		t.Errorf("status before: %d\n%s", code, out)
	}
	if out, _, code := readable(t, "apply", path, "--dry-run"); code != exitDone || !strings.Contains(out, "2 pending") || len(e.aws.Calls("ModifyVolume")) > 0 {
		t.Errorf("dry run: %d\n%s", code, out)
	}
	out, told, code = plain(t, "apply", path, "--poll", "20ms", "-o", "json")
	var d migrationStatus
	if err := json.Unmarshal([]byte(out), &d); err != nil || code != exitDone || d.Counts.Done != 2 || d.Counts.Steps != 2 || d.Steps[0].State != "done" {
		t.Fatalf("apply: %d, %v\n%s%s", code, err, out, told)
	}
	if _, told, code := readable(t, "plan", "--out", path); code != exitDeclined || !strings.Contains(told, "was begun") {
		t.Errorf("over a begun plan: %d %s", code, told)
	}
	out, told, code = readable(t, "rollback", path, "--poll", "20ms")
	if code != exitDone || !strings.Contains(told, "credits") {
		t.Fatalf("rollback: %d\n%s%s", code, out, told)
	}
	for id, want := range map[string]int{"vol-1": 2, "vol-3": 2} {
		all := e.aws.Modifications(id)
		if len(all) != want || all[1].Target.Type != "gp2" {
			t.Errorf("%s was changed %d times: %+v", id, len(all), all)
		}
	}
	if out, _, _ := readable(t, "status", path); !strings.Contains(out, "taken back. Of these: 2 done") {
		t.Errorf("status afterwards: %s", out)
	}
}

func TestMigrateWrongUse(t *testing.T) {
	e := newEstate(t)
	path := filepath.Join(t.TempDir(), "plan.yaml")
	if out, told, code := readable(t, "plan", "--out", path); code != exitDone {
		t.Fatalf("plan: %d\n%s%s", code, out, told)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	edited := filepath.Join(t.TempDir(), "edited.yaml")
	if err := os.WriteFile(edited, bytes.ReplaceAll(text, []byte("iops: 3000"), []byte("iops: 90000")), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		words string
		code  int
		says  string
	}{
		{"apply " + edited, exitUsage, "step vol-1 (shop/data-db-0): to: gp3 takes 3,000 to 80,000 IOPS"},
		{"apply nowhere.json", exitUsage, "nowhere.json"},
		{"rollback " + path, exitDeclined, "nothing of"},
		{"apply " + path + " --in-flight 0", exitUsage, "--in-flight"},
		{"plan --dearer no", exitUsage, "--dearer"},
		{"plan --maintenance-window soon", exitUsage, "--maintenance-window"},
		{"plan --emit bash", exitUsage, "--emit"},
		{"plan --failure-budget -1", exitUsage, "--failure-budget"},
		{"plan --journal nowhere", exitUsage, "--journal"},
	} {
		if out, told, code := readable(t, strings.Fields(tt.words)...); code != tt.code || !strings.Contains(told, tt.says) {
			t.Errorf("%s: %d %s%s; want %d %q", tt.words, code, out, told, tt.code, tt.says)
		}
	}
	if n := len(e.aws.Calls("ModifyVolume")); n > 0 {
		t.Errorf("%d changes", n)
	}
	for _, form := range migration.Forms() {
		if out, _, code := plain(t, "plan", "--emit", string(form)); code != exitDone || !strings.Contains(out, "vol-1") {
			t.Errorf("--emit %s: %d %s", form, code, out)
		}
	}
}

// plain carries out a command line.
func plain(t *testing.T, words ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, told bytes.Buffer
	code = Main(t.Context(), append([]string{"ebscope", "migrate"}, words...), &out, &told)
	return out.String(), told.String(), code
}

// withoutDefaults takes the default StorageClass out of a plan, as a reviewer may: the fake cluster makes no classes.
func withoutDefaults(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := migration.Read(bytes.NewReader(text), ebs.Embedded())
	if err != nil || len(p.Defaults) != 1 {
		t.Fatal(p.Defaults, err)
	}
	p.Defaults = nil
	var edited bytes.Buffer
	if err := migration.Write(&edited, p); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, edited.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}
