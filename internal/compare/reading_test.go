package compare

import (
	"testing"
	"time"

	"ebscope/internal/analyze"
	"ebscope/internal/result"
	"ebscope/internal/units"
)

func reading(file, job string, iops float64, filename string) result.Reading {
	r := result.Reading{Source: result.Source{File: file, Document: 1}, Tool: "fio-3.36", Job: job,
		Workload: result.Stated{Pattern: "randread", BlockSize: 4 * units.KiB, QueueDepth: 32, Jobs: 1, Options: map[string]string{"filename": filename}}}
	r.Total = result.Direction{IOs: int64(iops), Bytes: units.Bytes(iops) * 4 * units.KiB, IOPS: units.IOPS(iops),
		Latency: result.Latency{Kind: "clat", Samples: int64(iops), Mean: time.Millisecond, Max: 2 * time.Millisecond, Bins: []result.Bin{{At: time.Millisecond, Count: int64(iops)}}}}
	r.IOPS = result.Series{{End: time.Second, Value: iops}, {End: 2 * time.Second, Value: iops}}
	return r
}

func subject(readings ...result.Reading) Subject {
	return OfReadings("s", readings, analyze.Document{Phases: make([]analyze.Phase, len(readings))})
}

func TestJobsSideBySide(t *testing.T) {
	s := subject(reading("a.json", "x", 1000, "/f"), reading("a.json", "x", 500, "/f"), reading("a.json", "y", 70, "/f"))
	if len(s.Phases) != 2 || len(s.Phases[0].Runs) != 1 {
		t.Fatalf("%+v", s.Phases)
	}
	x := s.Phases[0]
	if r := x.Runs[0]; r.Total.IOPS != 1500 || r.Total.Latency.Bins[0].Count != 1500 || len(r.IOPS) != 2 || r.IOPS[1].Value != 1500 || x.Workload.Jobs != 2 {
		t.Errorf("two jobs of 1,000 and 500 IOPS: %+v", x)
	}
}

// The same job in several files is repeated, unless it was another file that was measured.
func TestFilesAsRepeats(t *testing.T) {
	s := subject(reading("1.json", "x", 100, "/gp2"), reading("2.json", "x", 101, "/gp2"), reading("3.json", "x", 300, "/gp3"))
	if len(s.Phases) != 2 || len(s.Phases[0].Runs) != 2 || len(s.Phases[1].Runs) != 1 {
		t.Errorf("%+v", s.Phases)
	}
}

func TestUnfitReadings(t *testing.T) {
	failed := reading("a.json", "x", 100, "")
	failed.Failure = &result.Failure{Code: 5, Text: []string{"Input/output error"}}
	s := subject(failed, reading("b.json", "", 0, ""))
	s.Phases[1].Runs = nil
	if got := s.Phases[0]; got.Unfit != "it failed with error 5: Input/output error" || got.Runs != nil {
		t.Errorf("%+v", got)
	}
	if s.Phases[1].Name != "b" {
		t.Errorf("a job without a name is called %q, want that of its file", s.Phases[1].Name)
	}
}

// A log that contradicts the summary proves nothing.
func TestDistrustedSeries(t *testing.T) {
	document := analyze.Document{Phases: []analyze.Phase{{Warnings: []result.Warning{{Code: "series-differs"}}}}}
	if p := OfReadings("s", []result.Reading{reading("a.json", "x", 100, "")}, document).Phases[0]; p.Runs[0].IOPS != nil {
		t.Errorf("%+v", p.Runs[0].IOPS)
	}
}
