package output_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ebscope/internal/fio/output"
	"ebscope/internal/result"
	"ebscope/internal/units"
)

// fixture reads what fio 3.33 wrote of runs with its null engine.
func fixture(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestTerseVersions(t *testing.T) {
	// All are of the same job: 4,000 reads and 4,000 writes of 4 KiB a second for 2.048 s. Of latency, the figures by hand.
	side := result.Direction{Bytes: 32 * units.MiB, Runtime: 2048 * time.Millisecond, IOPS: 4000, Throughput: units.Throughput(16000 * units.KiB)}
	for _, tt := range []struct {
		name, tool     string
		max            time.Duration // "0;62;0.150709" and so on: the completion latency of reads in µs
		mean           time.Duration
		readPercentile int
	}{
		{"terse-2.txt", "fio", 62 * time.Microsecond, 151, 17},
		{"terse-5.txt", "fio-3.33", 39 * time.Microsecond, 65, 17},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := one(t, fixture(t, tt.name))
			l := r.Read.Latency
			if l.Kind != "clat" || l.Max != tt.max || l.Mean != tt.mean || len(l.Percentiles) != tt.readPercentile {
				t.Errorf("latency of reads %+v", l)
			}
			if r.Tool != tt.tool || r.Job != "mixed" {
				t.Errorf("tool %q, job %q", r.Tool, r.Job)
			}
		})
	}
	for _, name := range []string{"terse-2.txt", "terse-3.txt", "terse-4.txt", "terse-5.txt"} {
		r := one(t, "fio: a notice\n"+strings.ReplaceAll(fixture(t, name), "\n", "\r\n"))
		for what, got := range map[string]*result.Direction{"read": r.Read, "write": r.Write} {
			plain := *got
			plain.Latency = result.Latency{}
			if diff := cmp.Diff(side, plain); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", name, what, diff)
			}
		}
		if r.Total.IOPS != 8000 || r.Trim != nil || r.Failure != nil || r.Source.Line != 2 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

func TestTerseLinesOfSeveralJobs(t *testing.T) {
	readings, notes := readText(t, fixture(t, "trim-4.txt"))
	if len(readings) != 2 || readings[0].Job != "one" || readings[1].Job != "two" || len(notes) == 0 {
		t.Fatalf("readings %v, notes %v", readings, notes)
	}
	for _, r := range readings {
		if r.Source.Document != 1 || r.Trim == nil || r.Trim.IOPS != 4000 || r.Trim.Bytes != 16*units.MiB || r.Total.IOPS != 0 {
			t.Errorf("%+v, want 4,000 trims a second", r)
		}
	}
}

func TestTerseOfReadsAndWritesTogether(t *testing.T) {
	r := one(t, fixture(t, "unified-3.txt"))
	if r.Total.IOPS != 8000 || r.Total.Bytes != 32*units.MiB || r.Read != nil || r.Write != nil {
		t.Errorf("%+v, want 8,000 a second in all", r)
	}
}

func TestTerseBesideJSONIsReadOnce(t *testing.T) {
	r := one(t, fixture(t, "terse-and-json.txt"))
	if r.Total.IOs != 16384 || r.Workload.Pattern != "randrw" {
		t.Errorf("%+v, want the JSON, which says more", r)
	}
}

func TestTerseRefuses(t *testing.T) {
	whole := strings.TrimSpace(fixture(t, "terse-3.txt"))
	for name, tt := range map[string]struct{ text, want string }{
		"cut off":        {whole[:400], "columns; it was cut off"},
		"not a number":   {strings.Replace(whole, ";4000;", ";many;", 1), `column 8, "many", is no number`},
		"no percentile":  {strings.Replace(whole, "1.000000%=", "1.000000%", 1), "is no percentile"},
		"nan":            {strings.Replace(whole, ";4000;", ";nan;", 1), `column 8, "nan", is no number`},
		"another format": {"3;fio-3.33;x;0;0", "columns; it was cut off"},
	} {
		readings, notes, err := output.Read("out.txt", strings.NewReader("\n"+tt.text+"\n"))
		if len(readings) != 0 || err == nil || len(notes) != 1 || notes[0].Line != 2 || !strings.Contains(notes[0].Text, tt.want) {
			t.Errorf("%s: %d readings, notes %v, error %v; want a note that says %q", name, len(readings), notes, err, tt.want)
		}
	}
	// One bad line does not spoil the others.
	readings, notes, err := output.Read("out.txt", strings.NewReader(whole[:400]+"\n"+whole+"\n"))
	if len(readings) != 1 || len(notes) != 1 || err != nil {
		t.Errorf("%d readings, notes %v, error %v", len(readings), notes, err)
	}
}
