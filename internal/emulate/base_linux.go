package emulate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// runtimeVariable is the environment variable that moves the records of attached volumes.
const runtimeVariable = "EBSCOPE_RUNTIME_DIR"

// runtimeDir is where the records and mount points of all attached volumes are.
func runtimeDir() string {
	if dir := os.Getenv(runtimeVariable); dir != "" {
		return dir
	}
	if os.Geteuid() == 0 {
		return "/run/ebscope"
	}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		return filepath.Join(dir, "ebscope")
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("ebscope-%d", os.Geteuid()))
}

// passable lets others through to what is mounted below: a database on a mounted file system need not run as root.
// They cannot open the directory, so they cannot hold its lock.
const passable = 0o711

// makeBase makes the directory of all places.
func makeBase() error {
	mode := os.FileMode(0o700)
	if os.Geteuid() == 0 {
		mode = passable
	}
	return os.MkdirAll(runtimeDir(), mode)
}

// lockBase returns the real path of the directory of all places, locked: no place is made or taken over meanwhile.
func lockBase() (base string, lock *os.File, err error) {
	if err := checkOwn(runtimeDir()); err != nil {
		return "", nil, err
	}
	// The mount table and the loop driver give real paths, and those are compared.
	if base, err = filepath.EvalSymlinks(runtimeDir()); err != nil {
		return "", nil, err
	}
	if base, err = filepath.Abs(base); err != nil {
		return "", nil, err
	}
	lock, err = lockDir(base, 0)
	return base, lock, err
}

// checkOwn returns an error unless path is a directory that only this user can have put anything into. In a folder
// like /tmp others may have made it first, with records that name what they want to have removed.
func checkOwn(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	switch stat, ok := info.Sys().(*syscall.Stat_t); {
	case !info.IsDir():
		err = errors.New("it is not a directory")
	case !ok || int(stat.Uid) != os.Geteuid():
		err = errors.New("it belongs to another user")
	case info.Mode().Perm()&0o022 != 0:
		err = errors.New("others may write into it")
	default:
		return nil
	}
	return fmt.Errorf("%s cannot be trusted with records of volumes: %w; delete it, or set %s to a directory of your own", path, err, runtimeVariable)
}

// lockDir locks a directory; it waits for the lock unless how is LOCK_NB, and then EWOULDBLOCK says that a living
// process holds it. Closing the file unlocks.
func lockDir(path string, how int) (*os.File, error) {
	dir, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	for {
		err := unix.Flock(int(dir.Fd()), unix.LOCK_EX|how)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			dir.Close()
			return nil, fmt.Errorf("locking %s: %w", path, err)
		}
		return dir, nil
	}
}
