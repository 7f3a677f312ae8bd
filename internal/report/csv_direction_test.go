package report_test

import (
	"bytes"
	"encoding/csv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ebscope/internal/report"
	"ebscope/internal/result"
)

// Where logs tell reads and writes apart, each has rows of its own beside the total.
func TestCSVOfEachDirection(t *testing.T) {
	r := perIO(t)
	point := func(value float64) result.Series { return result.Series{{End: time.Second, Value: value}} }
	m := &r.Readings[0].Measurement
	m.IOPS, m.Latency = point(1000), point(1.3)
	m.ReadSeries = result.DirectionSeries{IOPS: point(700), Latency: point(1)}
	m.WriteSeries = result.DirectionSeries{IOPS: point(300), Latency: point(2)}
	r.Document.Phases[0].RW = "randrw"
	var text bytes.Buffer
	if err := report.CSV(&text, r); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&text).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var got [][]string
	for _, row := range rows[1:] {
		got = append(got, row[8:])
	}
	want := [][]string{
		{"1", "iops", "total", "1000", "1/s"}, {"1", "latency_mean", "total", "1.3", "ms"},
		{"1", "iops", "read", "700", "1/s"}, {"1", "latency_mean", "read", "1", "ms"},
		{"1", "iops", "write", "300", "1/s"}, {"1", "latency_mean", "write", "2", "ms"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
