package output_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ebscope/internal/fio/output"
)

// log writes a line for each second from 1 on, up to an end.
func log(end int, value string) string {
	var b strings.Builder
	for i := 1; i <= end; i++ {
		fmt.Fprintf(&b, "%d000, %s, 0, 0\n", i, value)
	}
	return b.String()
}

// longPhase is a phase that ran for 15 s with windows of 1 s. fio leaves out as much as the last two windows of rates.
func longPhase(t *testing.T, options, iops, latencies string) string {
	t.Helper()
	dir := phase(t, `1000", `+options+`"runtime" : "15000ms`, map[string]string{"phase_iops.1.log": iops, "phase_lat.1.log": latencies})
	path := filepath.Join(dir, "fio.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), `"runtime" : 2000`, `"runtime" : 15085`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A log that lost its end would tell the opposite of what was measured, where that was a fall.
func TestLogsThatEndBeforeTheRun(t *testing.T) {
	const ns = "1000000"
	whole := log(15, ns) + "15084, 1000000, 0, 0\n"
	for _, tt := range []struct{ name, options, iops, latencies, want string }{
		{"whole", "", log(15, "300"), whole, ""},
		// 15.085 s − 13 s is less than the slack of 2 × 1 s + 0.5 s.
		{"two windows are missing", "", log(13, "300"), whole, ""},
		{"rates are cut off", "", log(5, "300"), whole, "phase_iops.1.log ends at 5s, but "},
		{"there are no rates", "", "", whole, "phase_iops.1.log ends at 0s, but "},
		{"latencies are cut off", "", log(15, "300"), log(5, ns), "phase_lat.1.log ends at 5s, but fio ran for 15.085s"},
		{"both are cut off", "", log(5, "300"), log(5, ns), "phase_lat.1.log ends at 5s, but fio ran for 15.085s"},
		// A flush of 10 s: what is left in the last window of latencies is written after it, if anything is.
		{"a flush at the end", `"end_fsync" : "1", `, log(5, "300"), log(5, ns), ""},
		{"a flush at the end, and a last latency", `"end_fsync" : "1", `, log(5, "300"), log(5, ns) + "15084, 1000000, 0, 0\n", ""},
		{"rates are cut off before a flush", `"end_fsync" : "1", `, log(2, "300"), log(8, ns), "phase_iops.1.log ends at 2s"},
		// An I/O every 5 s writes its line when it completes, and none at the end.
		{"seldom I/Os", "", "5000, 1, 0, 0\n10000, 1, 0, 0\n", "5001, 1000000, 0, 0\n10001, 1000000, 0, 0\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := output.ReadPhase(longPhase(t, tt.options, tt.iops, tt.latencies))
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("error %v, want one that says %q", err, tt.want)
			}
		})
	}
}

// I/Os that are stuck from 5 s to the end are in no log of rates; those in flight come back when the time is up. The windows
// from then to 15 s are empty.
func TestStallToTheEnd(t *testing.T) {
	m, err := output.ReadPhase(longPhase(t, "", log(5, "300"), log(5, "1000000")+"15080, 10000000000, 0, 0\n"))
	if err != nil {
		t.Fatal(err)
	}
	if len(m.IOPS) != 15 || m.IOPS[14].End != 15*time.Second || m.IOPS[4].Value < 299 || m.IOPS[5].Value != 0 || m.IOPS[14].Value != 0 {
		t.Errorf("series %v, want 300 for 5 s and nothing for 10 s", m.IOPS)
	}
}

// Of jobs with a file each, every one is looked at where all run for the same time.
func TestLogOfOneJobIsCutOff(t *testing.T) {
	dir := longPhase(t, `"time_based" : "1", `, log(15, "300"), log(15, "1000000"))
	for name, text := range map[string]string{"phase_iops.2.log": log(4, "300"), "phase_lat.2.log": log(4, "1000000")} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := output.ReadPhase(dir); err == nil || !strings.Contains(err.Error(), "phase_lat.2.log ends at 4s") {
		t.Errorf("error %v, want one about the second job", err)
	}
}

// Jobs that share a log follow one another in it, so that the end of the file is that of the last job.
func TestLogOfSeveralJobsIsCutOff(t *testing.T) {
	whole, latencies := log(15, "300"), log(15, "1000000")
	for _, tt := range []struct{ name, iops, latencies, want string }{
		{"whole", whole + whole, latencies + latencies, ""},
		{"in the second job", whole + log(5, "300"), latencies + latencies, "phase_iops.log ends at 5s, but "},
		{"after the first job", whole, latencies + latencies, "phase_iops.log: the logs have the lines of 1 jobs, but 2 ran"},
		{"both after the first job", whole, latencies, "the logs have the lines of 1 jobs, but 2 ran"},
		{"latencies in the second job", whole + whole, latencies + log(5, "1000000"), "phase_lat.log ends at 5s, but "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := longPhase(t, `"numjobs" : "2", "time_based" : "1", `, tt.iops, tt.latencies)
			for _, kind := range []string{"iops", "lat"} {
				if err := os.Rename(filepath.Join(dir, "phase_"+kind+".1.log"), filepath.Join(dir, "phase_"+kind+".log")); err != nil {
					t.Fatal(err)
				}
			}
			_, err := output.ReadPhase(dir)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("error %v, want one that says %q", err, tt.want)
			}
		})
	}
}
