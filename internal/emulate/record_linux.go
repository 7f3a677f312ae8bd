package emulate

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

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

// record says what a volume leaves behind when its process dies. It is written before anything is mounted, and names
// everything in advance: the mount by its directory and source, the loop device by the file in that mount.
type record struct {
	PID            int    `json:"pid"`
	Name           string `json:"name"`
	Source         string `json:"source"` // of the FUSE mount in the mount table
	Image          string `json:"image"`
	TemporaryImage bool   `json:"temporary_image"`
}

// place is the directory of one attached volume. Its living process holds a lock on it.
type place struct {
	dir    string
	record record
	lock   *os.File
}

func (p *place) fuseDir() string    { return filepath.Join(p.dir, "fuse") }
func (p *place) mountDir() string   { return filepath.Join(p.dir, "mount") }
func (p *place) recordPath() string { return filepath.Join(p.dir, "record.json") }

// file returns the path of the volume's FUSE file.
func (p *place) file() string { return filepath.Join(p.fuseDir(), p.record.Name) }

// newPlace makes the directory of a volume, locks it and writes its record.
func newPlace(cfg Config) (_ *place, err error) {
	base := runtimeDir()
	if err := os.MkdirAll(base, 0o755); err != nil {
		return nil, err
	}
	// The mount table and the loop driver give real paths, and those are compared.
	if base, err = filepath.EvalSymlinks(base); err != nil {
		return nil, err
	}
	if base, err = filepath.Abs(base); err != nil {
		return nil, err
	}
	image, err := filepath.Abs(cfg.Image)
	if err != nil {
		return nil, err
	}
	// While the base is locked, no sweep takes the new directory for one that a dead process left.
	lock, err := lockDir(base, 0)
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	dir, err := os.MkdirTemp(base, cfg.Name+"-*")
	if err != nil {
		return nil, err
	}
	p := &place{dir: dir, record: record{
		PID: os.Getpid(), Name: cfg.Name, Source: "ebscope:" + filepath.Base(dir),
		Image: image, TemporaryImage: cfg.TemporaryImage,
	}}
	if err := p.write(); err != nil {
		return nil, errors.Join(err, p.remove())
	}
	return p, nil
}

func (p *place) write() error {
	lock, err := lockDir(p.dir, unix.LOCK_NB)
	if err != nil {
		return err
	}
	p.lock = lock
	// Others may pass: a database on the mounted file system need not run as root.
	if err := os.Chmod(p.dir, 0o755); err != nil {
		return err
	}
	for _, dir := range []string{p.fuseDir(), p.mountDir()} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
	}
	data, err := json.Marshal(p.record)
	if err != nil {
		return err
	}
	return os.WriteFile(p.recordPath(), data, 0o600)
}

// openPlace takes over the place of a process that has died. It returns nil where the process lives.
func openPlace(dir string) (*place, error) {
	p := &place{dir: dir}
	var err error
	p.lock, err = lockDir(dir, unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(p.recordPath())
	if errors.Is(err, os.ErrNotExist) || err == nil && len(data) == 0 {
		return p, nil // it died before it had mounted anything
	}
	if err == nil {
		err = json.Unmarshal(data, &p.record)
	}
	if err != nil {
		p.lock.Close()
		return nil, fmt.Errorf("reading the record %s: %w; unmount by hand what is in its directory and delete that", p.recordPath(), err)
	}
	return p, nil
}

// remove deletes the place and nothing else: a directory that is still mounted, or not empty, stays and is reported.
func (p *place) remove() error {
	var errs []error
	for _, path := range []string{p.mountDir(), p.fuseDir(), p.recordPath(), p.dir} {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
			break
		}
	}
	if p.lock != nil {
		errs = append(errs, p.lock.Close())
		p.lock = nil
	}
	return errors.Join(errs...)
}

// removeImage deletes a temporary image.
func (p *place) removeImage() error {
	if !p.record.TemporaryImage {
		return nil
	}
	if err := os.Remove(p.record.Image); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
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
