package output_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/unicode"

	"ebscope/internal/fio/output"
	"ebscope/internal/result"
	"ebscope/internal/units"
)

// quotedJSON is a text as a JSON string.
func quotedJSON(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}

// prefixed puts a text before each line.
func prefixed(prefix, text string) string {
	return prefix + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+prefix) + "\n"
}

// dockerLog is a text as the json-file driver keeps it, a line in an object.
func dockerLog(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		fmt.Fprintf(&out, `{"log":%s,"stream":"stdout","time":"2026-11-30T12:00:00.1Z"}`+"\n", quotedJSON(line))
	}
	return out.String()
}

func TestWhereverADocumentStands(t *testing.T) {
	utf16, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(strings.ReplaceAll(reads, "\n", "\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, text string
		readings   int
		line       int // of the first job
	}{
		{"alone", reads, 1, 4},
		{"two in a row", reads + reads, 2, 4},
		{"two without a line break", strings.TrimSpace(reads) + strings.TrimSpace(reads), 2, 4},
		{"text before, between and after", "$ fio a.fio\n" + reads + "$ fio b.fio\n" + reads + "$ \n", 2, 5},
		{"a byte order mark", "\uFEFF" + reads, 1, 4},
		{"UTF-16 with CRLF, as PowerShell redirects", utf16, 1, 4},
		{"behind a prompt", ">" + reads, 1, 4},
		{"behind braces that are no JSON", "jobs {a, b} {\"x\" y} ${HOME} {\n" + reads, 1, 5},
		{"an array", "[" + reads + "," + reads + "]", 2, 4},
		{"nested", `{"data": {"runs": [` + reads + `, {"fio": ` + reads + `}]}, "command": "fio"}`, 2, 4},
		{"a value of a log line", `2026-11-30 INFO result=` + strings.ReplaceAll(reads, "\n", " ") + ` took=3s`, 1, 1},
		{"a string of a log line", `{"level":"info","output":` + quotedJSON(reads) + `}`, 1, 4},
		{"a string in a string", `{"a":` + quotedJSON(`{"b":`+quotedJSON(reads)+`}`) + `}`, 1, 4},
		{"kubectl logs --timestamps", prefixed("2026-11-30T12:00:00.123456789Z ", reads), 1, 4},
		{"kubectl logs --prefix --timestamps", prefixed("[pod/fio-x/fio] 2026-11-30T12:00:00.123456789Z ", "banner\n"+reads), 1, 5},
		{"kubectl logs --prefix", prefixed("[pod/fio-x/fio] ", "banner\n"+reads), 1, 5},
		{"a container runtime's log", prefixed("2026-11-30T12:00:00.123456789+01:00 stdout F ", reads), 1, 4},
		{"docker compose", prefixed("fio-1  | ", "Attaching\n"+reads), 1, 5},
		{"docker's own files", dockerLog("banner\n" + reads), 1, 5},
		{"with a message inside", strings.Replace(reads, "    \"read\" :", "fio: terminating on signal 2\n    \"read\" :", 1), 1, 4},
		{"in reverse order", `{"jobs": [{"read": {"total_ios": 10, "iops": 5}, "jobname": "a"}], "fio version": "fio-3.33"}`, 1, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, reader := range []io.Reader{strings.NewReader(tt.text), iotest.OneByteReader(strings.NewReader(tt.text))} {
				readings, notes, err := output.Read("out.txt", reader)
				if err != nil || len(readings) != tt.readings {
					t.Fatalf("%d readings, notes %v, error %v; want %d", len(readings), notes, err, tt.readings)
				}
				checkSkipped(t, notes, "")
				for i, r := range readings {
					if r.Total.IOs != 10 || r.Total.IOPS != 5 || r.Tool != "fio-3.33" || r.Source.Document != i+1 {
						t.Errorf("reading %d: %+v", i, r)
					}
				}
				if got := readings[0].Source.Line; got != tt.line {
					t.Errorf("line %d, want %d", got, tt.line)
				}
			}
		})
	}
}

