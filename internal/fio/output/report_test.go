package output_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ebscope/internal/fio/output"
	"ebscope/internal/result"
	"ebscope/internal/units"
)

// These tests are about faults that users of fio, and of programs that read its output, have reported in public.

// readText reads a text from which nothing is to be skipped.
func readText(t *testing.T, text string) ([]result.Reading, []result.Note) {
	t.Helper()
	readings, notes, err := output.Read("fio.json", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	checkSkipped(t, notes, "")
	return readings, notes
}

// one reads a text that holds one reading.
func one(t *testing.T, text string) result.Reading {
	t.Helper()
	readings, _ := readText(t, text)
	if len(readings) != 1 {
		t.Fatalf("%d readings, want 1", len(readings))
	}
	return readings[0]
}

// axboe/fio 731 and 1685
func TestErrorsBeforeTheDocumentMakeTheRunFail(t *testing.T) {
	const said = "fio: io_u error on file /dev/sdb: Input/output error: read offset=0, buflen=4096"
	r := one(t, said+"\n"+strings.Replace(reads, `"error" : 0`, `"error" : 5`, 1))
	if diff := cmp.Diff(&result.Failure{Code: 5, Text: []string{said}}, r.Failure); diff != "" {
		t.Errorf("failure (-want +got):\n%s", diff)
	}
	for name, code := range map[string]int{"43-3.32-eio-error5.json": 5, "44-3.32-einval-error22.json": 22, "62-3.35-error-u32neg.json": -25021} {
		readings, _, err := readCorpus(t, "json/"+name)
		if err != nil {
			t.Fatal(err)
		}
		last := readings[len(readings)-1]
		if last.Failure == nil || last.Failure.Code != code || len(last.Failure.Text) == 0 {
			t.Errorf("%s: failure %v, want code %d and what fio said", name, last.Failure, code)
		}
	}
}

// axboe/fio 2048
func TestNoticeBeforeTheDocumentLeavesTheRunValid(t *testing.T) {
	readings, notes := readText(t, "fio: sprandom sets norandommap=1\n"+strings.Replace(reads, "fio-3.33", "fio-3.41", 1))
	if len(readings) != 1 || readings[0].Failure != nil || readings[0].Total.IOPS != 5 || readings[0].Tool != "fio-3.41" {
		t.Errorf("readings %+v", readings)
	}
	want := []result.Note{{Source: result.Source{File: "fio.json", Line: 2, Document: 1}, Text: "fio: sprandom sets norandommap=1"}}
	if diff := cmp.Diff(want, notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

// axboe/fio 378 and 272
func TestBytesOfFio2AreKiB(t *testing.T) {
	r := one(t, `{"fio version" : "fio-2.14", "jobs" : [{"jobname" : "a", "read" : {"io_bytes":2552320, "bw":153412, "iops":38353,
		"runtime":16637, "bw_samples":0, "bw_min":0, "bw_max":0, "bw_mean":0}}]}`)
	// 2,552,320 KiB ÷ 16.637 s = 153,412 KiB/s = 149.8 MiB/s
	if got := r.Total.Throughput.MiBps(); math.Abs(got-149.8) > 0.05 {
		t.Errorf("%v MiB/s, want 149.8", got)
	}
	if r.Total.Bytes != 2552320*units.KiB {
		t.Errorf("%v, want 2,552,320 KiB", r.Total.Bytes)
	}
}

func TestUnitOfBytes(t *testing.T) {
	for _, tt := range []struct {
		name, version, fields string
		want                  units.Bytes
		warning               string
	}{
		{"bytes by rate and time", "fio-2.2", `"io_bytes": 4096000, "bw": 400, "runtime": 10000`, 4096000, ""},              // 400 KiB/s × 10 s
		{"KiB by rate and time", "fio-3.33", `"io_bytes": 4000, "bw": 400, "runtime": 10000`, 4096000, ""},                  // the version says otherwise
		{"too slow for a rate: KiB stated too", "", `"io_bytes": 4096, "io_kbytes": 4, "bw": 0, "runtime": 9000`, 4096, ""}, //
		{"too slow for a rate: version 2", "fio-2.1.10", `"io_bytes": 4, "bw": 0, "runtime": 9000`, 4096, ""},
		{"too slow for a rate: version 3", "fio-3.5", `"io_bytes": 4096, "bw": 0, "runtime": 9000`, 4096, ""},
		{"nothing tells", "", `"io_bytes": 4096, "bw": 0, "runtime": 9000`, 0, "bytes-unknown"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := one(t, `{"fio version": "`+tt.version+`", "jobs": [{"jobname": "a", "read": {"total_ios": 1, "clat_ns": {"mean": 5, "max": 5, "percentile": {"50.0": 5}}, `+tt.fields+`}}]}`)
			if r.Total.Bytes != tt.want {
				t.Errorf("%v, want %v", r.Total.Bytes, tt.want)
			}
			checkWarning(t, r, tt.warning)
		})
	}
}

// checkWarning checks that the only warning has a code, or that there is none.
func checkWarning(t *testing.T, r result.Reading, code string) {
	t.Helper()
	var codes []string
	for _, w := range r.Warnings {
		codes = append(codes, w.Code)
	}
	if got := strings.Join(codes, " "); got != code {
		t.Errorf("warnings %q, want %q", got, code)
	}
}

// axboe/fio 84
func TestLatencyOfBothUnits(t *testing.T) {
	for _, text := range []string{
		`{"fio version": "fio-2.14", "jobs": [{"jobname": "a", "read": {"iops": 1, "runtime": 9000, "lat": {"mean": 55095, "max": 60000}}}]}`,
		`{"fio version": "fio-3.1", "jobs": [{"jobname": "a", "read": {"iops": 1, "runtime": 9000, "lat_ns": {"mean": 55095000, "max": 60000000}}}]}`,
	} {
		if r := one(t, text); r.Total.Latency.Mean != 55095*time.Microsecond || r.Total.Latency.Max != 60*ms || r.Total.Latency.Kind != "lat" {
			t.Errorf("%s: %+v, want a mean of 55.1 ms", text, r.Total.Latency)
		}
	}
}

// louwrentius/fio-plot 2, facebookincubator/FioSynth 5
func TestOptionsInGlobalInJobOrNowhere(t *testing.T) {
	const job = `"jobname": "a", "read": {"iops": 1}`
	for _, tt := range []struct {
		name, global, own string
		want              result.Stated
	}{
		{"nowhere", "", "", result.Stated{}},
		{"global", `{"rw": "randread", "bs": "4k", "iodepth": "32"}`, "", // that the entry is of one job is not known
			result.Stated{Pattern: "randread", BlockSize: 4096, QueueDepth: 32, Options: map[string]string{"rw": "randread", "bs": "4k", "iodepth": "32"}}},
		{"job", "", `{"rw": "randread"}`, result.Stated{Pattern: "randread", Jobs: 1, Options: map[string]string{"rw": "randread"}}},
		{"both", `{"rw": "randread", "bs": "4k"}`, `{"bs": "16k"}`,
			result.Stated{Pattern: "randread", BlockSize: 16384, Jobs: 1, Options: map[string]string{"rw": "randread", "bs": "16k"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := `{"jobs": [{` + job
			if tt.own != "" {
				text += `, "job options": ` + tt.own
			}
			text += `}]`
			if tt.global != "" {
				text += `, "global options": ` + tt.global // may come behind
			}
			if diff := cmp.Diff(tt.want, one(t, text+`}`).Workload); diff != "" {
				t.Errorf("workload (-want +got):\n%s", diff)
			}
		})
	}
}

// louwrentius/fio-plot 155
func TestClientsWithoutJobOptions(t *testing.T) {
	client := func(name, host, iops string) string {
		return `{"jobname": "` + name + `", "read": {"iops": ` + iops + `}, "hostname": "` + host + `", "port": 8765}`
	}
	readings, _ := readText(t, `{"fio version": "fio-3.39", "client_stats": [`+client("a", "one", "100")+`,`+client("a", "two", "200")+`,`+
		client("All clients", "two", "300")+`], "disk_util": [{"name": "sda", "read_ios": 1, "hostname": "one"}, {"name": "sdb", "read_ios": 2, "hostname": "two"}]}`)
	if len(readings) != 2 {
		t.Fatalf("%d readings, want those of two hosts, without their sum", len(readings))
	}
	for i, want := range []struct {
		host, disk string
		iops       units.IOPS
	}{{"one", "sda", 100}, {"two", "sdb", 200}} {
		r := readings[i]
		if r.Host != want.host || r.Total.IOPS != want.iops || len(r.Disks) != 1 || r.Disks[0].Name != want.disk || r.Workload.Jobs != 0 || r.Workload.Options != nil {
			t.Errorf("%+v, want %v, and an unknown workload", r, want)
		}
	}
	// Where only the sum is left, it is better than nothing.
	if r := one(t, `{"client_stats": [`+client("All clients", "two", "300")+`]}`); r.Total.IOPS != 300 {
		t.Errorf("%v, want 300", r.Total.IOPS)
	}
	corpus, _, err := readCorpus(t, "json/14-3.7-pbench-client.json")
	if err != nil {
		t.Fatal(err)
	}
	hosts := map[string]int{}
	for _, r := range corpus {
		hosts[r.Host]++
	}
	if diff := cmp.Diff(map[string]int{"perf36": 5, "perf84": 5}, hosts); diff != "" {
		t.Errorf("jobs by host (-want +got):\n%s", diff)
	}
}

// axboe/fio 237
func TestJobsOfAGroupAreUnknownUnlessStated(t *testing.T) {
	for _, tt := range []struct {
		options string
		want    int
	}{
		{`"group_reporting": "1", "iodepth": "8"`, 0},
		{`"group_reporting": "", "numjobs": "4"`, 4},
		{`"group_reporting": "0", "numjobs": "4"`, 1}, // an entry for each
		{`"numjobs": "4"`, 4},                         // and only one entry: the group was asked for on the command line
		{`"group_reporting": "1", "numjobs": "lots"`, 0},
	} {
		r := one(t, `{"jobs": [{"jobname": "a", "groupid": 3, "job options": {`+tt.options+`}, "read": {"iops": 1}}]}`)
		if r.Workload.Jobs != tt.want || r.Group != 3 {
			t.Errorf("%s: %d jobs in group %d, want %d in 3", tt.options, r.Workload.Jobs, r.Group, tt.want)
		}
	}
}

// axboe/fio 691, pull 920
func TestPercentilesOfTheTotalLatency(t *testing.T) {
	text := func(version, options, clat, lat string) string {
		return `{"fio version": "` + version + `", "jobs": [{"jobname": "a", "job options": {` + options + `}, "read": {"iops": 1, "total_ios": 9,
			"clat_ns": {"mean": 900, "max": 1000` + clat + `}, "lat_ns": {"mean": 950, "max": 1100` + lat + `}}}]}`
	}
	const percentile = `, "percentile": {"99.000000": 990}`
	total := result.Latency{Kind: "lat", Samples: 9, Mean: 950, Max: 1100, Percentiles: []result.Percentile{{Percent: 99, Value: 990}}}
	completion := result.Latency{Kind: "clat", Samples: 9, Mean: 900, Max: 1000, Submitted: 950, Percentiles: []result.Percentile{{Percent: 99, Value: 990}}}
	for _, tt := range []struct {
		name, text string
		want       result.Latency
	}{
		{"under the total", text("fio-3.33", `"lat_percentiles": "1"`, "", percentile), total},
		{"under both", text("fio-3.33", `"lat_percentiles": "1"`, percentile, percentile), total},
		{"under the completion", text("fio-3.33", ``, percentile, ""), completion},
		{"of the total, under the name of the other, in old versions", text("fio-3.7", `"lat_percentiles": "1"`, percentile, ""), total},
		{"of the completion in old versions", text("fio-3.7", ``, percentile, ""), completion},
	} {
		if diff := cmp.Diff(tt.want, one(t, tt.text).Total.Latency); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// axboe/fio 1627
func TestDisksAreOptional(t *testing.T) {
	if r := one(t, reads); r.Disks != nil {
		t.Errorf("disks %v of a document that states none", r.Disks)
	}
	with := strings.Replace(reads, "}]\n}", `}], "disk_util": [{"name": "nvme1n1", "read_ios": 10, "write_ios": 2, "read_ticks": -4100568743, "util": 99.5}]}`, 1)
	want := []result.Disk{{Name: "nvme1n1", Reads: 10, Writes: 2, Utilization: 99.5}}
	if diff := cmp.Diff(want, one(t, with).Disks); diff != "" {
		t.Errorf("disks (-want +got):\n%s", diff)
	}
}

// cockroachdb/cockroach 82109
func TestMembersOfARAID(t *testing.T) {
	disk := func(name, reads, ticks, more string) string {
		return `{"name": "` + name + `", "read_ios": ` + reads + `, "read_ticks": ` + ticks + more + `}`
	}
	// Two members with 10 and 21 reads in 300 and 500 ms have a mean of 15.5 in 400 ms, rounded down. nvme3n1 is another disk.
	md := disk("md0", "31", "0", `, "aggr_read_ios": 15, "aggr_read_ticks": 400`)
	r := one(t, `{"disk_util": [`+md+`,`+disk("nvme1n1", "10", "300", "")+`,`+disk("nvme2n1", "21", "500", "")+`,`+disk("nvme3n1", "15", "400", "")+
		`], "jobs": [{"jobname": "a", "read": {"iops": 1}}]}`)
	if len(r.Disks) != 4 || !slices.Equal(r.Disks[0].Members, []string{"nvme1n1", "nvme2n1"}) || r.Disks[1].Members != nil {
		t.Errorf("disks %v", r.Disks)
	}
	r = one(t, `{"disk_util": [`+md+`,`+disk("nvme1n1", "10", "300", "")+`], "jobs": [{"jobname": "a", "read": {"iops": 1}}]}`)
	if r.Disks[0].Members != nil {
		t.Errorf("members %v, want none: one disk does not give the means", r.Disks[0].Members)
	}
	corpus, _, err := readCorpus(t, "json/23-3.16-fioplot-raid.json")
	if err != nil {
		t.Fatal(err)
	}
	if got := corpus[0].Disks[0]; got.Name != "md6" || len(got.Members) != 8 {
		t.Errorf("%v, want eight members of md6", got)
	}
}
