package pvcbench_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ebscope/internal/bench"
	"ebscope/internal/cluster"
	"ebscope/internal/cluster/manifest"
	"ebscope/internal/ebs"
	"ebscope/internal/pvcbench"
	"ebscope/internal/result"
	"ebscope/internal/workload"
)

var now = time.Date(2026, 12, 1, 5, 21, 1, 0, time.UTC)

func plan(t *testing.T, compress float64) bench.Plan {
	t.Helper()
	profile, err := workload.Shipped(ebs.Embedded(), "gp2-vs-gp3")
	if err != nil {
		t.Fatal(err)
	}
	return bench.Plan{Profile: profile, Catalog: ebs.Embedded(), Compress: compress, Target: result.Kubernetes, Tool: "ebscope test", Engine: "libaio"}
}

func design(t *testing.T, compress float64, spec manifest.Spec) (result.Run, manifest.Spec) {
	t.Helper()
	run, spec, err := pvcbench.Design(plan(t, compress), spec, now)
	if err != nil {
		t.Fatal(err)
	}
	return run, spec
}

func TestDesign(t *testing.T) {
	run, spec := design(t, 1, manifest.Spec{Volumes: []manifest.Volume{{Name: "gp2", Class: "fast"}}})
	if run.ID != "20261201T052101Z-gp2-vs-gp3-kubernetes" || spec.Run != run.ID {
		t.Errorf("run %s, spec of %s", run.ID, spec.Run)
	}
	if len(spec.Volumes) != 2 || spec.Volumes[0].Class != "" || spec.Volumes[1].Class != "fast" || spec.Volumes[1].Config.Type != ebs.GP2 {
		t.Errorf("volumes %+v", spec.Volumes)
	}
	p := spec.Plan.Phases
	if len(p) != 12 || p[3].Name != "04-gp2-randread-qd32" || p[3].Takes != 2700*time.Second || p[3].Layout || !p[0].Layout {
		t.Fatalf("phases %+v", p)
	}
	if want := "/volumes/gp2/ebscope-" + run.ID + ".dat"; p[3].File != want || p[3].Size.GiB() != 8 {
		t.Errorf("test file %s of %v, want %s of 8 GiB", p[3].File, p[3].Size, want)
	}
	// Each volume's file goes with its last phase.
	for i, phase := range p {
		if phase.Remove != (i == 9 || i == 11) {
			t.Errorf("phase %d removes its file: %v", i+1, phase.Remove)
		}
	}
	// gp3's layout moves 8 GiB at 125 MiB/s in 66 s, gp2's at 300 × 256 KiB = 75 MiB/s in 109 s; the others state 600 + 2,700
	// + 2 × 120 + 2 × 60 + 4 × 60 = 3,900 s. With twelve starts of 0.6 s that is 4,082 s; twice that and 15 minutes are 9,064 s.
	if got := spec.Deadline.Seconds(); got < 9050 || got > 9080 {
		t.Errorf("deadline %v s, want 9,064", got)
	}
	job := string(spec.Jobs["04-gp2-randread-qd32"])
	for _, want := range []string{"filename=/volumes/gp2/ebscope-", "runtime=2700000ms", "rw=randread", "log_avg_msec=1000"} {
		if !strings.Contains(job, want) {
			t.Errorf("the job file lacks %s:\n%s", want, job)
		}
	}
	again, err := result.Parse(spec.Record, "record")
	if err != nil || again.ID != run.ID || len(again.Phases) != 12 {
		t.Errorf("the record cannot be read back: %v", err)
	}
}

func TestDesignOfRawDevices(t *testing.T) {
	_, spec := design(t, 60, manifest.Spec{Block: true})
	for _, p := range spec.Plan.Phases {
		if p.File != "/devices/gp2" && p.File != "/devices/gp3" || p.Remove {
			t.Errorf("%+v: a device is no file to remove", p)
		}
	}
	// 2,700 s ÷ 60
	if got := spec.Plan.Phases[3].Takes; got != 45*time.Second {
		t.Errorf("compressed, the long phase takes %v, want 45 s", got)
	}
}

func TestDesignRefusesUnknownVolumes(t *testing.T) {
	_, _, err := pvcbench.Design(plan(t, 1), manifest.Spec{Volumes: []manifest.Volume{{Name: "gp4", Class: "fast"}}}, now)
	if err == nil || !strings.Contains(err.Error(), `no volume "gp4"`) {
		t.Errorf("%v, want an error that names gp4", err)
	}
}

// fioResult is a whole result of fio in which nothing is remarkable.
const fioResult = `{"fio version": "fio-3.33", "global options": {"rw": "randread", "log_avg_msec": "1000"}, "jobs": [{"jobname": "x", "error": 0,
"read": {"io_bytes": 40960, "bw_bytes": 20480, "bw": 20, "iops": 5.0, "runtime": 2000, "total_ios": 10,
"lat_ns": {"min": 1000, "max": 5000, "mean": 2000.4, "N": 10, "percentile": {"50.000000": 1000}}}}]}`

