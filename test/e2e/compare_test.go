package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// comparison is what compare prints, as far as tests look at it.
type comparison struct {
	Subjects []struct {
		Name string
		Runs int
	}
	Differences []struct{ Phase, Option, A, B string }
	Rows        []struct {
		Phase, Metric, Part, Method, Direction string
		A, B                                   float64
		Ratio                                  *float64
		P                                      *float64 `json:"p_value"`
		Significant, Regression                bool
	}
	LeftOut    []struct{ Phase, Volume, Reason string } `json:"left_out"`
	Regression bool
}

// compared runs compare and returns its document.
func compared(t *testing.T, dir string, code int, args ...string) comparison {
	t.Helper()
	o := run(t, dir, append([]string{"compare", "-o", "json"}, args...)...)
	if o.code != code {
		t.Fatalf("exit %d, want %d\n%s", o.code, code, o.stderr)
	}
	var c comparison
	if err := json.Unmarshal([]byte(o.stdout), &c); err != nil {
		t.Fatalf("%v\n%.400s", err, o.stdout)
	}
	return c
}

// nothingProved fails the test where a difference of IOPS is proved, or none was compared.
func nothingProved(t *testing.T, c comparison, phases ...string) {
	t.Helper()
	found := map[string]bool{}
	for _, r := range c.Rows {
		if r.Metric != "iops" {
			continue
		}
		found[r.Phase] = true
		if r.Significant || r.P == nil || r.Method != "block-bootstrap" {
			t.Errorf("%s: %v against %v IOPS, significant %v by %s", r.Phase, r.A, r.B, r.Significant, r.Method)
		}
	}
	for _, p := range phases {
		if !found[p] {
			t.Errorf("phase %s was not compared", p)
		}
	}
}

