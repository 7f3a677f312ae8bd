package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEmulateRefuses(t *testing.T) {
	dir := t.TempDir()
	image := filepath.Join(dir, "image")
	if err := os.WriteFile(image, make([]byte, 4096), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"--type", "gp3", "--credits", "5%"}, "gp3 volumes have none"},
		{[]string{"--size", "1000GiB", "--credits", "5%"}, "as fast for ever"},
		{[]string{"--image", dir}, "is a directory"},
		{[]string{"--image", image, "--size", "1GiB"}, "holds a volume of 4 KiB, not of 1 GiB"},
		{[]string{"--image", filepath.Join(dir, "none", "image")}, "no such file"},
	} {
		var stdout, stderr bytes.Buffer
		code := Main(t.Context(), append([]string{"ebscope", "emulate"}, tt.args...), &stdout, &stderr)
		if code != exitUsage || !strings.Contains(stderr.String(), tt.want) {
			t.Errorf("%v: exit code %d, %s; want one that says %q", tt.args, code, stderr.String(), tt.want)
		}
	}
}

func TestMountWouldHide(t *testing.T) {
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "data"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	linked := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink("/proc", linked); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{
		"/proc": "the proc that is mounted there", linked: "the proc that is mounted there", full: "not empty, and what is in it (data)",
	} {
		if err := vacant(dir); exitCode(err) != exitDeclined || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: error %v, want one that says %q", dir, err, want)
		}
	}
	if err := vacant(t.TempDir()); err != nil {
		t.Errorf("an empty directory: %v", err)
	}
}