func TestNumbersThatAreNone(t *testing.T) {
	for _, text := range []string{"nan", "-nan", "NaN", "inf", "-inf", "Infinity", `"ten"`, "{}", "[1]", "true", "1e999"} {
		readings, notes, err := output.Read("fio.json", strings.NewReader(strings.Replace(reads, "2000.4", text, 1)))
		if err != nil || len(readings) != 1 {
			t.Fatalf("%s: %d readings, error %v", text, len(readings), err)
		}
		l := readings[0].Total.Latency
		if l.Mean != 0 || l.Max != 5000 || len(l.Percentiles) != 2 {
			t.Errorf("%s: latency %+v, want all but the mean", text, l)
		}
		checkSkipped(t, notes, `"mean" is`)
		if notes[0].Line != 9 {
			t.Errorf("%s: line %d, want 9", text, notes[0].Line)
		}
	}
	// A number in quotes is one, and null is nothing that was said.
	for text, want := range map[string]time.Duration{`"2000.4"`: 2000, "null": 0} {
		if r := one(t, strings.Replace(reads, "2000.4", text, 1)); r.Total.Latency.Mean != want {
			t.Errorf("%s: mean %v, want %v", text, r.Total.Latency.Mean, want)
		}
	}
}

func TestFiguresOutOfRangeAreUnknown(t *testing.T) {
	for _, tt := range []struct{ old, new, want string }{
		{`"total_ios" : 10`, `"total_ios" : -10`, `job "gp2-randread", read: total_ios is -10, out of range: unknown`},
		{`"mean" : 2000.4`, `"mean" : -1`, "lat: mean is -1, out of range: unknown"},
		{`"max" : 5000`, `"max" : 1e30`, "lat: max is 1e+30, out of range: unknown"},
		{`"bw_bytes" : 20480`, `"bw_bytes" : -20480`, "bw_bytes is -20480, out of range: unknown"},
	} {
		readings, notes, err := output.Read("fio.json", strings.NewReader(strings.Replace(reads, tt.old, tt.new, 1)))
		if err != nil || len(readings) != 1 || readings[0].Total.IOPS != 5 || readings[0].Total.Throughput != 20480 {
			t.Fatalf("%s: %+v, error %v", tt.new, readings, err)
		}
		checkSkipped(t, notes, tt.want)
	}
}

// An impossible percentile is left out, and the others stay.
func TestAPercentileOutOfRangeIsUnknown(t *testing.T) {
	const bad = `"lat_ns" : {"min" : 1000, "max" : 9000, "mean" : 5000, "N" : 4, "percentile" : {"50.000000" : 5000, "99.000000" : -1}}`
	text := `{"fio version" : "fio-3.33", "jobs" : [{"jobname" : "a", "read" : {"io_bytes" : 16384, "iops" : 4, "runtime" : 1000, "total_ios" : 4, ` + bad + `}}]}`
	readings, notes, err := output.Read("fio.json", strings.NewReader(text))
	if err != nil || len(readings) != 1 {
		t.Fatalf("%+v, error %v", readings, err)
	}
	want := []result.Percentile{{Percent: 50, Value: 5000}}
	if diff := cmp.Diff(want, readings[0].Total.Latency.Percentiles); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	checkSkipped(t, notes, "percentile 99 is -1, out of range: unknown")
}

func TestTruncatedDocuments(t *testing.T) {
	two := strings.Replace(reads, "  }]\n}\n", "  },\n"+reads[strings.Index(reads, "  \"jobs\" : [")+len("  \"jobs\" : ["):], 1)
	if n, _ := readText(t, two); len(n) != 2 {
		t.Fatalf("the whole document has %d jobs", len(n))
	}
	cut := len(two) - 100
	readings, notes, err := output.Read("fio.json", strings.NewReader(two[:cut]))
	if err != nil || len(readings) != 1 || readings[0].Total.IOPS != 5 {
		t.Fatalf("%d readings, error %v; want the whole first job", len(readings), err)
	}
	checkSkipped(t, notes, fmt.Sprintf("cut off at byte %d in the middle of the document; whole jobs before that: 1", cut))
	// What follows a document that was cut off is read.
	readings, notes, err = output.Read("fio.json", strings.NewReader(two[:cut]+"\n"+reads))
	if err != nil || len(readings) != 2 {
		t.Errorf("%d readings, error %v; want two", len(readings), err)
	}
	checkSkipped(t, notes, "damaged at byte")
}

