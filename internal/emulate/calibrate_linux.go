package emulate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"
)

const (
	// Several rounds keep a moment's stall out of the result. All take about half a second.
	calibrationRounds = 7
	calibrationReads  = 100
	// calibrationLatency is a typical service latency: a machine that has idled for as long takes longer to react.
	calibrationLatency = 500 * time.Microsecond
)

// calibrator is the name under which this program starts itself to read from a volume that it serves.
const calibrator = "ebscope-calibrate"

// A program that uses this package is also the calibrator. It must not do anything else first.
func init() {
	if os.Args[0] == calibrator && len(os.Args) == 2 {
		os.Exit(readForCalibration(os.Args[1]))
	}
}

// readForCalibration prints the time that reads of the device take together, in nanoseconds.
func readForCalibration(path string) (exitCode int) {
	took, err := timeReads(path, calibrationReads)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Fprintln(os.Stdout, took.Nanoseconds())
	return 0
}

// timeReadsElsewhere times reads that are made as fio makes them, by another process and with libaio's calls. Reads of our
// own would come back sooner by tens of microseconds, and so would synchronous ones.
func timeReadsElsewhere(ctx context.Context, path string) (tally, error) {
	reader := command(ctx, "/proc/self/exe", path)
	reader.Args[0] = calibrator
	var stderr bytes.Buffer
	reader.Stderr = &stderr
	out, err := reader.Output()
	if err != nil {
		return tally{}, fmt.Errorf("calibrating: %w: %s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	ns, err := strconv.ParseInt(string(bytes.TrimSpace(out)), 10, 64)
	if err != nil {
		return tally{}, errors.Join(errors.New("calibrating: the reader printed no time"), err)
	}
	return tally{calibrationReads, time.Duration(ns)}, nil
}
