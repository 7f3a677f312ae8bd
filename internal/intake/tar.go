package intake

import (
	"archive/tar"
	"errors"
	"io"
	"path"
	"strings"

	"ebscope/internal/result"
)

// tar reads every file in a tar.
func (c *collector) tar(p piece) error {
	t := tar.NewReader(p.r)
	for {
		header, err := t.Next()
		switch {
		case errors.Is(err, io.EOF):
			return c.ctx.Err()
		case err != nil:
			if c.ctx.Err() == nil {
				c.skip(p.name, "is cut off or damaged: %v; what follows is left out", err)
			}
			return c.ctx.Err()
		case header.Typeflag != tar.TypeReg:
			continue // folders, and links whose target is read where it stands
		}
		name := path.Clean("/" + strings.ReplaceAll(header.Name, `\`, "/"))[1:] // no way out of the archive
		inner := piece{name: p.name + ":" + name, r: t, nested: p.nested + 1}
		switch base := path.Base(name); {
		case strings.HasPrefix(base, "."):
			continue // as macOS puts them in
		case strings.Count(name, "/") > maxDepth:
			c.skip(inner.name, "is left out: it is more than %d folders deep", maxDepth)
			continue
		case base == result.RunFile:
			dir := strings.TrimSuffix(inner.name, base)
			c.owned = append(c.owned, dir)
			c.skip(strings.TrimRight(dir, "/:"), "is a run directory of ebscope: unpack it and analyze it by itself, with its volumes and phases")
			continue
		}
		if err := c.count(inner.name); err != nil {
			return err
		}
		if err := c.piece(inner); err != nil {
			return err
		}
	}
}

// disown takes out what was read of run directories in archives: run.json may come after the files of its phases.
func (c *collector) disown() {
	inside := func(file string) bool {
		for _, dir := range c.owned {
			if strings.HasPrefix(file, dir) {
				return true
			}
		}
		return false
	}
	c.readings = filter(c.readings, func(r result.Reading) bool { return !inside(r.Source.File) })
	c.logs = filter(c.logs, func(l logFile) bool { return !inside(l.File) })
	c.notes = filter(c.notes, func(n result.Note) bool { return !inside(n.File) })
}

func filter[T any](all []T, keep func(T) bool) (kept []T) {
	for _, x := range all {
		if keep(x) {
			kept = append(kept, x)
		}
	}
	return kept
}
