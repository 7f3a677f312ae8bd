package intake_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"ebscope/internal/intake"
)

// A log that its job's summary excludes is left out, and named: a minute of 1,000 IOPS of 4 KiB, so 4,000 KiB/s, with a clat
// of 2 ms and a lat of 2.1 ms.
func TestLogsThatTheSummaryExcludes(t *testing.T) {
	const summary = `{"fio version":"fio-3.33","jobs":[{"jobname":"a","job options":{"rw":"randread","bs":"4k","runtime":"60"},
"read":{"io_bytes":245760000,"bw_bytes":4096000,"bw":4000,"iops":1000,"runtime":60000,"total_ios":60000,
"clat_ns":{"min":1000,"max":9000000,"mean":2000000,"N":60000,"percentile":{"50.000000":2000000}},
"lat_ns":{"min":1000,"max":9000000,"mean":2100000,"N":60000}}}]}`
	lines := func(values ...int) string {
		var b strings.Builder
		for i := range 60 {
			fmt.Fprintf(&b, "%d000, %d, 0, 0, 0\n", i+1, values[i*len(values)/60])
		}
		return b.String()
	}
	for _, c := range []struct{ name, text, want string }{
		{"a_iops.1.log", lines(1000), ""},
		{"a_iops.1.log", lines(3000), "3000 IOPS on average, and not 1000"},
		{"a_bw.1.log", lines(4000), ""},
		// 40,000 KiB/s are 39.06 MiB/s, 4,000 are 3.91.
		{"a_bw.1.log", lines(40000), "39.1 MiB/s on average, and not 3.9 MiB/s"},
		{"a_clat.1.log", lines(2_000_000), ""},
		// Half a minute each: which mean it is depends on the rates of both.
		{"a_clat.1.log", lines(1_000_000, 30_000_000), ""},
		{"a_clat.1.log", lines(100_000_000), "a mean clat of 100ms, and not 2ms"},
		{"a_clat.1.log", lines(40_000), "a mean clat of 40µs, and not 2ms"},
		{"a_lat.1.log", lines(2_100_000), ""},
		{"a_lat.1.log", lines(105_000_000), "a mean lat of 105ms, and not 2ms"},
	} {
		dir := t.TempDir()
		file := put(t, filepath.Join(dir, c.name), c.text)
		put(t, filepath.Join(dir, "a.json"), summary)
		readings, notes, err := intake.Open(t.Context(), []string{dir}, nil, intake.Options{})
		if err != nil || len(readings) != 1 || readings[0].Total.IOPS != 1000 {
			t.Fatalf("%s: %+v, error %v", c.name, readings, err)
		}
		if used := len(readings[0].IOPS)+len(readings[0].Latency) > 0; used != (c.want == "") {
			t.Errorf("%s, %.20q: used %v, want %q", c.name, c.text, used, c.want)
		}
		switch {
		case c.want == "" && len(notes) > 0:
			t.Errorf("%s: %+v", c.name, notes)
		case c.want != "" && (len(notes) != 1 || !notes[0].Skipped || notes[0].File != file || notes[0].Line != 1 || !strings.Contains(notes[0].Text, c.want)):
			t.Errorf("%s: %+v, want %q", c.name, notes, c.want)
		}
	}
}

// Latencies of writes are not those of a log of reads.
func TestLogsOfTwoJobsUnderOneName(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "a_iops.1.log"), "1000, 3000, 0, 0, 0\n2000, 3000, 0, 0, 0\n")
	file := put(t, filepath.Join(dir, "a_clat.1.log"), "1000, 10000000, 1, 0, 0\n2000, 10000000, 1, 0, 0\n")
	readings, notes, err := intake.Open(t.Context(), []string{dir}, nil, intake.Options{})
	if err != nil || len(readings) != 1 || len(readings[0].Latency) != 0 || len(readings[0].IOPS) != 2 {
		t.Fatalf("%+v, error %v", readings, err)
	}
	for _, n := range notes {
		if n.Skipped && n.File == file && n.Line == 1 && strings.Contains(n.Text, "it logs writes") {
			return
		}
	}
	t.Errorf("%+v", notes)
}
