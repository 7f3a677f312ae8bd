package e2e

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// up starts "ebscope emulate" and returns the lines that it prints, once it is up.
func up(t *testing.T, dir string, lines int, args ...string) (*exec.Cmd, []string) {
	t.Helper()
	cmd := command(t, dir, append([]string{"emulate"}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	var printed []string
	for s := bufio.NewScanner(stdout); len(printed) < lines && s.Scan(); {
		printed = append(printed, s.Text())
	}
	if len(printed) < lines {
		_ = cmd.Wait()
		t.Fatalf("printed %q, want %d lines; %s", printed, lines, stderr.String())
	}
	return cmd, printed
}

func needsRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("loop devices need root; run: sudo make test")
	}
}

// A file system on an emulated volume takes files and gives them back; the interrupt takes all of it down.
func TestEmulateMounted(t *testing.T) {
	needsEmulation(t)
	needs(t, "mkfs.xfs")
	needsRoot(t)
	dir := t.TempDir()
	mount := filepath.Join(dir, "mnt")
	if err := os.Mkdir(mount, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd, printed := up(t, dir, 2, "--type", "gp3", "--size", "10GiB", "--mkfs", "xfs", "--mount", mount)
	if !strings.HasPrefix(printed[0], "/dev/loop") || printed[1] != mount {
		t.Errorf("printed %q, want the device and %s", printed, mount)
	}
	want := strings.Repeat("a database page ", 1<<16)
	if err := os.WriteFile(filepath.Join(mount, "file"), []byte(want), 0o600); err != nil {
		t.Fatal(err)
	}
	syscall.Sync()
	if got, err := os.ReadFile(filepath.Join(mount, "file")); err != nil || string(got) != want {
		t.Errorf("read back %d bytes, %v; want %d", len(got), err, len(want))
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("ended by an interrupt: %v, want exit 0", err)
	}
	nothingLeft(t, dir)
}

// kill -9 leaves a mount behind; cleanup takes away that, and nothing of a volume that is up.
func TestCleanupAfterKill(t *testing.T) {
	needsEmulation(t)
	needs(t, "mkfs.ext4")
	needsRoot(t)
	dir := t.TempDir()
	mount := filepath.Join(dir, "mnt")
	if err := os.Mkdir(mount, 0o755); err != nil {
		t.Fatal(err)
	}
	living, device := up(t, dir, 1, "--type", "gp3", "--size", "1GiB")
	killed, _ := up(t, dir, 2, "--type", "gp2", "--size", "1GiB", "--mkfs", "ext4", "--mount", mount)
	_ = killed.Process.Kill()
	_ = killed.Wait()

	o := run(t, dir, "cleanup")
	if o.code != 0 || !strings.Contains(o.stdout, "removed file system at "+mount) {
		t.Errorf("exit %d: %s%s", o.code, o.stdout, o.stderr)
	}
	if f, err := os.OpenFile(device[0], os.O_RDWR, 0); err != nil {
		t.Errorf("the living volume was taken away: %v", err)
	} else {
		if _, err := io.ReadFull(f, make([]byte, 4096)); err != nil {
			t.Errorf("the living volume does not answer: %v", err)
		}
		f.Close()
	}
	_ = living.Process.Signal(syscall.SIGTERM)
	if err := living.Wait(); err != nil {
		t.Error(err)
	}
	nothingLeft(t, dir)
	if o := run(t, dir, "cleanup"); o.code != 0 || !strings.Contains(o.stdout, "nothing to remove") {
		t.Errorf("a second cleanup: exit %d: %s%s", o.code, o.stdout, o.stderr)
	}
}

// After kill -9 the same command works again, although a dead file system is still at its directory.
func TestEmulateAgainAfterKill(t *testing.T) {
	needsEmulation(t)
	needs(t, "mkfs.xfs")
	needsRoot(t)
	dir := t.TempDir()
	mount := filepath.Join(dir, "mnt")
	if err := os.Mkdir(mount, 0o755); err != nil {
		t.Fatal(err)
	}
	args := []string{"--size", "1GiB", "--mkfs", "xfs", "--mount", mount}
	killed, _ := up(t, dir, 2, args...)
	_ = killed.Process.Kill()
	_ = killed.Wait()
	// The file system shuts down when it cannot read; then not even stat answers.
	for range 100 {
		_, _ = os.ReadDir(mount)
		if _, err := os.Stat(mount); err != nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	cmd, _ := up(t, dir, 2, args...)
	_ = cmd.Process.Signal(syscall.SIGINT)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	nothingLeft(t, dir)
}

func TestSizeWithoutUnit(t *testing.T) {
	needsEmulation(t)
	dir := t.TempDir()
	cmd := command(t, dir, "emulate", "--size", "45")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said string
	for s := bufio.NewScanner(stderr); s.Scan(); {
		said += s.Text() + "\n"
		if strings.Contains(s.Text(), "Ctrl-C") { // it is up
			_ = cmd.Process.Signal(syscall.SIGINT)
		}
	}
	if !strings.Contains(said, "read as 45 GiB") {
		t.Errorf("said %q, want that 45 was read as 45 GiB", said)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	nothingLeft(t, dir)
}

// What somebody has mounted over the volume's directory stays, and takes nothing of the volume's data along.
func TestEmulateCovered(t *testing.T) {
	needsEmulation(t)
	needs(t, "mkfs.xfs")
	needsRoot(t)
	dir := t.TempDir()
	mount, want := filepath.Join(dir, "mnt"), strings.Repeat("a database page ", 1<<16)
	if err := os.Mkdir(mount, 0o755); err != nil {
		t.Fatal(err)
	}
	args := []string{"--size", "1GiB", "--image", filepath.Join(dir, "image"), "--mount", mount}
	cmd, _ := up(t, dir, 2, append(args, "--mkfs", "xfs")...)
	if err := os.WriteFile(filepath.Join(mount, "file"), []byte(want), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", mount, "tmpfs", 0, ""); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Process.Signal(syscall.SIGINT)
	_ = cmd.Wait()
	said := cmd.Stderr.(*bytes.Buffer).String()
	if code := cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(said, "tmpfs at "+mount) || !strings.Contains(said, "ebscope cleanup") {
		t.Errorf("exit %d, want 1 and what covers the volume: %s", code, said)
	}
	if o := run(t, dir, "cleanup"); o.code != 1 || !strings.Contains(o.stderr, "tmpfs at "+mount) {
		t.Errorf("cleanup of a covered volume: exit %d, want 1: %s%s", o.code, o.stdout, o.stderr)
	}
	if err := syscall.Unmount(mount, 0); err != nil {
		t.Errorf("the mount of somebody else: %v", err)
	}
	if o := run(t, dir, "cleanup"); o.code != 0 || !strings.Contains(o.stdout, "removed file system at "+mount) {
		t.Errorf("cleanup: exit %d: %s%s", o.code, o.stdout, o.stderr)
	}
	nothingLeft(t, dir)

	// Without --mkfs the file system that is there is mounted.
	cmd, _ = up(t, dir, 2, args...)
	if got, err := os.ReadFile(filepath.Join(mount, "file")); err != nil || string(got) != want {
		t.Errorf("read back %d bytes, %v; want %d", len(got), err, len(want))
	}
	_ = cmd.Process.Signal(syscall.SIGINT)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	nothingLeft(t, dir)
}

// inNamespace runs ebscope behind a shell script that changes the mounts of its own namespace.
func inNamespace(t *testing.T, dir, script string, args ...string) outcome {
	t.Helper()
	needs(t, "unshare")
	needsRoot(t)
	cmd := command(t, dir)
	cmd.Path, _ = exec.LookPath("unshare")
	cmd.Args = append([]string{"unshare", "--mount", "sh", "-c", script + ` && exec "$0" "$@"`, program}, args...)
	return finish(t, cmd, nil)
}

func TestWithoutFUSE(t *testing.T) {
	needs(t, "fio")
	dir := t.TempDir()
	for _, command := range []string{"bench", "emulate"} {
		o := inNamespace(t, dir, "mount -t tmpfs none /dev && mknod /dev/null c 1 3", command)
		if o.code != 4 || !strings.Contains(o.stderr, "simulate") || !strings.Contains(o.stderr, "--target path") {
			t.Errorf("%s: exit %d, want 4 and what works without: %s", command, o.code, o.stderr)
		}
	}
	if runs, _ := filepath.Glob(filepath.Join(dir, "runs", "*")); len(runs) > 0 {
		t.Errorf("a run directory is left: %v", runs)
	}
	nothingLeft(t, dir)
	if o := inNamespace(t, dir, "mount -t tmpfs none /dev && mknod /dev/null c 1 3", "simulate", "--compress", "60"); o.code != 0 {
		t.Errorf("simulate without /dev/fuse: exit %d: %s", o.code, o.stderr)
	}
}

func TestWithoutSpace(t *testing.T) {
	needsEmulation(t)
	dir := t.TempDir()
	small := filepath.Join(dir, "runs")
	if err := os.Mkdir(small, 0o755); err != nil {
		t.Fatal(err)
	}
	// The demonstration writes 2 × 136 MiB.
	o := inNamespace(t, dir, "mount -t tmpfs -o size=64m none "+small, "bench", "--runs", small)
	if o.code != 4 || !strings.Contains(o.stderr, "no space") {
		t.Errorf("exit %d, want 4: %s", o.code, o.stderr)
	}
	nothingLeft(t, dir)
}
