// Package e2e drives the built program as a user would: real fio, real block devices, a real browser.
package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// program is the built ebscope.
var program string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "ebscope-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	program = filepath.Join(dir, "ebscope")
	build := exec.Command("go", "build", "-o", program, "ebscope/cmd/ebscope")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as make build does
	build.Stderr = os.Stderr
	code := 1
	if err := build.Run(); err == nil {
		code = m.Run()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

// outcome is what a finished ebscope left.
type outcome struct {
	code           int
	stdout, stderr string
	peakMemory     int64 // bytes
	took           time.Duration
}

// command prepares ebscope with its records and working directory in a folder of the test's own.
func command(t testing.TB, dir string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "EBSCOPE_RUNTIME_DIR="+filepath.Join(dir, "runtime"), "AWS_EC2_METADATA_DISABLED=true")
	return cmd
}

// run runs ebscope to its end.
func run(t testing.TB, dir string, args ...string) outcome {
	t.Helper()
	return finish(t, command(t, dir, args...), nil)
}

// finish starts a command, lets during meddle with it, and waits for it.
func finish(t testing.TB, cmd *exec.Cmd, during func(*os.Process)) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	start := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	memory := watchMemory(cmd.Process.Pid)
	if during != nil {
		during(cmd.Process)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	err := cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	o := outcome{code: cmd.ProcessState.ExitCode(), stdout: stdout.String(), stderr: stderr.String(), took: time.Since(start)}
	o.peakMemory = memory()
	return o
}

// watchMemory follows the peak of a process's resident memory until the function that it returns is called, which gives
// it in bytes. What wait reports would not do: it counts the memory of this test, from which the process was forked.
func watchMemory(pid int) (peak func() int64) {
	done, result := make(chan struct{}), make(chan int64)
	go func() {
		var kib int64
		for {
			if status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)); err == nil {
				if _, after, found := strings.Cut(string(status), "VmHWM:"); found {
					_, _ = fmt.Sscan(after, &kib)
				}
			}
			select {
			case <-done:
				result <- kib << 10
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return func() int64 { close(done); return <-result }
}

// needs skips a test for want of a program, root or FUSE, and says what would provide it.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	if testing.Short() {
		t.Skip("end-to-end tests run without -short: go test ./test/...")
	}
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("%s is missing; run: scripts/install.sh %s", p, p)
		}
	}
}

func needsEmulation(t *testing.T) {
	t.Helper()
	needs(t, "fio")
	if f, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0); err != nil {
		t.Skipf("no FUSE (%v); run: modprobe fuse", err)
	} else {
		f.Close()
	}
}

// nothingLeft fails the test if a mount, loop device, process or record of a run in dir is still there.
func nothingLeft(t testing.TB, dir string) {
	t.Helper()
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(mounts)) {
		if strings.Contains(line, dir) {
			t.Errorf("still mounted: %s", line)
		}
	}
	backing, _ := filepath.Glob("/sys/block/loop*/loop/backing_file")
	for _, path := range backing {
		if text, err := os.ReadFile(path); err == nil && strings.Contains(string(text), dir) {
			t.Errorf("still attached: %s: %s", path, text)
		}
	}
	commands, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, path := range commands {
		if cwd, err := os.Readlink(path); err == nil && strings.HasPrefix(cwd, dir) {
			name, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "comm"))
			t.Errorf("still running: %s in %s", strings.TrimSpace(string(name)), cwd)
		}
	}
	if records, _ := filepath.Glob(filepath.Join(dir, "runtime", "*")); len(records) > 0 {
		t.Errorf("records are left: %v", records)
	}
}

// onlyRun returns the one run directory below dir.
func onlyRun(t testing.TB, dir string) string {
	t.Helper()
	runs, err := filepath.Glob(filepath.Join(dir, "runs", "*"))
	if err != nil || len(runs) != 1 {
		t.Fatalf("run directories: %v, %v; want one", runs, err)
	}
	return runs[0]
}
