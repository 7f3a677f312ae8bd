package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// fioRun is what fio saw.
type fioRun struct {
	iops      float64
	perSecond []float64 // operations, one-second samples
}

// runFio reads 4 KiB at random for a while.
func runFio(ctx context.Context, dir string, disk []string, depth int, length time.Duration) (run fioRun, err error) {
	logs := filepath.Join(dir, "run")
	args := append([]string{"--name=run", "--rw=randread", "--bs=4k", "--size=" + written.Fio(), "--iodepth=" + strconv.Itoa(depth),
		"--time_based", fmt.Sprintf("--runtime=%.0f", length.Seconds()), "--output-format=json",
		"--write_iops_log=" + logs, "--log_avg_msec=1000"}, disk...)
	cmd := exec.CommandContext(ctx, "fio", args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return run, fmt.Errorf("fio: %w: %s", err, stderr.Bytes())
	}
	var report struct {
		Jobs []struct {
			Read struct {
				IOPS float64 `json:"iops"`
			}
		}
	}
	// fio may print lines of text before its JSON.
	if err := json.Unmarshal(out[max(0, bytes.IndexByte(out, '{')):], &report); err != nil || len(report.Jobs) != 1 {
		return run, fmt.Errorf("fio's report cannot be read: %w", err)
	}
	run.iops = report.Jobs[0].Read.IOPS
	log, err := os.ReadFile(logs + "_iops.1.log")
	if err != nil {
		return run, err
	}
	for line := range strings.Lines(string(log)) {
		fields := strings.Split(line, ", ")
		n, err := strconv.ParseFloat(fields[min(1, len(fields)-1)], 64)
		if err != nil {
			return run, fmt.Errorf("fio's log: %w", err)
		}
		run.perSecond = append(run.perSecond, n)
	}
	if got, want := len(run.perSecond), int(length.Seconds())-1; got < want {
		return run, fmt.Errorf("fio's log has %d samples of a second, want %d", got, want)
	}
	return run, nil
}
