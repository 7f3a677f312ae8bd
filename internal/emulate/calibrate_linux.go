package emulate

import (
	"fmt"
	"slices"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// The first reads teach the waiter how late a sleep ends; the others are enough for a figure that is good to some
	// microseconds. All take about a quarter of a second.
	calibrationWarmUp = 100
	calibrationReads  = 300
	// calibrationLatency is a typical service latency: a machine that has idled for as long takes longer to react.
	calibrationLatency = 500 * time.Microsecond
)

// calibrate measures what the way through the kernel and FUSE adds to an I/O at queue depth 1: reads through the
// device that should take calibrationLatency take longer. The lower quartile is taken, so that other work that
// happens to run now is not taken for the way itself.
func calibrate(v *volume, path string) error {
	// Not os.Open, whose polling does not suit a file that this process serves.
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECT|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("calibrating: opening %s: %w", path, err)
	}
	defer unix.Close(fd)
	v.setProbe(calibrationLatency)
	defer v.setProbe(0)
	buf := aligned(blockSize)
	took := make([]time.Duration, calibrationWarmUp+calibrationReads)
	for i := range took {
		start := time.Now()
		if _, err := unix.Pread(fd, buf, int64(i)*blockSize); err != nil {
			return fmt.Errorf("calibrating: reading %s: %w", path, err)
		}
		took[i] = time.Since(start)
	}
	took = took[calibrationWarmUp:]
	slices.Sort(took)
	v.setOverhead(max(0, took[len(took)/4]-calibrationLatency))
	return nil
}

// aligned returns a buffer at a multiple of the block size, as direct I/O wants it.
func aligned(size int) []byte {
	buf := make([]byte, size+blockSize)
	offset := -int(uintptr(unsafe.Pointer(&buf[0]))) & (blockSize - 1)
	return buf[offset : offset+size]
}
