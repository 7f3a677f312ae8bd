//go:build linux || darwin

package bench

import (
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/unix"

	"ebscope/internal/units"
)

// freeSpace returns what an unprivileged user can still write below a directory.
func freeSpace(dir string) (units.Bytes, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return units.Bytes(s.Bavail * uint64(s.Bsize)), nil
}

// used returns what a file, or every file of a folder, takes on disk; sparse parts take nothing.
func used(path string) units.Bytes {
	var total units.Bytes
	_ = filepath.WalkDir(path, func(name string, _ fs.DirEntry, err error) error {
		var s unix.Stat_t
		if err == nil && unix.Stat(name, &s) == nil {
			total += units.Bytes(s.Blocks * 512)
		}
		return nil // what is not there takes nothing
	})
	return total
}
