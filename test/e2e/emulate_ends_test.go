package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// What would fail later is found out before a kept image is erased.
func TestEmulateChecksFirst(t *testing.T) {
	needs(t)
	needsRoot(t)
	dir := t.TempDir()
	image := filepath.Join(dir, "image")
	if err := errors.Join(os.WriteFile(image, []byte("data"), 0o600), os.Mkdir(filepath.Join(dir, "empty"), 0o755)); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args string
		path string // PATH, where it is not the usual one
		code int
		want string
	}{
		{args: "--image image --mkfs xfs --mount missing", code: 2, want: "make the directory first"},
		{args: "--image image --mkfs xfs --mount image", code: 2, want: "not a directory"},
		{args: "--image image --mkfs zfs --mount empty", code: 2, want: "xfs, ext4, btrfs"},
		{args: "--image image --mkfs xfs", code: 2, want: "--mount DIR"},
		{args: "--image image --mkfs xfs --mount empty", path: dir, code: 4, want: "xfsprogs"},
		{args: "--image missing --mount empty", code: 2, want: "needs --mkfs"},
		{args: "--compress 3001", code: 2, want: "to 3000"},
		{args: "--compress 0", code: 2, want: "to 3000"},
	} {
		cmd := command(t, dir, append([]string{"emulate"}, strings.Fields(tt.args)...)...)
		if tt.path != "" {
			cmd.Env = append(cmd.Env, "PATH="+tt.path)
		}
		if o := finish(t, cmd, nil); o.code != tt.code || !strings.Contains(o.stderr, tt.want) || o.stdout != "" {
			t.Errorf("%s: exit %d, want %d and %q: %s%s", tt.args, o.code, tt.code, tt.want, o.stdout, o.stderr)
		}
	}
	if data, err := os.ReadFile(image); err != nil || string(data) != "data" {
		t.Errorf("the image holds %q, %v; want what it held", data, err)
	}
	if exists, _ := filepath.Glob(filepath.Join(dir, "missing")); len(exists) > 0 {
		t.Error("the missing image was made")
	}
	nothingLeft(t, dir)
}

// A Ctrl-C, which also reaches what ebscope has started, is an interrupt while the volume is not up yet.
func TestEmulateInterruptedEarly(t *testing.T) {
	needsEmulation(t)
	dir := t.TempDir()
	temporary := filepath.Join(dir, "tmp")
	if err := os.Mkdir(temporary, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := command(t, dir, "emulate")
	cmd.Env = append(cmd.Env, "TMPDIR="+temporary)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	o := finish(t, cmd, func(p *os.Process) {
		// From the image on there is half a second of calibration.
		for range 1000 {
			if images, _ := filepath.Glob(temporary + "/ebscope-*.img"); len(images) > 0 {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		time.Sleep(50 * time.Millisecond)
		_ = syscall.Kill(-p.Pid, syscall.SIGINT)
	})
	if o.code != 130 || o.stdout != "" {
		t.Errorf("exit %d, want 130: %s%s", o.code, o.stdout, o.stderr)
	}
	if left, _ := filepath.Glob(temporary + "/*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	nothingLeft(t, dir)
}

// What is in the way among the records is a warning, and no reason not to emulate.
func TestEmulateDespiteJunk(t *testing.T) {
	needsEmulation(t)
	dir := t.TempDir()
	junk, broken := filepath.Join(dir, "runtime", "junk"), filepath.Join(dir, "runtime", "gp2-1")
	for _, d := range []string{junk, broken} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(broken, "record.json"), []byte(`{"na`), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd, _ := up(t, dir, 1)
	_ = cmd.Process.Signal(syscall.SIGINT)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if said := cmd.Stderr.(*bytes.Buffer).String(); !strings.Contains(said, "warning") || !strings.Contains(said, junk) || !strings.Contains(said, broken) {
		t.Errorf("said %q, want a warning that names %s and %s", said, junk, broken)
	}
	if o := run(t, dir, "cleanup"); o.code != 1 || !strings.Contains(o.stderr, junk) || !strings.Contains(o.stderr, broken) {
		t.Errorf("cleanup: exit %d, want 1 and what it did not understand: %s", o.code, o.stderr)
	}
	if err := errors.Join(os.RemoveAll(junk), os.RemoveAll(broken)); err != nil {
		t.Error(err)
	}
	nothingLeft(t, dir)
}

// A reader that goes away ends the volume's life, and it is taken down.
func TestEmulateIntoAClosedPipe(t *testing.T) {
	needsEmulation(t)
	dir := t.TempDir()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	reader.Close()
	cmd := command(t, dir, "emulate")
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = writer, &stderr
	err = cmd.Run()
	writer.Close()
	if code := cmd.ProcessState.ExitCode(); code != 141 || stderr.Len() > 0 {
		t.Errorf("exit %d (%v), want 141 and not a word, as of any program: %s", code, err, stderr.String())
	}
	nothingLeft(t, dir)
}

// On a narrow terminal the line that shows what the volume does is cut, so that each one replaces the one before.
func TestEmulateOnANarrowTerminal(t *testing.T) {
	needsEmulation(t)
	dir := t.TempDir()
	terminal, tty := openTerminal(t, 40)
	cmd := command(t, dir, "emulate")
	cmd.Stderr = tty
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tty.Close()
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	statuses := 0
	buf := make([]byte, 4096)
	for said := ""; ; {
		n, err := terminal.Read(buf)
		if err != nil { // the program has ended
			break
		}
		said += string(buf[:n])
		for line, rest, found := strings.Cut(said, "\x1b[K"); found; line, rest, found = strings.Cut(said, "\x1b[K") {
			said = rest
			_, status, _ := strings.Cut(line, "\r")
			status = status[strings.LastIndex(status, "\r")+1:]
			if !strings.Contains(status, "MiB/s") || len(status) >= 40 {
				t.Errorf("the line %q has %d columns of 40", status, len(status))
			}
			if statuses++; statuses == 2 {
				_ = cmd.Process.Signal(syscall.SIGINT)
			}
		}
	}
	if err := cmd.Wait(); err != nil || statuses < 2 {
		t.Errorf("%v, after %d lines; want 2", err, statuses)
	}
	nothingLeft(t, dir)
}

// openTerminal returns both ends of a pseudo-terminal.
func openTerminal(t *testing.T, columns uint16) (terminal, tty *os.File) {
	t.Helper()
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals (%v); run: mount -t devpts devpts /dev/pts", err)
	}
	t.Cleanup(func() { terminal.Close() })
	fd := int(terminal.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns})
	}
	if err == nil {
		tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return terminal, tty
}
