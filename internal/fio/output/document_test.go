package output_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ebscope/internal/fio/output"
	"ebscope/internal/result"
	"ebscope/internal/units"
)

// reads is what fio 3.33 writes of a job that reads, cut down to what matters and with round figures.
const reads = `{
  "fio version" : "fio-3.33",
  "global options" : {"rw" : "randread", "log_avg_msec" : "1000"},
  "jobs" : [{
    "jobname" : "gp2-randread", "error" : 0,
    "read" : {
      "io_bytes" : 40960, "bw_bytes" : 20480, "bw" : 20, "iops" : 5.0, "runtime" : 2000, "total_ios" : 10,
      "clat_ns" : {"min" : 900, "max" : 4900, "mean" : 1900.4, "N" : 10, "percentile" : {"50.000000" : 990}},
      "lat_ns" : {"min" : 1000, "max" : 5000, "mean" : 2000.4, "N" : 10,
        "percentile" : {"95.000000" : 5000, "50.000000" : 1000}, "bins" : {"5000" : 2, "1000" : 8}}
    },
    "write" : {"io_bytes" : 0, "iops" : 0.0, "runtime" : 0, "total_ios" : 0, "lat_ns" : {"min" : 0, "max" : 0, "mean" : 0.0, "N" : 0}}
  }]
}
`

