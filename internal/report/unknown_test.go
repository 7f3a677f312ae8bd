package report_test

import (
	"bytes"
	"strings"
	"testing"

	"ebscope/internal/report"
)

// A summary says nothing of the lowest and the highest rate, and only fio's own has a mean of fio's.
func TestExtremesNeedASeries(t *testing.T) {
	r := perIO(t)
	r.Readings[0].IOPS, r.Readings[0].Tool = nil, "CrystalDiskMark 8.0.4"
	r.Document.Phases[0].IOPS.Min, r.Document.Phases[0].IOPS.Max = nil, nil
	var text, metrics bytes.Buffer
	if err := report.Markdown(&text, r); err != nil {
		t.Fatal(err)
	}
	if err := report.OpenMetrics(&metrics, r); err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []string{"IOPS, lowest", "IOPS, highest", "fio's mean"} {
		if strings.Contains(text.String(), wrong) {
			t.Errorf("%q is shown", wrong)
		}
	}
	if !strings.Contains(text.String(), "| IOPS, mean | 2,999 |") {
		t.Error("the mean is not shown")
	}
	if strings.Contains(metrics.String(), `statistic="min"`) || !strings.Contains(metrics.String(), `statistic="mean"`) {
		t.Errorf("metrics:\n%s", metrics.String())
	}
}

// OpenMetrics forbids a sample to occur twice, also where two results are of one name and one place.
func TestResultsOfOneNameAreToldApart(t *testing.T) {
	r := perIO(t)
	r.Readings = append(r.Readings, r.Readings[0], r.Readings[0])
	r.Document.Phases = append(r.Document.Phases, r.Document.Phases[0], r.Document.Phases[0])
	var b bytes.Buffer
	if err := report.OpenMetrics(&b, r); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(b.String()) {
		series := line[:strings.LastIndexByte(line, ' ')+1]
		if !strings.HasPrefix(line, "#") && seen[series] {
			t.Errorf("twice: %s", series)
		}
		seen[series] = true
	}
}

// OpenMetrics forbids a sample to occur twice.
func TestOneRunTwiceIsRefused(t *testing.T) {
	r := fixture(t)
	var b bytes.Buffer
	if err := report.OpenMetrics(&b, r, r); err == nil || !strings.Contains(err.Error(), r.Document.Run.ID) || b.Len() > 0 {
		t.Errorf("error %v", err)
	}
}
