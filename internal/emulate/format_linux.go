package emulate

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"

	"golang.org/x/sys/unix"
)

var fileSystemForm = regexp.MustCompile(`^[a-z][a-z0-9]*$`)

// Format makes a file system of the given kind, such as xfs or ext4, on the volume. What was there is lost. On a
// stopped clock it spends no credits.
func (d *Device) Format(ctx context.Context, kind string) error {
	if err := d.wantsBlock("formatting"); err != nil {
		return err
	}
	if !fileSystemForm.MatchString(kind) {
		return fmt.Errorf("file system %q is no such thing; use xfs or ext4", kind)
	}
	program, err := exec.LookPath("mkfs." + kind)
	if err != nil {
		return fmt.Errorf("formatting volume %s: %w; install the package that has it (xfsprogs, e2fsprogs, btrfs-progs)", d.volume.name, err)
	}
	// The image may hold an older file system; without this option the programs ask or refuse.
	force := "-f"
	if strings.HasPrefix(kind, "ext") {
		force = "-F"
	}
	if out, err := exec.CommandContext(ctx, program, "-q", force, d.Path()).CombinedOutput(); err != nil {
		return fmt.Errorf("formatting volume %s: %s: %w: %s", d.volume.name, program, err, strings.TrimSpace(string(out)))
	}
	return nil
}

// Mount mounts the volume's file system at dir, which must exist, or with an empty dir at a directory of the device's
// own. It returns the directory. Close unmounts it.
func (d *Device) Mount(kind, dir string) (string, error) {
	if err := d.wantsBlock("mounting"); err != nil {
		return "", err
	}
	if dir == "" {
		dir = d.attachment.place.mountDir()
	}
	if err := unix.Mount(d.Path(), dir, kind, 0, ""); err != nil {
		return "", fmt.Errorf("mounting the %s of volume %s at %s: %w", kind, d.volume.name, dir, err)
	}
	return dir, nil
}

func (d *Device) wantsBlock(what string) error {
	if d.Block() {
		return nil
	}
	return &Unavailable{
		What: what + " volume " + d.volume.name,
		Err:  errors.New("it is a file here, because attaching a loop device needs root and /dev/loop-control"),
	}
}
