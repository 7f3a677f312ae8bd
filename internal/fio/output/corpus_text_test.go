package output_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"ebscope/internal/result"
	"ebscope/internal/units"
)

func TestCorpusDerived(t *testing.T) {
	for _, tt := range []struct {
		name     string
		readings int
		iops     units.IOPS // of the first
		skipped  string     // what a note of something skipped says
	}{
		{"crlf.json", 1, 8797.9, ""},
		{"kubectl-timestamps-prefix.json", 1, 74696.25, ""},
		{"two-docs-no-text-between.json", 2, 8797.9, ""},
		{"nan.json", 1, 74696.25, `"stddev" is "-nan"`},
		// Of ten jobs on two machines, the five of one are whole.
		{"client-truncated.json", 5, 7951.1, "cut off at byte 39263"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			readings, notes, err := readCorpus(t, "derived/"+tt.name)
			if err != nil || len(readings) != tt.readings {
				t.Fatalf("%d readings, error %v; want %d", len(readings), err, tt.readings)
			}
			if got := readings[0].Total.IOPS; math.Abs(float64(got/tt.iops-1)) > 0.001 {
				t.Errorf("%v, want %v", got, tt.iops)
			}
			if last := readings[len(readings)-1]; last.Source.Document != 1 && tt.readings != 2 {
				t.Errorf("document %d", last.Source.Document)
			}
			checkSkipped(t, notes, tt.skipped)
		})
	}
}

// checkSkipped checks that one note is of something skipped, with its line, and says this; or that none is.
func checkSkipped(t *testing.T, notes []result.Note, want string) {
	t.Helper()
	var skipped []result.Note
	for _, n := range notes {
		if n.Skipped {
			skipped = append(skipped, n)
		}
	}
	switch {
	case want == "" && len(skipped) > 0:
		t.Errorf("skipped: %v", skipped)
	case want != "" && (len(skipped) != 1 || !strings.Contains(skipped[0].Text, want) || skipped[0].Line == 0):
		t.Errorf("skipped: %v; want one note with a line that says %q", skipped, want)
	}
}

func TestCorpusDocumentWithoutAWholeJob(t *testing.T) {
	readings, notes, err := readCorpus(t, "derived/truncated-60pct.json")
	if len(readings) != 0 || err == nil {
		t.Fatalf("%d readings, error %v; want an error", len(readings), err)
	}
	for _, want := range []string{"truncated-60pct.json:146:", "cut off at byte 3648", "expected"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q, want one that says %q", err, want)
		}
	}
	checkSkipped(t, notes, "cut off at byte 3648")
}

func TestCorpusFailuresWithoutJSON(t *testing.T) {
	for _, tt := range []struct {
		name, job, tool string
		code            int
		quote           string
	}{
		{"01-Results_FIO_Error_1.txt", "", "fio", 84, "Invalid or incomplete multibyte"},
		{"02-Results_FIO_Error_2.txt", "", "fio", 84, "wide character 4"},
		{"03-Results_FIO_Verification_Error_1.txt", "", "fio", 0, "verify failed at file"},
		{"04-Results_FIO_Verification_Error_2.txt", "fio_randrw_1GB_4k_d1_th1_direct", "fio-3.26-19-ge7e53", 0, "verify: bad header"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			readings, _, err := readCorpus(t, "negative/"+tt.name)
			if err != nil || len(readings) != 1 || readings[0].Failure == nil {
				t.Fatalf("%v, error %v; want one reading of a failure", readings, err)
			}
			r := readings[0]
			if r.Job != tt.job || r.Tool != tt.tool || r.Failure.Code != tt.code || r.Total.IOPS != 0 {
				t.Errorf("%s %q, code %d, %v", r.Tool, r.Job, r.Failure.Code, r.Total.IOPS)
			}
			if text := strings.Join(r.Failure.Text, "\n"); !strings.Contains(text, tt.quote) {
				t.Errorf("it quotes %q, want %q in it", text, tt.quote)
			}
		})
	}
}

func TestCorpusTerse(t *testing.T) {
	for _, tt := range []struct {
		name     string
		readings int
		want     result.Direction
		disk     result.Disk
	}{
		// Line 1: 3;…;52392;5208;651;10058;… and …;13080;1300;162;10058;…
		{"01-2.1.2-jtulak.txt", 12, result.Direction{
			Bytes: (52392 + 13080) * units.KiB, Runtime: 10058 * time.Millisecond, IOPS: 651 + 162,
			Throughput: units.Throughput(5208+1300) * units.Throughput(units.KiB),
		}, result.Disk{Name: "vda", Reads: 135711, Writes: 34123, Utilization: 99.12}},
		{"02-3.8-41-intel-fiovisualizer.txt", 1, result.Direction{
			Bytes: 1886832 * units.KiB, Runtime: 10002 * time.Millisecond, IOPS: 23580,
			Throughput: units.Throughput(188645) * units.Throughput(units.KiB),
		}, result.Disk{Name: "nvme0n1", Reads: 44, Writes: 934217, Utilization: 99.24}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			readings, notes, err := readCorpus(t, "terse/"+tt.name)
			if err != nil || len(readings) != tt.readings || len(notes) > 0 {
				t.Fatalf("%d readings, notes %v, error %v; want %d readings", len(readings), notes, err, tt.readings)
			}
			got := readings[0].Total
			l := got.Latency
			got.Latency = result.Latency{}
			if got.Bytes != tt.want.Bytes || got.Runtime != tt.want.Runtime || got.IOPS != tt.want.IOPS || got.Throughput != tt.want.Throughput {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
			if l.Kind != "clat" || l.Mean == 0 {
				t.Errorf("latency %+v", l)
			}
			if d := readings[0].Disks; len(d) != 1 || d[0].Name != tt.disk.Name || d[0].Writes != tt.disk.Writes || d[0].Utilization != tt.disk.Utilization {
				t.Errorf("disks %v", d)
			}
		})
	}
}
