package device_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ebscope/internal/device"
)

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
		run(t, "mount", "-o", "ro", path, dir) // or ext4 itself writes to it, seconds later
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
			t.Skip("the kernel made no partition of a loop device; after modprobe -r loop && modprobe loop max_part=8 it does")
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
			t.Skipf("swapon: %v; grep CONFIG_SWAP=y /boot/config-$(uname -r) shows a kernel that can", err)
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
