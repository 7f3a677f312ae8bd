package process_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ebscope/internal/fio/job"
	"ebscope/internal/fio/output"
	"ebscope/internal/fio/process"
	"ebscope/internal/result"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

const fileSize = 16 * units.MiB

// prepare writes the job of a phase into a directory of its own, with options added at its end.
func prepare(t *testing.T, f process.Fio, p workload.Phase, filename string, more ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	p.Name, p.Volume, p.Jobs = "test", "vol", max(p.Jobs, 1)
	text, err := job.File(job.Job{Phase: p, Filename: filename, Size: fileSize, Engine: process.DefaultEngine,
		Window: 100 * time.Millisecond, Version: f.Version})
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, strings.Join(more, "\n")+"\n"...)
	if err := os.WriteFile(filepath.Join(dir, result.JobFile), text, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// testFile makes a test file in the way that a profile does: by a layout phase.
func testFile(t *testing.T, f process.Fio) (filename string, m result.Measurement) {
	t.Helper()
	filename = filepath.Join(t.TempDir(), "a:b.dat")
	dir := prepare(t, f, workload.Phase{Pattern: workload.Write, BlockSize: units.MiB, QueueDepth: 1}, filename)
	if err := f.Run(t.Context(), dir, process.Options{}); err != nil {
		t.Skipf("fio cannot write a file here with libaio and O_DIRECT (TMPDIR=DIR go test ./internal/fio/process, on a file system of a disk): %v", err)
	}
	m, err := output.ReadPhase(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := job.CheckFile(filename, fileSize); err != nil {
		t.Fatal(err)
	}
	return filename, m
}

func TestLayout(t *testing.T) {
	_, m := testFile(t, realFio(t))
	// 16 MiB in blocks of 1 MiB.
	if m.Total.IOs != 16 || m.Total.Bytes != fileSize {
		t.Errorf("%d I/Os of %v in all, want 16 of 16 MiB", m.Total.IOs, m.Total.Bytes)
	}
}

func TestPhases(t *testing.T) {
	f := realFio(t)
	filename, _ := testFile(t, f)
	for _, tt := range []struct {
		name  string
		phase workload.Phase
		limit string // of each job
		want  float64
	}{
		{"reads", workload.Phase{Pattern: workload.RandRead, QueueDepth: 32}, "rate_iops=1000", 1000},
		{"mixed reads and writes of two jobs", workload.Phase{Pattern: workload.RandRW, QueueDepth: 4, Jobs: 2, ReadPercent: 70}, "rate_iops=350,150", 1000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.phase.BlockSize, tt.phase.Duration = 4*units.KiB, 2500*time.Millisecond
			dir := prepare(t, f, tt.phase, filename, tt.limit)
			if err := f.Run(t.Context(), dir, process.Options{}); err != nil {
				t.Fatal(err)
			}
			m, err := output.ReadPhase(dir)
			if err != nil {
				t.Fatal(err)
			}
			// A busy machine may not keep the rate up, but the figures must agree.
			rate := float64(m.Total.IOPS)
			near(t, "IOPS", rate, tt.want, 0.1)
			near(t, "throughput", float64(m.Total.Throughput), rate*4096, 0.001)
			var sum float64
			var last time.Duration
			for _, p := range m.IOPS {
				sum += p.Value * (p.End - last).Seconds()
				last = p.End
			}
			if len(m.IOPS) < 20 {
				t.Errorf("%d points of 100 ms in 2.5 s", len(m.IOPS))
			}
			near(t, "mean of the series", sum/last.Seconds(), rate, 0.03)
			if m.Total.Latency.Kind != "lat" || m.Total.Latency.Samples != m.Total.IOs {
				t.Errorf("latency %q of %d I/Os, want lat of %d", m.Total.Latency.Kind, m.Total.Latency.Samples, m.Total.IOs)
			}
			checkPercentiles(t, m)
			checkLatencySeries(t, m)
			if len(m.Warnings) > 0 {
				t.Errorf("warnings %v", m.Warnings)
			}
		})
	}
}

// checkPercentiles makes sure that percentiles worked out from the histogram are those that fio reports.
func checkPercentiles(t *testing.T, m result.Measurement) {
	t.Helper()
	l := m.Total.Latency
	p50, ok := l.Percentile(50)
	p99, ok99 := l.Percentile(99)
	if !ok || !ok99 || p50 < l.Min || p99 < p50 || p99 > l.Max+l.Max/32 { // a bin is 1/64 wide at most
		t.Errorf("min %v, p50 %v, p99 %v, max %v", l.Min, p50, p99, l.Max)
	}
	var count int64
	for _, bin := range l.Bins {
		count += bin.Count
	}
	if count != l.Samples {
		t.Errorf("the histogram holds %d I/Os of %d", count, l.Samples)
	}
	if m.Read == nil {
		return
	}
	read, _ := m.Read.Latency.Percentile(50)
	write, _ := m.Write.Latency.Percentile(50)
	if p50 < min(read, write) || p50 > max(read, write) {
		t.Errorf("p50 of all is %v, of reads %v, of writes %v", p50, read, write)
	}
}

// checkLatencySeries makes sure that its mean is about the summary's, which weights by I/Os rather than by time.
func checkLatencySeries(t *testing.T, m result.Measurement) {
	t.Helper()
	var sum float64
	for _, p := range m.Latency {
		sum += p.Value
	}
	near(t, "mean latency (ms)", sum/float64(len(m.Latency)), m.Total.Latency.Mean.Seconds()*1000, 0.5)
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*want) {
		t.Errorf("%s: %.4g, want %.4g ± %g %%", what, got, want, tolerance*100)
	}
}

