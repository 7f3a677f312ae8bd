package report_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"ebscope/internal/analyze"
	"ebscope/internal/crystaldiskmark"
	"ebscope/internal/ebs"
	"ebscope/internal/report"
	"ebscope/internal/result"
	"ebscope/internal/simulate"
	"ebscope/internal/workload"
)

// virtual is the report of a simulation of a profile that ships.
func virtual(t *testing.T, name string, compress float64) report.Report {
	t.Helper()
	p, err := workload.Shipped(ebs.Embedded(), name)
	if err != nil {
		t.Fatal(err)
	}
	phases, err := simulate.Run(t.Context(), ebs.Embedded(), p, compress, nil)
	if err != nil {
		t.Fatal(err)
	}
	run := result.Run{Form: result.Form, ID: "test", Tool: "ebscope", Target: result.Simulated, Compress: compress, Profile: p, Started: time.Unix(1e9, 0).UTC()}
	r := report.Report{Run: run, Catalog: ebs.Embedded()}
	for i, spec := range p.Phases {
		r.Run.Phases = append(r.Run.Phases, result.Phase{
			Index: i + 1, Name: spec.Name, Volume: spec.Volume, Dir: result.PhaseDir(i+1, spec), State: result.Done, Credits: phases[i].Credits})
		r.Measured = append(r.Measured, &phases[i].Measurement)
	}
	r.Predicted = r.Measured
	r.Document = analyze.Run(ebs.Embedded(), r.Run, r.Measured, phases)
	return r
}

func TestSweepIsReported(t *testing.T) {
	r := virtual(t, "queue-depth-sweep", 60)
	var text, markdown, page bytes.Buffer
	for _, err := range []error{report.Terminal(&text, r, 100, false), report.Markdown(&markdown, r), report.HTML(&page, r)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	// 3,000 × 0.569 ms = 1.7
	const knee = "from 2 in flight on, more I/Os only wait"
	for name, got := range map[string]string{"terminal": text.String(), "Markdown": markdown.String(), "page": strings.ReplaceAll(page.String(), "\u00a0", " ")} {
		joined := strings.Join(strings.Fields(got), " ")
		if n := strings.Count(joined, knee); n != 2 {
			t.Errorf("%s tells %d knees, want one for each volume", name, n)
		}
	}
	if !strings.Contains(markdown.String(), "| gp3 | 64 | 3,000 | 21.3 | 21.3 |") { // 64 ÷ 3,000 = 21.3 ms
		t.Errorf("no step of depth 64 in\n%s", markdown.String())
	}
	for _, id := range []string{"sweep-iops-randread-randread-4k", "sweep-p50-randread-randread-4k", "sweep-p99-randread-randread-4k"} {
		if !strings.Contains(page.String(), `id="`+id+`"`) || !strings.Contains(page.String(), `"id":"`+id+`","kind":"sweep"`) {
			t.Errorf("the page has no chart %s", id)
		}
	}
	if !strings.Contains(page.String(), `"title":"knee at 2","text":"gp3, gp2"`) {
		t.Error("the page marks no knee")
	}
	pictures := r.Pictures()
	if len(pictures) < 3 || pictures[0].Name != "sweep-iops-randread-randread-4k" {
		t.Fatalf("the first picture is %s, want that of the sweep", pictures[0].Name)
	}
	var svg bytes.Buffer
	if err := pictures[0].SVG(&svg); err != nil || !strings.Contains(svg.String(), "knee at 2") || !strings.Contains(svg.String(), "I/Os in flight, logarithmic") {
		t.Errorf("the picture of the sweep: %v\n%.2000s", err, svg.String())
	}
}

// What the crystaldiskmark profile prints is what CrystalDiskMark saves: our reader of its files takes it.
func TestCrystalDiskMarkTable(t *testing.T) {
	var text bytes.Buffer
	if err := report.Terminal(&text, virtual(t, "crystaldiskmark", 1), 100, false); err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(text.String(), "gp3, as CrystalDiskMark prints it\n")
	table, _, _ := strings.Cut(rest, "\n\n")
	if !found {
		t.Fatalf("no table in\n%s", text.String())
	}
	readings, notes, err := crystaldiskmark.Read("x.txt", strings.NewReader("CrystalDiskMark 8.0.4 x64\n"+table+"\n\n OS: Windows\n"))
	if err != nil || len(notes) != 0 || len(readings) != 8 {
		t.Fatalf("%d tests, want 4 of reads and 4 of writes: %v, %v\n%s", len(readings), notes, err, table)
	}
	first, last := readings[0], readings[7]
	if first.Job != "SEQ 1MiB (Q= 8, T= 1) Read" || first.Workload.QueueDepth != 8 || last.Workload.Pattern != "randwrite" || last.Workload.QueueDepth != 1 {
		t.Errorf("first %+v, last %+v", first.Workload, last.Workload)
	}
	// A full bucket and five seconds: 125 MiB/s × 6 ÷ 5 = 150 MiB/s = 157.3 MB/s, and 8 in flight: 53.3 ms.
	if got := first.Total.Throughput.MBps(); got < 156 || got > 159 {
		t.Errorf("%v MB/s, want 157", got)
	}
	if got := first.Total.Latency.Mean; got < 52*time.Millisecond || got > 54*time.Millisecond {
		t.Errorf("mean latency %v, want 53 ms", got)
	}
}
