package emulate

import (
	"fmt"
	"os"
	"slices"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// calibrationReads is enough for a mean that is good to about a microsecond, in about 0.2 s.
	calibrationReads = 300
	// calibrationLatency is a typical service latency, so that waking from a wait is part of what is measured.
	calibrationLatency = 500 * time.Microsecond
)

// calibrate measures what the way through the kernel and FUSE adds to an I/O at queue depth 1: reads through the
// device that should take calibrationLatency take longer.
func calibrate(v *volume, path string) error {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECT, 0)
	if err != nil {
		return fmt.Errorf("calibrating volume %s: %w", v.name, err)
	}
	defer file.Close()
	v.setProbe(calibrationLatency)
	defer v.setProbe(0)
	buf := aligned(blockSize)
	took := make([]time.Duration, calibrationReads)
	for i := range took {
		start := time.Now()
		if _, err := unix.Pread(int(file.Fd()), buf, int64(i)*blockSize); err != nil {
			return fmt.Errorf("calibrating volume %s: reading %s: %w", v.name, path, err)
		}
		took[i] = time.Since(start)
	}
	v.setOverhead(max(0, trimmedMean(took)-calibrationLatency))
	return nil
}

// trimmedMean is the mean without the slowest tenth, which the machine's other work has delayed, and the fastest.
func trimmedMean(samples []time.Duration) time.Duration {
	slices.Sort(samples)
	tenth := len(samples) / 10
	samples = samples[tenth : len(samples)-tenth]
	var sum time.Duration
	for _, s := range samples {
		sum += s
	}
	return sum / time.Duration(len(samples))
}

// aligned returns a buffer at a multiple of the block size, as direct I/O wants it.
func aligned(size int) []byte {
	buf := make([]byte, size+blockSize)
	offset := -int(uintptr(unsafe.Pointer(&buf[0]))) & (blockSize - 1)
	return buf[offset : offset+size]
}
