package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"ebscope/internal/affinity"
	"ebscope/internal/result"
)

// Options of a run of fio.
type Options struct {
	// Grace is how long fio may take to end once it has been asked to: the time that its outstanding I/Os need at the
	// slowest rate. Then it is killed, and its results are lost. Zero: as long as it takes.
	Grace time.Duration
	// Progress hears how fio comes along, one call at a time; it may be nil.
	Progress func(Progress)
	// ReadOnly has fio refuse to write, whatever the job says.
	ReadOnly bool
}

// InterruptedError says that fio was ended before its time, because the context was cancelled.
type InterruptedError struct {
	Cause  error // of the cancellation
	Killed bool  // fio did not end within its grace, so that its summary is missing
}

func (e *InterruptedError) Error() string {
	if e.Killed {
		return "fio was interrupted, and killed because it did not end in time: its summary is missing"
	}
	return "fio was interrupted; what it had measured is kept"
}

func (e *InterruptedError) Unwrap() error { return e.Cause }

// ExitError says that fio failed.
type ExitError struct {
	State string   // such as "exit status 1"
	Lines []string // the last that fio said on stderr
}

func (e *ExitError) Error() string {
	if len(e.Lines) == 0 {
		return fmt.Sprintf("fio failed (%s) without a message", e.State)
	}
	return fmt.Sprintf("fio failed (%s): %s", e.State, strings.Join(e.Lines, "; "))
}

// Run runs the job file in a phase's directory. fio writes all its files there; they are kept whatever happens.
//
// When ctx is cancelled, fio is asked to end, as by Ctrl-C, and writes what it has measured by then; the error is an
// InterruptedError. Should this program be killed, fio is ended by the kernel (on Linux).
func (f Fio) Run(ctx context.Context, dir string, o Options) (err error) {
	stderr, err := os.Create(filepath.Join(dir, result.StderrFile))
	if err != nil {
		return fmt.Errorf("start fio: %w", err)
	}
	defer func() {
		if closeErr := stderr.Close(); err == nil && closeErr != nil {
			err = fmt.Errorf("write what fio said: %w", closeErr)
		}
	}()

	args := []string{"--output=" + result.FioFile, "--output-format=json+", "--eta=always", result.JobFile}
	if o.ReadOnly {
		args = slices.Insert(args, 0, "--readonly")
	}
	cmd := exec.CommandContext(ctx, f.Path, args...)
	cmd.Dir = dir
	cmd.Stderr = stderr
	status, statusWriter := io.Pipe()
	cmd.Stdout = statusWriter
	cmd.SysProcAttr = attributes()
	cmd.Cancel = func() error { return interrupt(cmd.Process) }
	cmd.WaitDelay = o.Grace

	// The kernel ends fio when the thread that started it does: keep that thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := affinity.Unconfined(cmd.Start); err != nil {
		return fmt.Errorf("start fio: %w", err)
	}
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		follow(status, time.Now(), o.Progress)
	}()
	err = cmd.Wait()
	_ = statusWriter.Close()
	<-followed

	if ctx.Err() != nil && err != nil {
		return &InterruptedError{Cause: context.Cause(ctx), Killed: killed(cmd.ProcessState)}
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return &ExitError{State: exit.String(), Lines: lastLines(stderr.Name())}
	}
	if err != nil {
		return fmt.Errorf("run fio: %w", err)
	}
	return nil
}

// What an error quotes of fio's messages.
const (
	quotedLines = 5
	quotedBytes = 4096
)

// lastLines returns the end of a text file, without empty lines and ones said twice.
func lastLines(path string) (lines []string) {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	if end, err := f.Seek(0, io.SeekEnd); err != nil || end > quotedBytes {
		if _, err := f.Seek(-quotedBytes, io.SeekEnd); err != nil {
			return nil
		}
	} else if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(f, quotedBytes))
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line != "" && (len(lines) == 0 || lines[len(lines)-1] != line) {
			lines = append(lines, line)
		}
	}
	return lines[max(0, len(lines)-quotedLines):]
}
