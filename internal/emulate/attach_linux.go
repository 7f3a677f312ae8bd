package emulate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"

	"ebscope/internal/units"
)

// attachment is what a volume consists of on this machine.
type attachment struct {
	place *place
	image *os.File
	fuse  *fuseMount
	loop  *loopDevice // nil where the FUSE file is used as it is
	meter *overheadMeter

	closing  sync.Once
	closeErr error
}

// Attach makes a volume usable, on a stopped clock: until Host.Start or Host.BeginPhase, I/O is free. It returns an
// Unavailable error where the machine has no FUSE, or the user no right to it. The caller closes the device.
func Attach(ctx context.Context, cfg Config) (_ *Device, err error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	host := cfg.Host
	if host == nil {
		host = NewHost(nil, 1)
	}
	v, err := host.attach(cfg)
	if err != nil {
		return nil, err
	}
	d := &Device{volume: v}
	if err := d.attachment.attach(ctx, cfg, v); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err() // and not what it made fail
		}
		return nil, errors.Join(fmt.Errorf("attaching volume %s: %w", cfg.Name, err), d.Close(context.WithoutCancel(ctx)))
	}
	return d, nil
}

func (a *attachment) attach(ctx context.Context, cfg Config, v *volume) (err error) {
	if a.place, err = newPlace(cfg); err != nil {
		return err
	}
	if a.image, err = a.place.openImage(cfg.Volume.Size); err != nil {
		return err
	}
	fs := newFuseSystem(v, int(a.image.Fd()), cfg.Volume.Size)
	if a.fuse, err = mountFuse(fs, a.place.fuseDir(), a.place.source()); err != nil {
		return err
	}
	// A volume that is served keeps its lock and its image, even if the caller has lost its Device: the garbage
	// collector would close them.
	go func() {
		<-a.fuse.served
		runtime.KeepAlive(a)
	}()
	if !cfg.FileOnly && loopUsable() {
		if a.loop, err = attachLoop(ctx, a.place.file()); err != nil {
			return err
		}
	}
	a.meter = &overheadMeter{volume: v, loop: a.loop}
	if err := a.meter.calibrate(ctx, a.path()); err != nil {
		return err
	}
	if a.loop != nil {
		go a.meter.follow(a.fuse.served)
	}
	return nil
}

// loopUsable says whether this process may attach loop devices.
func loopUsable() bool {
	return os.Geteuid() == 0 && unix.Access("/dev/loop-control", unix.R_OK|unix.W_OK) == nil
}

func (a *attachment) path() string {
	if a.loop != nil {
		return a.loop.path()
	}
	return a.place.file()
}

// Calibrate measures anew what the way through the kernel adds to an I/O; Attach has done so once. A machine that has
// worked reacts in another time than one that has idled. It takes about half a second; the clock must stand.
func (d *Device) Calibrate(ctx context.Context) error {
	return d.attachment.meter.calibrate(ctx, d.Path())
}

// Settle writes the volume's data out to this machine's own disk, so that the kernel does not do it while something is
// being measured.
func (d *Device) Settle() error {
	if err := unix.Fdatasync(int(d.attachment.image.Fd())); err != nil {
		return fmt.Errorf("writing out image %s: %w", d.attachment.place.record.Image, err)
	}
	return nil
}

// Path returns where the volume is: a block device such as /dev/loop0, or a file.
func (d *Device) Path() string { return d.attachment.path() }

// Block says whether the volume is a block device, which can be formatted and mounted.
func (d *Device) Block() bool { return d.attachment.loop != nil }

// openImage opens the file that holds a volume's data, or creates it: sparse, so that it takes up only what is written.
// A temporary one must be new.
func (p *place) openImage(size units.Bytes) (_ *os.File, err error) {
	path := p.record.Image
	image, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	created := err == nil
	if errors.Is(err, os.ErrExist) && !p.record.TemporaryImage {
		image, err = os.OpenFile(path, os.O_RDWR, 0)
	}
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			image.Close()
			if created {
				err = errors.Join(err, os.Remove(path))
			}
		}
	}()
	if err := unix.Flock(int(image.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, fmt.Errorf("image %s is in use by another volume: %w", path, err)
	}
	info, err := image.Stat()
	if err != nil {
		return nil, err
	}
	switch units.Bytes(info.Size()) {
	case size:
	case 0:
		err := image.Truncate(int64(size))
		if errors.Is(err, unix.EFBIG) {
			return nil, fmt.Errorf("the file system of %s cannot hold a sparse file of %v: %w; name an image on another one, such as xfs", path, size, err)
		}
		if err != nil {
			return nil, fmt.Errorf("making image %s of %v: %w", path, size, err)
		}
	default:
		return nil, fmt.Errorf("image %s holds a volume of %v, not of %v; give that size, or name another file", path, units.Bytes(info.Size()), size)
	}
	return image, nil
}
