package report_test

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"
	"time"

	"ebscope/internal/analyze"
	"ebscope/internal/ebs"
	"ebscope/internal/report"
	"ebscope/internal/result"
	"ebscope/internal/units"
)

// A log of bandwidth alone, 250 MiB/s for two minutes and then 25, has a row a second and a chart that marks the fall.
func TestThroughputAlone(t *testing.T) {
	reading := result.Reading{Source: result.Source{File: "a_bw.1.log"}, Tool: "fio", Summed: true}
	for s := 1; s <= 240; s++ {
		value := 250.0
		if s > 120 {
			value = 25
		}
		reading.Throughput = append(reading.Throughput, result.Point{End: time.Duration(s) * time.Second, Value: value})
	}
	reading.Total.Runtime = 4 * time.Minute
	reading.Total.Throughput = units.Throughput(137.5) * units.Throughput(units.MiB)
	readings := []result.Reading{reading}
	catalog := ebs.Embedded()
	r := report.Report{Catalog: catalog, Readings: readings, Document: analyze.Readings(catalog, readings, nil, analyze.Given{})}
	var text bytes.Buffer
	if err := report.CSV(&text, r); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&text).ReadAll()
	if err != nil || len(rows) != 241 {
		t.Fatalf("%d rows, want 240 and a header: %v", len(rows), err)
	}
	if got := strings.Join(rows[121][8:], " "); got != "121 throughput total 25 MiB/s" {
		t.Errorf("row of second 121: %s", got)
	}
	pictures := r.Pictures()
	if len(pictures) != 1 {
		t.Fatalf("%d pictures", len(pictures))
	}
	var svg bytes.Buffer
	if err := pictures[0].SVG(&svg); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"MiB/s", "2 min"} {
		if !strings.Contains(svg.String(), want) {
			t.Errorf("the picture lacks %q", want)
		}
	}
}
