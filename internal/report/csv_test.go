package report_test

import (
	"bytes"
	"encoding/csv"
	"math"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ebscope/internal/report"
)

func TestCSV(t *testing.T) {
	r := perIO(t)
	r.Tool = "ebscope 0.2.0"
	run := fixture(t)
	var text bytes.Buffer
	if err := report.CSV(&text, run, r); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&text).ReadAll() // which also holds that all rows have as many fields
	if err != nil {
		t.Fatal(err)
	}
	want := 1 + 2*len(r.Readings[0].IOPS) // a header, and IOPS and latency of every window
	for _, m := range run.Measured {
		want += 2 * len(m.IOPS)
	}
	if len(rows) != want {
		t.Errorf("%d rows, want %d", len(rows), want)
	}
	// The last sample of the reading's IOPS stands before its latencies: 27,000 windows of 0.1 s.
	windows := len(r.Readings[0].IOPS)
	last := rows[len(rows)-windows-1]
	value := last[11]
	wantRow := []string{"ebscope 0.2.0", "", "", "1", "results.tar.gz:run1/fio.json", "randread", "", "randread", "2700", "iops", "read", value, "1/s"}
	if diff := cmp.Diff(wantRow, last); diff != "" {
		t.Error(diff)
	}
	// The fall of gp2 in the lead phase is at 33.315 s of the run, in windows of 0.05 s: 3,001 before and 300 after, ± 0.4 %.
	found := 0
	for _, row := range rows {
		want, ok := map[string]float64{"33.3": 3001, "33.4": 300}[row[8]]
		if !ok || row[5] != "randread-qd32" || row[6] != "gp2" || row[9] != "iops" {
			continue
		}
		got, err := strconv.ParseFloat(row[11], 64)
		if err != nil || math.Abs(got-want) > 0.005*want {
			t.Errorf("at %s s: %v, %v; want %v", row[8], got, err, want)
		}
		found++
	}
	if found != 2 {
		t.Errorf("%d of the two samples around the fall are there", found)
	}
}
