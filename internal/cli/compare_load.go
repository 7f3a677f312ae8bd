package cli

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ebscope/internal/analyze"
	"ebscope/internal/compare"
	"ebscope/internal/result"
)

// loadSubject reads a subject of a comparison: a run directory or results of any tool, one volume of a run, or several that
// repeat each other. Notes say what was skipped.
func loadSubject(ctx context.Context, arg string, o analyzeOptions, stdin io.Reader) (compare.Subject, []result.Note, error) {
	paths, err := repeats(arg)
	if err != nil {
		return compare.Subject{}, nil, err
	}
	subjects := make([]compare.Subject, len(paths))
	var all []result.Note
	for i, path := range paths {
		var notes []result.Note
		if subjects[i], notes, err = loadOne(ctx, path, o, stdin); err != nil {
			return compare.Subject{}, nil, err
		}
		all = append(all, notes...)
	}
	return compare.Repeats(arg, subjects), all, nil
}

// repeats takes an argument apart into the paths that it names. What is there under the whole name is just that.
func repeats(arg string) ([]string, error) {
	if exists(arg) {
		return []string{arg}, nil
	}
	var paths []string
	for part := range strings.SplitSeq(arg, ",") {
		if strings.TrimSpace(part) == "" {
			return nil, usage("%q names nothing between its commas; give runs or files, separated by commas", arg)
		}
		pattern, volume := part, ""
		if !strings.ContainsAny(part, "*?[") {
			paths = append(paths, part)
			continue
		}
		if i := strings.LastIndexByte(part, ':'); i >= 0 {
			pattern, volume = part[:i], part[i:]
		}
		found, err := filepath.Glob(pattern)
		if err != nil {
			return nil, usage("%q is no pattern: %w", pattern, err)
		}
		if len(found) == 0 {
			return nil, usage("nothing is named like %s", pattern)
		}
		slices.Sort(found)
		for _, path := range found {
			paths = append(paths, path+volume)
		}
	}
	return paths, nil
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

// loadOne reads RUN, RUN:VOLUME, or what any tool wrote.
func loadOne(ctx context.Context, path string, o analyzeOptions, stdin io.Reader) (compare.Subject, []result.Note, error) {
	dir, volume := path, ""
	if i := strings.LastIndexByte(path, ':'); i > 0 && !exists(path) && isRunDirectory(path[:i]) {
		dir, volume = path[:i], path[i+1:]
	}
	if !isRunDirectory(dir) {
		r, err := loadReadings(ctx, []string{path}, o, stdin)
		if err != nil {
			return compare.Subject{}, nil, err
		}
		return compare.OfReadings(path, r.Readings, r.Document), r.Document.Notes, nil
	}
	l, err := loadMeasured(dir, o.catalog)
	if err != nil {
		return compare.Subject{}, nil, err
	}
	var volumes []string
	for _, p := range l.run.Phases {
		if !slices.Contains(volumes, p.Volume) {
			volumes = append(volumes, p.Volume)
		}
	}
	if volume != "" && !slices.Contains(volumes, volume) {
		return compare.Subject{}, nil, usage("%s: the run has no phase on a volume named %q; it has some on %s", path, volume, strings.Join(volumes, ", "))
	}
	return compare.OfRun(path, l.run, analyze.Run(l.catalog, l.run, l.measured, nil), l.measured, volume), l.notes, nil
}
