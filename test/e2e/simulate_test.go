package e2e

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// simulated runs simulate on a profile of its own and returns the document.
func simulated(t *testing.T, profile string, args ...string) document {
	t.Helper()
	needs(t)
	dir := t.TempDir()
	o := run(t, dir, append([]string{"simulate", "--profile", write(t, dir, profile), "-o", "json"}, args...)...)
	if o.code != 0 {
		t.Fatalf("exit %d\n%s", o.code, o.stderr)
	}
	return parse(t, o.stdout)
}

func write(t *testing.T, dir, profile string) string {
	t.Helper()
	path := filepath.Join(dir, "own.yaml")
	if err := os.WriteFile(path, []byte(profile), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Every row of the table in docs/model.md: measured values within 1 % for rates and the cliff, 4 % for latencies.
func TestSimulateReproducesTheMeasuredRun(t *testing.T) {
	needs(t)
	dir := t.TempDir()
	o := run(t, dir, "simulate", "--profile", "gp2-vs-gp3", "--compress", "1", "-o", "json")
	if o.code != 0 {
		t.Fatalf("exit %d\n%s", o.code, o.stderr)
	}
	if o.peakMemory > 64<<20 {
		t.Errorf("%d MiB resident, want at most 64", o.peakMemory>>20)
	}
	d := parse(t, o.stdout)
	if d.Run.Target != "simulated" || len(d.Phases) != 12 {
		t.Errorf("target %s, %d phases", d.Run.Target, len(d.Phases))
	}
	gp3 := d.phase(t, "gp3", "randread-qd32")
	near(t, "gp3 randread, fio's summary", gp3.IOPS.FioMean, 3005, 0.01)
	near(t, "gp3 randread, without the first sample", gp3.IOPS.Mean, 3001, 0.01)
	near(t, "gp3 randwrite", d.phase(t, "gp3", "randwrite-qd32").IOPS.FioMean, 3025, 0.01)
	near(t, "gp3 depth 1", d.phase(t, "gp3", "randread-qd1").IOPS.FioMean, 1759, 0.01)
	gp2 := d.phase(t, "gp2", "randread-qd32")
	near(t, "cliff", gp2.Cliff.AtUncompressed, 1999, 0.01)
	written := d.phase(t, "gp2", "randwrite-qd32")
	near(t, "gp2 randwrite", written.IOPS.FioMean, 601, 0.01)
	near(t, "gp2 randwrite p50", written.Latency.P50, 11.1, 0.04)
	near(t, "gp2 randwrite p95", written.Latency.P95, 109.6, 0.04)
	single := d.phase(t, "gp2", "randread-qd1")
	near(t, "gp2 depth 1", single.IOPS.FioMean, 603, 0.01)
	near(t, "gp2 depth 1 p50", single.Latency.P50, 0.602, 0.04)
	near(t, "gp2 depth 1 p95", single.Latency.P95, 3.391, 0.04)
	near(t, "gp2 depth 1 mean", single.Latency.Mean, 1.651, 0.04)
	near(t, "gp3 seqread", d.phase(t, "gp3", "seqread-qd8").Throughput, 127.3, 0.01)
	near(t, "gp3 seqwrite", d.phase(t, "gp3", "seqwrite-qd8").Throughput, 126.0, 0.01)
	near(t, "gp2 seqread", d.phase(t, "gp2", "seqread-qd8").Throughput, 130.3, 0.01)
	near(t, "gp2 seqwrite", d.phase(t, "gp2", "seqwrite-qd8").Throughput, 128.9, 0.01)

	var m struct{ IOPS []struct{ Value float64 } }
	text, err := os.ReadFile(filepath.Join(onlyRun(t, dir), "phases", "04-gp2-randread-qd32", "measurement.json"))
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil {
		t.Fatal(err)
	}
	near(t, "first second", m.IOPS[0].Value, 5997, 0.01)
	for second, want := range map[int]float64{1997: 3000, 1998: 2700, 1999: 300} {
		if got := m.IOPS[second].Value; math.Abs(got-want) > 1.5 {
			t.Errorf("second %d: %v I/Os, want %v", second, got, want)
		}
	}
}

func TestSimulateOnASmallInstance(t *testing.T) {
	needs(t)
	o := run(t, t.TempDir(), "simulate", "--instance", "m5.large", "--compress", "60", "-o", "json")
	if o.code != 0 {
		t.Fatalf("exit %d\n%s", o.code, o.stderr)
	}
	for _, volume := range []string{"gp2", "gp3"} {
		found := false
		for _, w := range parse(t, o.stdout).Warnings {
			found = found || w.Code == "instance-too-close" && strings.Contains(w.Text, "3,600 IOPS") && strings.Contains(w.Text, "volume "+volume)
		}
		if !found {
			t.Errorf("no warning that m5.large's 3,600 IOPS are too close to those of %s", volume)
		}
	}
}

const throughput = `
name: throughput
file_size: 64MiB
instance: m5.xlarge
volumes:
  - {name: v, type: gp3, size: 1000GiB, throughput: 250MiB/s}
phases:
  - {name: layout, volume: v, rw: write, block_size: 1MiB, queue_depth: 1}
  - {name: seqread, volume: v, rw: read, block_size: 1MiB, queue_depth: 8, duration: 3h}
`

// m5.xlarge holds 4,750 Mbps while (4,750 − 1,150) Mbps × 30 min = 810 GB last: 250 MiB/s is 262.14 MB/s, 118.39 above
// the baseline of 143.75 MB/s, for 6,842 s. 143.75 MB/s are 137.1 MiB/s.
func TestSimulateInstanceBurst(t *testing.T) {
	p := simulated(t, throughput).phase(t, "v", "seqread")
	if p.Cliff == nil || p.Cliff.Cause != "instance-burst" || p.Verdict != "burst-then-baseline" {
		t.Fatalf("cliff %+v, verdict %s", p.Cliff, p.Verdict)
	}
	near(t, "instant", p.Cliff.AtUncompressed, 6842, 0.005)
	near(t, "before", p.Cliff.Before, 250, 0.005)
	near(t, "after", p.Cliff.After, 137.1, 0.005)
}

const both = `
name: both
file_size: 64MiB
instance: m5.xlarge
volumes:
  - {name: gp2, type: gp2, size: 100GiB}
  - {name: gp3, type: gp3, size: 100GiB}
phases:
  - {name: layout, volume: gp2, rw: write, block_size: 1MiB, queue_depth: 1}
  - {name: layout, volume: gp3, rw: write, block_size: 1MiB, queue_depth: 1}
  - {name: read, volume: gp2, rw: randread, block_size: 4KiB, queue_depth: 32, duration: 10m, rest: 2s, together: both}
  - {name: read, volume: gp3, rw: randread, block_size: 4KiB, queue_depth: 32, duration: 10m, together: both}
`

func TestSimulateBothVolumesAtOnce(t *testing.T) {
	d := simulated(t, both)
	near(t, "IOPS of both", d.phase(t, "gp2", "read").IOPS.Mean+d.phase(t, "gp3", "read").IOPS.Mean, 6000, 0.001)
}

// The example of docs: 4 clients ÷ (5 ms + 0.8 ms), a rate of 400, first touches at 40 MiB/s, and two volumes of RAID 0 beside
// gp2 on an instance that lets 18,750 IOPS through for half an hour.
func TestSimulateTheExample(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "examples", "profile.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	d := simulated(t, string(text))
	near(t, "clients", d.phase(t, "logs", "clients").IOPS.Mean, 4/5.793e-3, 0.01)
	near(t, "steady", d.phase(t, "logs", "steady").IOPS.Mean, 400, 0.001)
	within(t, "lowest MiB/s of the warm-up", d.phase(t, "fresh", "warm-up").IOPS.Min, 38, 42)
	near(t, "RAID 0", d.phase(t, "raid", "busy").IOPS.Mean, 6000, 0.01)
	near(t, "logs", d.phase(t, "logs", "busy").IOPS.Mean, 3000, 0.01)
	for _, c := range d.Checks {
		if !c.OK {
			t.Errorf("%s fails for %s on %s: %v expected, %v measured", c.Code, c.Phase, c.Volume, c.Expected, c.Measured)
		}
	}
}

func TestSimulateInterrupted(t *testing.T) {
	needs(t)
	dir := t.TempDir()
	// A week at 80,000 IOPS.
	path := write(t, dir, strings.NewReplacer("throughput: 250MiB/s", "iops: 80000, throughput: 2000MiB/s",
		"rw: read, block_size: 1MiB, queue_depth: 8, duration: 3h", "rw: randread, block_size: 4KiB, queue_depth: 256, duration: 168h").Replace(throughput))
	o := finish(t, command(t, dir, "simulate", "--profile", path), func(p *os.Process) {
		time.Sleep(500 * time.Millisecond)
		if err := p.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
	})
	if o.code != 130 || o.stdout != "" {
		t.Errorf("exit %d, want 130\n%s%s", o.code, o.stdout, o.stderr)
	}
	if runs, _ := filepath.Glob(filepath.Join(dir, "runs", "*")); len(runs) > 0 {
		t.Errorf("a run directory is left: %v", runs)
	}
}

// What a profile asks for beyond what can be measured is declined, and what cannot be at all is refused.
func TestSimulateBadInput(t *testing.T) {
	needs(t)
	for name, tt := range map[string]struct {
		profile string
		args    []string
		want    string
	}{
		"bench of two at once": {both, []string{"bench"}, "never two volumes at once"},
		"bench of a restored volume": {strings.Replace(throughput, "size: 1000GiB", "size: 1000GiB, restored: true", 1),
			[]string{"bench"}, "restored from a snapshot"},
		"rate of nothing":       {strings.Replace(throughput, "duration: 3h", "duration: 3h, rate_iops: -1", 1), []string{"simulate"}, "line 9"},
		"against and profile":   {throughput, []string{"simulate", "--against", "."}, "leave out --profile"},
		"instance that is none": {throughput, []string{"simulate", "--instance", "m5.xlrge"}, "m5.xlarge"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			o := run(t, dir, append(tt.args, "--profile", write(t, dir, tt.profile))...)
			if o.code != 2 || !strings.Contains(o.stderr, tt.want) || o.stdout != "" {
				t.Errorf("exit %d, want 2; stderr should say %q:\n%s", o.code, tt.want, o.stderr)
			}
		})
	}
	if o := run(t, t.TempDir(), "simulate", "--against", "."); o.code != 2 || !strings.Contains(o.stderr, "not a run directory") {
		t.Errorf("against nothing: exit %d\n%s", o.code, o.stderr)
	}
	dir := t.TempDir()
	run(t, dir, "simulate", "--profile", write(t, dir, throughput))
	if o := run(t, dir, "simulate", "--against", onlyRun(t, dir)); o.code != 2 || !strings.Contains(o.stderr, "was simulated") {
		t.Errorf("against a simulation: exit %d\n%s", o.code, o.stderr)
	}
}

// agrees holds the run in a directory against its simulation: every IOPS figure is within 3 %, and those of depth 1 within
// a bound of their own.
func agrees(t testing.TB, dir, runDir string, depth1 float64) {
	t.Helper()
	o := run(t, dir, "simulate", "--against", runDir, "--runs", filepath.Join(dir, "simulated"), "-o", "json")
	if o.code != 0 {
		t.Fatalf("exit %d\n%s", o.code, o.stderr)
	}
	var against struct {
		Rows []struct {
			Phase, Volume, Metric string
			Predicted, Measured   *float64
			Error                 *float64 `json:"error_percent"`
		}
	}
	if err := json.Unmarshal([]byte(o.stdout), &against); err != nil {
		t.Fatalf("%v\n%.400s", err, o.stdout)
	}
	figures := map[string]int{}
	for _, r := range against.Rows {
		figures[r.Metric]++
		if r.Metric == "iops" || r.Metric == "iops-fio-mean" {
			most := 3.0
			if r.Phase == "randread-qd1" {
				most = depth1
			}
			if r.Error == nil || math.Abs(*r.Error) > most {
				t.Errorf("%s on %s: %s predicted %.5g, measured %.5g: not within %v %%", r.Phase, r.Volume, r.Metric, *r.Predicted, *r.Measured, most)
			} else {
				t.Logf("%s on %s: %s predicted %.5g, measured %.5g: %+.1f %%", r.Phase, r.Volume, r.Metric, *r.Predicted, *r.Measured, *r.Error)
			}
		}
	}
	for _, metric := range []string{"iops", "iops-fio-mean", "throughput", "latency-mean", "latency-p50", "latency-p95", "latency-p99"} {
		if figures[metric] != 12 {
			t.Errorf("%s is compared for %d of 12 phases", metric, figures[metric])
		}
	}
	if figures["cliff"] == 0 {
		t.Error("the instant of the fall is not compared")
	}
}
