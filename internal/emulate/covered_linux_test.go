package emulate_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"ebscope/internal/emulate"
)

// A mount of somebody else over a volume's own stays, and so does the record, by which a later sweep goes on.
func TestCoveredMountIsLeftAlone(t *testing.T) {
	needsRoot(t)
	for name, tt := range map[string]struct {
		// cover returns where a tmpfs is mounted, given the directory of all records and that of the volume.
		cover func(base, place string) string
		// again is made a directory in that tmpfs, and another tmpfs is mounted there.
		again string
	}{
		"over the file system":      {cover: func(_, place string) string { return place + "/mount" }},
		"below the file system":     {cover: func(_, place string) string { return place + "/mount/below" }},
		"over the FUSE mount":       {cover: func(_, place string) string { return place + "/fuse" }},
		"over a directory above":    {cover: func(base, _ string) string { return base }},
		"there too, over the above": {cover: func(base, _ string) string { return base }, again: "/mount"},
	} {
		t.Run(name, func(t *testing.T) {
			base := records(t)
			d := attachOpen(t, emulate.Config{Volume: gp2})
			needsBlock(t, d)
			if err := d.Format(t.Context(), "ext4"); err != nil {
				t.Skipf("%v; to run this test: apt-get install e2fsprogs", err)
			}
			dir, err := d.Mount("ext4", "")
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(filepath.Join(dir, "below"), 0o755); err != nil {
				t.Fatal(err)
			}
			place := filepath.Dir(dir)
			at := tt.cover(base, place)
			mountTmpfs(t, at)
			if tt.again != "" {
				if err := os.MkdirAll(place+tt.again, 0o755); err != nil {
					t.Fatal(err)
				}
				mountTmpfs(t, place+tt.again)
			}
			before := mountsBelow(t, base)

			var covered *emulate.Covered
			if err := d.Close(context.Background()); !errors.As(err, &covered) || !strings.Contains(covered.By, "tmpfs at "+at) {
				t.Errorf("closing a covered volume: %v, want an error that names the tmpfs at %s", err, at)
			}
			if at != base { // otherwise Sweep sees no records
				if removed, err := emulate.Sweep(t.Context()); !errors.As(err, &covered) {
					t.Errorf("sweeping a covered volume removed %v, %v; want an error", removed, err)
				}
			}
			left := strings.Join(mountsBelow(t, base), "")
			for _, line := range before {
				if strings.Contains(line, " tmpfs ") && !strings.Contains(left, line) {
					t.Errorf("the mount of somebody else is gone: %s", line)
				}
			}

			if tt.again != "" {
				unmountTmpfs(t, place+tt.again)
			}
			unmountTmpfs(t, at)
			if _, err := emulate.Sweep(t.Context()); err != nil {
				t.Errorf("sweeping what is no longer covered: %v", err)
			}
			// records checks that nothing is left.
		})
	}
}

func mountTmpfs(t *testing.T, dir string) {
	t.Helper()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for unix.Unmount(dir, 0) == nil { // nothing, if the test has come to its end
		}
	})
}

func unmountTmpfs(t *testing.T, dir string) {
	t.Helper()
	if err := unix.Unmount(dir, 0); err != nil {
		t.Errorf("the mount of somebody else: %v", err)
	}
}
