package bench

import (
	"os"

	"golang.org/x/sys/windows"

	"ebscope/internal/units"
)

// freeSpace returns what the user can still write below a directory.
func freeSpace(dir string) (units.Bytes, error) {
	path, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var free uint64
	err = windows.GetDiskFreeSpaceEx(path, &free, nil, nil)
	return units.Bytes(free), err
}

// used returns the size of a file, zero where there is none.
func used(path string) units.Bytes {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return units.Bytes(info.Size())
}
