package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLimits(t *testing.T) {
	for _, tt := range []struct {
		args string
		code int
		want string
	}{
		{"limits volume", 0, "gp3       1 GiB – 64 TiB    3,000 – 80,000  125 – 2,000  IOPS, MiB/s"},
		{"limits volume gp2", 0, "3,000 IOPS while credits last, where that is more; 5,400,000 credits"},
		{"limits volume st1", 0, "40 MiB/s per TiB, bursting to 250 MiB/s per TiB, at most 500 MiB/s"},
		{"limits instance", 0, "m5.xlarge             6,000      18,750"},
		{"limits instance m5.xlarge", 0, "6,000 IOPS, 1,150 Mbps = 137.1 MiB/s"}, // 143.75 MB/s ÷ 1.048576
		{"limits region", 0, "ap-northeast-2  0.114   0.0912"},
		{"limits region ap-northeast-2", 0, "0.1278 per GiB, 0.0666 per IOPS, 0.04662 above 32,000, 0.032634 above 64,000"},
		{"limits volume gp5", 2, `unknown volume type "gp5"; did you mean gp2, gp3`},
		{"limits instance m5.xlrge", 2, `unknown instance type "m5.xlrge"; did you mean m5.xlarge`},
		{"limits region us-east1", 2, `unknown region "us-east1"; did you mean us-east-1`},
		{"limits instance m5", 2, "did you mean m5.large, m5.metal, m5.xlarge"},
		{"limits instance m5.xl", 2, "did you mean m5.xlarge"},
		{"limits region Seoul", 2, "did you mean ap-northeast-2"},
		{"limits volume gp2 gp3", 2, "takes one name"},
		{"limits disks", 2, `unknown command "disks" for ebscope limits`},
		{"limits volume -o yaml", 2, "use text or json"},
		{"limits volume --catalog missing.yaml", 2, "missing.yaml"},
	} {
		got := run(t, t.TempDir(), strings.Fields(tt.args)...)
		squeezed := func(s string) string { return strings.Join(strings.Fields(s), " ") } // how it is broken into lines does not matter
		if text := got.stdout + got.stderr; got.code != tt.code || !strings.Contains(squeezed(text), squeezed(tt.want)) {
			t.Errorf("%s: exit %d, want %d with %q:\n%s", tt.args, got.code, tt.code, tt.want, text)
		}
		if tt.code != 0 && got.stdout != "" {
			t.Errorf("%s: an error, but a result on stdout: %s", tt.args, got.stdout)
		}
	}
}

// The entry as acceptance scripts read it.
func TestLimitsJSON(t *testing.T) {
	decode := func(into any, args ...string) {
		t.Helper()
		got := run(t, t.TempDir(), append([]string{"limits", "-o", "json"}, args...)...)
		if err := json.Unmarshal([]byte(got.stdout), into); err != nil || got.code != 0 {
			t.Fatalf("%v: exit %d, %v: %s", args, got.code, err, got.stderr)
		}
	}
	var gp3 struct {
		Type, Source, Date string
		IOPS               struct{ Max, Included float64 }
		Throughput         struct {
			Max float64 `json:"max_mib_s"`
		}
	}
	decode(&gp3, "volume", "gp3")
	if gp3.Type != "gp3" || gp3.IOPS.Max != 80_000 || gp3.IOPS.Included != 3000 || gp3.Throughput.Max != 2000 || gp3.Source == "" || gp3.Date == "" {
		t.Errorf("gp3: %+v", gp3)
	}
	var m5 struct {
		Type, Source, Date string
		Baseline           float64 `json:"baseline_iops"`
		Mbps               float64 `json:"maximum_mbps"`
	}
	decode(&m5, "instance", "m5.xlarge")
	if m5.Type != "m5.xlarge" || m5.Baseline != 6000 || m5.Mbps != 4750 || m5.Source == "" || m5.Date == "" {
		t.Errorf("m5.xlarge: %+v", m5)
	}
	var all struct{ Instances []struct{ Type string } }
	decode(&all, "instance")
	if len(all.Instances) != 1266 {
		t.Errorf("%d instance types, want 1,266", len(all.Instances))
	}
}

// A user's catalog holds for the run and, recorded in it, for every later look at it.
func TestCatalogIsKeptWithTheRun(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("mine.yaml", "volume_types: {gp2: {iops: {burst: 4000}}}\ninstances:\n  x9.huge: {baseline_iops: 50000, maximum_iops: 50000, baseline_mbps: 9000, maximum_mbps: 9000}\n")
	write("profile.yaml", strings.Replace(short, "m5.xlarge", "x9.huge", 1))
	if got := run(t, dir, "simulate", "--profile", "profile.yaml"); got.code != 2 || !strings.Contains(got.stderr, "x9.huge") {
		t.Errorf("without the catalog x9.huge is not known: exit %d, %s", got.code, got.stderr)
	}
	burst := func(got outcome) float64 {
		t.Helper()
		var document struct {
			Volumes []struct {
				Type  string
				Burst float64 `json:"burst_iops"`
			}
		}
		if err := json.Unmarshal([]byte(got.stdout), &document); err != nil || got.code != 0 {
			t.Fatalf("exit %d, %v: %s", got.code, err, got.stderr)
		}
		for _, v := range document.Volumes {
			if v.Type == "gp2" {
				return v.Burst
			}
		}
		t.Fatal("no gp2 volume")
		return 0
	}
	if got := burst(run(t, dir, "simulate", "--profile", "profile.yaml", "--catalog", "mine.yaml", "-o", "json")); got != 4000 {
		t.Errorf("simulate: burst %v, want the catalog's 4,000", got)
	}
	if err := os.Remove(filepath.Join(dir, "mine.yaml")); err != nil {
		t.Fatal(err)
	}
	runs, err := filepath.Glob(filepath.Join(dir, "runs", "*"))
	if err != nil || len(runs) != 1 {
		t.Fatalf("run directories %v, %v", runs, err)
	}
	if record, err := os.ReadFile(filepath.Join(runs[0], "run.json")); err != nil || !strings.Contains(string(record), "--compress 1 --catalog mine.yaml\"") {
		t.Errorf("the command that repeats the run does not name the catalog: %v", err)
	}
	if got := burst(run(t, dir, "analyze", runs[0], "-o", "json")); got != 4000 {
		t.Errorf("analyze: burst %v, want the recorded 4,000", got)
	}
	write("bad.yaml", "regions:\n  us-east-1:\n    prices:\n      gp2: {gib_month: 0}\n")
	if got := run(t, dir, "analyze", runs[0], "--catalog", "bad.yaml"); got.code != 2 || !strings.Contains(got.stderr, "bad.yaml: line 4: 0") {
		t.Errorf("a price of zero: exit %d, %s", got.code, got.stderr)
	}
}
