package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestInterruptedInTheUsersWords(t *testing.T) {
	err := errors.Join(fmt.Errorf("simulate profile a: %w", context.Canceled), errors.New("the lock is still there"))
	if got, want := message(err), "simulate profile a: interrupted\nthe lock is still there"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// failing is an output that cannot be written to.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// A reader that goes away is no failure to speak of; a full disk is one, even of help.
func TestOutputThatFails(t *testing.T) {
	full := &os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}
	gone := &os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.EPIPE}
	for _, args := range [][]string{{"--help"}, {"limits", "volume"}, {"limits", "volume", "-o", "json"}, {"size", "--help"}} {
		for _, tt := range []struct {
			err  error
			code int
			said string
		}{{gone, exitReaderGone, ""}, {full, exitFailed, "ebscope: write /dev/stdout: no space left on device\n"}} {
			var stderr bytes.Buffer
			code := Main(t.Context(), append([]string{"ebscope"}, args...), failing{tt.err}, &stderr)
			if code != tt.code || stderr.String() != tt.said {
				t.Errorf("%v, %v: exit code %d, %q; want %d, %q", args, tt.err, code, stderr.String(), tt.code, tt.said)
			}
		}
	}
	if readerGone(errors.Join(gone, errors.New("the volume is still mounted"))) || readerGone(nil) {
		t.Error("another error is lost")
	}
}

func TestUnknownCommand(t *testing.T) {
	for args, want := range map[string]string{
		"bnech":        `unknown command "bnech" for ebscope; did you mean bench?; see ebscope --help`,
		"frobnicate":   `unknown command "frobnicate" for ebscope; see ebscope --help`,
		"limits regon": `unknown command "regon" for ebscope limits; did you mean region?; see ebscope limits --help`,
		"bench quick":  `ebscope bench takes no argument "quick"`,
	} {
		var stdout, stderr bytes.Buffer
		code := Main(t.Context(), append([]string{"ebscope"}, strings.Fields(args)...), &stdout, &stderr)
		if code != exitUsage || !strings.Contains(stderr.String(), want) {
			t.Errorf("%s: exit code %d, %q; want %q", args, code, stderr.String(), want)
		}
	}
}

// What was measured cannot be told without the record of the run.
func TestRunDirectoryWithoutItsRecord(t *testing.T) {
	dir := t.TempDir()
	phase := filepath.Join(dir, "phases", "01-gp2-layout")
	if err := os.MkdirAll(phase, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(phase, "job.fio"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"analyze", "report"} {
		var stdout, stderr bytes.Buffer
		code := Main(t.Context(), []string{"ebscope", command, dir}, &stdout, &stderr)
		if code != exitUsage || !strings.Contains(stderr.String(), "run.json is missing") {
			t.Errorf("%s: exit code %d, %q", command, code, stderr.String())
		}
	}
}

func TestNamesAreGivenOnce(t *testing.T) {
	for _, args := range [][]string{
		{"--target", "path", "--path", "gp2=/a", "--path", "gp2=/b"},
		{"--target", "path", "--path", "gp2=/a,gp3=/b,gp2=/c"},
		{"--target", "kubernetes", "--storage-class", "gp2=a", "--storage-class", "gp2=b"},
		{"--target", "kubernetes", "--pvc", "gp2=a", "--pvc", "gp2=b"},
	} {
		var stdout, stderr bytes.Buffer
		code := Main(t.Context(), append([]string{"ebscope", "bench"}, args...), &stdout, &stderr)
		if code != exitUsage || !strings.Contains(stderr.String(), "gp2 is given twice") {
			t.Errorf("%v: exit code %d, %s", args, code, stderr.String())
		}
	}
}

// A catalog that cannot be written is refused before AWS is asked, which there is none of here.
func TestUpdateNeedsAFile(t *testing.T) {
	for file, want := range map[string]string{filepath.Join(t.TempDir(), "nodir", "x.yaml"): "no such file", t.TempDir(): "is a directory"} {
		var stdout, stderr bytes.Buffer
		code := Main(t.Context(), []string{"ebscope", "limits", "update", "--from-aws", "-o", file}, &stdout, &stderr)
		if code != exitUsage || !strings.Contains(stderr.String(), want) {
			t.Errorf("%s: exit code %d, %s; want one that says %q", file, code, stderr.String(), want)
		}
	}
}

// Volumes come in whole GiB, so that 100.5 GiB are met by 101 GiB: gp2 for $10.10, and gp3 for $8.08 as the cheapest.
func TestSizeIsRoundedUp(t *testing.T) {
	var stdout, stderr bytes.Buffer
	code := Main(t.Context(), []string{"ebscope", "size", "--size", "100.5GiB"}, &stdout, &stderr)
	got := stdout.String()
	if code != exitDone || strings.Contains(got, "Not possible") {
		t.Errorf("exit code %d:\n%s%s", code, got, stderr.String())
	}
	for _, want := range []string{"100.5 GiB, is rounded up to 101 GiB", "gp2 101 GiB", "$10.10", "gp3 101 GiB", "$8.08"} {
		if !strings.Contains(strings.Join(strings.Fields(got), " "), want) {
			t.Errorf("the answer has no %q:\n%s", want, got)
		}
	}
}

func TestAgainstTakesARunDirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{filepath.Join(t.TempDir(), "nodir"), t.TempDir(), file} {
		var stdout, stderr bytes.Buffer
		code := Main(t.Context(), []string{"ebscope", "simulate", "--against", dir}, &stdout, &stderr)
		if code != exitUsage || !strings.Contains(stderr.String(), "is not a run directory") {
			t.Errorf("%s: exit code %d, %s", dir, code, stderr.String())
		}
	}
}
