package e2e

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// loopDevice attaches a loop device over an empty file.
func loopDevice(t *testing.T) (path, image string) {
	t.Helper()
	needs(t, "fio", "losetup", "wipefs", "mkfs.ext4")
	if os.Geteuid() != 0 {
		t.Skip("needs root: sudo go test ./test/e2e")
	}
	image = filepath.Join(t.TempDir(), "image")
	if err := os.WriteFile(image, make([]byte, 64<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("losetup", "--find", "--show", image).Output()
	if err != nil {
		t.Fatal(err)
	}
	path = strings.TrimSpace(string(out))
	t.Cleanup(func() {
		if out, err := exec.Command("losetup", "--detach", path).CombinedOutput(); err != nil {
			t.Errorf("detach %s: %v: %s", path, err, out)
		}
	})
	return path, image
}

func content(t *testing.T, path string) [sha256.Size]byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return sha256.Sum256(text)
}

// A device is written to only where it is named again and holds nothing; what is refused stays as it was to the last byte.
func TestDevice(t *testing.T) {
	path, image := loopDevice(t)
	dir := t.TempDir()
	for name, phase := range map[string]string{
		"writes.yaml": `  - {name: read, volume: disk, rw: randread, block_size: 4KiB, queue_depth: 4, duration: 1s}`,
		"reads.yaml":  "",
	} {
		text := diskProfile + phase
		if phase == "" {
			text = strings.ReplaceAll(diskProfile, "rw: write,", "rw: randread, duration: 1s,")
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	bench := func(profile string, more ...string) outcome {
		return run(t, dir, append([]string{"bench", "--profile", profile, "--target", "device", "--device", "disk=" + path, "-o", "json"}, more...)...)
	}
	refuse := func(why string, o outcome, words ...string) {
		t.Helper()
		for _, w := range words {
			if o.code != 4 || !strings.Contains(o.stderr, w) {
				t.Errorf("%s: exit %d, want 4 and %q\n%s", why, o.code, w, o.stderr)
			}
		}
		if runs, _ := filepath.Glob(filepath.Join(dir, "runs", "*")); len(runs) > 0 {
			t.Errorf("%s: left %v", why, runs)
		}
	}

	empty := content(t, image)
	refuse("not named again", bench("writes.yaml"), "--destructive "+path, "64 MiB")
	if content(t, image) != empty {
		t.Error("the device was written to without --destructive")
	}
	if out, err := exec.Command("mkfs.ext4", "-q", path).CombinedOutput(); err != nil {
		t.Fatalf("mkfs.ext4: %v: %s", err, out)
	}
	formatted := content(t, image)
	refuse("a file system", bench("writes.yaml", "--destructive", path), "carries a signature of ext4", "wipefs --all")
	if o := bench("reads.yaml"); o.code != 0 || parse(t, o.stdout).Run.Target != "device" {
		t.Errorf("only reading: exit %d\n%s", o.code, o.stderr)
	}
	if content(t, image) != formatted {
		t.Error("a device with a file system was changed")
	}
	if o := bench("writes.yaml", "--destructive", "/dev/other"); o.code != 2 {
		t.Errorf("another device named: exit %d, want 2\n%s", o.code, o.stderr)
	}

	if out, err := exec.Command("wipefs", "--all", path).CombinedOutput(); err != nil {
		t.Fatalf("wipefs: %v: %s", err, out)
	}
	o := bench("writes.yaml", "--destructive", path)
	if o.code != 0 {
		t.Fatalf("exit %d\n%s", o.code, o.stderr)
	}
	if p := parse(t, o.stdout).phase(t, "disk", "read"); p.IOPS.FioMean <= 0 {
		t.Errorf("read: %+v", p)
	}
	nothingLeft(t, filepath.Join(dir, "runtime"))
}

// One device cannot stand for two volumes, by whatever names.
func TestDeviceTwice(t *testing.T) {
	path, image := loopDevice(t)
	before := content(t, image)
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	volumes, phases, _ := strings.Cut(diskProfile, "phases:\n")
	two := volumes + "  - {name: other, type: gp2, size: 100GiB}\nphases:\n" + phases + strings.ReplaceAll(phases, "disk", "other")
	if err := os.WriteFile(filepath.Join(dir, "two.yaml"), []byte(two), 0o600); err != nil {
		t.Fatal(err)
	}
	o := run(t, dir, "bench", "--profile", "two.yaml", "--target", "device", "--device", "disk="+path, "--device", "other="+link,
		"--destructive", path, "--destructive", link)
	if o.code != 4 || !strings.Contains(o.stderr, "volumes disk and other are both on "+path) {
		t.Errorf("exit %d, want 4\n%s", o.code, o.stderr)
	}
	if content(t, image) != before {
		t.Error("the device was changed")
	}
}

// A device without counters of its own says so.
func TestStatsOfAnotherDevice(t *testing.T) {
	path, _ := loopDevice(t)
	if o := run(t, t.TempDir(), "stats", path); o.code != 4 || !strings.Contains(o.stderr, "has no NVMe statistics") {
		t.Errorf("exit %d, want 4\n%s", o.code, o.stderr)
	}
	if o := run(t, t.TempDir(), "stats", path, "--interval", "10ms"); o.code != 2 {
		t.Errorf("ten times a second: exit %d, want 2\n%s", o.code, o.stderr)
	}
}

// A path given without its target is a mistake of the user.
func TestDeviceWrongUse(t *testing.T) {
	needs(t)
	for _, args := range [][]string{
		{"bench", "--device", "gp2=/dev/null"},
		{"bench", "--target", "device"},
		{"bench", "--destructive", "/dev/null"},
		{"bench", "--target", "device", "--device", "gp9=/dev/null"},
	} {
		if o := run(t, t.TempDir(), args...); o.code != 2 {
			t.Errorf("%v: exit %d, want 2\n%s", args, o.code, o.stderr)
		}
	}
}

// A benchmark that was not alone says so, and how much the other did: here 500 IOPS beside 2,000.
func TestNeighbour(t *testing.T) {
	path, _ := loopDevice(t)
	dir := t.TempDir()
	volumes, _, _ := strings.Cut(diskProfile, "phases:\n")
	text := volumes + "phases:\n  - {name: read, volume: disk, rw: randread, block_size: 4KiB, queue_depth: 4, rate_iops: 2000, duration: 4s}\n"
	if err := os.WriteFile(filepath.Join(dir, "reads.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	bench := func() []struct{ Code, Text string } {
		o := run(t, dir, "bench", "--profile", "reads.yaml", "--target", "device", "--device", "disk="+path, "-o", "json")
		if o.code != 0 {
			t.Fatalf("exit %d\n%s", o.code, o.stderr)
		}
		return slices.DeleteFunc(parse(t, o.stdout).Warnings, func(w struct{ Code, Text string }) bool { return w.Code != "not-alone" })
	}
	if told := bench(); len(told) > 0 {
		t.Errorf("alone: %+v", told)
	}
	other := exec.Command("fio", "--name=other", "--filename="+path, "--rw=randread", "--bs=4k", "--direct=1", "--ioengine=libaio",
		"--rate_iops=500", "--time_based", "--runtime=60", "--output="+filepath.Join(dir, "other"))
	other.Dir = dir
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = other.Process.Signal(os.Interrupt)
		_ = other.Wait()
	}()
	told := bench()
	var iops, mibps float64
	if len(told) != 1 {
		t.Fatalf("beside another fio: %+v", told)
	}
	_, after, _ := strings.Cut(told[0].Text, "other programs did ")
	if _, err := fmt.Sscanf(after, "%f IOPS and %f MiB/s on loop", &iops, &mibps); err != nil {
		t.Fatalf("%q: %v", told[0].Text, err)
	}
	near(t, "IOPS of the other", iops, 500, 0.05)
	near(t, "MiB/s of the other", mibps, 500*4/1024., 0.05) // printed to a tenth: 2.0 of 1.95
}

// A volume that fails in the middle of a phase leaves what was measured before: an emulated one, all of whose I/Os fail with
// EIO after 12 s, in which the first phase of 2 s has its place and the second of 30 s has not.
func TestDeviceFails(t *testing.T) {
	needsEmulation(t)
	needsRoot(t)
	needs(t, "wipefs")
	dir := t.TempDir()
	emulated, device := up(t, dir, 1, "--type", "gp3", "--size", "1GiB", "--fail-after", "12s")
	volumes, _, _ := strings.Cut(diskProfile, "phases:\n")
	text := volumes + `phases:
  - {name: first, volume: disk, rw: randread, block_size: 4KiB, queue_depth: 4, duration: 2s}
  - {name: second, volume: disk, rw: randread, block_size: 4KiB, queue_depth: 4, duration: 30s}
`
	if err := os.WriteFile(filepath.Join(dir, "reads.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o := run(t, dir, "bench", "--profile", "reads.yaml", "--target", "device", "--device", "disk="+device[0], "-o", "json")
	if o.code != 5 || !strings.Contains(o.stderr, "phase 2, second on disk: fio failed") || !strings.Contains(o.stderr, "Input/output error") {
		t.Fatalf("exit %d, want 5 and the cause\n%s", o.code, o.stderr)
	}
	d := parse(t, o.stdout)
	if len(d.Phases) != 2 || d.Phases[1].State != "failed" {
		t.Fatalf("phases %+v", d.Phases)
	}
	if p := d.phase(t, "disk", "first"); p.IOPS.Mean <= 0 {
		t.Errorf("the first phase: %+v", p)
	}
	if err := errors.Join(emulated.Process.Signal(os.Interrupt), emulated.Wait()); err != nil {
		t.Errorf("the volume was taken down: %v", err)
	}
	nothingLeft(t, dir)
}
