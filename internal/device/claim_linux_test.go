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

// What is in use is refused for reading too: the load would be felt by whoever uses it.
func TestInUse(t *testing.T) {
	needs(t, "mkfs.ext4", "mount", "sfdisk", "swapon")
	both := func(t *testing.T, path, reason string) {
		t.Helper()
		refused(t, path, toWrite, reason)
		refused(t, path, toRead, reason)
	}
	mount := func(t *testing.T, path string) (dir string) {
		dir = t.TempDir()
		run(t, "mkfs.ext4", "-q", path)
		run(t, "mount", path, dir)
		t.Cleanup(func() { run(t, "umount", dir) })
		return dir
	}
	t.Run("mounted", func(t *testing.T) {
		path, _ := loop(t)
		both(t, path, "is mounted at "+mount(t, path))
	})
	t.Run("a partition is mounted", func(t *testing.T) {
		path, image := loop(t)
		partition(t, path, "gpt")
		whole := attach(t, image, "--partscan")
		if _, err := os.Stat(whole + "p1"); err != nil {
			t.Skip("the kernel made no partition of a loop device")
		}
		both(t, whole, "through "+filepath.Base(whole)+"p1 is mounted at "+mount(t, whole+"p1"))
	})
	t.Run("behind a loop device", func(t *testing.T) {
		path, _ := loop(t)
		both(t, path, "is behind "+attach(t, path))
	})
	t.Run("a loop device over a mounted one", func(t *testing.T) {
		path, _ := loop(t)
		mount(t, path)
		both(t, attach(t, path), "through "+path+" is mounted at")
	})
	t.Run("swapped on", func(t *testing.T) {
		path, _ := loop(t)
		run(t, "mkswap", path)
		if err := exec.Command("swapon", path).Run(); err != nil {
			t.Skipf("swapon: %v; a kernel with swap is needed", err)
		}
		t.Cleanup(func() { run(t, "swapoff", path) })
		both(t, path, "is swapped on")
	})
	t.Run("open for writing", func(t *testing.T) {
		path, _ := loop(t)
		cmd := exec.Command("sh", "-c", `exec 3<>"$1"; echo; read wait`, "sh", path)
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { stdin.Close(); _ = cmd.Wait() })
		if _, err := stdout.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		both(t, path, "is open for writing by process")
	})
	t.Run("claimed", func(t *testing.T) {
		path, _ := loop(t)
		claimed(t, path, toWrite)
		both(t, path, "is in use, the kernel says")
	})
}

// What is stacked upon a device is told from the kernel's directories, made here as a machine with LVM, RAID and
// encryption has them.
func TestStacked(t *testing.T) {
	needs(t)
	path, _ := loop(t)
	sysfs := t.TempDir()
	number := run(t, "lsblk", "--noheadings", "--output", "MAJ:MIN", path)
	for file, text := range map[string]string{
		number + "/holders/dm-3/dev": "253:3", "253:3/dm/name": "vg-data", "253:3/dm/uuid": "LVM-q1",
		number + "/loop0p1/partition": "1", number + "/loop0p1/dev": "259:1",
		"259:1/holders/md127/dev": "9:127", "9:127/md/level": "raid0",
		"259:1/holders/dm-4/dev": "253:4", "253:4/dm/name": "secret", "253:4/dm/uuid": "CRYPT-1",
	} {
		file = filepath.Join(sysfs, "dev", "block", file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text+"\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	_, err := device.Host{Proc: "/proc", Sys: sysfs}.Claim(t.Context(), path, toRead)
	if err == nil {
		t.Fatal("a device that others are stacked upon was given")
	}
	for _, want := range []string{"is held by LVM (vg-data)", "through loop0p1 is held by RAID (md127)", "through loop0p1 is held by device-mapper (secret)"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nwant: %s", err, want)
		}
	}
}

func TestRootDisk(t *testing.T) {
	needs(t, "findmnt")
	source := run(t, "findmnt", "--noheadings", "--output", "SOURCE", "/")
	if !strings.HasPrefix(source, "/dev/") {
		t.Skipf("the root file system is on %s; on a machine with a disk of its own run: sudo go test ./internal/device", source)
	}
	_, err := device.This().Claim(t.Context(), source, toRead)
	var refused *device.RefusedError
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), "root disk") {
		t.Errorf("claim of %s: %v", source, err)
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