// results is a folder that was collected.
type results struct {
	t   *testing.T
	dir string
}

func (r results) write(path, text string) {
	r.t.Helper()
	path = filepath.Join(r.dir, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// phase is a phase that has ended.
func (r results) phase(dir, pod, started, ended string) {
	r.t.Helper()
	r.write(dir+"/fio.json", fioResult)
	r.write(dir+"/mark.json", `{"started":"2026-12-01T`+started+`Z","ended":"2026-12-01T`+ended+`Z","exit":0,"pod":"`+pod+`","node":"n1"}`)
}

func (r results) pod(name, node, started string) {
	r.t.Helper()
	r.write("pods/"+name+".json", `{"pod":"`+name+`","node":"`+node+`","started":"2026-12-01T`+started+`Z","fio_version":"3.33","kernel":"6.1","cpus":4}`)
}

// The pod is lost in phase 4, another goes on with it on another node and loses the results of phase 5.
func TestAssemble(t *testing.T) {
	run, _ := design(t, 60, manifest.Spec{})
	r := results{t, t.TempDir()}
	r.pod("first", "n1", "05:21:10")
	r.pod("second", "n2", "05:25:00")
	for i, p := range run.Phases[:4] {
		pod := "first"
		if i == 3 {
			pod = "second"
		}
		r.phase(p.Dir, pod, "05:22:00", "05:23:00")
	}
	r.write(run.Phases[3].Dir+".cut1/stderr", "")
	r.phase(run.Phases[4].Dir, "second", "05:26:00", "05:27:00")
	r.write(run.Phases[4].Dir+"/fio.json", "{")
	r.write(run.Phases[5].Dir+".failed/mark.json", `{"started":"2026-12-01T05:28:00Z","ended":"2026-12-01T05:28:01Z","exit":1,"pod":"second","node":"n2"}`)
	r.write(run.Phases[5].Dir+".failed/stderr", "fio: first\nfio: no space left\n")
	r.write(run.Phases[6].Dir+".running/stderr", "")

	got, err := pvcbench.Assemble(run, r.dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []result.State{result.Done, result.Done, result.Done, result.Done, result.Failed, result.Failed, result.Cut, result.Pending} {
		if got.Phases[i].State != want {
			t.Errorf("phase %d is %s, want %s", i+1, got.Phases[i].State, want)
		}
	}
	if p := got.Phases[3]; p.Cuts != 1 || p.Started.Format(time.TimeOnly) != "05:22:00" || p.Ended.Format(time.TimeOnly) != "05:23:00" {
		t.Errorf("phase 4: %+v", p)
	}
	if p := got.Phases[5]; p.Error != "fio failed (exit status 1): fio: no space left" {
		t.Errorf("phase 6: %s", p.Error)
	}
	if got.Finished != nil || got.Environment.FioVersion != "3.33" || got.Environment.CPUs != 4 {
		t.Errorf("finished %v, environment %+v", got.Finished, got.Environment)
	}
	texts := map[string]string{}
	for _, e := range got.Events {
		texts[e.Code] += e.Text
	}
	if !strings.Contains(texts["pod-replaced"], "pod first on node n1 was lost; pod second on node n2 went on") {
		t.Errorf("pod-replaced: %q", texts["pod-replaced"])
	}
	if !strings.Contains(texts["phase-restarted"], "phase 4, randread-qd32 on gp2, was cut once") || !strings.Contains(texts["phase-restarted"], "04-gp2-randread-qd32.cut1") {
		t.Errorf("phase-restarted: %q", texts["phase-restarted"])
	}
}

func TestAssembleWholeRun(t *testing.T) {
	run, _ := design(t, 60, manifest.Spec{})
	r := results{t, t.TempDir()}
	r.pod("only", "n1", "05:21:10")
	for _, p := range run.Phases {
		r.phase(p.Dir, "only", "05:22:00", "05:23:00")
	}
	got, err := pvcbench.Assemble(run, r.dir)
	if err != nil || got.Finished == nil || got.Finished.Format(time.TimeOnly) != "05:23:00" || len(got.Events) != 0 {
		t.Errorf("finished %v, events %v, %v", got.Finished, got.Events, err)
	}
	if _, err := json.Marshal(got); err != nil {
		t.Error(err)
	}
}

func TestAssembleNamesDamage(t *testing.T) {
	run, _ := design(t, 60, manifest.Spec{})
	r := results{t, t.TempDir()}
	r.write(run.Phases[0].Dir+"/mark.json", `{"started":`)
	if _, err := pvcbench.Assemble(run, r.dir); err == nil || !strings.Contains(err.Error(), "mark.json is damaged") {
		t.Errorf("%v, want that mark.json is damaged", err)
	}
}

func TestRecordOfForeignRun(t *testing.T) {
	if _, err := pvcbench.Record(cluster.RunStatus{ID: "x", Record: []byte("{}")}); err == nil || !strings.Contains(err.Error(), "the record of run x") {
		t.Errorf("%v, want an error that names the run", err)
	}
}