func read(t *testing.T, text string) result.Measurement {
	t.Helper()
	document, err := output.ReadDocument("fio.json", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	m, err := document.Measurement()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestOneJob(t *testing.T) {
	got := read(t, reads)
	want := result.Measurement{
		Source: "fio-3.33",
		Total: result.Direction{
			IOs: 10, Bytes: 40960, Runtime: 2 * time.Second, IOPS: 5, Throughput: 20480,
			Latency: result.Latency{
				Kind: "lat", Samples: 10, Mean: 2000, Min: 1000, Max: 5000,
				Bins:        []result.Bin{{At: 1000, Count: 8}, {At: 5000, Count: 2}},
				Percentiles: []result.Percentile{{Percent: 50, Value: 1000}, {Percent: 95, Value: 5000}},
			},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("measurement (-want +got):\n%s", diff)
	}
}

func TestCompletionLatencyWhereOnlyItHasPercentiles(t *testing.T) {
	// As written by fio 3.1: no N, no bw_bytes, the list of percentiles filled up with zeros, none of the total latency.
	got := read(t, `{"fio version" : "fio-3.1", "jobs" : [{"jobname" : "a", "error" : 0,
		"write" : {"io_bytes" : 8192, "bw" : 4, "iops" : 1.0, "runtime" : 2000, "total_ios" : 2,
			"clat_ns" : {"min" : 100, "max" : 300, "mean" : 200.0, "percentile" : {"50.000000" : 100, "99.000000" : 300, "0.00" : 0, "0.00" : 0}},
			"lat_ns" : {"min" : 110, "max" : 330, "mean" : 220.0}}}]}`)
	want := result.Direction{
		IOs: 2, Bytes: 8192, Runtime: 2 * time.Second, IOPS: 1, Throughput: units.Throughput(4096),
		Latency: result.Latency{Kind: "clat", Samples: 2, Mean: 200, Min: 100, Max: 300, Submitted: 220,
			Percentiles: []result.Percentile{{Percent: 50, Value: 100}, {Percent: 99, Value: 300}}},
	}
	if diff := cmp.Diff(want, got.Total); diff != "" {
		t.Errorf("total (-want +got):\n%s", diff)
	}
}

func side(iops, ios, min, max, mean, percentile, bins string) string {
	return `{"io_bytes" : 4096, "bw_bytes" : 4096, "iops" : ` + iops + `, "runtime" : 1000, "total_ios" : ` + ios +
		`, "lat_ns" : {"min" : ` + min + `, "max" : ` + max + `, "mean" : ` + mean + `, "N" : ` + ios +
		`, "percentile" : {` + percentile + `}` + bins + `}}`
}

func TestMixedIsMergedFromHistograms(t *testing.T) {
	// 90 reads: 60 at 1 µs, 30 at 3 µs. 10 writes at 9 µs.
	read90 := side("90", "90", "1000", "3000", "1666.7", `"50.000000" : 1000, "95.000000" : 3000`, `, "bins" : {"1000" : 60, "3000" : 30}`)
	write10 := side("10", "10", "9000", "9000", "9000", `"50.000000" : 9000, "95.000000" : 9000`, `, "bins" : {"9000" : 10}`)
	tests := []struct{ name, jobs string }{
		{"read and write of one job", `{"jobname" : "a", "read" : ` + read90 + `, "write" : ` + write10 + `}`},
		{"two jobs", `{"jobname" : "a", "read" : ` + read90 + `}, {"jobname" : "b", "write" : ` + write10 + `}`},
	}
	want := result.Direction{
		IOs: 100, Bytes: 8192, Runtime: time.Second, IOPS: 100, Throughput: 8192,
		Latency: result.Latency{
			Kind: "lat", Samples: 100, Min: 1000, Max: 9000,
			Mean: 2400, // (90 × 1667 + 10 × 9000) ÷ 100 = 2400.3
			Bins: []result.Bin{{At: 1000, Count: 60}, {At: 3000, Count: 30}, {At: 9000, Count: 10}},
			// The 50th of 100 is at 1 µs, the 95th at 9 µs; an average of the two 95th percentiles would be 6 µs.
			Percentiles: []result.Percentile{{Percent: 50, Value: 1000}, {Percent: 95, Value: 9000}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := read(t, `{"jobs" : [`+tt.jobs+`]}`)
			if diff := cmp.Diff(want, got.Total); diff != "" {
				t.Errorf("total (-want +got):\n%s", diff)
			}
			if got.Read == nil || got.Read.IOPS != 90 || got.Write == nil || got.Write.IOPS != 10 {
				t.Errorf("read %+v, write %+v; want 90 and 10 IOPS", got.Read, got.Write)
			}
		})
	}
}

func TestPercentilesAreNotAveraged(t *testing.T) {
	job := `{"jobname" : "a", "read" : ` + side("90", "90", "1000", "3000", "2000", `"50.000000" : 1000`, "") + `}`
	got := read(t, `{"jobs" : [`+job+`,`+job+`]}`)
	if got.Total.IOPS != 180 || got.Total.Latency.Percentiles != nil {
		t.Errorf("got %v and percentiles %v; want 180 IOPS and none", got.Total.IOPS, got.Total.Latency.Percentiles)
	}
	if len(got.Warnings) != 1 || got.Warnings[0].Code != "percentiles-missing" {
		t.Errorf("warnings %v", got.Warnings)
	}
}

func TestTextAroundTheDocument(t *testing.T) {
	for _, tt := range []struct {
		before, after string
		want          []string
	}{
		{"", "", nil},
		{"\nfio: terminating on signal 2\n", "", []string{"fio: terminating on signal 2"}},
		{"a\r\nb\n", "\nfio: c\n", []string{"a", "b", "fio: c"}},
		{">", "", []string{">"}}, // a shell's prompt before the brace
		{"\uFEFF", "", nil},
	} {
		got := read(t, tt.before+reads+tt.after)
		var texts []string
		for _, w := range got.Warnings {
			if w.Code != "fio-message" {
				t.Errorf("%q: warning %v", tt.before, w)
			}
			texts = append(texts, w.Text)
		}
		if diff := cmp.Diff(tt.want, texts); diff != "" || got.Total.IOs != 10 {
			t.Errorf("%q: %d I/Os, messages (-want +got):\n%s", tt.before, got.Total.IOs, diff)
		}
	}
}

func TestJobError(t *testing.T) {
	const said = "fio: io_u error on file /dev/sdb: Input/output error"
	for text, want := range map[string]int{`"error" : 5`: 5, `"error" : 4294967291`: -5} {
		document, err := output.ReadDocument("fio.json", strings.NewReader(said+"\n"+strings.Replace(reads, `"error" : 0`, text, 1)))
		if err != nil {
			t.Fatal(err)
		}
		var failed *output.JobError
		if !errors.As(document.Err(), &failed) {
			t.Fatalf("%s: %v is no JobError", text, document.Err())
		}
		if diff := cmp.Diff(&output.JobError{Code: want, Text: []string{said}}, failed); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestDocumentRefuses(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "", "fio.json is empty"},
		{"text only", "Bad option <foo=bar>\nfio: job p dropped\n", "holds no results of fio; it says: Bad option <foo=bar>; fio: job p dropped"},
		{"cut off", reads[:400], "fio.json:9: cut off at byte 400"},
		{"cut off after text", "hello\n" + reads[:400], "fio.json:10: cut off at byte 406"},
		{"not a number", strings.Replace(reads, "2000.4", "-nan", 1), `fio.json:9: "mean" is "-nan", no number`},
		{"no comma", strings.Replace(reads, `"runtime" : 2000,`, `"runtime" : 2000`, 1), "fio.json:7: damaged at byte"},
		{"wrong type", strings.Replace(reads, `"total_ios" : 10`, `"total_ios" : "ten"`, 1), `fio.json:7: "total_ios" is "ten", no number`},
		{"no jobs", `{"fio version" : "fio-3.33"}`, "the document has no jobs"},
		{"other JSON", `{"items": []}`, "holds no results of fio"},
		{"two documents", reads + reads, "more than one document"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := output.ReadDocument("fio.json", strings.NewReader(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one that says %q", err, tt.want)
			}
		})
	}
}

func TestMeasurementRefuses(t *testing.T) {
	for _, tt := range []struct{ name, old, new, want string }{
		{"no I/O", `"iops" : 5.0, "runtime" : 2000, "total_ios" : 10`, `"iops" : 0.0, "runtime" : 0, "total_ios" : 0`, "did no reads or writes"},
		{"negative count", `"total_ios" : 10`, `"total_ios" : -10`, "out of range"},
		{"negative latency", `"mean" : 2000.4`, `"mean" : -1`, "lat: mean is -1, out of range"},
		{"huge latency", `"max" : 5000`, `"max" : 1e30`, "lat: max is 1e+30, out of range"},
		{"percentile", `"95.000000" : 5000`, `"950.0" : 5000`, "950 is no percentile"},
		{"bin", `"5000" : 2`, `"5000" : -2`, "the bin 5000 holds -2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			document, err := output.ReadDocument("fio.json", strings.NewReader(strings.Replace(reads, tt.old, tt.new, 1)))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := document.Measurement(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one that says %q", err, tt.want)
			}
		})
	}
}