func TestInterrupt(t *testing.T) {
	f := realFio(t)
	filename, _ := testFile(t, f)
	dir := prepare(t, f, workload.Phase{Pattern: workload.RandRead, BlockSize: 4 * units.KiB, QueueDepth: 4, Duration: time.Minute},
		filename, "rate_iops=1000")
	cause := errors.New("the user pressed Ctrl-C")
	ctx, cancel := context.WithCancelCause(t.Context())
	started := time.Now()
	err := f.Run(ctx, dir, process.Options{Grace: 20 * time.Second, Progress: func(process.Progress) { cancel(cause) }})
	cancel(nil)
	var interrupted *process.InterruptedError
	if !errors.As(err, &interrupted) || interrupted.Killed || !errors.Is(err, cause) {
		t.Fatalf("error %v, want a gentle interruption", err)
	}
	if took := time.Since(started); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
	m, err := output.ReadPhase(dir)
	if err != nil {
		t.Fatal(err)
	}
	if m.Total.IOs < 500 || m.Total.Runtime > 20*time.Second || len(m.IOPS) < 5 {
		t.Errorf("%d I/Os in %v and %d points are left of the interrupted run", m.Total.IOs, m.Total.Runtime, len(m.IOPS))
	}
	if len(m.Warnings) != 1 || !strings.Contains(m.Warnings[0].Text, "terminating on signal 2") {
		t.Errorf("warnings %v, want fio's message", m.Warnings)
	}
}

func TestFailures(t *testing.T) {
	f := realFio(t)
	missing := filepath.Join(t.TempDir(), "missing.dat")
	phase := workload.Phase{Pattern: workload.RandRead, BlockSize: 4 * units.KiB, QueueDepth: 1, Duration: time.Second}
	for _, tt := range []struct{ name, option, want string }{
		{"an unknown option", "foo=bar", "Bad option <foo=bar>"},
		{"no test file", "", "file creation disallowed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := prepare(t, f, phase, missing, tt.option)
			err := f.Run(t.Context(), dir, process.Options{})
			var failed *process.ExitError
			if !errors.As(err, &failed) || failed.State != "exit status 1" || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want exit status 1 and %q", err, tt.want)
			}
			if _, err := os.Stat(missing); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("fio made the test file: %v", err)
			}
		})
	}
}

func TestKilledFromOutside(t *testing.T) {
	stubborn := process.Fio{Path: program(t, "kill -9 $$")}
	err := stubborn.Run(t.Context(), t.TempDir(), process.Options{})
	var failed *process.ExitError
	if !errors.As(err, &failed) || failed.State != "signal: killed" {
		t.Errorf("error %v, want that it was killed", err)
	}
}

func TestFioThatDoesNotEndIsKilled(t *testing.T) {
	stubborn := process.Fio{Path: program(t, `trap "" INT; echo "[r=1 IOPS]"; while :; do sleep 0.1; done`)}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := stubborn.Run(ctx, t.TempDir(), process.Options{Grace: 300 * time.Millisecond, Progress: func(process.Progress) { cancel() }})
	var interrupted *process.InterruptedError
	if !errors.As(err, &interrupted) || !interrupted.Killed || !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that it was killed", err)
	}
}

func TestLastLinesOfALongStderr(t *testing.T) {
	chatty := process.Fio{Path: program(t, `i=0; while [ $i -lt 1000 ]; do echo "line $i" >&2; i=$((i+1)); done; echo last >&2; echo last >&2; exit 7`)}
	err := chatty.Run(t.Context(), t.TempDir(), process.Options{})
	want := fmt.Sprintf("fio failed (exit status 7): %s", "line 996; line 997; line 998; line 999; last")
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
