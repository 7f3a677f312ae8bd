package emulate

import (
	"fmt"
	"os"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// iocb and ioEvent are the kernel's structures of asynchronous I/O (linux/aio_abi.h).
type iocb struct {
	_      uint64    // a number to know the request by
	_      [2]uint32 // key and flags
	_      uint16    // the operation; 0 is IOCB_CMD_PREAD
	_      int16     // priority
	fd     uint32
	buf    uint64
	size   uint64
	offset int64
	_      uint64
	_      [2]uint32
}

type ioEvent struct {
	_   [2]uint64
	res int64 // bytes read, or an error number below zero
	_   int64
}

// timeReads reads blocks from a device, one after the other, past the page cache, and returns how long each took.
func timeReads(path string, reads int) ([]time.Duration, error) {
	// The thread is kept, and raw calls keep Go's scheduler out of what is timed.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECT|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	// Direct I/O wants memory at a multiple of the block size.
	buf, err := unix.Mmap(-1, 0, blockSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, fmt.Errorf("allocating a buffer: %w", err)
	}
	defer func() { _ = unix.Munmap(buf) }()
	var context uintptr
	if _, _, errno := unix.RawSyscall(unix.SYS_IO_SETUP, 1, uintptr(unsafe.Pointer(&context)), 0); errno != 0 { //nolint:gosec // the kernel is given addresses
		return nil, fmt.Errorf("setting up asynchronous I/O: %w", errno)
	}
	defer func() { _, _, _ = unix.RawSyscall(unix.SYS_IO_DESTROY, context, 0, 0) }()
	took := make([]time.Duration, reads)
	for i := range took {
		request := &iocb{fd: uint32(fd), buf: uint64(uintptr(unsafe.Pointer(&buf[0]))), size: blockSize, offset: int64(i) * blockSize} //nolint:gosec // the kernel is given addresses
		start := time.Now()
		if _, _, errno := unix.RawSyscall(unix.SYS_IO_SUBMIT, context, 1, uintptr(unsafe.Pointer(&request))); errno != 0 { //nolint:gosec // the kernel is given addresses
			return nil, fmt.Errorf("reading %s: %w", path, errno)
		}
		var event ioEvent
		if err := getEvent(context, &event); err != nil {
			return nil, fmt.Errorf("reading %s: %w", path, err)
		}
		took[i] = time.Since(start)
		if event.res != blockSize {
			return nil, fmt.Errorf("reading %s: %w", path, unix.Errno(-event.res))
		}
	}
	return took, nil
}

// getEvent waits for one completion.
func getEvent(context uintptr, event *ioEvent) error {
	for {
		_, _, errno := unix.RawSyscall6(unix.SYS_IO_GETEVENTS, context, 1, 1, uintptr(unsafe.Pointer(event)), 0, 0) //nolint:gosec // the kernel is given addresses
		if errno == unix.EINTR {
			continue
		}
		if errno != 0 {
			return errno
		}
		return nil
	}
}
