//go:build linux

package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ebscope/test/kubernetes/testcluster"
)

// before are the phases of shortProfile before gp2's random read, in which the tests interrupt it.
var before = []string{"01-gp3-layout", "02-gp2-layout", "03-gp3-randread-qd32"}

const interrupted = "04-gp2-randread-qd32"

// began waits until a benchmark of shortProfile is well inside gp2's random read.
func (r *running) began() {
	r.u.Helper()
	r.await("[4/5] gp2 randread-qd32")
	time.Sleep(3 * time.Second)
}

// A pod that is deleted in the middle of a phase is replaced by one that goes on there.
func TestPodIsDeleted(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	r := u.start(u.short("-o", "json")...)
	r.await("[4/5] gp2 randread-qd32")
	first := u.runner()
	// What is finished can be had meanwhile.
	early := u.run("collect", u.runID(), "-n", u.namespace, "--runs", "early")
	early.expect(t, 0, "3 of 5 phases are measured so far")
	time.Sleep(6 * time.Second) // spends credits
	if err := cluster.Client.CoreV1().Pods(u.namespace).Delete(t.Context(), first.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	o := r.wait()
	o.expect(t, 0, "pod "+first.Name+" is ", "takes the place of "+first.Name, "gp2 randread-qd32 was cut and is measured anew")
	u.nothingLeft()

	runDir := u.onlyRun("runs")
	pods, _ := filepath.Glob(filepath.Join(runDir, "pods", "*.json"))
	if len(pods) != 2 || !slices.Contains(pods, filepath.Join(runDir, "pods", first.Name+".json")) {
		t.Errorf("pods %v, want %s and another", pods, first.Name)
	}
	for _, name := range before {
		for _, file := range []string{"mark.json", "fio.json"} {
			if then, now := read(t, filepath.Join(u.onlyRun("early"), "phases", name, file)), read(t, filepath.Join(runDir, "phases", name, file)); then != now {
				t.Errorf("%s of %s, which was finished, is another now:\n%s\n%s", file, name, then, now)
			}
		}
		if m := readJSON[mark](t, filepath.Join(runDir, "phases", name, "mark.json")); m.Pod != first.Name {
			t.Errorf("%s was measured by %s, want %s", name, m.Pod, first.Name)
		}
	}
	if m := readJSON[mark](t, filepath.Join(runDir, "phases", interrupted, "mark.json")); m.Pod == first.Name {
		t.Errorf("%s was finished by the pod that was deleted", interrupted)
	}
	if m := readJSON[mark](t, filepath.Join(runDir, "phases", interrupted+".cut1", "mark.json")); m.Pod != first.Name {
		t.Errorf("the cut attempt is %s's, want %s's", m.Pod, first.Name)
	}
	rec := readJSON[record](t, filepath.Join(runDir, "run.json"))
	for i, p := range rec.Phases {
		want := 0
		if i == 3 {
			want = 1
		}
		if p.State != "done" || p.Cuts != want {
			t.Errorf("%s is %s, cut %d times; want %d", p.Dir, p.State, p.Cuts, want)
		}
	}
	var codes []string
	for _, e := range rec.Events {
		codes = append(codes, e.Code)
	}
	if !slices.Equal(codes, []string{"pod-replaced", "phase-restarted"}) {
		t.Errorf("events %v", codes)
	}

	d := parse(t, o.stdout)
	gp2 := d.phase(t, "gp2", "randread-qd32")
	if !d.Run.Complete || !strings.Contains(gp2.Warnings.text("restarted"), "another balance than the model expects") {
		t.Errorf("the document does not warn of the credits that the cut attempt has spent: %+v", gp2.Warnings)
	}
	// With a full bucket, 54,000 credits and 300 more each second, the 27 s have 2,300 IOPS on average. The cut attempt has
	// spent 2,700 a second for 6 s and more, 16,200. A Job waits ten seconds until it replaces a pod, in which with all else
	// 6,000 were earned: 10,200 ÷ 27 = 377 IOPS less, at least.
	if gp2.IOPS.FioMean > 2000 {
		t.Errorf("gp2 had %.0f IOPS after the cut, want less: the bucket was not full", gp2.IOPS.FioMean)
	}
	for _, text := range []string{read(t, filepath.Join(runDir, "report.md")), read(t, filepath.Join(runDir, "report.html"))} {
		for _, part := range []string{first.Name, "was lost", interrupted + ".cut1", "another balance than the model expects"} {
			if !strings.Contains(text, part) {
				t.Errorf("the report does not say %q", part)
			}
		}
	}
}

// The run needs no API server, and the program waits for it.
func TestAPIServerIsAway(t *testing.T) {
	u := newUser(t)
	// Compressed less: the phase takes 45 s, and outlasts the server's absence.
	r := u.start(u.bench(u.file("short.yaml", shortProfile), "60", testcluster.GP2, testcluster.GP3, "-o", "json")...)
	r.began()
	if err := cluster.StopAPIServer(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(30 * time.Second)
	if err := cluster.StartAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	o := r.wait()
	o.expect(t, 0, "the run goes on meanwhile", "the API server answers again", "[5/5] gp2 randwrite-qd32")
	if d := parse(t, o.stdout); !d.Run.Complete || len(d.Phases) != 5 {
		t.Errorf("run %+v with %d phases", d.Run, len(d.Phases))
	}
	measured(t, u.onlyRun("runs"), 5)
	told := false
	for _, e := range readJSON[record](t, filepath.Join(u.onlyRun("runs"), "run.json")).Events {
		told = told || e.Code == "api-server-away"
	}
	if !told {
		t.Error("the record says nothing of the API server that was away")
	}
	u.nothingLeft()
}

// Nothing of a run depends on the program that began it.
func TestProgramIsKilled(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	r := u.start(u.short()...)
	r.began()
	id := u.runID()
	r.signal(syscall.SIGKILL)
	r.kill()
	o := u.run("attach", id, "-n", u.namespace, "-o", "json")
	o.expect(t, 0, "collecting the results of run "+id)
	if d := parse(t, o.stdout); d.Run.ID != id || !d.Run.Complete || len(d.Phases) != 5 {
		t.Errorf("run %+v with %d phases", d.Run, len(d.Phases))
	}
	measured(t, u.onlyRun("runs"), 5)
	u.nothingLeft()
}
