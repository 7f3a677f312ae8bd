package bench

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ebscope/internal/ebs"
	"ebscope/internal/result"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

func plan(t *testing.T) Plan {
	t.Helper()
	p, err := workload.Shipped(ebs.Embedded(), "gp2-vs-gp3")
	if err != nil {
		t.Fatal(err)
	}
	return Plan{Profile: p, Catalog: ebs.Embedded(), Compress: 60, Target: result.Emulated, Runs: filepath.Join(t.TempDir(), "runs")}
}

func TestPlanValidate(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*Plan)
		want   string // empty: accepted
	}{
		"as it ships": {func(*Plan) {}, ""},
		// 60 s ÷ 120 = 500 ms is the shortest phase.
		"as short as can be":   {func(p *Plan) { p.Compress = 120 }, ""},
		"too short":            {func(p *Plan) { p.Compress = 121 }, "use a smaller one"},
		"stretched":            {func(p *Plan) { p.Compress = 0.5 }, "--compress 0.5"},
		"compressed too much":  {func(p *Plan) { p.Compress, p.Target = 1e9, result.Simulated }, "use 1 (not compressed) to 1000000"},
		"compressed real path": {func(p *Plan) { p.Target = result.Path }, "emulated and simulated volumes only"},
		"real path":            {func(p *Plan) { p.Target, p.Compress = result.Path, 1 }, ""},
		"a queue without one":  {func(p *Plan) { p.Engine = "psync" }, "--engine psync keeps no queue, but randread-qd32 on gp3 has queue depth 32"},
		"a queue of one": {func(p *Plan) {
			p.Engine = "psync"
			for i := range p.Profile.Phases {
				p.Profile.Phases[i].QueueDepth = 1
			}
		}, ""},
		"too short for fio, simulated": {func(p *Plan) { p.Compress, p.Target = 600, result.Simulated }, ""},
		"no phases":                    {func(p *Plan) { p.Profile.Phases = nil }, "at least one volume and one phase"},
	} {
		p := plan(t)
		tt.change(&p)
		err := p.Validate()
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: error %v, want %q", name, err, tt.want)
		}
	}
}

func TestTakes(t *testing.T) {
	p := plan(t).Profile.Compressed(60)
	// The layout of gp3 moves 136 MiB at 125 MiB/s: 1.088 s. That of gp2 is held by 300 operations of 256 KiB, 75 MiB/s,
	// once its credits are spent: 1.813 s.
	for i, want := range map[int]time.Duration{0: 1088 * time.Millisecond, 1: 1813 * time.Millisecond, 2: 10 * time.Second, 3: 45 * time.Second} {
		if got := Takes(ebs.Embedded(), p, p.Phases[i]); (got - want).Abs() > time.Millisecond {
			t.Errorf("phase %d takes %v, want %v", i+1, got, want)
		}
	}
}

func TestDirectoryHasOneWriter(t *testing.T) {
	now := time.Unix(1e9, 0)
	first, err := Create(plan(t), result.Environment{}, now)
	if err != nil {
		t.Fatal(err)
	}
	var declined *DeclinedError
	if _, err := Resume(first.Path, now); !errors.As(err, &declined) || !strings.Contains(err.Error(), "another process is writing") {
		t.Errorf("a second writer: %v, want declined", err)
	}
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	second, err := Resume(first.Path, now)
	if err != nil {
		t.Fatalf("after the first has gone: %v", err)
	}
	if len(second.Run.Events) != 1 || second.Run.Events[0].Code != "resumed" || second.New {
		t.Errorf("resumed: %+v", second.Run.Events)
	}
	if err := second.Discard(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(first.Path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a discarded run is still there: %v", err)
	}
}

func TestTwoRunsInOneSecond(t *testing.T) {
	p, now := plan(t), time.Unix(1e9, 0)
	first, err := Create(p, result.Environment{}, now)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Create(p, result.Environment{}, now)
	if err != nil {
		t.Fatal(err)
	}
	if want := "20010909T014640Z-gp2-vs-gp3-emulated"; first.Run.ID != want || second.Run.ID != want+"-2" {
		t.Errorf("runs %s and %s, want %s and one with -2", first.Run.ID, second.Run.ID, want)
	}
}

func TestPathTargetChecksBeforeItWrites(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p := plan(t)
	for name, tt := range map[string]struct {
		gp2, gp3 string
		size     units.Bytes
		want     string // empty: accepted
	}{
		"two directories":  {dir, other, units.MiB, ""},
		"the same twice":   {dir, dir, units.MiB, "file system of its own"},
		"a file":           {file, other, units.MiB, "not a directory"},
		"nothing":          {filepath.Join(dir, "none"), other, units.MiB, "no such file"},
		"larger than disk": {dir, other, 1 << 60, "no space"},
	} {
		run := result.Run{ID: "x", Profile: p.Profile, Paths: map[string]string{"gp2": tt.gp2, "gp3": tt.gp3}}
		run.Profile.FileSize = tt.size
		_, err := pathTarget{run: run}.open(t.Context(), nil)
		var declined *DeclinedError
		if tt.want == "" && err != nil || tt.want != "" && (!errors.As(err, &declined) || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: error %v, want declined with %q", name, err, tt.want)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 1 {
		t.Errorf("checking left %v", left)
	}
}
