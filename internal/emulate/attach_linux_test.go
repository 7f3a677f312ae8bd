package emulate_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ebscope/internal/ebs"
	"ebscope/internal/emulate"
	"ebscope/internal/units"
)

// temporaryFolder is where temporary images go; nothing may be left there.
func temporaryFolder(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Cleanup(func() {
		if left, _ := filepath.Glob(dir + "/*"); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
	return dir
}

func TestTemporaryImageGoesWithTheVolume(t *testing.T) {
	records(t)
	dir := temporaryFolder(t)
	d, err := emulate.Attach(t.Context(), emulate.Config{Name: "gp2", Volume: gp2, FileOnly: true})
	skipUnavailable(t, err)
	if err != nil {
		t.Fatal(err)
	}
	if images, _ := filepath.Glob(dir + "/ebscope-*.img"); len(images) != 1 {
		t.Errorf("temporary images %v, want one", images)
	}
	if err := d.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

// A file system that cannot hold so large a file says so, and keeps nothing of it.
func TestImageTooLarge(t *testing.T) {
	records(t)
	dir := temporaryFolder(t)
	const size = 64 * units.TiB
	probe := newFile(t, "probe")
	if err := os.Truncate(probe, int64(size)); !errors.Is(err, unix.EFBIG) {
		t.Skipf("the file system of %s holds sparse files of %v (%v); on one that does not, such as ext4: TMPDIR=DIR go test ./internal/emulate", probe, size, err)
	}
	for _, image := range []string{"", filepath.Join(dir, "kept")} {
		d, err := emulate.Attach(t.Context(), emulate.Config{Name: "io2", Volume: ebs.Volume{Type: ebs.IO2, Size: size, IOPS: 1000}, Image: image})
		if err == nil {
			d.Close(context.Background())
		}
		if err == nil || !strings.Contains(err.Error(), "cannot hold a sparse file of 64 TiB") {
			t.Errorf("got %v, want an error that says that the file system cannot hold it", err)
		}
	}
}

// Whatever an interrupt makes fail, the error is the interrupt, and nothing is left.
func TestInterruptedAttach(t *testing.T) {
	transports(t, func(t *testing.T, cfg emulate.Config) {
		records(t)
		temporaryFolder(t)
		cfg.Name = "gp2"
		// The calibration alone takes half a second.
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(100*time.Millisecond, cancel)
		d, err := emulate.Attach(ctx, cfg)
		skipUnavailable(t, err)
		if err == nil {
			d.Close(context.Background())
		}
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
	})
}

func TestInterruptedFormat(t *testing.T) {
	needsRoot(t)
	records(t)
	d := attach(t, emulate.Config{Volume: gp2})
	needsBlock(t, d)
	bin := t.TempDir()
	if err := os.WriteFile(bin+"/mkfs.xfs", []byte("#!/bin/sh\nexec sleep 60\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	if err := d.Format(ctx, "xfs"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

// Without a kind, Mount finds out what is on the volume.
func TestMountWhatIsThere(t *testing.T) {
	needsRoot(t)
	t.Run("nothing", func(t *testing.T) {
		records(t)
		d := attach(t, emulate.Config{Volume: gp2})
		needsBlock(t, d)
		if _, err := d.Mount("", ""); err == nil || !strings.Contains(err.Error(), "no file system") {
			t.Errorf("mounting an empty volume: %v", err)
		}
	})
	for _, kind := range emulate.FileSystems() {
		t.Run(kind, func(t *testing.T) {
			if _, err := exec.LookPath("mkfs." + kind); err != nil {
				t.Skipf("needs mkfs.%s: apt-get install xfsprogs e2fsprogs btrfs-progs", kind)
			}
			if known, _ := os.ReadFile("/proc/filesystems"); !slices.Contains(strings.Fields(string(known)), kind) {
				t.Skipf("this kernel has no %s: modprobe %[1]s", kind)
			}
			records(t)
			image, want := filepath.Join(t.TempDir(), "image"), random(1, 1<<20)
			for i, mkfs := range []string{kind, ""} {
				d := attachOpen(t, emulate.Config{Volume: gp2, Image: image})
				needsBlock(t, d)
				if mkfs != "" {
					if err := d.Format(t.Context(), mkfs); err != nil {
						t.Fatal(err)
					}
				}
				dir, err := d.Mount("", "")
				if err != nil {
					t.Fatal(err)
				}
				file := filepath.Join(dir, "file")
				if i == 0 {
					err = os.WriteFile(file, want, 0o600)
				} else if got, _ := os.ReadFile(file); !bytes.Equal(got, want) {
					t.Errorf("read %d bytes, want the %d that were written", len(got), len(want))
				}
				if err := errors.Join(err, d.Close(context.Background())); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestCheckMount(t *testing.T) {
	var unavailable *emulate.Unavailable
	if os.Geteuid() != 0 {
		if err := emulate.CheckMount(""); !errors.As(err, &unavailable) {
			t.Errorf("without root: %v, want an Unavailable error", err)
		}
		return
	}
	t.Setenv("PATH", t.TempDir())
	if err := emulate.CheckMount("btrfs"); !errors.As(err, &unavailable) || !strings.Contains(err.Error(), "btrfs-progs") {
		t.Errorf("without mkfs.btrfs: %v, want an Unavailable error that names the package", err)
	}
	if err := emulate.CheckMount("zfs"); err == nil || errors.As(err, &unavailable) {
		t.Errorf("zfs: %v, want that it is not known", err)
	}
}

// A Ctrl-C while a volume is calibrated is an interrupt, and not a failure of the program that reads. It reads 175 times for
// 430 µs each, so that 20 ms are in the middle.
func TestInterruptedCalibration(t *testing.T) {
	d := attach(t, emulate.Config{Name: "gp2", Volume: gp2, FileOnly: true})
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if err := d.Calibrate(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want a cancellation", err)
	}
}
