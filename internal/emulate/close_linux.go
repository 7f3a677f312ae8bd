package emulate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// patience is how long Close and Sweep wait for somebody to let go of a device, where their context sets no deadline.
const patience = 10 * time.Second

// cutOffTime is how long the kernel has to take things away by force. It takes milliseconds.
const cutOffTime = time.Second

func withPatience(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, patience)
}

// Close unmounts and detaches the volume and returns when it is gone. If somebody still uses it at the context's
// deadline, or after ten seconds, they are cut off: their I/O fails, and a Busy error names them. Closing again
// returns the first result.
func (d *Device) Close(ctx context.Context) error {
	d.attachment.closing.Do(func() {
		d.volume.release()
		if err := d.attachment.close(ctx); err != nil {
			d.attachment.closeErr = fmt.Errorf("detaching volume %s: %w", d.volume.name, err)
		}
	})
	return d.attachment.closeErr
}

func (a *attachment) close(ctx context.Context) error {
	ctx, cancel := withPatience(ctx)
	defer cancel()
	var errs []error
	if a.fuse != nil {
		err := a.letGo(ctx)
		if err != nil && !isCovered(err) {
			err = a.cutOff(context.WithoutCancel(ctx), err)
		}
		if isCovered(err) {
			return errors.Join(err, a.leave(ctx))
		}
		errs = append(errs, err)
	}
	// A server that still runs must not find another file under the image's descriptor.
	if a.image != nil && a.serverEnded() {
		errs = append(errs, a.image.Close())
	}
	if a.image != nil {
		_, err := a.place.removeImage()
		errs = append(errs, err)
	}
	if a.place != nil {
		errs = append(errs, a.place.remove())
	}
	return errors.Join(errs...)
}

func isCovered(err error) bool {
	var covered *Covered
	return errors.As(err, &covered)
}

// leave leaves what is still mounted to a later sweep, which finds it by the record.
func (a *attachment) leave(ctx context.Context) error {
	defer a.place.unlock()
	if a.loop == nil {
		return nil
	}
	return within(ctx, func() error {
		// The volume ends with this process, before its file system does. Flushing the device writes what that holds.
		_ = unix.IoctlSetInt(int(a.loop.device.Fd()), unix.BLKFLSBUF, 0)
		return a.loop.clear()
	})
}

// letGo takes down file system, loop device and FUSE mount, each as soon as nothing uses it.
func (a *attachment) letGo(ctx context.Context) error {
	if a.loop != nil {
		for _, m := range mountsOf(a.loop.number) {
			if err := untilFree(ctx, func() error { return m.unmount(0) }); err != nil {
				return err
			}
		}
		if err := a.detachLoop(ctx); err != nil {
			return err
		}
	}
	if err := untilFree(ctx, func() error { return a.unmountFuse(false) }); err != nil {
		return err
	}
	return a.serverEnd(ctx)
}

func (a *attachment) unmountFuse(force bool) error {
	return unmountFuse(a.fuse.dir, a.place.source(), force)
}

func (a *attachment) detachLoop(ctx context.Context) error {
	if err := within(ctx, a.loop.clear); err != nil {
		return err
	}
	return untilFree(ctx, func() error {
		if a.loop.attached() {
			return fmt.Errorf("%s is still attached: %w", a.loop.path(), unix.EBUSY)
		}
		return nil
	})
}

func (a *attachment) serverEnded() bool {
	if a.fuse == nil {
		return true
	}
	select {
	case <-a.fuse.served:
		return true
	default:
		return false
	}
}

func (a *attachment) serverEnd(ctx context.Context) error {
	select {
	case <-a.fuse.served:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the FUSE file is served until its last user goes, or this process ends: %w", ctx.Err())
	}
}

// cutOff takes everything away from whoever still uses it. cause is why letting go failed; ctx must
// outlive the deadline that this was for.
func (a *attachment) cutOff(ctx context.Context, cause error) error {
	// What follows waits for no user, with one exception: without root, and without fusectl, the connection of a file
	// that somebody holds cannot be aborted.
	ctx, cancel := context.WithTimeout(ctx, cutOffTime)
	defer cancel()
	busy := &Busy{Path: a.path(), Holders: a.holders()}
	var errs []error
	if a.loop != nil {
		for _, m := range mountsOf(a.loop.number) {
			err := within(ctx, func() error { return m.unmount(unix.MNT_DETACH) })
			errs = append(errs, err)
			if isCovered(err) {
				return errors.Join(busy, err) // what lies below must stay too
			}
		}
	}
	errs = append(errs, within(ctx, func() error { return a.unmountFuse(true) }))
	if a.loop != nil {
		// With the FUSE file gone nothing that uses the device can hang; it detaches itself when the last user goes.
		errs = append(errs, within(ctx, a.loop.clear))
	}
	errs = append(errs, a.serverEnd(ctx))
	if !errors.Is(cause, unix.EBUSY) && !errors.Is(cause, context.DeadlineExceeded) {
		errs = append([]error{cause}, errs...)
	}
	return errors.Join(append([]error{busy}, errs...)...)
}

// untilFree repeats a call for as long as it says that something is in use.
func untilFree(ctx context.Context, call func() error) error {
	for wait := time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		err := within(ctx, call)
		if !errors.Is(err, unix.EBUSY) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
	}
}

// within runs a call that can hang in the kernel. At the end of ctx it is left alone, to end when it can.
func within(ctx context.Context, call func() error) error {
	done := make(chan error, 1)
	go func() { done <- call() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
