package e2e

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The types are those of docs: what a script that reads -o json relies on, written down apart from the program.
type document struct {
	Schema string
	Run    struct {
		Target   string
		Compress float64
	}
	Phases   []phase
	Warnings []struct{ Code, Text string }
	Checks   []struct {
		Code, Phase, Volume string
		Expected, Measured  float64
		OK                  bool
	}
}

type phase struct {
	Name, Volume, State string
	IOPS                struct {
		Mean    float64
		FioMean float64 `json:"fio_mean"`
		Min     float64
		Max     float64
	}
	Throughput float64 `json:"throughput_mib_s"`
	Latency    struct {
		Kind           string
		Mean, P50, P95 float64
	} `json:"latency_ms"`
	Cliff *struct {
		AtUncompressed float64 `json:"at_s_uncompressed"`
		Before         float64 `json:"before_iops"`
		After          float64 `json:"after_iops"`
		Cause          string
	}
	LimitedBy []struct {
		Limit string
		Share float64
	} `json:"limited_by"`
	Verdict string
	Credits struct {
		Start, End float64
		Inferred   float64 `json:"inferred_start"`
	}
}

func parse(t testing.TB, text string) document {
	t.Helper()
	var d document
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatalf("stdout is no JSON document: %v\n%.400s", err, text)
	}
	return d
}

func (d document) phase(t testing.TB, volume, name string) phase {
	t.Helper()
	for _, p := range d.Phases {
		if p.Volume == volume && p.Name == name {
			if p.State != "done" {
				t.Errorf("%s on %s is %s", name, volume, p.State)
			}
			return p
		}
	}
	t.Fatalf("no phase %s on %s", name, volume)
	return phase{}
}

// near fails the test unless got is within a share of want.
func near(t testing.TB, what string, got, want, share float64) {
	t.Helper()
	if math.Abs(got-want) > share*want {
		t.Errorf("%s: %.4g, want %.4g ± %.1f %%", what, got, want, 100*share)
	} else {
		t.Logf("%s: %.4g (want %.4g ± %.1f %%)", what, got, want, 100*share)
	}
}

func within(t testing.TB, what string, got, low, high float64) {
	t.Helper()
	if got < low || got > high {
		t.Errorf("%s: %.4g, want %.4g to %.4g", what, got, low, high)
	} else {
		t.Logf("%s: %.4g (want %.4g to %.4g)", what, got, low, high)
	}
}

// A machine that does other work at the wrong moment delays wake-ups, and with them figures that come from one second of
// the run. A fault of the program fails every attempt.
func TestDemonstration(t *testing.T) {
	needsEmulation(t)
	const attempts = 4
	for n := 1; n <= attempts; n++ {
		a := &attempt{TB: t}
		depth1 := 3.0
		if n == attempts {
			// Nothing but a second of the machine's wake-ups sets the rate at depth 1: on a noisy machine 2 to 5 % off were
			// seen, and 8 % would be a fault.
			depth1 = 8
		}
		demonstrate(a, depth1)
		if len(a.failures) == 0 {
			return
		}
		t.Logf("attempt %d of %d: %s", n, attempts, strings.Join(a.failures, "\n"))
	}
	t.Error("every attempt failed")
}

// attempt collects failures instead of failing the test.
type attempt struct {
	testing.TB
	failures []string
}

func (a *attempt) Errorf(format string, args ...any) {
	a.failures = append(a.failures, fmt.Sprintf(format, args...))
}

func (a *attempt) Error(args ...any) { a.failures = append(a.failures, fmt.Sprint(args...)) }

