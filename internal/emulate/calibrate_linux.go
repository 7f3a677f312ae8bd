package emulate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"
)

const (
	// The first reads teach the waiter how late a sleep ends; the others are enough for a median that is good to some
	// microseconds. All take about a quarter of a second.
	calibrationWarmUp = 100
	calibrationReads  = 300
	// calibrationLatency is a typical service latency: a machine that has idled for as long takes longer to react.
	calibrationLatency = 500 * time.Microsecond
	// maxOverhead bounds what is taken off the service latency: on a quiet machine the way takes 50 to 130 µs, and
	// more is the load of the moment, which will pass.
	maxOverhead = 150 * time.Microsecond
)

// calibrator is the name under which this program starts itself to read from a volume that it serves.
const calibrator = "ebscope-calibrate"

// A program that uses this package is also the calibrator. It must not do anything else first.
func init() {
	if os.Args[0] == calibrator && len(os.Args) == 2 {
		os.Exit(readForCalibration(os.Args[1]))
	}
}

// readForCalibration prints the median time that reads of the device take, in nanoseconds.
func readForCalibration(path string) (exitCode int) {
	took, err := timeReads(path, calibrationWarmUp+calibrationReads)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	took = took[calibrationWarmUp:]
	slices.Sort(took)
	fmt.Fprintln(os.Stdout, took[len(took)/2].Nanoseconds())
	return 0
}

// calibrate measures what the way through the kernel and FUSE adds to an I/O at queue depth 1: reads that should take
// calibrationLatency take longer. They are made as fio makes them, by another process and with libaio's calls. Reads
// of our own would come back sooner by tens of microseconds, and so would synchronous ones.
func calibrate(ctx context.Context, v *volume, path string) error {
	v.setProbe(calibrationLatency)
	defer v.setProbe(0)
	reader := command(ctx, "/proc/self/exe", path)
	reader.Args[0] = calibrator
	var stderr bytes.Buffer
	reader.Stderr = &stderr
	out, err := reader.Output()
	if err != nil {
		return fmt.Errorf("calibrating: %w: %s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	median, err := strconv.ParseInt(string(bytes.TrimSpace(out)), 10, 64)
	if err != nil {
		return errors.Join(errors.New("calibrating: the reader printed no time"), err)
	}
	v.setOverhead(min(max(0, time.Duration(median)-calibrationLatency), maxOverhead))
	return nil
}
