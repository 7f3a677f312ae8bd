// Package process finds fio, checks it, runs it and ends it gently.
package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"ebscope/internal/fio"
)

// Fio is a fio that this program can use.
type Fio struct {
	Path    string
	Version fio.Version
}

// NotFoundError says that there is no fio.
type NotFoundError struct {
	Path string // what was looked for
	Hint string // how to install it here
}

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("%s was not found; install it: %s", e.Path, e.Hint)
}

// NotFioError says that a program cannot be used as fio.
type NotFioError struct {
	Path   string
	Reason string // what is wrong with it
}

func (e *NotFioError) Error() string {
	return fmt.Sprintf("%s %s; name a fio with --fio", e.Path, e.Reason)
}

// TooOldError says that a fio is older than what this program understands.
type TooOldError struct {
	Path          string
	Found, Needed fio.Version
	Hint          string // how to get a newer one here
}

func (e *TooOldError) Error() string {
	return fmt.Sprintf("%s is version %v, but version %v or newer is needed; update it: %s", e.Path, e.Found, e.Needed, e.Hint)
}

// EngineError says that a fio was built without an I/O engine.
type EngineError struct {
	Path, Engine string
	Alternatives []string // engines it has that do the same work
}

func (e *EngineError) Error() string {
	if len(e.Alternatives) == 0 {
		return fmt.Sprintf("%s has no I/O engine %q; install a fio that has it", e.Path, e.Engine)
	}
	return fmt.Sprintf("%s has no I/O engine %q; use %s", e.Path, e.Engine, strings.Join(e.Alternatives, " or "))
}

// Find looks for fio, by path or as a name in PATH, and makes sure that its version is understood and that it has the
// I/O engine. Its errors are NotFoundError, NotFioError, TooOldError, EngineError, or whatever kept fio from answering.
func Find(ctx context.Context, path, engine string) (Fio, error) {
	found, err := exec.LookPath(path)
	if err == nil {
		found, err = filepath.Abs(found) // fio is started in another directory
	}
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return Fio{}, &NotFoundError{Path: path, Hint: installHint()}
	case errors.Is(err, fs.ErrPermission):
		return Fio{}, &NotFioError{Path: path, Reason: "cannot be executed"}
	case err != nil:
		return Fio{}, &NotFioError{Path: path, Reason: fmt.Sprintf("cannot be executed: %v", err)}
	}
	said, err := ask(ctx, found, "--version")
	if err != nil {
		return Fio{}, err
	}
	version, err := fio.ParseVersion(strings.TrimSpace(said))
	if err != nil {
		return Fio{}, &NotFioError{Path: found, Reason: fmt.Sprintf("is not fio: %v", err)}
	}
	if !version.AtLeast(fio.Oldest) {
		return Fio{}, &TooOldError{Path: found, Found: version, Needed: fio.Oldest, Hint: installHint()}
	}
	said, err = ask(ctx, found, "--enghelp")
	if err != nil {
		return Fio{}, err
	}
	if engines := strings.Fields(said); !slices.Contains(engines, engine) {
		return Fio{}, &EngineError{Path: found, Engine: engine, Alternatives: alternatives(engines)}
	}
	return Fio{Path: found, Version: version}, nil
}

// patience is how long a fio may take to say its version or its engines. It answers in milliseconds.
var patience = 10 * time.Second

func ask(ctx context.Context, path, question string) (string, error) {
	asking, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(asking, path, question)
	cmd.WaitDelay = time.Second // a child of the program may hold its output open
	said, err := cmd.Output()
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if asking.Err() != nil {
		return "", &NotFioError{Path: path, Reason: fmt.Sprintf("did not answer to %s within %v", question, patience)}
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return "", &NotFioError{Path: path, Reason: fmt.Sprintf("%s failed (%v): %s", question, err, strings.TrimSpace(string(exit.Stderr)))}
	}
	if err != nil {
		return "", &NotFioError{Path: path, Reason: fmt.Sprintf("cannot be asked for %s: %v", question, err)}
	}
	return string(said), nil
}

// installHint is the command that installs fio on this system.
func installHint() string {
	for _, manager := range []struct{ name, command string }{
		{"apt-get", "sudo apt-get install fio"},
		{"dnf", "sudo dnf install fio"},
		{"apk", "sudo apk add fio"},
		{"brew", "brew install fio"},
	} {
		if _, err := exec.LookPath(manager.name); err == nil {
			return manager.command
		}
	}
	if runtime.GOOS == "darwin" {
		return "brew install fio"
	}
	return "see https://github.com/axboe/fio"
}
