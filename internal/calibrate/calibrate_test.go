package calibrate_test

import (
	"bytes"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"ebscope/internal/analyze"
	"ebscope/internal/calibrate"
	"ebscope/internal/ebs"
	"ebscope/internal/result"
	"ebscope/internal/simulate"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

// virtual simulates a profile.
func virtual(t *testing.T, p workload.Profile) calibrate.Run {
	t.Helper()
	phases, err := simulate.Run(t.Context(), ebs.Embedded(), p, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	run := result.Run{Form: result.Form, ID: "test", Target: result.Simulated, Compress: 1, Profile: p}
	out := calibrate.Run{Profile: p}
	for i, spec := range p.Phases {
		run.Phases = append(run.Phases, result.Phase{Index: i + 1, Name: spec.Name, Volume: spec.Volume, Dir: result.PhaseDir(i+1, spec), State: result.Done})
		out.Measured = append(out.Measured, &phases[i].Measurement)
	}
	out.Document = analyze.Run(ebs.Embedded(), run, out.Measured, phases)
	return out
}

func quick(t *testing.T) workload.Profile {
	t.Helper()
	p, err := workload.Shipped(ebs.Embedded(), "quick")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func near(t *testing.T, what string, got, want time.Duration) {
	t.Helper()
	if off := math.Abs(float64(got)/float64(want) - 1); off > 0.02 { // fio's bins are 1/64 wide
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// What a simulation took its latencies from is what is derived from it, and what a second one then shows.
func TestDerive(t *testing.T) {
	example, err := os.Open("../../docs/examples/latency-c5.large.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer example.Close()
	given, err := calibrate.Parse(example)
	if err != nil {
		t.Fatal(err)
	}
	p, unknown := given.Apply(quick(t))
	if len(unknown) != 0 {
		t.Fatalf("volumes without a latency: %v", unknown)
	}
	derived, skipped, err := calibrate.Derive([]calibrate.Run{virtual(t, p)})
	if err != nil {
		t.Fatal(err)
	}
	// Only randread-qd1 of gp3 is below its limit: gp2 makes 1 ÷ 0.32 ms = 3,125 IOPS, which cannot be told from its burst.
	if len(derived) != 1 || derived[0].Type != ebs.GP3 {
		t.Fatalf("%+v; skipped %v", derived, skipped)
	}
	near(t, "gp3", derived[0].Curve.Mean(), 920*time.Microsecond)
	near(t, "gp3, p99", derived[0].Curve.Quantile(0.99), given.Service(ebs.GP3).Of(false, 4*units.KiB).Quantile(0.99))
	for _, e := range derived {
		// 15 s ÷ 0.92 ms = 16,300 I/Os, whose scatter of 14 % leaves the mean good to 0.2 %.
		if e.Write || e.Size != 4*units.KiB || e.Phases != 1 || e.IOs < 16_000 || !(e.Within > 0 && e.Within < 0.01) {
			t.Errorf("%+v", e)
		}
	}
	if len(skipped) != 9 || !strings.Contains(strings.Join(skipped, "\n"), "randread-qd32 on gp3: a limit held it back") {
		t.Errorf("skipped: %v", skipped)
	}

	var text bytes.Buffer
	if err := derived.Write(&text, "of a test"); err != nil {
		t.Fatal(err)
	}
	again, err := calibrate.Parse(&text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text.String())
	}
	near(t, "written and read", again[0].Curve.Mean(), derived[0].Curve.Mean())
}

// Two runs together give an interval from the scatter between them.
func TestDeriveFromTwoRuns(t *testing.T) {
	run := virtual(t, quick(t))
	derived, _, err := calibrate.Derive([]calibrate.Run{run, run})
	if err != nil {
		t.Fatal(err)
	}
	if e := derived[1]; e.Phases != 2 || e.Within != 0 { // the same run twice does not scatter
		t.Errorf("%+v", e)
	}
	near(t, "the default profile", derived[1].Curve.Mean(), 564*time.Microsecond)
}

func TestDeriveRefuses(t *testing.T) {
	run := virtual(t, quick(t))
	for i := range run.Measured {
		run.Measured[i] = nil
	}
	if _, skipped, err := calibrate.Derive([]calibrate.Run{run}); err == nil || len(skipped) != 10 {
		t.Errorf("error %v, skipped %v", err, skipped)
	}
}

func TestParseRefuses(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"empty":       {"", "no latencies"},
		"unknown key": {"latencies: [{typ: gp3}]", "line 1"},
		"type":        {"latencies: [{type: gp9, rw: read, block_size: 4KiB, mean: 1ms}]", "gp9"},
		"direction":   {"latencies: [{type: gp3, rw: randrw, block_size: 4KiB, mean: 1ms}]", "use read or write"},
		"size":        {"latencies: [{type: gp3, rw: read, block_size: 4, mean: 1ms}]", "write it like 4KiB"},
		"nothing":     {"latencies: [{type: gp3, rw: read, block_size: 4KiB}]", "neither a mean nor a curve"},
		"mean":        {"latencies: [{type: gp3, rw: read, block_size: 4KiB, mean: 1}]", "write it like 0.6ms"},
		"curve":       {"latencies: [{type: gp3, rw: read, block_size: 4KiB, curve: {50%: 1ms}}]", "from a share of 0 to one of 1"},
		"twice":       {"latencies: [{type: gp3, rw: read, block_size: 4KiB, mean: 1ms}, {type: gp3, rw: read, block_size: 4KiB, mean: 2ms}]", "twice"},
	} {
		if _, err := calibrate.Parse(strings.NewReader(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one that says %q", name, err, tt.want)
		}
	}
}
