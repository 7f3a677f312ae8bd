package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"ebscope/internal/cluster/manifest"
	"ebscope/internal/cluster/runner"
	"ebscope/internal/ebs"
	"ebscope/internal/units"
	"ebscope/test/kubernetes/testcluster"
)

// kubeconfigVariable names the kubeconfig of a cluster that testcluster has started.
const kubeconfigVariable = "EBSCOPE_TEST_KUBECONFIG"

// realCluster connects to a real cluster, with a namespace of the test's own.
func realCluster(t *testing.T) *Client {
	t.Helper()
	file := os.Getenv(kubeconfigVariable)
	if file == "" {
		t.Skipf("this needs a Kubernetes cluster; `go run ./test/kubernetes/up` starts one and prints the path of its kubeconfig: set %s to it", kubeconfigVariable)
	}
	c, err := Connect(Options{Kubeconfig: file, Namespace: fmt.Sprintf("ebscope-test-%x", time.Now().UnixNano())})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// small is a run of half a minute on one volume.
func small(c *Client) manifest.Spec {
	const file = runner.VolumesDir + "/gp3/test.dat"
	job := func(options string) []byte {
		return []byte("[phase]\nfilename=" + file + "\nsize=16M\nioengine=psync\ndirect=1\nbs=4k\n" + options)
	}
	phase := func(name string, layout bool) runner.Phase {
		return runner.Phase{Name: name, File: file, Size: 16 * units.MiB, Layout: layout, Takes: 5 * time.Second}
	}
	s := manifest.Spec{
		Run: time.Now().UTC().Format("20060102T150405Z") + "-small-kubernetes", Namespace: c.Namespace, CreateNamespace: true,
		Provisioner: testcluster.Provisioner, Image: testcluster.Image, Deadline: 10 * time.Minute,
		Volumes: []manifest.Volume{{
			Name: "gp3", Class: testcluster.GP3, Config: ebs.Volume{Type: ebs.GP3, Size: units.GiB, IOPS: 3000, Throughput: 125 * units.MiBPerSecond},
		}},
		ResultsClass: testcluster.Results,
		Plan:         runner.Plan{Phases: []runner.Phase{phase("01-layout", true), phase("02-read", false), phase("03-read", false)}},
		Jobs: map[string][]byte{
			"01-layout": job("rw=write\nbs=1M\n"), "02-read": job("rw=randread\ntime_based\nruntime=6\n"), "03-read": job("rw=randread\ntime_based\nruntime=15\n"),
		},
	}
	s.Record, _ = json.Marshal(map[string]string{"id": s.Run})
	return s
}

func (s started) lines() (all []string) {
	for _, h := range s.heard {
		if l, ok := h.(Line); ok && l.Event.Kind != runner.PodStarted {
			all = append(all, strings.TrimSpace(string(l.Event.Kind)+" "+l.Event.Phase))
		}
	}
	return all
}

// started is a run in a real cluster and what was heard of it.
type started struct {
	run   RunStatus
	heard []Happening
}

// The whole of a run's life on a real cluster: its pod is deleted in the middle of a phase, another goes on, the results
// come over, and nothing is left.
func TestRealRun(t *testing.T) {
	c := realCluster(t)
	spec := small(c)
	objects, err := manifest.Objects(spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Apply(t.Context(), objects); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // whatever happens; usually there is nothing to do
		_ = c.Kubernetes.CoreV1().Namespaces().Delete(context.WithoutCancel(t.Context()), c.Namespace, metav1.DeleteOptions{})
	})
	run, err := c.Find(t.Context(), spec.Run)
	if err != nil {
		t.Fatal(err)
	}
	s := started{}
	deleted := ""
	s.run, err = c.Follow(t.Context(), run, FollowOptions{Lines: true, Rate: rateInStatus}, func(h Happening) {
		t.Logf("%s %+v", told(h), h)
		s.heard = append(s.heard, h)
		l, ok := h.(Line)
		if ok && deleted == "" && l.Event.Kind == runner.PhaseStarted && l.Event.Phase == "02-read" {
			deleted = l.Pod
			if err := c.Kubernetes.CoreV1().Pods(c.Namespace).Delete(t.Context(), deleted, metav1.DeleteOptions{}); err != nil {
				t.Error(err)
			}
		}
		if ok && l.Event.Kind == runner.PhaseStarted && l.Event.Phase == "03-read" {
			collectMeanwhile(t, c, run)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if s.run.State() != JobSucceeded || len(s.run.Pairs) != 1 || len(s.run.Pairs[0].Pods) != 2 {
		t.Fatalf("the run ended as %+v", s.run)
	}
	want := []string{
		"phase-started 01-layout", "phase-ended 01-layout", "phase-started 02-read", "phase-cut 02-read",
		"phase-kept 01-layout", "phase-started 02-read", "phase-ended 02-read", "phase-started 03-read", "phase-ended 03-read", "run-done",
	}
	if diff := cmp.Diff(want, s.lines()); diff != "" {
		t.Error(diff)
	}
	if !slices.ContainsFunc(s.heard, func(h Happening) bool { p, ok := h.(PodChange); return ok && p.Replaces == deleted }) {
		t.Error("that the pod was replaced was not told")
	}

	into := t.TempDir()
	fetched, err := c.Collect(t.Context(), s.run, 0, into, CollectOptions{Patience: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	files := held(t, into)
	for _, name := range []string{"01-layout/mark.json", "02-read/fio.json", "02-read.cut1/job.fio", "03-read/mark.json"} {
		if files["phases/"+name] == "" {
			t.Errorf("phases/%s is missing among %d files", name, len(files))
		}
	}
	if fetched.Files != len(files) || fetched.Had != 0 {
		t.Errorf("fetched %+v of %d files", fetched, len(files))
	}
	if again, err := c.Collect(t.Context(), s.run, 0, into, CollectOptions{Patience: time.Minute}); err != nil || again.Files != 0 || again.Had != len(files) {
		t.Errorf("the second time: %+v, %v", again, err)
	}
	if pods, _ := filepath.Glob(filepath.Join(into, runner.PodsDir, "*.json")); len(pods) != 2 {
		t.Errorf("records of %d pods, want 2", len(pods))
	}

	cleaned, err := c.Cleanup(t.Context(), CleanupOptions{Run: s.run.Name, Patience: 2 * time.Minute, Namespace: true})
	if err != nil || len(cleaned.Left)+len(cleaned.Kept) != 0 {
		t.Errorf("cleaned up: %+v, %v", cleaned, err)
	}
	// Job, two claims and their volumes, budget, ConfigMap, namespace, and the pod that is kept with its Job; the collector too
	// where it still ends.
	if n := len(cleaned.Removed); n != 9 && n != 10 {
		t.Errorf("removed %v", cleaned.Removed)
	}
}

// The API server is away for 30 s while a phase ends and the next one begins: no line is lost, and none is told twice.
func TestRealRunWhileTheServerIsAway(t *testing.T) {
	c := realCluster(t)
	spec := small(c)
	spec.Jobs["02-read"] = bytes.Replace(spec.Jobs["02-read"], []byte("runtime=6"), []byte("runtime=20"), 1)
	spec.Jobs["03-read"] = bytes.Replace(spec.Jobs["03-read"], []byte("runtime=15"), []byte("runtime=60"), 1)
	objects, err := manifest.Objects(spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Apply(t.Context(), objects); err != nil {
		t.Fatal(err)
	}
	run, err := c.Find(t.Context(), spec.Run)
	if err != nil {
		t.Fatal(err)
	}
	w := newWire(t, c.address())
	over, err := Connect(Options{Kubeconfig: os.Getenv(kubeconfigVariable), Namespace: c.Namespace})
	if err != nil {
		t.Fatal(err)
	}
	over.Config.Host = "https://" + w.address
	if over.Kubernetes, err = kubernetes.NewForConfig(over.Config); err != nil {
		t.Fatal(err)
	}
	s := started{}
	var cut, back time.Time
	s.run, err = over.Follow(t.Context(), run, FollowOptions{Lines: true, Rate: rateInStatus}, func(h Happening) {
		s.heard = append(s.heard, h)
		l, isLine := h.(Line)
		if isLine && cut.IsZero() && l.Event.Phase == "02-read" {
			cut = time.Now()
			w.cut()
			time.AfterFunc(30*time.Second, func() { w.mend(t) })
		}
		if connection, ok := h.(Connection); ok && connection.Err == nil {
			back = time.Now()
		}
	})
	if err != nil || s.run.State() != JobSucceeded {
		t.Fatalf("the run ended as %+v, %v", s.run, err)
	}
	want := []string{
		"phase-started 01-layout", "phase-ended 01-layout", "phase-started 02-read", "phase-ended 02-read",
		"phase-started 03-read", "phase-ended 03-read", "run-done",
	}
	if diff := cmp.Diff(want, s.lines()); diff != "" {
		t.Error(diff)
	}
	if back.IsZero() {
		t.Error("that the server was away was not told")
	}
	t.Logf("the server was heard again %v after it was cut off", back.Sub(cut))
	if cleaned, err := c.Cleanup(t.Context(), CleanupOptions{Run: run.Name, Patience: 2 * time.Minute, Namespace: true}); err != nil || len(cleaned.Left) != 0 {
		t.Errorf("cleaned up: %+v, %v", cleaned, err)
	}
}

// wire leads to a server and can be cut.
type wire struct {
	address, server string

	mu       sync.Mutex
	listener net.Listener
	ends     []net.Conn
}

func newWire(t *testing.T, server string) *wire {
	w := &wire{server: strings.TrimPrefix(server, "https://"), address: "127.0.0.1:0"}
	w.mend(t)
	t.Cleanup(w.cut)
	return w
}

func (w *wire) mend(t *testing.T) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l, err := net.Listen("tcp", w.address)
	if err != nil {
		t.Error(err)
		return
	}
	w.listener, w.address = l, l.Addr().String()
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", w.server)
			if err != nil {
				_ = near.Close()
				continue
			}
			w.mu.Lock()
			w.ends = append(w.ends, near, far)
			w.mu.Unlock()
			go func() { _, _ = io.Copy(near, far); _ = near.Close() }()
			go func() { _, _ = io.Copy(far, near); _ = far.Close() }()
		}
	}()
}

func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = w.listener.Close()
	for _, end := range w.ends {
		_ = end.Close()
	}
	w.ends = nil
}

// collectMeanwhile collects while the third phase is on its way: the phases before it, whole, and nothing of it.
func collectMeanwhile(t *testing.T, c *Client, run RunStatus) {
	t.Helper()
	into := t.TempDir()
	if _, err := c.Collect(t.Context(), run, 0, into, CollectOptions{Patience: time.Minute}); err != nil {
		t.Error(err)
	}
	folders, _ := filepath.Glob(filepath.Join(into, "phases", "*"))
	for i := range folders {
		folders[i] = filepath.Base(folders[i])
	}
	if diff := cmp.Diff([]string{"01-layout", "02-read", "02-read.cut1"}, folders); diff != "" {
		t.Errorf("meanwhile: %s", diff)
	}
}

// rateInStatus reads fio's rate well enough to see that status lines come.
func rateInStatus(line string) (units.IOPS, bool) { return 1, strings.Contains(line, " IOPS]") }

// What never starts is told with the cluster's own reason.
func TestRealRunThatNeverStarts(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*manifest.Spec)
		want   func(Happening) bool
	}{
		"no such image": {func(s *manifest.Spec) { s.Image = "localhost:1/none:1" }, func(h Happening) bool {
			p, ok := h.(PodChange)
			return ok && (p.Pod.Reason == "ErrImagePull" || p.Pod.Reason == "ImagePullBackOff") && strings.Contains(p.Pod.Message, "none:1")
		}},
		"no such node": {func(s *manifest.Spec) { s.NodeSelector = map[string]string{"no": "such"} }, func(h Happening) bool {
			e, ok := h.(Event)
			return ok && e.Reason == "FailedScheduling" && e.Message != ""
		}},
		"no such class": {func(s *manifest.Spec) { s.ResultsClass = "no-such" }, func(h Happening) bool {
			e, ok := h.(Event)
			return ok && e.Warning && strings.Contains(e.Message, "no-such")
		}},
		"nobody provisions": {func(s *manifest.Spec) { s.Volumes[0].Class = ""; s.Provisioner = "nobody.example" }, func(h Happening) bool {
			e, ok := h.(Event)
			return ok && e.Reason == "ExternalProvisioning" && strings.Contains(e.Message, "nobody.example")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			client := realCluster(t)
			spec := small(client)
			c.change(&spec)
			objects, err := manifest.Objects(spec)
			if err != nil {
				t.Fatal(err)
			}
			if err := client.Apply(t.Context(), objects); err != nil {
				t.Fatal(err)
			}
			run, err := client.Find(t.Context(), spec.Run)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			heard := false
			_, _ = client.Follow(ctx, run, FollowOptions{}, func(h Happening) {
				t.Logf("%s %+v", told(h), h)
				if c.want(h) {
					heard = true
					cancel()
				}
			})
			if !heard {
				t.Error("why it does not start was not told")
			}
			cleaned, err := client.Cleanup(t.Context(), CleanupOptions{Run: run.Name, Patience: time.Minute, Namespace: true})
			if err != nil || len(cleaned.Left)+len(cleaned.Kept) != 0 {
				t.Errorf("cleaned up: %+v, %v", cleaned, err)
			}
		})
	}
}
