package emulate_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"ebscope/internal/emulate"
)

// fioRun is what fio saw.
type fioRun struct {
	perSecond      []float64 // operations, one-second samples
	iops, bytes    float64   // per second, over the run
	mean, p50, p95 time.Duration
}

// needsFio skips a test that measures, where measuring makes no sense.
func needsFio(t *testing.T) {
	t.Helper()
	if raceEnabled {
		t.Skip("under the race detector figures mean nothing; run: go test ./internal/emulate")
	}
	if testing.Short() {
		t.Skip("takes some seconds; run without -short: go test ./internal/emulate")
	}
	if _, err := exec.LookPath("fio"); err != nil {
		t.Skip("needs fio: apt-get install fio")
	}
}

// fio drives a device with libaio and direct I/O, as `ebscope bench` does.
func fio(t *testing.T, d *emulate.Device, rw, size string, depth int, runtime time.Duration) fioRun {
	t.Helper()
	logs := filepath.Join(t.TempDir(), "run")
	cmd := exec.CommandContext(t.Context(), "fio", "--name=run", "--filename="+d.Path(), "--ioengine=libaio", "--direct=1",
		"--rw="+rw, "--bs="+size, "--iodepth="+strconv.Itoa(depth), "--size=8g", "--time_based",
		fmt.Sprintf("--runtime=%dms", runtime.Milliseconds()), "--lat_percentiles=1", "--output-format=json",
		"--write_iops_log="+logs, "--log_avg_msec=1000")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("fio: %v\n%s", err, out)
	}
	type direction struct {
		IOPS    float64 `json:"iops"`
		Bytes   float64 `json:"bw_bytes"`
		Latency struct {
			Mean        float64            `json:"mean"`
			Percentiles map[string]float64 `json:"percentile"`
		} `json:"lat_ns"`
	}
	var report struct {
		Jobs []struct{ Read, Write direction }
	}
	if err := json.Unmarshal(out, &report); err != nil || len(report.Jobs) != 1 {
		t.Fatalf("fio's report: %v\n%s", err, out)
	}
	result := report.Jobs[0].Read
	if strings.Contains(rw, "write") {
		result = report.Jobs[0].Write
	}
	run := fioRun{
		iops: result.IOPS, bytes: result.Bytes,
		mean: time.Duration(result.Latency.Mean),
		p50:  time.Duration(result.Latency.Percentiles["50.000000"]),
		p95:  time.Duration(result.Latency.Percentiles["95.000000"]),
	}
	log, err := os.ReadFile(logs + "_iops.1.log")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(log)) {
		fields := strings.Split(line, ", ")
		if len(fields) < 2 {
			continue
		}
		n, err := strconv.ParseFloat(fields[1], 64)
		if err != nil {
			t.Fatalf("fio's log: %q", line)
		}
		run.perSecond = append(run.perSecond, n)
	}
	if len(run.perSecond) < 2 {
		t.Fatalf("fio's log has %d samples, want one for each second", len(run.perSecond))
	}
	return run
}

// within checks that got is within a share of want.
func within(got, want, share float64) error {
	if got < want*(1-share) || got > want*(1+share) {
		return fmt.Errorf("%.4g, want %.4g ± %.1f %%", got, want, share*100)
	}
	return nil
}
