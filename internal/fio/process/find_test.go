package process_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"ebscope/internal/fio"
	"ebscope/internal/fio/process"
)

// realFio finds the fio of this machine, or skips the test.
func realFio(t *testing.T) process.Fio {
	t.Helper()
	if _, err := exec.LookPath("fio"); err != nil {
		t.Skip("no fio; install it: apt-get install fio (or dnf, apk, brew)")
	}
	f, err := process.Find(t.Context(), "fio", process.DefaultEngine)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFind(t *testing.T) {
	f := realFio(t)
	if !filepath.IsAbs(f.Path) || !f.Version.AtLeast(fio.Oldest) {
		t.Errorf("found %+v", f)
	}
}

// program writes a shell script that stands in for a fio that this machine does not have.
func program(t *testing.T, script string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs a Unix shell; on Linux or macOS run: go test ./internal/fio/process")
	}
	path := filepath.Join(t.TempDir(), "fio")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFindNothing(t *testing.T) {
	_, err := process.Find(t.Context(), filepath.Join(t.TempDir(), "fio"), "libaio")
	var missing *process.NotFoundError
	if !errors.As(err, &missing) || missing.Hint == "" {
		t.Errorf("error %v, want a NotFoundError with a hint", err)
	}
}

func TestFindTooOld(t *testing.T) {
	_, err := process.Find(t.Context(), program(t, "echo fio-2.21"), "libaio")
	var old *process.TooOldError
	if !errors.As(err, &old) || old.Found != (fio.Version{Major: 2, Minor: 21}) || old.Needed != fio.Oldest {
		t.Errorf("error %v, want a TooOldError about 2.21", err)
	}
}

func TestFindSomethingElse(t *testing.T) {
	text := program(t, "echo fio-3.33")
	if err := os.Chmod(text, 0o600); err != nil {
		t.Fatal(err)
	}
	process.SetPatience(t, 200*time.Millisecond)
	for name, tt := range map[string]struct{ path, want string }{
		"other program":  {program(t, "echo GNU fortune 1.0"), "is not fio"},
		"fails":          {program(t, "echo no thanks >&2; exit 3"), "no thanks"},
		"not executable": {text, "cannot be executed"},
		"directory":      {t.TempDir(), "is a directory"},
		"hangs":          {program(t, "sleep 60"), "did not answer to --version within 200ms"},
	} {
		_, err := process.Find(t.Context(), tt.path, "libaio")
		var other *process.NotFioError
		if !errors.As(err, &other) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want a NotFioError with %q", name, err, tt.want)
		}
	}
}

// What is called synchronous is what fio itself gives a queue depth of 1.
func TestSynchronous(t *testing.T) {
	f := realFio(t)
	for engine, want := range map[string]bool{"psync": true, "sync": true, "vsync": true, "pvsync": true, "pvsync2": true, "mmap": true, "libaio": false, "posixaio": false} {
		said, err := exec.Command(f.Path, "--name=x", "--ioengine="+engine, "--rw=read", "--size=4k", "--iodepth=4",
			"--filename="+filepath.Join(t.TempDir(), "file")).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", engine, err, said)
		}
		if capped := strings.Contains(string(said), "capped at 1"); process.Synchronous(engine) != want || capped != want {
			t.Errorf("%s: synchronous %v, fio caps its queue %v; want %v", engine, process.Synchronous(engine), capped, want)
		}
	}
}

func TestFindWithoutEngine(t *testing.T) {
	f := realFio(t)
	_, err := process.Find(t.Context(), f.Path, "nope")
	var missing *process.EngineError
	if !errors.As(err, &missing) || missing.Engine != "nope" {
		t.Fatalf("error %v, want an EngineError", err)
	}
	if !slices.Contains(missing.Alternatives, "libaio") || slices.Contains(missing.Alternatives, "null") {
		t.Errorf("alternatives %v", missing.Alternatives)
	}
}

func TestFindIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := process.Find(ctx, program(t, "sleep 60"), "libaio"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want a cancellation", err)
	}
}
