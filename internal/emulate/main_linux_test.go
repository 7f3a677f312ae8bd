package emulate_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ebscope/internal/ebs"
	"ebscope/internal/emulate"
	"ebscope/internal/units"
)

const (
	runtimeVariable = "EBSCOPE_RUNTIME_DIR"
	victimVariable  = "EBSCOPE_TEST_VICTIM"
)

func TestMain(m *testing.M) {
	if os.Getenv(victimVariable) != "" {
		if err := victim(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// victim attaches and mounts a volume, says so, and waits to be killed.
func victim() error {
	d, err := emulate.Attach(context.Background(), emulate.Config{Name: "victim", Volume: gp2})
	if err != nil {
		return err
	}
	dir := ""
	if d.Block() {
		if err := d.Format(context.Background(), "xfs"); err != nil {
			return err
		}
		if dir, err = d.Mount("xfs", ""); err != nil {
			return err
		}
	}
	fmt.Println(d.Path(), dir)
	time.Sleep(time.Hour)
	return nil
}

var (
	gp2 = ebs.Volume{Type: ebs.GP2, Size: 100 * units.GiB}
	gp3 = ebs.Volume{Type: ebs.GP3, Size: 100 * units.GiB}
)

// records puts the records of the test's volumes into a directory of their own, and checks that nothing is left of
// them when the test is over.
func records(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "runtime")
	t.Setenv(runtimeVariable, dir)
	t.Cleanup(func() {
		if left, _ := filepath.Glob(dir + "/*"); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
		if lines := mountsBelow(t, dir); len(lines) > 0 {
			t.Errorf("still mounted: %v", lines)
		}
		if loops := loopsBelow(dir); len(loops) > 0 {
			t.Errorf("still attached: %v", loops)
		}
	})
	return dir
}

func mountsBelow(t *testing.T, dir string) (lines []string) {
	t.Helper()
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(table)) {
		if strings.Contains(line, dir) {
			lines = append(lines, line)
		}
	}
	return lines
}

func loopsBelow(dir string) (backing []string) {
	files, _ := filepath.Glob("/sys/block/loop*/loop/backing_file")
	for _, file := range files {
		if path, _ := os.ReadFile(file); strings.HasPrefix(string(path), dir) {
			backing = append(backing, file)
		}
	}
	return backing
}

// attach attaches a volume for the length of the test.
func attach(t *testing.T, cfg emulate.Config) *emulate.Device {
	t.Helper()
	d := attachOpen(t, cfg)
	t.Cleanup(func() {
		if err := d.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return d
}

// attachOpen attaches a volume that the test closes itself. A machine without FUSE skips the test.
func attachOpen(t *testing.T, cfg emulate.Config) *emulate.Device {
	t.Helper()
	if cfg.Name == "" {
		cfg.Name = string(cfg.Volume.Type)
	}
	if cfg.Image == "" {
		cfg.Image = filepath.Join(t.TempDir(), "image")
	}
	d, err := emulate.Attach(t.Context(), cfg)
	skipUnavailable(t, err)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func skipUnavailable(t *testing.T, err error) {
	t.Helper()
	var unavailable *emulate.Unavailable
	if errors.As(err, &unavailable) {
		t.Skipf("%v; to run this test: modprobe fuse, apt-get install fuse3, be root", err)
	}
}

func needsBlock(t *testing.T, d *emulate.Device) {
	t.Helper()
	if !d.Block() {
		t.Skip("needs a loop device: run as root with /dev/loop-control (modprobe loop)")
	}
}

func needsRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: sudo go test ./internal/emulate")
	}
}