func TestCompareGP2AfterItsCredits(t *testing.T) {
	needs(t)
	dir := t.TempDir()
	if o := run(t, dir, "simulate"); o.code != 0 {
		t.Fatalf("exit %d\n%s", o.code, o.stderr)
	}
	only := onlyRun(t, dir)
	c := compared(t, dir, 3, only+":gp3", only+":gp2", "--fail-on", "iops<-5%")
	if !c.Regression {
		t.Error("no regression")
	}
	steady := false
	for _, r := range c.Rows {
		if r.Phase == "randread-qd32" && r.Metric == "iops" && r.Part == "steady" {
			steady = true
			near(t, "ratio of the last levels", *r.Ratio, 0.1, 0.001) // 300 ÷ 3,000
			if !r.Significant || !r.Regression {
				t.Errorf("%+v", r)
			}
		}
	}
	if !steady {
		t.Error("the last levels are not compared")
	}
	for _, d := range c.Differences {
		if d.Option == "runtime" && (d.A != "10m0s" || d.B != "45m0s") {
			t.Errorf("runtime: %+v", d)
		}
	}
	if len(c.Differences) < 2 { // volume and runtime
		t.Errorf("differences: %+v", c.Differences)
	}

	o := run(t, dir, "compare", only+":gp3", only+":gp2", "--fail-on", "iops<-5%")
	if differs, figures := strings.Index(o.stdout, "What differs"), strings.Index(o.stdout, "IOPS "); o.code != 3 || differs < 0 || differs > figures {
		t.Errorf("exit %d; what differs must stand before the figures\n%s", o.code, o.stdout)
	}
	for line := range strings.Lines(o.stdout) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 80 && !strings.Contains(line, only) {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if o := run(t, dir, "compare", only+":gp3", only+":gp2", "-o", "html"); o.code != 0 || !strings.Contains(o.stdout, `id="rate-0"`) || len(o.stdout) > 1<<20 {
		t.Errorf("page: exit %d, %d bytes", o.code, len(o.stdout))
	}
	// Sequential phases are limited by throughput: none is past this.
	compared(t, dir, 0, only+":gp3", only+":gp2", "--fail-on", "seqread-qd8:throughput<-5%")
	nothingProved(t, compared(t, dir, 0, only, only, "--fail-on", "iops<-5%,p99>+10%"), "randread-qd32", "randread-qd1")
}

// pair is a volume without credits: a busy machine too can serve its 300 IOPS.
const pair = `
name: pair
file_size: 1GiB
volumes:
  - {name: data, type: gp2, size: 100GiB, balance: 0%}
phases:
  - {name: layout, volume: data, rw: write, block_size: 1MiB, queue_depth: 1}
  - {name: randread-qd32, volume: data, rw: randread, block_size: 4KiB, queue_depth: 32, duration: 60s}
  - {name: randwrite-qd8, volume: data, rw: randwrite, block_size: 4KiB, queue_depth: 8, duration: 60s}
`

// Two runs of the same emulated volume are alike, as bench --repeat makes them.
func TestCompareRepeats(t *testing.T) {
	needsEmulation(t)
	dir := t.TempDir()
	o := run(t, dir, "bench", "--profile", write(t, dir, pair), "--compress", "20", "--repeat", "2", "-o", "json")
	if o.code != 0 {
		t.Fatalf("exit %d\n%s", o.code, o.stderr)
	}
	nothingLeft(t, dir)
	for _, want := range []string{"repeat 1 of 2", "repeat 2 of 2"} {
		if !strings.Contains(o.stderr, want) {
			t.Errorf("progress does not say %q:\n%s", want, o.stderr)
		}
	}
	runs, _ := filepath.Glob(filepath.Join(dir, "runs", "*"))
	if len(runs) != 2 || !strings.HasSuffix(runs[0], "-r1") || strings.TrimSuffix(runs[1], "2") != strings.TrimSuffix(runs[0], "1") {
		t.Fatalf("run directories: %v", runs)
	}
	c := compared(t, dir, 0, runs[0], runs[1], "--fail-on", "iops<-5%")
	nothingProved(t, c, "randread-qd32", "randwrite-qd8")
	if o := run(t, dir, "compare", runs[0], runs[1]); o.code != 0 || !strings.Contains(o.stdout, "~") {
		t.Errorf("exit %d\n%s", o.code, o.stdout)
	}
	both := compared(t, dir, 0, strings.TrimSuffix(runs[0], "1")+"*", runs[0])
	if both.Subjects[0].Runs != 2 || both.Subjects[1].Runs != 1 {
		t.Errorf("subjects: %+v", both.Subjects)
	}
}

// Results of fio that somebody else has: two that differ in size, ramp time and runtime are shown to do so.
func TestCompareFiles(t *testing.T) {
	needs(t)
	dir := t.TempDir()
	document := func(name, size, ramp string, runtime, iops string, failure string) string {
		path := filepath.Join(dir, name)
		text := `{"fio version":"fio-3.36","jobs":[{"jobname":"read_iops","error":` + failure + `,"job options":{"rw":"randread","bs":"4k","iodepth":"64","size":"` + size +
			`","ramp_time":"` + ramp + `","runtime":"` + runtime + `"},"read":{"io_bytes":4096000,"bw_bytes":4096000,"iops":` + iops +
			`,"runtime":1000,"total_ios":1000,"lat_ns":{"min":1,"max":9000000,"mean":1000000,"N":1000},"clat_ns":{"min":1,"max":9000000,"mean":1000000,"N":1000}}}]}`
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	a, b := document("a.json", "100M", "2s", "15", "850", "0"), document("b.json", "2G", "0", "60", "10600", "0")
	c := compared(t, dir, 0, a, b)
	options := map[string]bool{}
	for _, d := range c.Differences {
		options[d.Option] = true
	}
	for _, want := range []string{"size", "ramp_time", "runtime"} {
		if !options[want] {
			t.Errorf("%s differs, and is not shown: %+v", want, c.Differences)
		}
	}
	for _, r := range c.Rows {
		if r.Significant || r.P != nil {
			t.Errorf("%s is proved by a summary alone", r.Metric)
		}
	}
	// What cannot be tested counts as it stands.
	compared(t, dir, 3, b, a, "--fail-on", "iops<-5%")

	failed := document("failed.json", "100M", "2s", "15", "900", "5")
	if o := run(t, dir, "compare", a, failed); o.code != 1 || !strings.Contains(o.stdout, "failed with error 5") {
		t.Errorf("a failed run: exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	for name, tt := range map[string]struct {
		args []string
		code int
		want string
	}{
		"one subject":     {[]string{a}, 2, "the baseline first"},
		"no such file":    {[]string{a, "none.json"}, 2, "none.json"},
		"no such pattern": {[]string{a, "none-*"}, 2, "none-*"},
		"no threshold":    {[]string{a, b, "--fail-on", "iops=5%"}, 2, "column 1"},
		"no such figure":  {[]string{a, b, "--fail-on", "p95>+1%"}, 5, "p95>+1%"},
	} {
		if o := run(t, dir, append([]string{"compare"}, tt.args...)...); o.code != tt.code || !strings.Contains(o.stderr, tt.want) {
			t.Errorf("%s: exit %d, want %d; stderr should say %q:\n%s", name, o.code, tt.code, tt.want, o.stderr)
		}
	}
}
