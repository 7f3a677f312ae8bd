package output_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"ebscope/internal/fio"
	"ebscope/internal/fio/output"
	"ebscope/internal/result"
	"ebscope/internal/units"
)

// corpus holds output of fio from public repositories, with the figures that an independent parser found in it.
const corpus = "../../../../shared/corpus"

func TestCorpus(t *testing.T) {
	table, err := os.ReadFile(filepath.Join(corpus, "json_expected.tsv"))
	if errors.Is(err, os.ErrNotExist) {
		t.Skipf("no corpus at %s; it is not part of this repository", corpus)
	}
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(string(table)), "\n")
	for _, row := range rows[1:] {
		c := strings.Split(row, "\t")
		name := c[0]
		_, version, _ := strings.Cut(name, "-")
		if v, err := fio.ParseVersion("fio-" + version); err != nil || !v.AtLeast(fio.Oldest) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			f, err := os.Open(filepath.Join(corpus, "json", name))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			document, err := output.ReadDocument(name, f)
			if err != nil {
				t.Fatal(err)
			}
			checkError(t, c[6], document.Err())
			if messages := number(t, c[2]) + number(t, c[3]); (messages > 0) != (len(document.Messages) > 0) &&
				name != "35-3.26-vc-bom.json" && name != "39-3.28-k8s-metrics-op.json" { // a mark, and JSON around it, are no messages
				t.Errorf("%d messages, want %v", len(document.Messages), messages)
			}
			m, err := document.Measurement()
			wantRead, wantWrite := number(t, c[7]), number(t, c[8])
			if wantRead+wantWrite == 0 {
				if err == nil && m.Total.IOPS != 0 {
					t.Errorf("%v, want none", m.Total.IOPS)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			near(t, "IOPS", float64(m.Total.IOPS), wantRead+wantWrite)
			if name != "32-3.26-vc-results.json" { // edited by hand: its bw and bw_bytes contradict each other
				near(t, "KiB/s", float64(m.Total.Throughput)/float64(units.KiB), number(t, c[10])+number(t, c[11]))
			}
			if wantRead > 0 && wantWrite > 0 {
				near(t, "read IOPS", float64(m.Read.IOPS), wantRead)
				near(t, "write IOPS", float64(m.Write.IOPS), wantWrite)
			}
			checkLatency(t, m.Total.Latency)
		})
	}
}

func checkError(t *testing.T, want string, err error) {
	t.Helper()
	for code := range strings.SplitSeq(want, ",") {
		if code == "0" {
			continue
		}
		var failed *output.JobError
		if !errors.As(err, &failed) {
			t.Fatalf("error %v, want a JobError with code %s", err, code)
		}
		if unsigned, _ := strconv.ParseUint(code, 10, 32); uint32(failed.Code) != uint32(unsigned) {
			t.Errorf("code %d, want %s", failed.Code, code)
		}
		return
	}
	if err != nil {
		t.Errorf("error %v, want none", err)
	}
}

// checkLatency checks what must hold of any distribution.
func checkLatency(t *testing.T, l result.Latency) {
	t.Helper()
	if l.Max > 0 && (l.Mean < l.Min || l.Mean > l.Max) {
		t.Errorf("latency %v ≤ %v ≤ %v does not hold", l.Min, l.Mean, l.Max)
	}
	for i := 1; i < len(l.Percentiles); i++ {
		if l.Percentiles[i].Value < l.Percentiles[i-1].Value {
			t.Errorf("percentiles fall: %v", l.Percentiles)
		}
	}
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	// Bandwidths are stated in whole KiB/s.
	if math.Abs(got-want) > max(0.001*want, 1) {
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
