package workload_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ebscope/internal/ebs"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

const swept = `
name: swept
file_size: 1GiB
gap: 450ms
volumes:
  - {name: data, type: gp3, size: 200GiB}
phases:
  - {name: layout, volume: data, rw: write, block_size: 1MiB, queue_depth: 1}
  - name: mix
    volume: data
    read_percent: 70
    duration: 30s
    sweep: {rw: [randread, randrw], block_size: [4KiB, 1MiB], jobs: [1, 4], queue_depth: [2, 8]}
  - {name: after, volume: data, rw: read, block_size: 1MiB, queue_depth: 1, duration: 30s}
`

func TestSweepBecomesPhases(t *testing.T) {
	p, err := workload.Parse(ebs.Embedded(), []byte(swept))
	if err != nil {
		t.Fatal(err)
	}
	// 2 patterns × 2 block sizes × 2 numbers of jobs × 2 depths, between the phases before and after.
	if len(p.Phases) != 1+16+1 || p.Phases[0].Name != "layout" || p.Phases[17].Name != "after" {
		t.Fatalf("%d phases, want 18: %+v", len(p.Phases), p.Phases)
	}
	var names []string
	for _, phase := range p.Phases[1:6] {
		names = append(names, phase.Name)
	}
	want := []string{"mix-randread-4k-j1-qd2", "mix-randread-4k-j1-qd8", "mix-randread-4k-j4-qd2", "mix-randread-4k-j4-qd8", "mix-randread-1m-j1-qd2"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	last := workload.Phase{
		Name: "mix-randrw-1m-j4-qd8", Volume: "data", Pattern: workload.RandRW, BlockSize: units.MiB, QueueDepth: 8, Jobs: 4,
		ReadPercent: 70, Duration: 30 * time.Second, Sweep: "mix",
	}
	if diff := cmp.Diff(last, p.Phases[16]); diff != "" {
		t.Error(diff)
	}
	if p.Phases[1].ReadPercent != 0 || p.Phases[17].Sweep != "" {
		t.Errorf("reads alone have a share of reads, or a phase after the sweep is of it: %+v, %+v", p.Phases[1], p.Phases[17])
	}
}

func TestParseRefusesSweeps(t *testing.T) {
	const axes = "{rw: [randread, randrw], block_size: [4KiB, 1MiB], jobs: [1, 4], queue_depth: [2, 8]}"
	for name, tt := range map[string]struct{ old, new, want string }{
		"no axis":            {axes, "{}", "line 9: phase 2 (mix on data): sweep: give rw, block_size, jobs or queue_depth a list"},
		"unknown axis":       {axes, "{depth: [1]}", `line 13: key depth is unknown in a sweep`},
		"a value alone":      {axes, "{queue_depth: 4}", "line 13"},
		"twice":              {"queue_depth: [2, 8]", "queue_depth: [2, 8, 2]", "line 9: phase 2 (mix on data): sweep: queue_depth lists 2 twice"},
		"fixed as well":      {"    read_percent: 70", "    read_percent: 70\n    rw: read", "rw is given twice: in the phase and in its sweep"},
		"no duration":        {"    duration: 30s\n", "", "a sweep needs a duration"},
		"no mix":             {"[randread, randrw]", "[randread, read]", "read_percent 70: for rw and randrw"},
		"bad value":          {"[2, 8]", "[2, 0]", "line 9: phase 3 (mix-randread-4k-j1-qd0 on data): queue_depth 0"},
		"in the phase after": {"{name: after", "{name: After", "line 14: phase 18 (After on data)"},
		"too many":           {"[2, 8]", "[" + strings.Repeat("1, ", 200) + "1]", "combine to 1608 phases, at most 1000"},
	} {
		text := strings.Replace(swept, tt.old, tt.new, 1)
		if text == swept {
			t.Fatalf("%s: nothing was replaced", name)
		}
		if _, err := workload.Parse(ebs.Embedded(), []byte(text)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one that says %q", name, err, tt.want)
		}
	}
}

func TestParseRefusesTable(t *testing.T) {
	text := strings.Replace(swept, "gap: 450ms", "table: excel", 1)
	if _, err := workload.Parse(ebs.Embedded(), []byte(text)); err == nil || !strings.Contains(err.Error(), `line 4: table "excel": use crystaldiskmark`) {
		t.Errorf("error %v", err)
	}
}
