// Package job writes a phase of a workload as a fio job file.
package job

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ebscope/internal/fio"
	"ebscope/internal/lazy"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

// LogPrefix begins the name of each log that fio writes into its working directory.
const LogPrefix = "phase"

// Job is a phase and what fio needs beside it.
type Job struct {
	Phase    workload.Phase // its times already compressed
	Filename string         // absolute path of the test file or block device
	Size     units.Bytes    // of the test file, or how much of the device is used
	Engine   string         // fio's I/O engine
	Window   time.Duration  // averaging time of the logs, in whole milliseconds
	Version  fio.Version    // the fio that will read the job
}

// percentiles to report; fio takes at most 20.
const percentiles = "1:5:10:25:50:75:90:95:99:99.5:99.9:99.95:99.99"

// File writes the job as a job file. It fails where the file name is one that fio's job files cannot hold.
//
// A phase that is no layout never creates its test file: an empty one would read faster than any disk. See CheckFile.
func File(j Job) ([]byte, error) {
	name, err := escape(j.Filename)
	if err != nil {
		return nil, err
	}
	p := j.Phase
	var b strings.Builder
	set := func(option string, value any) { fmt.Fprintf(&b, "%s=%v\n", option, value) }

	fmt.Fprintf(&b, "# %s on volume %s\n[global]\n", p.Name, p.Volume)
	set("ioengine", j.Engine)
	set("direct", 1)
	set("thread", 1) // one process, so that one signal ends it
	set("group_reporting", 1)
	set("filename", name)
	set("size", j.Size.Fio())

	set("rw", p.Pattern)
	set("bs", p.BlockSize.Fio())
	set("iodepth", p.QueueDepth)
	set("numjobs", p.Jobs)
	if p.Pattern.Mixed() {
		set("rwmixread", p.ReadPercent)
	}
	if p.ThinkTime > 0 {
		set("thinktime", fmt.Sprintf("%dus", p.ThinkTime.Microseconds()))
	}
	if p.RateIOPS > 0 {
		read, write := p.JobRates()
		set("rate_iops", fmt.Sprintf("%d,%d", read, write))
	}
	if p.Duration > 0 {
		set("time_based", 1)
		set("runtime", fmt.Sprintf("%dms", p.Duration.Milliseconds()))
	}
	if p.Layout() {
		set("end_fsync", 1) // the data must outlive what follows
	} else {
		set("allow_file_create", 0)
	}

	for _, log := range []string{"write_iops_log", "write_bw_log", "write_lat_log"} {
		set(log, LogPrefix)
	}
	set("log_avg_msec", j.Window.Milliseconds())
	if p.Jobs > 1 {
		set("per_job_logs", 0)
	}
	if j.Version.AtLeast(fio.TotalLatencyPercentiles) {
		set("lat_percentiles", 1)
	}
	set("percentile_list", percentiles)

	fmt.Fprintf(&b, "\n[%s]\n", p.ID())
	return []byte(b.String()), nil
}

// windowsPath is an absolute path of Windows: below a drive's letter, such as C:\fio\test.dat, or a device such as
// \\.\PhysicalDrive1. fio takes both with its backslashes as they are.
var windowsPath = lazy.Regexp(`^(?:[A-Za-z]:\\|\\\\\.\\[^\\])`)

// escape puts a path in the form of a job file's filename option. fio splits it at colons unless they are escaped,
// cuts it at # and ; and replaces $ names in it (seen with fio 3.33).
func escape(path string) (string, error) {
	switch {
	case !filepath.IsAbs(path) && !windowsPath().MatchString(path):
		return "", fmt.Errorf("test file %q: fio needs an absolute path", path)
	case strings.ContainsAny(path, "#;$") || strings.Contains(path, `\:`) || strings.TrimSpace(path) != path ||
		strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "", fmt.Errorf(`test file %q: fio cannot take a path with #, ;, $, \:, a control character or a space at its end; use another directory`, path)
	}
	return strings.ReplaceAll(path, ":", `\:`), nil
}

// CheckFile makes sure that a phase that is no layout finds its test file in full. fio itself would delete a file that
// is too short and write it anew, within the phase and at the cost of its credits.
func CheckFile(path string, size units.Bytes) error {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("there is no test file %s; run a layout phase first (rw: write, without a duration)", path)
	}
	if err != nil {
		return fmt.Errorf("test file: %w", err)
	}
	defer f.Close()
	// Unlike Stat, this works on a block device.
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("size of the test file: %w", err)
	}
	if have := units.Bytes(end); have < size {
		return fmt.Errorf("test file %s holds %v, but the profile's file_size is %v; run a layout phase first (rw: write, without a duration)", path, have, size)
	}
	return nil
}
