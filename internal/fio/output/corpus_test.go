package output_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ebscope/internal/analyze"
	"ebscope/internal/ebs"
	"ebscope/internal/fio/output"
	"ebscope/internal/result"
	"ebscope/internal/units"
)

// corpus holds output of fio from public repositories, with the figures that an independent parser found in it.
const corpus = "../../../../shared/corpus"

// openCorpus opens a file of the corpus, and skips the test where there is none.
func openCorpus(t testing.TB, name string) *os.File {
	t.Helper()
	f, err := os.Open(filepath.Join(corpus, name))
	if errors.Is(err, os.ErrNotExist) {
		t.Skipf("no %s in a corpus of real results, which is no part of this repository; with one run: ln -s CORPUS %s", name, corpus)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func readCorpus(t testing.TB, name string) ([]result.Reading, []result.Note, error) {
	t.Helper()
	return output.Read(name, openCorpus(t, name))
}

// handEdited says which file's bandwidths contradict each other, so that bytes and bandwidth do not fit.
const handEdited = "32-3.26-vc-results.json"

func TestCorpus(t *testing.T) {
	openCorpus(t, "json_expected.tsv")
	table, err := os.ReadFile(filepath.Join(corpus, "json_expected.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(string(table)), "\n")
	for _, row := range rows[1:] {
		c := strings.Split(row, "\t")
		name := c[0]
		t.Run(name, func(t *testing.T) {
			readings, notes, err := readCorpus(t, "json/"+name)
			if err != nil {
				t.Fatal(err)
			}
			if len(readings) != int(number(t, c[4])) {
				t.Fatalf("%d readings, want %s", len(readings), c[4])
			}
			checkText(t, name, number(t, c[2])+number(t, c[3]), readings, notes)
			checkFailures(t, c[6], readings)
			var sum result.Direction
			var trims float64
			for _, r := range readings {
				if r.Source.Document != int(number(t, c[1])) {
					t.Errorf("document %d, want %s", r.Source.Document, c[1])
				}
				sum.IOPS += r.Total.IOPS
				sum.Throughput += r.Total.Throughput
				sum.Runtime = max(sum.Runtime, r.Total.Runtime)
				if r.Trim != nil {
					trims += float64(r.Trim.IOPS)
				}
				checkLatency(t, r.Total.Latency)
				checkParts(t, r)
				if c[13] != "?" && name != handEdited && r.Total.Runtime > 0 && (r.Read == nil || r.Write == nil) {
					checkBytes(t, r.Total)
				}
			}
			near(t, "IOPS", float64(sum.IOPS), number(t, c[7])+number(t, c[8]))
			near(t, "trims", trims, number(t, c[9]))
			near(t, "KiB/s", float64(sum.Throughput)/float64(units.KiB), number(t, c[10])+number(t, c[11]))
			near(t, "runtime in ms", sum.Runtime.Seconds()*1000, number(t, c[15]))
			reads, writes := directions(readings)
			near(t, "read IOPS", reads, number(t, c[7]))
			near(t, "write IOPS", writes, number(t, c[8]))
		})
	}
}

// directions sums the means that the analysis gives for reads and for writes. Of a job of one direction, its pattern says
// which the total is of.
func directions(readings []result.Reading) (reads, writes float64) {
	for i := range readings {
		readings[i].Failure = nil // of such a reading, the analysis gives no figures
	}
	for _, p := range analyze.Readings(ebs.Embedded(), readings, nil, analyze.Given{}).Phases {
		switch {
		case p.Read == nil && p.Write == nil && strings.Contains(p.RW, "write"):
			writes += p.IOPS.Mean
		case p.Read == nil && p.Write == nil:
			reads += p.IOPS.Mean
		}
		if p.Read != nil {
			reads += p.Read.IOPS.Mean
		}
		if p.Write != nil {
			writes += p.Write.IOPS.Mean
		}
	}
	return reads, writes
}

// checkText checks that text beside the document is kept. A byte order mark, and JSON around the document, are no text.
func checkText(t *testing.T, name string, lines float64, readings []result.Reading, notes []result.Note) {
	t.Helper()
	if name == "35-3.26-vc-bom.json" || name == "39-3.28-k8s-metrics-op.json" {
		lines = 0
	}
	kept := slices.ContainsFunc(readings, func(r result.Reading) bool { return r.Failure != nil && len(r.Failure.Text) > 0 })
	for _, n := range notes {
		if n.Skipped {
			t.Errorf("skipped: %v", n)
		}
		kept = true
	}
	if kept != (lines > 0) {
		t.Errorf("text kept: %v, of %v lines", kept, lines)
	}
}

func checkFailures(t *testing.T, want string, readings []result.Reading) {
	t.Helper()
	var got []string
	for _, r := range readings {
		code := 0
		if r.Failure != nil {
			code = r.Failure.Code
		}
		if text := strconv.FormatUint(uint64(uint32(code)), 10); !slices.Contains(got, text) {
			got = append(got, text)
		}
	}
	slices.Sort(got)
	if strings.Join(got, ",") != want {
		t.Errorf("error codes %v, want %s", got, want)
	}
}

// checkBytes holds what was transferred against the rate over the time: a wrong unit is 1,024 times off.
func checkBytes(t *testing.T, d result.Direction) {
	t.Helper()
	if want := float64(d.Throughput) * d.Runtime.Seconds(); math.Abs(float64(d.Bytes)-want) > 0.03*want+float64(units.MiB) {
		t.Errorf("%v in %v at %v, which makes %v", d.Bytes, d.Runtime, d.Throughput, units.Bytes(want))
	}
}

// checkParts checks that reads and writes make up the total.
func checkParts(t *testing.T, r result.Reading) {
	t.Helper()
	if r.Read != nil && r.Write != nil && r.Total.IOPS != r.Read.IOPS+r.Write.IOPS {
		t.Errorf("%v are not %v and %v", r.Total.IOPS, r.Read.IOPS, r.Write.IOPS)
	}
}

// checkLatency checks what must hold of any distribution.
func checkLatency(t *testing.T, l result.Latency) {
	t.Helper()
	if l.Max > 0 && (l.Mean < l.Min || l.Mean > l.Max) {
		t.Errorf("latency %v ≤ %v ≤ %v does not hold", l.Min, l.Mean, l.Max)
	}
	for i := 1; i < len(l.Percentiles); i++ {
		if l.Percentiles[i].Value < l.Percentiles[i-1].Value || l.Percentiles[i].Percent <= l.Percentiles[i-1].Percent {
			t.Errorf("percentiles fall: %v", l.Percentiles)
		}
	}
}

// TestCorpusLatencies has figures that were read off the files by hand.
func TestCorpusLatencies(t *testing.T) {
	for _, tt := range []struct {
		name string
		want result.Latency // without what is not compared
		p99  time.Duration
	}{
		// "clat": {"min": 1, "max": 12176, "mean": 238.357679}, in µs; percentiles under clat, 99th 1352
		{"05-2.17-pkb-hist.json", result.Latency{Kind: "clat", Samples: 80891, Mean: 238358, Min: 1000, Max: 12176 * time.Microsecond}, 1352 * time.Microsecond},
		// "lat_ns" has no percentiles
		{"31-3.19-lkp-minimal-2.json", result.Latency{Kind: "clat", Samples: 5000, Mean: 3000}, 8000},
	} {
		readings, _, err := readCorpus(t, "json/"+tt.name)
		if err != nil {
			t.Fatal(err)
		}
		got := readings[0].Total.Latency
		p99, _ := got.Percentile(99)
		if got.Kind != tt.want.Kind || got.Samples != tt.want.Samples || got.Mean != tt.want.Mean || got.Min != tt.want.Min || got.Max != tt.want.Max || p99 != tt.p99 {
			t.Errorf("%s: %+v", tt.name, got)
		}
	}
}

// TestCorpusDocuments holds what ReadPhase uses to the same figures.
func TestCorpusDocuments(t *testing.T) {
	for name, want := range map[string]float64{"59-3.35-icpe-qd128.json": 383286.79, "25-3.16-kbench-cpu.json": 46796.47 + 46922.41, "46-3.32-spdk-5jobs.json": 35466.29 + 35466.34} {
		document, err := output.ReadDocument(name, openCorpus(t, "json/"+name))
		if err != nil {
			t.Fatal(err)
		}
		m, err := document.Measurement()
		if err != nil {
			t.Fatal(err)
		}
		near(t, name, float64(m.Total.IOPS), want)
	}
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	rounded := 0.01
	if what == "KiB/s" { // stated as a whole number
		rounded = 1
	}
	if math.Abs(got-want) > max(0.001*want, rounded) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}
