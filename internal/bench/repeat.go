package bench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ebscope/internal/result"
)

// Runs that repeat each other each have a run directory of their own, so that each can be cut, resumed and analyzed by
// itself. The names differ in the index at the end.

func repeatSuffix(index int) string { return fmt.Sprintf("-r%d", index) }

// Next makes the run directory of the repeat after the given one, from its record. It returns nil where that was the
// last, or where the next has been made before.
func Next(before *Directory, now time.Time) (*Directory, error) {
	run := before.Run
	if run.Repeat == nil || run.Repeat.Index == run.Repeat.Of {
		return nil, nil
	}
	catalog, err := run.Limits()
	if err != nil {
		return nil, err
	}
	repeat := result.Repeat{Index: run.Repeat.Index + 1, Of: run.Repeat.Of}
	prefix, numbered := strings.CutSuffix(run.ID, repeatSuffix(run.Repeat.Index))
	if !numbered {
		return nil, fmt.Errorf("%s is repeat %d, but its name does not end in %s", before.Path, run.Repeat.Index, repeatSuffix(run.Repeat.Index))
	}
	path := filepath.Join(filepath.Dir(before.Path), prefix+repeatSuffix(repeat.Index))
	if err := os.Mkdir(path, 0o755); errors.Is(err, os.ErrExist) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("make the directory of repeat %d: %w", repeat.Index, err)
	}
	plan := Plan{
		Profile: run.Profile, Catalog: catalog, Compress: run.Compress, Target: run.Target, Paths: run.Paths, Devices: run.Devices, Tool: run.Tool,
		Command: run.Command, Engine: run.Environment.Engine, Repeat: &repeat,
	}
	return begin(path, plan, run.Environment, now)
}
