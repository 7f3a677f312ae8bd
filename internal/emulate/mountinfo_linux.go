package emulate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// mountEntry is a line of the mount table.
type mountEntry struct {
	id, parent        int // the parent is the mount that this one is mounted on
	major, minor      int
	dir, kind, source string
}

// mounts returns the mount table, the latest mount last.
func mounts() []mountEntry {
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	return parseMounts(string(table))
}

// Mounted says whether a directory is one that something is mounted at, and of which kind that is.
func Mounted(dir string) (kind string, ok bool, err error) {
	path, err := filepath.Abs(dir)
	if err == nil {
		path, err = filepath.EvalSymlinks(path) // as the mount table has it
	}
	if err != nil {
		return "", false, err
	}
	for _, m := range mounts() {
		if m.dir == path {
			kind, ok = m.kind, true // the latest is the one that is seen
		}
	}
	return kind, ok, nil
}

// parseMounts reads the form that proc(5) gives: "36 35 98:0 /root /dir options… - type source options".
func parseMounts(table string) (entries []mountEntry) {
	for line := range strings.Lines(table) {
		left, right, found := strings.Cut(line, " - ")
		place, device := strings.Fields(left), strings.Fields(right)
		if !found || len(place) < 5 || len(device) < 2 {
			continue
		}
		e := mountEntry{dir: unescape(place[4]), kind: device[0], source: unescape(device[1])}
		if _, err := fmt.Sscanf(line, "%d %d %d:%d", &e.id, &e.parent, &e.major, &e.minor); err == nil {
			entries = append(entries, e)
		}
	}
	return entries
}

// unmount takes the mount away. It is no error if it has gone.
func (m mountEntry) unmount(flags int) error {
	return m.unmountWith(func() error {
		if err := unix.Unmount(m.dir, flags|unix.UMOUNT_NOFOLLOW); err != unix.EINVAL { // EINVAL: nothing is mounted there
			return err
		}
		return nil
	})
}

// unmountWith has call take the mount away by its path, unless that would take away another one.
func (m mountEntry) unmountWith(call func() error) error {
	table := mounts()
	if !slices.Contains(table, m) {
		return nil
	}
	reached, err := mountAt(m.dir)
	for _, e := range table {
		// What is mounted over a mount, or below its directory, is mounted on it. What hides it further up is reached
		// in its stead.
		if e.parent == m.id || e.id == reached && reached != m.id {
			return &Covered{Dir: m.dir, By: fmt.Sprintf("the %s at %s", e.kind, e.dir)}
		}
	}
	if err == nil && reached != m.id {
		err = errors.New("its path leads elsewhere")
	}
	if err == nil {
		err = call()
	}
	if err != nil {
		return fmt.Errorf("unmounting %s: %w", m.dir, err)
	}
	return nil
}

// mountAt returns the number of the mount that a path leads to. Where the path does not exist, it is that of the
// nearest directory above.
func mountAt(path string) (id int, err error) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	for errors.Is(err, unix.ENOENT) && path != "/" {
		path = filepath.Dir(path)
		fd, err = unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	}
	if err != nil {
		return 0, &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	info, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", fd))
	if err != nil {
		return 0, err
	}
	_, after, _ := strings.Cut(string(info), "mnt_id:")
	number, _, _ := strings.Cut(after, "\n")
	return strconv.Atoi(strings.TrimSpace(number))
}

// unescape undoes the kernel's octal escapes: a space in a path is written \040.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if c, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(c))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