func TestReadRefuses(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "", "is empty"},
		{"blank", " \n\n", "holds no results of fio; expected fio's JSON"},
		{"text", "Bad option <foo=bar>\nfio: job p dropped\n", "it says: Bad option <foo=bar>; fio: job p dropped; expected"},
		{"other JSON", `{"items": [1, {"a": "b"}]}`, "holds no results of fio; expected"},
		{"an array of strings", `["a", "b"]`, "holds no results of fio"},
		{"jobs of something else", `{"jobs": [{"name": "build", "steps": []}, 3, "x"], "on": "push"}`, "holds no results of fio"},
		{"without jobs", `{"fio version" : "fio-3.33", "jobs" : []}`, "fio.json:1: the document has no jobs; expected"},
		{"for people", "fio-3.33\na: (groupid=0, jobs=1): err= 0: pid=7\n  read: IOPS=3000\n", "output for people"},
		{"binary", "\x00\x01{\"\x02\xff", "holds no results of fio"},
		{"first job cut off", reads[:400], "fio.json:9: cut off at byte 400"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			readings, _, err := output.Read("fio.json", strings.NewReader(tt.text))
			if len(readings) != 0 || err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%d readings, error %v; want one that says %q", len(readings), err, tt.want)
			}
		})
	}
}

func TestFailureInDockersOwnFiles(t *testing.T) {
	r := one(t, dockerLog("fio: pid=7, err=28/file:filesetup.c:240, func=write, error=No space left on device\n"))
	if r.Failure == nil || r.Failure.Code != 28 || len(r.Failure.Text) != 1 {
		t.Errorf("failure %v, want code 28 with what fio said", r.Failure)
	}
}

func TestReadErrors(t *testing.T) {
	broken := iotest.ErrReader(errors.New("the disk broke"))
	if _, _, err := output.Read("fio.json", broken); err == nil || !strings.Contains(err.Error(), "the disk broke") {
		t.Errorf("error %v", err)
	}
	readings, notes, err := output.Read("fio.json", io.MultiReader(strings.NewReader(reads), broken))
	if err != nil || len(readings) != 1 {
		t.Errorf("%d readings, error %v; want what came before", len(readings), err)
	}
	checkSkipped(t, notes, "the disk broke")
}

// repeated reads a text over and over.
type repeated struct {
	text string
	left int64
	at   int
}

func (r *repeated) Read(p []byte) (n int, err error) {
	if r.left <= 0 {
		return 0, io.EOF
	}
	for n < len(p) && r.left > 0 {
		k := copy(p[n:], r.text[r.at:])
		n, r.at, r.left = n+k, (r.at+k)%len(r.text), r.left-int64(k)
	}
	return n, nil
}

func TestMemoryIsBounded(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates on its own; run: go test ./internal/fio/output")
	}
	for name, text := range map[string]string{
		"one line":                   "0123456789abcdef",
		"nested objects":             `{"a":`,
		"nested arrays":              `{"a":[[[[`,
		"a string without an end":    `{"a":"bbbbbbbbbbbbbbbbbbbbbbb`,
		"braces":                     `{`,
		"lines":                      "fio: io_u error on file /dev/sdb\n",
		"a number without an end":    `{"jobs":[{"error":1`,
		"objects that are no result": `{"a":1} `,
	} {
		t.Run(name, func(t *testing.T) {
			const size = 4 << 20
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			source := &repeated{text: text, left: size}
			if name == "a string without an end" {
				source.text = "b"
				_, _, _ = output.Read("x", io.MultiReader(strings.NewReader(text), source))
			} else {
				_, _, _ = output.Read("x", source)
			}
			runtime.ReadMemStats(&after)
			// All that was allocated on the way, much of which was free again.
			if used := after.TotalAlloc - before.TotalAlloc; used > 32*size {
				t.Errorf("%d MiB for a text of %d MiB", used>>20, size>>20)
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); kept > 2<<20 {
				t.Errorf("%d MiB are kept", kept>>20)
			}
		})
	}
}

