//go:build linux

package testcluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// detachHolders detaches the loop devices that a kubelet has put over raw devices to hold them, and left when it was killed:
// those over one device, or with an empty path those over any loop device. Orphans are those alone whose file has no place in
// any mount namespace any more.
func detachHolders(path string, orphans bool) error {
	if path == "" {
		path = "/dev/loop[0-9]*"
	}
	devices, err := filepath.Glob(path)
	if err != nil {
		return err
	}
	type node struct{ device, inode uint64 }
	held := map[node]bool{}
	for _, d := range devices {
		var s unix.Stat_t
		if unix.Stat(d, &s) == nil {
			held[node{s.Dev, s.Ino}] = true
		}
	}
	attached, err := filepath.Glob("/sys/block/loop*/loop/backing_file")
	if err != nil {
		return err
	}
	var errs []error
	for _, file := range attached {
		text, err := os.ReadFile(file)
		if err != nil || orphans && strings.TrimSpace(string(text)) != "/" {
			continue // detached in the meantime, or in use
		}
		name := "/dev/" + filepath.Base(filepath.Dir(filepath.Dir(file)))
		over := func(i *unix.LoopInfo64) bool { return held[node{i.Device, i.Inode}] }
		if err := detachIf(name, over); err != nil {
			errs = append(errs, fmt.Errorf("detaching %s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

func detachIf(name string, wanted func(*unix.LoopInfo64) bool) error {
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	info, err := unix.IoctlLoopGetStatus64(fd)
	if errors.Is(err, unix.ENXIO) {
		return nil // nothing is attached any more
	}
	if err != nil || !wanted(info) {
		return err
	}
	return unix.IoctlSetInt(fd, unix.LOOP_CLR_FD, 0)
}
