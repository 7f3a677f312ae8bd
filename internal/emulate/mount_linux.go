package emulate

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

const (
	fuseType  = "fuse.ebscope" // the file system's type in the mount table
	blockSize = 4096
	// maxRequest is the most that FUSE asks for at once: a 1 MiB I/O on the bare file comes as one request.
	maxRequest = 1 << 20
	// maxBackground is how many asynchronous requests the kernel may have under way: more than any queue depth that
	// makes sense. The kernel's default of 12 would be the limit that a benchmark finds.
	maxBackground = 4096
)

// fuseMount is a served and mounted fuseSystem.
type fuseMount struct {
	dir    string
	served chan struct{} // closed when the server has come to its end
}

// mountFuse serves fs at dir. The source names the mount in the mount table.
func mountFuse(fs *fuseSystem, dir, source string) (*fuseMount, error) {
	m := &fuseMount{dir: dir, served: make(chan struct{})}
	options := &fuse.MountOptions{
		Name: "ebscope", FsName: source,
		MaxWrite: maxRequest, MaxBackground: maxBackground,
		// Without this the kernel serves asynchronous direct I/O one after the other.
		ExtraCapabilities: fuse.CAP_ASYNC_DIO,
		DisableXAttrs:     true,
		DisableSplice:     true,
		Logger:            log.New(io.Discard, "", 0), // replies to requests that an abort has ended
	}
	at := dir
	if os.Geteuid() == 0 {
		fd, err := mountAsRoot(dir, source)
		if err != nil {
			return nil, err
		}
		at = "/dev/fd/" + strconv.Itoa(fd)
	} else if err := usableFuse(); err != nil {
		return nil, err
	}
	server, err := fuse.NewServer(fs, at, options)
	if err != nil {
		return nil, &Unavailable{What: "serving a FUSE file", Err: errors.Join(err, unmountFuse(dir, source, true))}
	}
	go func() {
		defer close(m.served)
		server.Serve()
	}()
	return m, answerPoll(m.file(fs.volume.name))
}

// answerPoll has the kernel ask once whether files here can be polled, so that it learns that they cannot. Go's runtime
// asks for every file that it opens, in a way that stops the very scheduler that would have to answer.
func answerPoll(path string) error {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	_, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
	return nil
}

// mountAsRoot does what go-fuse's direct mount does, but with a descriptor that child processes do not inherit: a fio
// that held it would keep the connection of a killed ebscope open, and hang on it for ever.
func mountAsRoot(dir, source string) (fd int, err error) {
	fd, err = unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, &Unavailable{What: "opening /dev/fuse", Err: err}
	}
	options := fmt.Sprintf("fd=%d,rootmode=40000,user_id=%d,group_id=%d,max_read=%d", fd, unix.Geteuid(), unix.Getegid(), maxRequest)
	if err := unix.Mount(source, dir, fuseType, unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		unix.Close(fd)
		return -1, &Unavailable{What: "mounting a FUSE file system", Err: err}
	}
	return fd, nil
}

// usableFuse says whether an ordinary user can mount a FUSE file system here.
func usableFuse() error {
	if err := unix.Access("/dev/fuse", unix.R_OK|unix.W_OK); err != nil {
		return &Unavailable{What: "opening /dev/fuse", Err: err}
	}
	if _, err := exec.LookPath("fusermount3"); err != nil {
		return &Unavailable{What: "mounting without root (install the package fuse3)", Err: err}
	}
	return nil
}

// file returns the path of the volume in the mount.
func (m *fuseMount) file(name string) string { return filepath.Join(m.dir, name) }

// fuseMounted returns the FUSE mount of the given source at dir, if it is there.
func fuseMounted(dir, source string) (m mountEntry, ok bool) {
	for _, m := range mounts() {
		if m.dir == dir && m.kind == fuseType && m.source == source {
			return m, true
		}
	}
	return mountEntry{}, false
}

// unmountFuse takes a FUSE mount away. With force it also cuts off whoever is using it: their I/O fails.
func unmountFuse(dir, source string, force bool) error {
	m, ok := fuseMounted(dir, source)
	if !ok {
		return nil
	}
	if os.Geteuid() == 0 {
		flags := 0
		if force {
			// MNT_FORCE aborts the connection. It does so even where fusectl, the other way, is not mounted.
			flags = unix.MNT_FORCE | unix.MNT_DETACH
		}
		return m.unmount(flags)
	}
	option := "-u"
	if force {
		option = "-uz"
		// For FUSE the device's minor number is the connection's. Without fusectl this cannot be done.
		_ = os.WriteFile(fmt.Sprintf("/sys/fs/fuse/connections/%d/abort", m.minor), []byte("1"), 0)
	}
	return m.unmountWith(func() error {
		if out, err := exec.Command("fusermount3", option, dir).CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, bytes.TrimSpace(out))
		}
		return nil
	})
}
