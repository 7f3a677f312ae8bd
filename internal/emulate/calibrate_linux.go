package emulate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"time"
)

const (
	// The lower quartile of several short batches leaves out what other work does to some of them. The first ones teach
	// the waiter how late a sleep ends. All take about a quarter of a second.
	calibrationBatches = 12
	calibrationWarmUp  = 3
	calibrationReads   = 40
	// calibrationLatency is a typical service latency: a machine that has idled for as long takes longer to react.
	calibrationLatency = 500 * time.Microsecond
)

// calibrate measures what the way through the kernel and FUSE adds to an I/O at queue depth 1: reads that should take
// calibrationLatency take longer. Another process reads, as it will later: reads of our own would come back sooner by
// tens of microseconds, since the processors need not change from one process to another.
func calibrate(ctx context.Context, v *volume, path string) error {
	v.setProbe(calibrationLatency)
	defer v.setProbe(0)
	took := make([]time.Duration, calibrationBatches)
	for i := range took {
		var err error
		if took[i], err = timeReads(ctx, path, calibrationReads); err != nil {
			return fmt.Errorf("calibrating: %w", err)
		}
	}
	took = took[calibrationWarmUp:]
	slices.Sort(took)
	v.setOverhead(max(0, took[len(took)/4]/calibrationReads-calibrationLatency))
	return nil
}

// timeReads has dd read blocks from a device, one after the other, and returns the time that it says they took.
func timeReads(ctx context.Context, path string, reads int) (time.Duration, error) {
	dd := exec.CommandContext(ctx, "dd", "if="+path, "of=/dev/null", "iflag=direct", "bs="+strconv.Itoa(blockSize), "count="+strconv.Itoa(reads))
	dd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := dd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("dd, of the package coreutils: %w: %s", err, bytes.TrimSpace(out))
	}
	took, err := copyTime(out)
	if err != nil {
		return 0, fmt.Errorf("dd printed %q: %w", out, err)
	}
	return took, nil
}

// copyTime reads the time in "4096 bytes (4.1 kB, 4.0 KiB) copied, 0.000522 s, 7.8 MB/s".
func copyTime(out []byte) (time.Duration, error) {
	_, rest, found := bytes.Cut(out, []byte("copied, "))
	number, _, _ := bytes.Cut(rest, []byte(" "))
	seconds, err := strconv.ParseFloat(string(number), 64)
	if !found || err != nil || !(seconds >= 0 && seconds < 3600) {
		return 0, errors.New("it says no time")
	}
	return time.Duration(seconds * float64(time.Second)), nil
}
