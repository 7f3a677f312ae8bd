package emulate

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"ebscope/internal/lazy"
)

// record says what a volume leaves behind when its process dies. It is written before anything is made or mounted, and
// names everything in advance: the mount by its directory, the loop device by the file in that mount.
type record struct {
	Name           string `json:"name"`
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

// source names the place's FUSE mount in the mount table.
func (p *place) source() string { return "ebscope:" + filepath.Base(p.dir) }

// newPlace makes the directory of a volume, locks it and writes its record.
func newPlace(cfg Config) (_ *place, err error) {
	if err := makeBase(); err != nil {
		return nil, err
	}
	// While the base is locked, no sweep takes the new directory for one that a dead process left.
	base, lock, err := lockBase()
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	dir, err := os.MkdirTemp(base, cfg.Name+"-*")
	if err != nil {
		return nil, err
	}
	p := &place{dir: dir, record: record{Name: cfg.Name, Image: cfg.Image, TemporaryImage: cfg.Image == ""}}
	if p.record.TemporaryImage {
		p.record.Image = filepath.Join(os.TempDir(), "ebscope-"+filepath.Base(dir)+".img")
	}
	if p.record.Image, err = filepath.Abs(p.record.Image); err == nil {
		err = p.write()
	}
	if err != nil {
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
	if err := os.Chmod(p.dir, passable); err != nil {
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

// placeForm is the form of a place's name: the volume's, and the number that makes it unique.
var placeForm = lazy.Regexp(`^` + name + `-[0-9]+$`)

// openPlace takes over the place of a process that has died. It returns nil where the process lives, and an error
// where it does not understand what it finds.
func openPlace(dir string) (*place, error) {
	if !placeForm().MatchString(filepath.Base(dir)) {
		return nil, fmt.Errorf("%s is no volume's directory; move it elsewhere", dir)
	}
	if err := checkOwn(dir); err != nil {
		return nil, err
	}
	p := &place{dir: dir}
	var err error
	p.lock, err = lockDir(dir, unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := p.read(); err != nil {
		p.unlock()
		return nil, fmt.Errorf("%s: %w; unmount by hand what is in its directory and delete that", p.recordPath(), err)
	}
	return p, nil
}

// read reads the record. There is none if the process died before it had mounted anything.
func (p *place) read() error {
	data, err := os.ReadFile(p.recordPath())
	if errors.Is(err, os.ErrNotExist) || err == nil && len(data) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, &p.record); err != nil {
		return fmt.Errorf("it is no record: %w", err)
	}
	if !nameForm().MatchString(p.record.Name) || !strings.HasPrefix(filepath.Base(p.dir), p.record.Name+"-") {
		return errors.New("it is not the record of this directory's volume")
	}
	return nil
}

// remove deletes the place and nothing else: a directory that is still mounted, or not empty, stays and is reported.
func (p *place) remove() error {
	defer p.unlock()
	for _, path := range []string{p.mountDir(), p.fuseDir(), p.recordPath(), p.dir} {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// unlock leaves the place to a later sweep.
func (p *place) unlock() {
	if p.lock != nil {
		p.lock.Close()
		p.lock = nil
	}
}

// removeImage deletes a temporary image, and says whether there was one. What it deletes is this user's file, and has
// the name of a temporary image.
func (p *place) removeImage() (removed bool, err error) {
	if !p.record.TemporaryImage {
		return false, nil
	}
	info, err := os.Lstat(p.record.Image)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	ours, _ := filepath.Match("ebscope-*.img", info.Name())
	if stat, ok := info.Sys().(*syscall.Stat_t); !ours || !info.Mode().IsRegular() || !ok || int(stat.Uid) != os.Geteuid() {
		return false, fmt.Errorf("%s is not a temporary image of this user and is left alone", p.record.Image)
	}
	err = os.Remove(p.record.Image)
	return err == nil, err
}
