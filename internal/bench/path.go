package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"ebscope/internal/result"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

// pathTarget measures file systems as they are: one directory per volume, in which it makes one file of its own.
type pathTarget struct{ run result.Run }

// open checks every directory before any file is made.
func (t pathTarget) open(_ context.Context, _ json.RawMessage) (map[string]string, error) {
	filenames := map[string]string{}
	owner := map[string]string{}
	for _, v := range t.run.Profile.Volumes {
		dir, err := filepath.Abs(t.run.Paths[v.Name])
		if err == nil {
			dir, err = filepath.EvalSymlinks(dir)
		}
		if err != nil {
			return nil, decline("volume %s: %v", v.Name, err)
		}
		if other, twice := owner[dir]; twice {
			return nil, decline("volumes %s and %s are both at %s; give each a file system of its own", other, v.Name, dir)
		}
		owner[dir] = v.Name
		filename := filepath.Join(dir, "ebscope-"+t.run.ID+".dat")
		if err := writable(dir); err != nil {
			return nil, fmt.Errorf("volume %s: %w", v.Name, err)
		}
		if err := roomFor(dir, t.run.Profile.FileSize, used(filename)); err != nil {
			return nil, fmt.Errorf("volume %s: %w", v.Name, err)
		}
		filenames[v.Name] = filename
	}
	return filenames, nil
}

// writable declines what is no directory, or one that cannot be written to.
func writable(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return &DeclinedError{Reason: err.Error()}
	}
	if !info.IsDir() {
		return decline("%s is not a directory", dir)
	}
	probe, err := os.CreateTemp(dir, ".ebscope-*")
	if err != nil {
		return decline("cannot write to %s: %v", dir, err)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// roomFor declines files that would not fit into a directory; present is how much of them is there already.
func roomFor(dir string, needed, present units.Bytes) error {
	free, err := freeSpace(dir)
	if err != nil {
		return fmt.Errorf("free space of %s: %w", dir, err)
	}
	if free+present < needed {
		return decline("no space: the test files need %v and %s has %v free; free some, or set a smaller file_size in a profile of your own",
			needed-present, dir, free)
	}
	return nil
}

// begin waits out the rest: a real volume earns its credits in real time. The gap between two fio runs takes its own time.
func (t pathTarget) begin(ctx context.Context, phase workload.Phase, _ time.Duration) (*units.Ops, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(phase.Rest):
		return nil, nil
	}
}

func (t pathTarget) end(string) (ending, error) { return ending{}, nil }

func (t pathTarget) close(_ context.Context, keep bool) error {
	if keep {
		return nil
	}
	var errs []error
	for _, v := range t.run.Profile.Volumes {
		err := os.Remove(filepath.Join(t.run.Paths[v.Name], "ebscope-"+t.run.ID+".dat"))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, fmt.Errorf("remove the test file of volume %s: %w", v.Name, err))
		}
	}
	return errors.Join(errs...)
}
