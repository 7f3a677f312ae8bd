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
// removed, one line each. The error says what it did not understand or could not remove; new volumes can be attached
// all the same.
func Sweep(ctx context.Context) (removed []string, err error) {
	ctx, cancel := withPatience(ctx)
	defer cancel()
	dead, err := deadPlaces()
	errs := []error{err}
	for _, p := range dead {
		gone, err := p.sweep(ctx)
		removed = append(removed, gone...)
		if err != nil {
			errs = append(errs, fmt.Errorf("removing what is left in %s: %w", p.dir, err))
		}
	}
	return removed, errors.Join(errs...)
}

// deadPlaces takes over all places whose process has died.
func deadPlaces() (dead []*place, err error) {
	base, lock, err := lockBase()
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
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

// sweep removes what a dead process has left, from the top down. It stops where something cannot be removed: what lies
// below is needed to find it again.
func (p *place) sweep(ctx context.Context) (removed []string, err error) {
	defer p.unlock()
	if p.record.Name != "" {
		for _, number := range loopsOver(p.file()) {
			for _, m := range mountsOf(number) {
				if err := within(ctx, func() error { return m.unmount(unix.MNT_DETACH) }); err != nil {
					return removed, err
				}
				removed = append(removed, "file system at "+m.dir)
			}
			// Without its file systems the device may have gone already: it detaches itself when its last user goes.
			if backingFile(number) == p.file() {
				if err := clearLoop(number); err != nil {
					return removed, err
				}
				removed = append(removed, "loop device "+loopPath(number))
			}
		}
		if _, mounted := fuseMounted(p.fuseDir(), p.source()); mounted {
			if err := within(ctx, func() error { return unmountFuse(p.fuseDir(), p.source(), true) }); err != nil {
				return removed, err
			}
			removed = append(removed, "FUSE mount "+p.fuseDir())
		}
	}
	gone, imageErr := p.removeImage()
	if gone {
		removed = append(removed, "image "+p.record.Image)
	}
	err = p.remove()
	if err == nil {
		removed = append(removed, "record "+p.dir)
	}
	return removed, errors.Join(imageErr, err)
}

// mountsOf returns where the file system on a loop device is mounted, the latest first.
func mountsOf(number int) (found []mountEntry) {
	const loopMajor = 7
	for _, m := range mounts() {
		if m.major == loopMajor && m.minor == number || m.source == loopPath(number) {
			found = append([]mountEntry{m}, found...)
		}
	}
	return found
}

func clearLoop(number int) error {
	device, err := os.OpenFile(loopPath(number), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return (&loopDevice{number: number, device: device}).clear()
}