// The figures are those measured on AWS; docs/model.md has their arithmetic.
func demonstrate(t testing.TB, depth1 float64) {
	dir := t.TempDir()
	o := run(t, dir, "bench", "-o", "json")
	if o.code != 0 {
		t.Fatalf("exit %d\n%s", o.code, o.stderr)
	}
	nothingLeft(t, dir)
	if o.took > 150*time.Second {
		t.Errorf("took %v, want at most 150 s", o.took)
	}
	if o.peakMemory > 150<<20 {
		t.Errorf("%d MiB resident, want at most 150", o.peakMemory>>20)
	}
	t.Logf("took %v, %d MiB resident", o.took.Round(time.Second), o.peakMemory>>20)

	d := parse(t, o.stdout)
	if d.Schema != "ebscope.analysis/v1" || d.Run.Target != "emulated" || d.Run.Compress != 60 {
		t.Errorf("schema %s, target %s, compress %v", d.Schema, d.Run.Target, d.Run.Compress)
	}

	gp2, gp3 := d.phase(t, "gp2", "randread-qd32"), d.phase(t, "gp3", "randread-qd32")
	if gp2.Cliff == nil {
		t.Fatal("gp2 has no cliff")
	}
	within(t, "gp2 cliff in uncompressed seconds", gp2.Cliff.AtUncompressed, 1999-40, 1999+40)
	near(t, "gp2 IOPS before the cliff", gp2.Cliff.Before, 3000, 0.01)
	near(t, "gp2 IOPS after the cliff", gp2.Cliff.After, 300, 0.02)
	if gp2.Cliff.Cause != "gp2-credits" || gp2.Verdict != "burst-then-baseline" {
		t.Errorf("cause %s, verdict %s", gp2.Cliff.Cause, gp2.Verdict)
	}
	// 1,999 of 2,700 s at the burst rate, the rest at the baseline.
	for _, l := range gp2.LimitedBy {
		switch l.Limit {
		case "volume-burst-iops":
			within(t, "share at the burst rate", l.Share, 0.72, 0.76)
		case "volume-baseline-iops":
			within(t, "share at the baseline", l.Share, 0.24, 0.28)
		default:
			within(t, "share of "+l.Limit, l.Share, 0, 0.01)
		}
	}
	// 5.4 M ÷ 60 = 90,000, less what the layout has spent and not earned back.
	near(t, "credits at the start", gp2.Credits.Start, 90_000, 0.01)
	near(t, "starting credits inferred from the cliff", gp2.Credits.Inferred, gp2.Credits.Start, 0.02)

	if gp3.Cliff != nil || gp3.Verdict != "sustained" {
		t.Errorf("gp3: cliff %v, verdict %s", gp3.Cliff, gp3.Verdict)
	}
	near(t, "gp3 IOPS", gp3.IOPS.Mean, 3000, 0.01)

	// 120 s of rest at 300 credits a second add 300 IOPS to the baseline's 300.
	near(t, "gp2 randwrite IOPS", d.phase(t, "gp2", "randwrite-qd32").IOPS.FioMean, 601, 0.06)

	slow, fast := d.phase(t, "gp2", "randread-qd1"), d.phase(t, "gp3", "randread-qd1")
	near(t, "gp2 IOPS at depth 1", slow.IOPS.FioMean, 603, 0.08)
	// By the model 9 % apart, as the half of gp2's I/Os that are fast are five sixths of those in its first 0.2 s.
	near(t, "gp2 p50 at depth 1 against gp3's", slow.Latency.P50, fast.Latency.P50, 0.15)
	near(t, "gp2 p95 at depth 1 in ms", slow.Latency.P95, 1000.0/300, 0.06)

	for _, name := range []string{"seqread-qd8", "seqwrite-qd8"} {
		within(t, "gp3 "+name+" MiB/s", d.phase(t, "gp3", name).Throughput, 125, 131)
		within(t, "gp2 "+name+" MiB/s", d.phase(t, "gp2", name).Throughput, 128, 134)
	}

	laws := 0
	for _, c := range d.Checks {
		if c.Code == "littles-law" {
			laws++
			if !c.OK {
				t.Errorf("Little's law fails for %s on %s: %.3f ms expected, %.3f measured", c.Phase, c.Volume, c.Expected, c.Measured)
			}
		}
	}
	if laws != len(d.Phases) || laws != 12 {
		t.Errorf("%d checks of Little's law for %d phases, want 12 of each", laws, len(d.Phases))
	}

	runDir := onlyRun(t, dir)
	page, err := os.Stat(filepath.Join(runDir, "report.html"))
	if err != nil || page.Size() > 1<<20 {
		t.Errorf("report.html: %v, %v; want at most 1 MiB", page, err)
	}
	if left, _ := filepath.Glob(filepath.Join(runDir, "volumes")); len(left) > 0 {
		t.Errorf("images are left: %v", left)
	}
	looksRight(t, filepath.Join(runDir, "report.html"))
	agrees(t, dir, runDir, depth1)
}
