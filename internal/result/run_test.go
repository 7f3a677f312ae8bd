package result_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ebscope/internal/ebs"
	"ebscope/internal/result"
	"ebscope/internal/workload"
)

func run(t *testing.T) result.Run {
	t.Helper()
	p, err := workload.Shipped(ebs.Embedded(), "gp2-vs-gp3")
	if err != nil {
		t.Fatal(err)
	}
	r := result.Run{Form: result.Form, ID: "x", Target: result.Emulated, Started: time.Unix(1e9, 0).UTC(), Compress: 60, Profile: p}
	for i, phase := range p.Phases {
		r.Phases = append(r.Phases, result.Phase{Index: i + 1, Name: phase.Name, Volume: phase.Volume,
			Dir: result.PhaseDir(i+1, phase), State: result.Pending})
	}
	r.Phases[3].State, r.Phases[3].Credits = result.Done, &result.Credits{Start: 90_000}
	return r
}

func TestSaveAndLoad(t *testing.T) {
	dir, want := t.TempDir(), run(t)
	if err := want.Save(dir); err != nil {
		t.Fatal(err)
	}
	got, err := result.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("a run changed on its way through the disk:\n%s", diff)
	}
	if got.Phases[3].Dir != filepath.Join("phases", "04-gp2-randread-qd32") {
		t.Errorf("folder %s", got.Phases[3].Dir)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("besides run.json there is something in the directory: %v, %v", entries, err)
	}
}

func TestLoadRefuses(t *testing.T) {
	good := run(t)
	dir := t.TempDir()
	if err := good.Save(dir); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, result.RunFile))
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ old, new, want string }{
		"truncated":        {string(text[len(text)/2:]), "", "damaged"},
		"another phase":    {`"volume": "gp3"`, `"volume": "gp4"`, "damaged"},
		"escaping folder":  {`phases/04-gp2-randread-qd32`, `../../etc`, "does not fit"},
		"compress of zero": {`"compress": 60`, `"compress": 0`, "compress is 0"},
		"compress beyond":  {`"compress": 60`, `"compress": 1e300`, "compress is 1e+300, not 1 to 1e+06"},
		"no form":          {`"form": 1`, `"form": 0`, "no form"},
		"wrong type":       {`"compress": 60`, `"compress": "60"`, "damaged"},
	} {
		bad := strings.Replace(string(text), tt.old, tt.new, 1)
		if bad == string(text) {
			t.Fatalf("%s: nothing was replaced", name)
		}
		if err := os.WriteFile(filepath.Join(dir, result.RunFile), []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := result.Load(dir); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one that says %q", name, err, tt.want)
		}
	}
}

func TestLoadNewerForm(t *testing.T) {
	dir := t.TempDir()
	// A newer form may have other types everywhere.
	if err := os.WriteFile(filepath.Join(dir, result.RunFile), []byte(`{"form": 2, "phases": {"a": 1}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := result.Load(dir)
	var newer *result.NewerFormError
	if !errors.As(err, &newer) || newer.Form != 2 {
		t.Errorf("error %v, want a NewerFormError of form 2", err)
	}
}

func TestLoadOfNoRunDirectory(t *testing.T) {
	if _, err := result.Load(t.TempDir()); err == nil || !strings.Contains(err.Error(), "not a run directory") {
		t.Errorf("error %v", err)
	}
}

func TestMeasurementRoundTrip(t *testing.T) {
	want := result.Measurement{Source: "model", Window: time.Second,
		Total: result.Direction{IOs: 3, Latency: result.Latency{Kind: "lat", Percentiles: []result.Percentile{{Percent: 50, Value: 7}}}},
		IOPS:  result.Series{{End: time.Second, Value: 3000}}}
	dir := filepath.Join(t.TempDir(), "phase")
	if err := result.SaveMeasurement(dir, want); err != nil {
		t.Fatal(err)
	}
	got, err := result.LoadMeasurement(dir)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}
