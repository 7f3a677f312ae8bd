package device_test

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ebscope/internal/device"
	"ebscope/internal/units"
)

// needs skips a test for want of root or a program.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: sudo go test ./internal/device")
	}
	for _, p := range append(programs, "losetup", "wipefs") {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("%s is missing; run: scripts/install.sh %s", p, p)
		}
	}
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, stderr.String())
	}
	return strings.TrimSpace(string(out))
}

const size = 64 * units.MiB

// loop attaches a loop device over an empty file, or over another device.
func loop(t *testing.T, options ...string) (path, image string) {
	t.Helper()
	image = filepath.Join(t.TempDir(), "image")
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(image, int64(size)); err != nil {
		t.Fatal(err)
	}
	return attach(t, image, options...), image
}

func attach(t *testing.T, image string, options ...string) string {
	t.Helper()
	path := run(t, "losetup", append(options, "--find", "--show", image)...)
	t.Cleanup(func() { run(t, "losetup", "--detach", path) })
	return path
}

func checksum(t *testing.T, path string) [sha256.Size]byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		t.Fatal(err)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

var (
	toWrite = device.Use{Write: true, Length: size}
	toRead  = device.Use{Length: size}
)

// refused wants a claim to be refused for a reason, with not one byte changed.
func refused(t *testing.T, path string, use device.Use, reason string) {
	t.Helper()
	before := checksum(t, path)
	claim, err := device.This().Claim(t.Context(), path, use)
	var refused *device.RefusedError
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), reason) {
		t.Errorf("claim of %s: %v, want a refusal because it %q", path, err, reason)
	}
	if err == nil {
		_ = claim.Close()
	}
	if checksum(t, path) != before {
		t.Errorf("%s was changed by a refusal", path)
	}
}

func claimed(t *testing.T, path string, use device.Use) *device.Claim {
	t.Helper()
	claim, err := device.This().Claim(t.Context(), path, use)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = claim.Close() })
	return claim
}

func TestSignatures(t *testing.T) {
	needs(t, "mkfs.ext4", "sfdisk", "pvcreate", "mkswap")
	for name, tt := range map[string]struct {
		make   func(t *testing.T, path string)
		reason string
	}{
		"ext4": {func(t *testing.T, path string) { run(t, "mkfs.ext4", "-q", "-L", "a,b", path) }, "carries a signature of ext4"},
		"swap": {func(t *testing.T, path string) { run(t, "mkswap", path) }, "carries swap space"},
		"LVM":  {func(t *testing.T, path string) { run(t, "pvcreate", "--yes", path) }, "carries an LVM physical volume"},
		"gpt":  {func(t *testing.T, path string) { partition(t, path, "gpt") }, "carries a partition table (gpt)"},
		"dos":  {func(t *testing.T, path string) { partition(t, path, "dos") }, "carries a partition table (dos)"},
		"RAID": {raidMember, "carries a RAID member"},
	} {
		t.Run(name, func(t *testing.T) {
			path, _ := loop(t)
			tt.make(t, path)
			refused(t, path, toWrite, tt.reason)
			claimed(t, path, toRead) // reading does no harm
		})
	}
}

func TestXFS(t *testing.T) {
	needs(t, "mkfs.xfs")
	path, image := loop(t)
	if err := os.Truncate(image, 300<<20); err != nil { // the least that mkfs.xfs takes
		t.Fatal(err)
	}
	run(t, "losetup", "--set-capacity", path)
	run(t, "mkfs.xfs", "-q", path)
	refused(t, path, toWrite, "carries a signature of xfs")
}

func partition(t *testing.T, path, label string) {
	t.Helper()
	cmd := exec.Command("sfdisk", "--quiet", "--no-reread", path)
	cmd.Stdin = strings.NewReader("label: " + label + "\n,\n")
	_ = cmd.Run() // it fails where the kernel knows no partitions on loop devices, after it has written
}

// raidMember writes the superblock of Linux' RAID, version 1.2: 4 KiB from the beginning, magic 0xA92B4EFC, version 1, and
// at 128 the place of the superblock itself, in sectors (Documentation of the kernel's md driver).
func raidMember(t *testing.T, path string) {
	t.Helper()
	super := make([]byte, 256)
	binary.LittleEndian.PutUint32(super[0:], 0xA92B4EFC)
	binary.LittleEndian.PutUint32(super[4:], 1)
	binary.LittleEndian.PutUint64(super[144:], 8)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(super, 4096); err != nil {
		t.Fatal(err)
	}
}

func TestUnfit(t *testing.T) {
	needs(t)
	path, image := loop(t)
	refused(t, path, device.Use{Write: true, Length: size + 1}, "holds 64 MiB, but the profile's file_size is")
	refused(t, image, toWrite, "is no block device")
	readOnly, _ := loop(t, "--read-only")
	refused(t, readOnly, toWrite, "is read-only")
	claimed(t, readOnly, toRead)

	a, b := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	if err := errors.Join(os.Symlink(a, b), os.Symlink(b, a)); err != nil {
		t.Fatal(err)
	}
	for _, missing := range []string{a, "/dev/no-such-device"} {
		if _, err := device.This().Claim(t.Context(), missing, toWrite); err == nil || !strings.Contains(err.Error(), "cannot be found") {
			t.Errorf("claim of %s: %v", missing, err)
		}
	}
}

// A symbolic link is followed, as those of /dev/disk/by-id are meant to be, and both names are told.
func TestHeld(t *testing.T) {
	needs(t, "mkfs.ext4", "mount")
	path, _ := loop(t)
	link := filepath.Join(t.TempDir(), "data")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	claim := claimed(t, link, toWrite)
	if d := claim.Device(); d.Path != path || d.Size != size || d.Name != link || !strings.HasPrefix(d.String(), link+" ("+path+"), ") {
		t.Errorf("claimed %s: %+v", d, d)
	}
	if !claim.Overlaps(path) || claim.Overlaps("/dev/null") {
		t.Error("Overlaps does not tell the device from another")
	}
	if err := claim.Check(t.Context()); err != nil {
		t.Error(err)
	}

	// A file system that appears in between is seen before the first write, and cannot be mounted while the device is held.
	other, image := loop(t)
	run(t, "mkfs.ext4", "-q", other)
	text, err := os.ReadFile(image)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0); err != nil {
		t.Fatal(err)
	}
	if err := claim.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "carries a signature of ext4") {
		t.Errorf("check after a file system was written: %v", err)
	}
	if out, err := exec.Command("mount", path, t.TempDir()).CombinedOutput(); err == nil {
		t.Errorf("a held device could be mounted: %s", out)
	}

	// A link that leads elsewhere meanwhile is another device.
	if err := errors.Join(os.Remove(link), os.Symlink(other, link)); err != nil {
		t.Fatal(err)
	}
	if err := claim.Present(); err == nil || !strings.Contains(err.Error(), "is now another device") {
		t.Errorf("after the link has changed: %v", err)
	}
}
