package emulate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Sweep removes what killed processes have left behind: mounted file systems, loop devices, FUSE mounts, records and
// temporary images. It touches only what a record names, and no record of a process that lives. It returns what it
// removed, one line each, also where it could not remove everything.
func Sweep(ctx context.Context) (removed []string, err error) {
	base, err := filepath.EvalSymlinks(runtimeDir())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	ctx, cancel := withPatience(ctx)
	defer cancel()
	dead, err := deadPlaces(base)
	errs := []error{err}
	for _, p := range dead {
		gone, err := p.sweep(ctx)
		removed = append(removed, gone...)
		if err != nil {
			errs = append(errs, fmt.Errorf("removing what process %d left of volume %s: %w", p.record.PID, p.record.Name, err))
		}
	}
	return removed, errors.Join(errs...)
}

// deadPlaces takes over all places whose process has died.
func deadPlaces(base string) (dead []*place, err error) {
	// No place can be in the making while the base is locked.
	lock, err := lockDir(base, 0)
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	entries, err := os.ReadDir(base)
	errs := []error{err}
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		p, err := openPlace(filepath.Join(base, entry.Name()))
		errs = append(errs, err)
		if p != nil {
			dead = append(dead, p)
		}
	}
	return dead, errors.Join(errs...)
}

func (p *place) sweep(ctx context.Context) (removed []string, err error) {
	var errs []error
	did := func(err error, format string, args ...any) {
		if err != nil {
			errs = append(errs, err)
			return
		}
		removed = append(removed, fmt.Sprintf(format, args...))
	}
	if p.record.Name != "" {
		for _, number := range loopsOver(p.file()) {
			for _, dir := range mountsOf(number) {
				did(within(ctx, func() error { return detach(dir) }), "file system at %s", dir)
			}
			// Without its file systems the device may have gone already: it detaches itself when its last user goes.
			if backingFile(number) == p.file() {
				did(clearLoop(number), "loop device %s", loopPath(number))
			}
		}
		if isMounted(p.fuseDir(), p.record.Source) {
			did(within(ctx, func() error { return unmountFuse(p.fuseDir(), true) }), "FUSE mount %s", p.fuseDir())
		}
		if p.record.TemporaryImage {
			did(p.removeImage(), "image %s", p.record.Image)
		}
	}
	did(p.remove(), "record %s", p.dir)
	return removed, errors.Join(errs...)
}

// mountsOf returns where the file system on a loop device is mounted, the latest first.
func mountsOf(number int) (dirs []string) {
	const loopMajor = 7
	for _, m := range mounts() {
		if m.major == loopMajor && m.minor == number || m.source == loopPath(number) {
			dirs = append([]string{m.dir}, dirs...)
		}
	}
	return dirs
}

// isMounted says whether our FUSE file system of the given source is mounted at dir.
func isMounted(dir, source string) bool {
	for _, m := range mounts() {
		if m.dir == dir && m.kind == fuseType && m.source == source {
			return true
		}
	}
	return false
}

// detach unmounts at once, even if something holds a file there.
func detach(dir string) error {
	if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil && err != unix.EINVAL {
		return fmt.Errorf("unmounting %s: %w", dir, err)
	}
	return nil
}

func clearLoop(number int) error {
	device, err := os.OpenFile(loopPath(number), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return (&loopDevice{number: number, device: device}).clear()
}
