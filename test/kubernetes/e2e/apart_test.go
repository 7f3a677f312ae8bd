//go:build linux

package e2e

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// What --dry-run prints is all that a cluster needs.
func TestAppliedByKubectl(t *testing.T) {
	t.Parallel()
	for name, apply := range map[string][]string{"on the server": {"apply", "--server-side", "-f", "-"}, "by the client": {"apply", "-f", "-"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			u.makeNamespace()
			objects := u.run(u.brief("--dry-run")...)
			objects.expect(t, 0)
			u.kubectl(objects.stdout, apply...)
			u.kubectl("", "wait", "--for=condition=complete", "job", "--all", "--timeout=120s")

			id := u.runID()
			o := u.run("collect", id, "-n", u.namespace, "-o", "json")
			o.expect(t, 0)
			if d := parse(t, o.stdout); d.Run.ID != id || d.Run.Target != "kubernetes-emulated" || !d.Run.Complete || len(d.Phases) != 4 {
				t.Errorf("run %+v with %d phases", d.Run, len(d.Phases))
			}
			measured(t, u.onlyRun("runs"), 4)
			// Collecting removes nothing: it can be done again.
			again := u.run("collect", id, "-n", u.namespace, "--runs", "again")
			again.expect(t, 0)
			if a, b := read(t, filepath.Join(u.onlyRun("runs"), "phases", "04-gp2-randread-qd32", "fio.json")), read(t, filepath.Join(u.onlyRun("again"), "phases", "04-gp2-randread-qd32", "fio.json")); a != b {
				t.Error("what was collected again is something else")
			}
			removed := u.run("cleanup", id, "-n", u.namespace)
			removed.expect(t, 0)
			if n := strings.Count(removed.stdout, "removed "); n < 6 {
				t.Errorf("%d objects were removed, want a Job, a PodDisruptionBudget, a ConfigMap and three claims:\n%s", n, removed.stdout)
			}
			u.nothingLeft()
		})
	}
}

// A run that is left goes on; it is found again, and removed in the middle.
func TestDetachStatusInterruptCleanup(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	none := u.run("status", "-n", u.namespace)
	none.expect(t, 0)
	if !strings.Contains(none.stdout, "namespace "+u.namespace+" has no runs") {
		t.Errorf("status of an empty namespace: %s", none.stdout)
	}
	begun := u.run(u.short("--detach")...)
	begun.expect(t, 0, "the run goes on in the cluster", "ebscope attach ", "ebscope cleanup ")
	id := strings.TrimSpace(begun.stdout)
	if id != u.runID() {
		t.Errorf("stdout is %q, want the run's id %s", id, u.runID())
	}
	pod := u.runner()

	list := u.run("status", "-n", u.namespace)
	list.expect(t, 0)
	one := u.run("status", id, "-n", u.namespace)
	one.expect(t, 0)
	for _, text := range []string{"run " + id, u.namespace + " is active", pod.Name, pod.Spec.NodeName} {
		if !strings.Contains(one.stdout, text) {
			t.Errorf("status does not say %q:\n%s", text, one.stdout)
		}
	}
	if !strings.Contains(list.stdout, id) || !strings.Contains(list.stdout, "active") {
		t.Errorf("status does not list the run:\n%s", list.stdout)
	}
	narrow(t, one.stdout)
	var document struct {
		ID, Namespace, State, Profile string
		Sets                          []struct {
			Set   int
			State string
			Pods  []struct{ Name, Node, State string }
		}
	}
	asJSON := u.run("status", id, "-n", u.namespace, "-o", "json")
	asJSON.expect(t, 0)
	if err := json.Unmarshal([]byte(asJSON.stdout), &document); err != nil {
		t.Fatalf("%v: %s", err, asJSON.stdout)
	}
	if d := document; d.ID != id || d.Namespace != u.namespace || d.State != "active" || d.Profile != "short" || len(d.Sets) != 1 || d.Sets[0].Set != 1 ||
		len(d.Sets[0].Pods) != 1 || d.Sets[0].Pods[0].Name != pod.Name || d.Sets[0].Pods[0].Node != pod.Spec.NodeName || d.Sets[0].Pods[0].State != "running" {
		t.Errorf("status is %+v", d)
	}

	attached := u.start("attach", id, "-n", u.namespace)
	attached.await("[4/5] gp2 randread-qd32")
	attached.signal(syscall.SIGINT)
	attached.wait().expect(t, 130, "the run goes on in the cluster", "ebscope attach "+id+" -n "+u.namespace)
	time.Sleep(time.Second)
	if now := u.runner(); now.Name != pod.Name {
		t.Errorf("pod %s runs, want still %s", now.Name, pod.Name)
	}
	u.run("cleanup", id, "-n", u.namespace).expect(t, 0)
	u.nothingLeft()
	u.run("attach", id, "-n", u.namespace).expect(t, 2, "has no run "+id)
}

// narrow fails the test if a text is wider than a terminal of 80 columns.
func narrow(t testing.TB, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}
