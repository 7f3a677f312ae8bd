package output_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ebscope/internal/fio/output"
	"ebscope/internal/result"
)

// phase writes a phase's directory: fio.json for a window in milliseconds, and logs by name.
func phase(t *testing.T, window string, logs map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	logs["fio.json"] = strings.Replace(reads, `"log_avg_msec" : "1000"`, `"log_avg_msec" : "`+window+`"`, 1)
	for name, text := range logs {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const ms = time.Millisecond

func TestSeries(t *testing.T) {
	tests := []struct {
		name          string
		window        string
		iops, latency string
		want          result.Series // IOPS
		wantLatency   result.Series // ms
	}{
		{
			name: "reads and writes of a window are summed, and their latencies weighted by rate", window: "1000",
			iops: "1000, 300, 0, 0, 0\n1000, 100, 1, 0, 0\n2000, 300, 0, 0, 0\n",
			// (300 × 1 ms + 100 × 5 ms) ÷ 400 = 2 ms. In the second window there are only reads.
			latency:     "1000, 5000000, 1, 0, 0\n1003, 1000000, 0, 0, 0\n2001, 1000000, 0, 0, 0\n",
			want:        result.Series{{End: 1000 * ms, Value: 400}, {End: 2000 * ms, Value: 300}},
			wantLatency: result.Series{{End: 1003 * ms, Value: 2}, {End: 2001 * ms, Value: 1}},
		},
		{
			name: "a late first write does not shift the writes", window: "1000",
			iops:    "1000, 5089, 0, 0\n2000, 5305, 0, 0\n2000, 5182, 1, 0\n",
			latency: "",
			want:    result.Series{{End: 1000 * ms, Value: 5089}, {End: 2000 * ms, Value: 10487}},
		},
		{
			name: "jobs that share a log are summed, and their latencies weighted by their own rates", window: "1000",
			iops: "1000, 300, 0, 0\n2000, 300, 0, 0\n" + "1000, 100, 0, 0\n2000, 100, 0, 0\n",
			// (300 × 1 + 100 × 5) ÷ 400 = 2 ms, (300 × 2 + 100 × 2) ÷ 400 = 2 ms
			latency:     "1000, 1000000, 0, 0\n2000, 2000000, 0, 0\n" + "1000, 5000000, 0, 0\n2000, 2000000, 0, 0\n",
			want:        result.Series{{End: 1000 * ms, Value: 400}, {End: 2000 * ms, Value: 400}},
			wantLatency: result.Series{{End: 1000 * ms, Value: 2}, {End: 2000 * ms, Value: 2}},
		},
		{
			name: "jobs of a single window are told apart", window: "1000",
			iops: "1000, 300, 0, 0\n1001, 100, 0, 0\n", latency: "",
			want: result.Series{{End: 1001 * ms, Value: 400}},
		},
		{
			// The lines are 251 ms apart, but fio divided by 250: 251 I/Os ÷ 250 ms = 1,004, in truth 251 ÷ 251 ms = 1,000.
			name: "rates are per true length of a window", window: "250",
			iops:    "250, 1004, 0, 0\n501, 1004, 0, 0\n752, 1004, 0, 0\n1003, 1004, 0, 0\n1254, 1004, 0, 0\n",
			latency: "1254, 1000000, 0, 0\n",
			want: result.Series{{End: 250 * ms, Value: 1000}, {End: 501 * ms, Value: 1000}, {End: 752 * ms, Value: 1000},
				{End: 1003 * ms, Value: 1000}, {End: 1254 * ms, Value: 1000}},
			wantLatency: result.Series{{End: 1254 * ms, Value: 1}},
		},
		{
			name: "windows without a completion are zero", window: "1000",
			iops:    "1000, 300, 0, 0\n4000, 300, 0, 0\n",
			latency: "1000, 1000000, 0, 0\n3500, 2500000000, 0, 0\n4000, 1000000, 0, 0\n",
			want: result.Series{{End: 1000 * ms, Value: 300}, {End: 2000 * ms, Value: 0}, {End: 3000 * ms, Value: 0},
				{End: 4000 * ms, Value: 300}},
			wantLatency: result.Series{{End: 1000 * ms, Value: 1}, {End: 3500 * ms, Value: 2500}, {End: 4000 * ms, Value: 1}},
		},
		{
			name: "a rate taken late is no stall", window: "1000",
			iops:        "1000, 300, 0, 0\n3000, 300, 0, 0\n",
			latency:     "1000, 1000000, 0, 0\n2000, 1000000, 0, 0\n3000, 1000000, 0, 0\n",
			want:        result.Series{{End: 1000 * ms, Value: 300}, {End: 3000 * ms, Value: 300}},
			wantLatency: result.Series{{End: 1000 * ms, Value: 1}, {End: 2000 * ms, Value: 1}, {End: 3000 * ms, Value: 1}},
		},
		{
			name: "the rest of a window at the end is left out", window: "1000",
			iops: "1000, 300, 0, 0\n", latency: "1000, 1000000, 0, 0\n1100, 9000000, 0, 0\n",
			want: result.Series{{End: 1000 * ms, Value: 300}}, wantLatency: result.Series{{End: 1000 * ms, Value: 1}},
		},
		{
			name: "trims are not counted", window: "1000", iops: "1000, 300, 2, 0\n1000, 100, 1, 0\n", latency: "",
			want: result.Series{{End: 1000 * ms, Value: 100}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := phase(t, tt.window, map[string]string{
				"phase_iops.1.log": tt.iops, "phase_lat.1.log": tt.latency,
				"phase_clat.1.log": "not read", "phase_slat.1.log": "not read", "phase_bw.1.log": "not read",
			})
			m, err := output.ReadPhase(dir)
			if err != nil {
				t.Fatal(err)
			}
			// fio states times in whole milliseconds, so a window of 1 s is known to 0.1 %.
			near := cmpopts.EquateApprox(0.0011, 0)
			if diff := cmp.Diff(tt.want, m.IOPS, near); diff != "" {
				t.Errorf("IOPS (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.wantLatency, m.Latency, near); diff != "" {
				t.Errorf("latency (-want +got):\n%s", diff)
			}
		})
	}
}

// Reads and writes of two jobs, each in a log of its own, have a series each: 300 + 30 reads and 100 + 10 writes a second.
func TestSeriesOfEachDirection(t *testing.T) {
	dir := phase(t, "1000", map[string]string{
		"phase_iops.1.log": "1000, 300, 0, 0\n1000, 100, 1, 0\n", "phase_lat.1.log": "1000, 1000000, 0, 0\n1000, 5000000, 1, 0\n",
		"phase_iops.2.log": "1000, 30, 0, 0\n1000, 10, 1, 0\n", "phase_lat.2.log": "1000, 1000000, 0, 0\n1000, 5000000, 1, 0\n",
	})
	summary := strings.Replace(reads, `"write" : {"io_bytes" : 0, "iops" : 0.0, "runtime" : 0, "total_ios" : 0,`,
		`"write" : {"io_bytes" : 4096, "iops" : 0.5, "runtime" : 2000, "total_ios" : 1,`, 1)
	if err := os.WriteFile(filepath.Join(dir, "fio.json"), []byte(summary), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := output.ReadPhase(dir)
	if err != nil {
		t.Fatal(err)
	}
	at := func(value float64) result.Series { return result.Series{{End: time.Second, Value: value}} }
	want := []result.DirectionSeries{{IOPS: at(330), Latency: at(1)}, {IOPS: at(110), Latency: at(5)}}
	if diff := cmp.Diff(want, []result.DirectionSeries{m.ReadSeries, m.WriteSeries}, cmpopts.EquateApprox(0.0011, 0)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(at(440), m.IOPS, cmpopts.EquateApprox(0.0011, 0)); diff != "" {
		t.Errorf("total (-want +got):\n%s", diff)
	}
}

func TestWindowsAfterTheRuntimeAreLeftOut(t *testing.T) {
	// As seen with fio 3.33 at 300 IOPS and depth 32: the last line counts the I/Os of 39 ms over 100 ms.
	const log = "5861, 300, 0, 0\n5961, 300, 0, 0\n6061, 120, 0, 0\n"
	const latencies = "5900, 106000000, 0, 0\n6003, 106000000, 0, 0\n6103, 206000000, 0, 0\n"
	for runtime, want := range map[string]int{"6": 2, "6000ms": 2, "6060ms": 3, "1m": 3, "0": 3, "odd": 3} {
		dir := phase(t, `100", "runtime" : "`+runtime, map[string]string{"phase_iops.1.log": log, "phase_lat.1.log": latencies})
		m, err := output.ReadPhase(dir)
		if err != nil {
			t.Fatal(err)
		}
		if len(m.IOPS) != want || len(m.Latency) != want {
			t.Errorf("runtime %s: series %v and %v, want %d points each", runtime, m.IOPS, m.Latency, want)
		}
	}
}

func TestLogsOfSeveralFiles(t *testing.T) {
	m, err := output.ReadPhase(phase(t, "1000", map[string]string{
		"phase_iops.1.log": "1000, 300, 0, 0\n", "phase_iops.2.log": "1001, 100, 0, 0\n",
	}))
	if err != nil {
		t.Fatal(err)
	}
	if len(m.IOPS) != 1 || math.Abs(m.IOPS[0].Value-400) > 0.5 {
		t.Errorf("series %v, want one point of 400", m.IOPS)
	}
	if m.Window != time.Second {
		t.Errorf("window %v", m.Window)
	}
	if len(m.Warnings) != 1 || m.Warnings[0].Code != "latency-missing" {
		t.Errorf("warnings %v, want only that the latency log is missing", m.Warnings)
	}
}

func TestSeriesThatDiffersFromTheSummary(t *testing.T) {
	var log strings.Builder
	for _, at := range []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"} {
		log.WriteString(at + "000, 6, 0, 0\n") // the summary says 5
	}
	m, err := output.ReadPhase(phase(t, "1000", map[string]string{"phase_iops.1.log": log.String(), "phase_lat.1.log": "10000, 1000000, 0, 0\n"}))
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Warnings) != 1 || m.Warnings[0].Code != "series-differs" {
		t.Errorf("warnings %v", m.Warnings)
	}
}

// Of a job with end_fsync, the summary counts the flush as time: 10 I/Os a second for 10 s, then 10 s of flush.
func TestSeriesThatEndsBeforeTheFlush(t *testing.T) {
	var log strings.Builder
	for _, at := range []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"} {
		log.WriteString(at + "000, 10, 1, 0\n") // the summary says 5
	}
	dir := phase(t, `1000", "end_fsync" : "1`, map[string]string{"phase_iops.1.log": log.String(), "phase_lat.1.log": "10000, 1000000, 0, 0\n"})
	m, err := output.ReadPhase(dir)
	if err != nil || len(m.Warnings) != 0 {
		t.Errorf("error %v, warnings %v, want none", err, m.Warnings)
	}
}

func TestReadPhaseRefuses(t *testing.T) {
	for _, tt := range []struct{ name, log, want string }{
		{"cut off", "1000, 300, 0, 0\n2000, 30", "phase_iops.1.log:2: \"2000, 30\" has 2 columns"},
		{"garbage", "1000, 300, 0, 0\n\nfio: oops, it, broke, down\n", "phase_iops.1.log:3: \"fio: oops, it, broke, down\": column 1"},
		{"negative", "1000, -300, 0, 0\n", "phase_iops.1.log:1: \"1000, -300, 0, 0\": column 2"},
		{"direction", "1000, 300, 7, 0\n", "direction 7"},
		{"time", "9223372036854775807, 300, 0, 0\n", "out of range"},
		{"far time", "9223372036854, 300, 0, 0\n", "no time that so short a log can reach"},
		// 200,000 s are 200,000 windows, of which two lines stand for 100,200 at most.
		{"one line edited", "1000, 300, 0, 0\n200000000, 300, 0, 0\n", "no time that so short a log can reach"},
		{"cut off after a column", "1000, 300, 0, 0, 0\n2000, 300, 0, 0,", "phase_iops.1.log:2: the last line has no end"},
		{"long line", strings.Repeat("1", 1<<20), "phase_iops.1.log:1: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := output.ReadPhase(phase(t, "1000", map[string]string{"phase_iops.1.log": tt.log}))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one that says %q", err, tt.want)
			}
		})
	}
}

func TestReadPhaseOfAFailedJob(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "fio.json"), []byte(strings.Replace(reads, `"error" : 0`, `"error" : 28`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := output.ReadPhase(dir)
	var failed *output.JobError
	if !errors.As(err, &failed) || failed.Code != 28 {
		t.Errorf("error %v, want a JobError with code 28", err)
	}
}

func TestReadPhaseWithoutResults(t *testing.T) {
	if _, err := output.ReadPhase(t.TempDir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v, want one that says that there is no fio.json", err)
	}
}
