package emulate

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"ebscope/internal/affinity"
)

const (
	// Several rounds keep a moment's stall out of the result. All take about half a second.
	calibrationRounds = 4
	calibrationReads  = 175
	// calibrationLatency is a typical service latency: a machine that has idled for as long takes longer to react.
	calibrationLatency = 430 * time.Microsecond
)

// calibrator is the name under which this program starts itself to read from a volume that it serves.
const calibrator = "ebscope-calibrate"

// A program that uses this package is also the calibrator. It must not do anything else first.
func init() {
	if os.Args[0] == calibrator && len(os.Args) == 2 {
		os.Exit(readForCalibration(os.Args[1]))
	}
}

// readForCalibration prints how long each read of the device takes, in nanoseconds.
func readForCalibration(path string) (exitCode int) {
	took, err := timeReads(path, calibrationReads)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for _, t := range took {
		fmt.Fprintln(os.Stdout, t.Nanoseconds())
	}
	return 0
}

// timeReadsElsewhere times reads that are made as fio makes them, by another process and with libaio's calls. Reads of our
// own would come back sooner by tens of microseconds, and so would synchronous ones.
func timeReadsElsewhere(ctx context.Context, path string) (took []time.Duration, err error) {
	reader := command(ctx, "/proc/self/exe", path)
	reader.Args[0] = calibrator
	var stdout, stderr bytes.Buffer
	reader.Stdout, reader.Stderr = &stdout, &stderr
	if err = affinity.Unconfined(reader.Start); err == nil {
		err = reader.Wait()
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("calibrating: %w", ctx.Err()) // and not how the reader took being ended
	}
	if err != nil {
		return nil, fmt.Errorf("calibrating: %w: %s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	for _, line := range strings.Fields(stdout.String()) {
		ns, err := strconv.ParseInt(line, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("calibrating: the reader printed %q: %w", line, err)
		}
		took = append(took, time.Duration(ns))
	}
	if len(took) != calibrationReads {
		return nil, fmt.Errorf("calibrating: the reader printed %d times, want %d", len(took), calibrationReads)
	}
	return took, nil
}
