package emulate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

var errNoBlockDevice = errors.New("it is a file here, because attaching a loop device needs root and /dev/loop-control")

// CheckMount returns an Unavailable error where volumes cannot be mounted, or not be formatted as the given kind. An
// empty kind asks for mounting only.
func CheckMount(kind string) error {
	if !loopUsable() {
		return &Unavailable{What: "mounting a volume", Err: errNoBlockDevice}
	}
	if kind == "" {
		return nil
	}
	fs, err := fileSystemOf(kind)
	if err == nil {
		_, err = fs.formatter()
	}
	return err
}

// formatter returns the path of the program that makes file systems of this kind.
func (f fileSystem) formatter() (path string, err error) {
	path, err = exec.LookPath("mkfs." + f.kind)
	if err != nil {
		return "", &Unavailable{What: "formatting a volume (install the package " + f.needs + ")", Err: err}
	}
	return path, nil
}

// Format makes a file system of one of the kinds of FileSystems on the volume. What was there is lost. On a stopped
// clock it spends no credits.
func (d *Device) Format(ctx context.Context, kind string) error {
	if err := d.wantsBlock("formatting"); err != nil {
		return err
	}
	fs, err := fileSystemOf(kind)
	if err != nil {
		return err
	}
	program, err := fs.formatter()
	if err != nil {
		return err
	}
	out, err := command(ctx, program, "-q", fs.force, d.Path()).CombinedOutput()
	if ctx.Err() != nil {
		return fmt.Errorf("formatting volume %s: %w", d.volume.name, ctx.Err())
	}
	if err != nil {
		return fmt.Errorf("formatting volume %s: %s: %w: %s", d.volume.name, program, err, strings.TrimSpace(string(out)))
	}
	return nil
}

// command prepares a program that ends with ctx, and not with a Ctrl-C of its own: that would look like a failure.
func command(ctx context.Context, path string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// Mount mounts the volume's file system at dir, which must exist, or with an empty dir at a directory of the device's
// own. An empty kind means that of the file system that is found. It returns the directory. Close unmounts it.
func (d *Device) Mount(kind, dir string) (string, error) {
	if err := d.wantsBlock("mounting"); err != nil {
		return "", err
	}
	if kind == "" {
		found, err := d.fileSystem()
		if err != nil {
			return "", fmt.Errorf("mounting volume %s: %w", d.volume.name, err)
		}
		kind = found
	}
	if dir == "" {
		dir = d.attachment.place.mountDir()
	}
	if err := unix.Mount(d.Path(), dir, kind, 0, ""); err != nil {
		return "", fmt.Errorf("mounting the %s of volume %s at %s: %w", kind, d.volume.name, dir, err)
	}
	return dir, nil
}

// fileSystem returns the kind of the file system on the volume.
func (d *Device) fileSystem() (kind string, err error) {
	device, err := os.Open(d.Path())
	if err != nil {
		return "", err
	}
	defer device.Close()
	return detect(device)
}

func (d *Device) wantsBlock(what string) error {
	if d.Block() {
		return nil
	}
	return &Unavailable{What: what + " volume " + d.volume.name, Err: errNoBlockDevice}
}
