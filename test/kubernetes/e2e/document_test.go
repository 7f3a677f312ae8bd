//go:build linux

package e2e

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// The types are those of docs: what a script that reads -o json relies on, written down apart from the program.
type document struct {
	Run struct {
		ID, Target string
		Compress   float64
		Complete   bool
	}
	Phases   []phase
	Warnings warnings
}

type warnings []struct{ Code, Text string }

type phase struct {
	Name, Volume, State string
	IOPS                struct {
		Mean    float64
		FioMean float64 `json:"fio_mean"`
	}
	Cliff *struct {
		AtUncompressed float64 `json:"at_s_uncompressed"`
		Before         float64 `json:"before_iops"`
		After          float64 `json:"after_iops"`
		Cause          string
	}
	Verdict  string
	Warnings warnings
}

// record is run.json.
type record struct {
	ID, Target  string
	Finished    *time.Time
	Environment struct {
		FioVersion string `json:"fio_version"`
		Instance   string
		Cluster    struct {
			Version, Namespace, Node, Image string
			ImageDigest                     string `json:"image_digest"`
			Volumes                         []struct{ Name, Claim, Volume, Class, Driver string }
		}
	}
	Phases []struct {
		Dir, State string
		Cuts       int
	}
	Events []struct{ Code, Text string }
}

// mark is mark.json of a phase.
type mark struct {
	Started, Ended time.Time
	Exit           int
	Pod, Node      string
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
			return p
		}
	}
	t.Fatalf("no phase %s on %s", name, volume)
	return phase{}
}

func (all warnings) text(code string) string {
	for _, w := range all {
		if w.Code == code {
			return w.Text
		}
	}
	return ""
}

func readJSON[T any](t testing.TB, path string) (value T) {
	t.Helper()
	if err := json.Unmarshal([]byte(read(t, path)), &value); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return value
}

func read(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// onlyRun returns the one run directory in a folder of the user's.
func (u *user) onlyRun(folder string) string {
	u.Helper()
	runs, err := filepath.Glob(filepath.Join(u.dir, folder, "*"))
	if err != nil || len(runs) != 1 {
		u.Fatalf("run directories: %v, %v; want one", runs, err)
	}
	return runs[0]
}

// measured fails the test unless every phase of a run directory is there and was measured without a cut in one pod.
func measured(t testing.TB, runDir string, phases int) {
	t.Helper()
	r := readJSON[record](t, filepath.Join(runDir, "run.json"))
	if len(r.Phases) != phases || r.Finished == nil {
		t.Errorf("%d phases, finished %v, want %d", len(r.Phases), r.Finished, phases)
	}
	for _, e := range r.Events {
		if e.Code == "pod-replaced" || e.Code == "phase-restarted" {
			t.Errorf("%s: %s; want a run that nothing has cut", e.Code, e.Text)
		}
	}
	if pods, _ := filepath.Glob(filepath.Join(runDir, "pods", "*.json")); len(pods) != 1 {
		t.Errorf("pods %v, want one", pods)
	}
	if cuts, _ := filepath.Glob(filepath.Join(runDir, "phases", "*.cut*")); len(cuts) != 0 {
		t.Errorf("cut: %v", cuts)
	}
	for _, p := range r.Phases {
		m := readJSON[mark](t, filepath.Join(runDir, p.Dir, "mark.json"))
		if p.State != "done" || p.Cuts != 0 || m.Exit != 0 || m.Ended.Before(m.Started) {
			t.Errorf("%s is %s, cut %d times, %+v", p.Dir, p.State, p.Cuts, m)
		}
	}
	for _, name := range []string{"report.html", "report.md", "analysis.json"} {
		if _, err := os.Stat(filepath.Join(runDir, name)); err != nil {
			t.Error(err)
		}
	}
}

// near fails the test unless got is within a share of want.
func near(t testing.TB, what string, got, want, share float64) {
	t.Helper()
	message := fmt.Sprintf("%s: %.5g, want %.5g ± %.1f %%", what, got, want, 100*share)
	if math.Abs(got-want) > share*want {
		t.Error(message)
	} else {
		t.Log(message)
	}
}

// attempts is how often figures may be measured. A machine that does other work at the wrong moment delays wake-ups; a fault
// of the program fails every attempt.
const attempts = 3

// attempt collects failures instead of failing the test.
type attempt struct {
	testing.TB
	failures []string
}

func (a *attempt) Errorf(format string, args ...any) {
	a.failures = append(a.failures, fmt.Sprintf(format, args...))
}

func (a *attempt) Error(args ...any) { a.failures = append(a.failures, fmt.Sprint(args...)) }

func repeated(t *testing.T, measure func(t testing.TB, n int)) {
	t.Helper()
	for n := range attempts {
		a := &attempt{TB: t}
		measure(a, n)
		if len(a.failures) == 0 {
			return
		}
		t.Logf("attempt %d of %d: %v", n+1, attempts, a.failures)
	}
	t.Error("every attempt failed")
}
