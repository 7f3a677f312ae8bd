//go:build linux

package testcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

const cgroupRoot = "/sys/fs/cgroup"

// cgroupFolders returns the folder of a control group in each of the machine's hierarchies: one with version 2, several with
// version 1.
func cgroupFolders(name string) ([]string, error) {
	if _, err := os.Stat(filepath.Join(cgroupRoot, "cgroup.controllers")); err == nil {
		return []string{filepath.Join(cgroupRoot, name)}, nil
	}
	hierarchies, err := filepath.Glob(filepath.Join(cgroupRoot, "*", "cgroup.procs"))
	if err != nil || len(hierarchies) == 0 {
		return nil, fmt.Errorf("no control groups are mounted below %s", cgroupRoot)
	}
	var dirs []string
	for _, h := range hierarchies {
		dirs = append(dirs, filepath.Join(filepath.Dir(h), name))
	}
	return dirs, nil
}

// enableControllers hands down, with version 2, the controllers that a kubelet wants to find in its group. Where that is not
// possible, the kubelet says which one is missing.
func enableControllers(groups []string) {
	for _, g := range groups {
		for _, controller := range []string{"cpu", "cpuset", "io", "memory", "pids", "hugetlb"} {
			_ = os.WriteFile(filepath.Join(filepath.Dir(g), "cgroup.subtree_control"), []byte("+"+controller), 0)
		}
	}
}

// removeCgroups removes control groups, which patterns may name, and all below them. A group goes a moment after its last process.
func removeCgroups(ctx context.Context, patterns []string) error {
	var dirs []string
	var errs []error
	for _, p := range patterns {
		found, err := filepath.Glob(p)
		dirs, errs = append(dirs, found...), append(errs, err)
	}
	for _, dir := range dirs {
		for {
			err := removeCgroup(dir)
			if err == nil {
				break
			}
			if ctx.Err() != nil {
				errs = append(errs, fmt.Errorf("removing control group %s: %w", dir, err))
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	return errors.Join(errs...)
}

func removeCgroup(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() {
			if err := removeCgroup(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return unix.Rmdir(dir)
}