func TestOtherThanReadsAndWrites(t *testing.T) {
	const latency = `{"min" : 1000, "max" : 9000, "mean" : 5000, "N" : 4, "percentile" : {"99.000000" : 9000}}`
	r := one(t, strings.Replace(reads, `"read" :`, `"trim" : {"io_bytes" : 8192, "bw_bytes" : 4096, "bw" : 4, "iops" : 1, "runtime" : 2000, "total_ios" : 2, "clat_ns" : `+latency+`},
		"sync" : {"total_ios" : 4, "lat_ns" : `+latency+`},
		"steadystate" : {"ss" : "iops:10.000000%", "duration" : 10, "attained" : 1, "criterion" : "1.4%", "data" : {"iops" : [1, 2]}},
		"read" :`, 1))
	want := result.Latency{Kind: "lat", Samples: 4, Min: 1000, Max: 9000, Mean: 5000, Percentiles: []result.Percentile{{Percent: 99, Value: 9000}}}
	if diff := cmp.Diff(&result.Direction{IOs: 4, Latency: want}, r.Sync); diff != "" {
		t.Errorf("sync (-want +got):\n%s", diff)
	}
	if r.Trim == nil || r.Trim.IOs != 2 || r.Trim.Bytes != 8*units.KiB || r.Trim.Latency.Kind != "clat" || r.Trim.Latency.Mean != 5000 {
		t.Errorf("trim %+v", r.Trim)
	}
	if diff := cmp.Diff(&result.SteadyState{Criterion: "iops:10.000000%", Attained: true}, r.SteadyState); diff != "" {
		t.Errorf("steady state (-want +got):\n%s", diff)
	}
	if r.Total.IOs != 10 {
		t.Errorf("%d I/Os in all, want the reads alone", r.Total.IOs)
	}
}

func TestLatencyThatWasNotMeasured(t *testing.T) {
	for _, lat := range []string{`{"min" : 0, "max" : 0, "mean" : 0.0, "N" : 0}`, `{"min" : 0, "max" : 0, "mean" : 0.0}`} {
		r := one(t, `{"jobs": [{"jobname": "a", "job options": {"gtod_reduce": "1"}, "read": {"total_ios": 9, "iops": 1, "lat_ns": `+lat+`, "clat_ns": `+lat+`}}]}`)
		if r.Total.Latency.Samples != 0 || r.Total.IOPS != 1 {
			t.Errorf("%+v", r.Total)
		}
		checkWarning(t, r, "latency-not-measured")
	}
	// disable_lat leaves the completion latency.
	r := one(t, `{"jobs": [{"jobname": "a", "read": {"total_ios": 9, "iops": 1, "lat_ns": {"N": 0}, "clat_ns": {"mean": 5, "max": 6, "N": 9, "percentile": {"50": 5}}}}]}`)
	if r.Total.Latency.Kind != "clat" || r.Total.Latency.Samples != 9 {
		t.Errorf("%+v", r.Total.Latency)
	}
	checkWarning(t, r, "")
}

func TestReadsAndWritesReportedTogether(t *testing.T) {
	r := one(t, fixture(t, "unified-both.json"))
	if r.Total.IOPS != 8000 || r.Total.IOs != 8192 || r.Read == nil || r.Read.IOPS != 4000 || len(r.Total.Latency.Percentiles) == 0 {
		t.Errorf("%+v, want 8,000 a second in all, with the percentiles of all", r)
	}
	r = one(t, strings.Replace(reads, `"read" :`, `"mixed" :`, 1))
	if r.Total.IOPS != 5 || r.Read != nil {
		t.Errorf("%+v", r)
	}
}

