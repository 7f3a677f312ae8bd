package device

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"ebscope/internal/units"
)

// Claim is a device that this process holds: until it is closed, the kernel lets nobody mount the device, swap on it or
// stack another upon it, nor a second ebscope claim it.
type Claim struct {
	host   Host
	device Device
	use    Use
	file   *os.File
}

// Claim holds a device for a use, or refuses it with a RefusedError. A device in use is never given. One that carries
// data in a form that is known (a file system, a partition table, RAID, LVM, …) is given for reading only.
func (h Host) Claim(ctx context.Context, name string, use Use) (*Claim, error) {
	d, err := h.find(name)
	if err != nil {
		return nil, err
	}
	c := &Claim{host: h, device: d, use: use}
	// What is in use is named before the kernel, which says no more than EBUSY, is asked.
	if err := h.unused(d); err != nil {
		return nil, err
	}
	// Exclusive without O_CREAT: fails where a mount, swap or another device has it (open(2)).
	c.file, err = os.OpenFile(d.Path, os.O_RDONLY|unix.O_EXCL, 0)
	switch {
	case errors.Is(err, unix.EBUSY):
		return nil, refuse(name, "end what uses it", "is in use, the kernel says (%v)", unix.EBUSY)
	case errors.Is(err, os.ErrPermission):
		return nil, refuse(name, "run ebscope as root", "cannot be opened (%v)", unix.EACCES)
	case err != nil:
		return nil, refuse(name, "", "cannot be opened: %v", err)
	}
	end, err := c.file.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("size of device %s: %w", name, err), c.Close())
	}
	c.device.Size = units.Bytes(end)
	if err := c.Check(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Device describes the device.
func (c *Claim) Device() Device { return c.device }

// Check says whether the device may still be used as it was claimed. It is to be asked again right before the first write.
func (c *Claim) Check(ctx context.Context) error {
	if err := c.Present(); err != nil {
		return err
	}
	d := c.device
	if err := c.host.unused(d); err != nil {
		return err
	}
	if d.Size < c.use.Length {
		return refuse(d.Name, "use a larger volume, or set a smaller file_size in a profile of your own",
			"holds %v, but the profile's file_size is %v", d.Size, c.use.Length)
	}
	if !c.use.Write {
		return nil
	}
	if d.ReadOnly {
		return refuse(d.Name, "use a profile that only reads, or make it writable: blockdev --setrw "+d.Path, "is read-only")
	}
	return c.host.blank(ctx, d)
}

// Present says whether the path still leads to the device that was claimed, and that one is still there.
func (c *Claim) Present() error {
	now, err := c.host.find(c.device.Name)
	if err != nil {
		return err
	}
	var held unix.Stat_t
	if err := unix.Fstat(int(c.file.Fd()), &held); err != nil {
		return fmt.Errorf("device %s: %w", c.device.Name, err)
	}
	if now.Number != c.device.Number || number(held.Rdev) != c.device.Number || now.Serial != c.device.Serial {
		return refuse(c.device.Name, "start anew", "is now another device: %s %s in place of %s %s",
			now.Number, orUnknown(now.Serial, "serial"), c.device.Number, orUnknown(c.device.Serial, "serial"))
	}
	return nil
}

// Overlaps says whether a name leads to the claimed device, or to another part of its disk.
func (c *Claim) Overlaps(name string) bool {
	other, err := c.host.find(name)
	return err == nil && c.host.disk(other.Number) == c.host.disk(c.device.Number)
}

// Close gives the device back.
func (c *Claim) Close() error { return c.file.Close() }

// find looks a device up by its name, which may be a symbolic link such as those in /dev/disk/by-id.
func (h Host) find(name string) (Device, error) {
	path, err := filepath.Abs(name)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return Device{}, refuse(name, "lsblk shows those that are there", "cannot be found: %v", err)
	}
	var s unix.Stat_t
	if err := unix.Stat(path, &s); err != nil {
		return Device{}, refuse(name, "lsblk shows those that are there", "cannot be found: %v", err)
	}
	if s.Mode&unix.S_IFMT != unix.S_IFBLK {
		return Device{}, refuse(name, "name one such as /dev/nvme1n1, or use --target path for a directory", "is no block device")
	}
	d := Device{Name: name, Path: path, Number: number(s.Rdev)}
	h.identify(&d)
	return d, nil
}

func number(rdev uint64) Number {
	return Number(fmt.Sprintf("%d:%d", unix.Major(rdev), unix.Minor(rdev)))
}
