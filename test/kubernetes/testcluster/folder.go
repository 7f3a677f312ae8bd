//go:build linux

package testcluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
	"golang.org/x/sys/unix"
)

// folderPrefix begins the name of every cluster's folder, and of its control group.
const folderPrefix = "ebscope-cluster-"

// mountsDir is where a cluster's volumes are mounted. It is a mount of its own, so that mounts below it reach the node.
const mountsDir = "mounts"

// newFolder makes the folder of a cluster. It is locked as long as this process lives.
func newFolder() (dir string, lock io.Closer, err error) {
	if dir, err = os.MkdirTemp("", folderPrefix); err != nil {
		return "", nil, err
	}
	for _, sub := range []string{"logs", mountsDir} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
			return "", nil, err
		}
	}
	l := flock.New(filepath.Join(dir, "lock"))
	if locked, err := l.TryLock(); err != nil || !locked {
		return "", nil, fmt.Errorf("locking %s, which is new: %w", l.Path(), errors.Join(err, errors.New("another process has cleaned up; try again")))
	}
	return dir, l, nil
}

// shareMounts makes mounts below the cluster's mountsDir appear on the node too.
func (c *Cluster) shareMounts() error {
	dir := c.file(mountsDir)
	if err := unix.Mount(dir, dir, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("mounting %s on itself: %w", dir, err)
	}
	if err := unix.Mount("", dir, "", unix.MS_SHARED, ""); err != nil {
		return fmt.Errorf("sharing %s: %w", dir, err)
	}
	return nil
}

// removeFolder removes a cluster's folder. It never descends into a mounted volume: it fails instead.
func removeFolder(dir string) error {
	mounts := filepath.Join(dir, mountsDir)
	// EINVAL: it is no mount.
	if err := unix.Unmount(mounts, 0); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("unmounting %s: %w; the folder is left", mounts, err)
	}
	return os.RemoveAll(dir)
}

// sweepFolders removes the folders and control groups of clusters whose process is dead. The processes died with it.
func sweepFolders(ctx context.Context, progress io.Writer) error {
	dirs, err := filepath.Glob(filepath.Join(os.TempDir(), folderPrefix+"*", "lock"))
	if err != nil {
		return err
	}
	for _, file := range dirs {
		dir := filepath.Dir(file)
		l := flock.New(file)
		free, lockErr := l.TryLock()
		if lockErr != nil || !free {
			continue
		}
		cgroups, listErr := cgroupFolders(filepath.Base(dir) + "-*")
		err = errors.Join(err, listErr, removeCgroups(ctx, cgroups), removeFolder(dir), l.Close())
		fmt.Fprintf(progress, "removed %s, which a killed test had left\n", dir)
	}
	return err
}