// Where no option says what a job did, the section that has I/O does; which order it was in, nobody knows.
func TestDirectionWithoutOptions(t *testing.T) {
	unstated := strings.Replace(reads, `"rw" : "randread", `, "", 1)
	r := one(t, unstated)
	if r.Read == nil || r.Read.IOPS != 5 || r.Write != nil || r.Workload.Pattern != "" {
		t.Errorf("reads %+v, writes %+v, pattern %q: 5 reads a second, and no more", r.Read, r.Write, r.Workload.Pattern)
	}
	r = one(t, strings.NewReplacer(`"read" :`, `"write" :`, `"write" :`, `"read" :`).Replace(unstated))
	if r.Write == nil || r.Write.IOPS != 5 || r.Read != nil {
		t.Errorf("reads %+v, writes %+v: 5 writes a second, and no more", r.Read, r.Write)
	}
	if r = one(t, reads); r.Read != nil || r.Write != nil {
		t.Errorf("reads %+v, writes %+v: the pattern says it", r.Read, r.Write)
	}
}

func TestBinsOfMicroseconds(t *testing.T) {
	r := one(t, `{"fio version": "fio-2.20", "jobs": [{"jobname": "a", "read": {"iops": 1, "total_ios": 3, "runtime": 3000,
		"clat": {"mean": 20, "max": 40, "bins": {"40": 1, "10": 2, "70": 0}, "percentile": {"50.0": 10, "0.00": 0, "0.00": 0}}}}]}`)
	want := result.Latency{Kind: "clat", Samples: 3, Mean: 20 * time.Microsecond, Max: 40 * time.Microsecond,
		Bins:        []result.Bin{{At: 10 * time.Microsecond, Count: 2}, {At: 40 * time.Microsecond, Count: 1}},
		Percentiles: []result.Percentile{{Percent: 50, Value: 10 * time.Microsecond}}}
	if diff := cmp.Diff(want, r.Total.Latency); diff != "" {
		t.Errorf("latency (-want +got):\n%s", diff)
	}
}

func TestBandwidthsThatContradictEachOther(t *testing.T) {
	// 40,960 bytes in 2 s are 20,480 a second: bw, 20 KiB/s, fits, and bw_bytes does not.
	r := one(t, strings.Replace(reads, `"bw_bytes" : 20480`, `"bw_bytes" : 99999`, 1))
	if r.Total.Throughput != 20480 {
		t.Errorf("%v, want 20,480 bytes/s", r.Total.Throughput)
	}
	checkWarning(t, r, "bandwidth-contradicts")
}

// With --status-interval fio writes its state every so often; the jobs' own clock goes on from document to document.
func TestLaterStatesOfTheSameRun(t *testing.T) {
	state := func(at, runtime, ios string) string {
		return `{"fio version" : "fio-3.33", "timestamp_ms" : ` + at + `, "jobs" : [{"jobname" : "a",
			"read" : {"runtime" : ` + runtime + `, "total_ios" : ` + ios + `, "iops" : 5}}]}` + "\n"
	}
	for _, tt := range []struct {
		name, text string
		want       []int64 // I/Os
	}{
		{"three states", state("1000000", "1000", "5") + state("1001000", "2003", "10") + state("1004100", "5100", "25"), []int64{25}},
		{"the same run twice", state("1060000", "60000", "300") + state("1120000", "60000", "300"), []int64{300, 300}},
		{"a longer run after a short one", state("1002000", "2000", "10") + state("1062000", "60000", "300"), []int64{10, 300}},
		{"without a clock", state("0", "1000", "5") + state("0", "2000", "10"), []int64{5, 10}},
	} {
		readings, _ := readText(t, tt.text)
		var got []int64
		for _, r := range readings {
			got = append(got, r.Total.IOs)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: I/Os (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestOutputForPeopleBesideJSON(t *testing.T) {
	_, notes := readText(t, "fio-3.33\n"+reads+"a: (groupid=0, jobs=1): err= 0: pid=7: Mon Nov 30\n  read: IOPS=5\n\nRun status group 0 (all jobs):\n   READ: bw=1\n")
	if len(notes) != 1 || notes[0].Text != "fio-3.33" {
		t.Errorf("notes %v", notes)
	}
}

func TestManyNotes(t *testing.T) {
	_, notes, err := output.Read("fio.json", strings.NewReader(strings.Repeat("chatter\n", 200)+reads+strings.Repeat(strings.Replace(reads, "2000.4", "nan", 1), 200)))
	if err != nil || len(notes) != 101 || !notes[100].Skipped {
		t.Errorf("%d notes, error %v; want 100 and one that more was skipped", len(notes), err)
	}
}
