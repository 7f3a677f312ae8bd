package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A simulation needs some hundred KiB, of which a file system of 64 KiB holds the first: nothing of it may be left.
func TestSimulateWithoutSpace(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs a small file system: sudo go test ./internal/cli")
	}
	small := t.TempDir()
	if err := syscall.Mount("tmpfs", small, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("%v; to run this test: sudo go test ./internal/cli", err)
	}
	defer func() {
		if err := syscall.Unmount(small, 0); err != nil {
			t.Error(err)
		}
	}()
	var stdout, stderr bytes.Buffer
	code := Main(t.Context(), []string{"ebscope", "simulate", "--compress", "60", "--runs", small}, &stdout, &stderr)
	if code != exitDeclined || !strings.Contains(stderr.String(), "no space") || !strings.Contains(stderr.String(), "--runs") {
		t.Errorf("exit code %d, %s", code, stderr.String())
	}
	if left, _ := filepath.Glob(filepath.Join(small, "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
