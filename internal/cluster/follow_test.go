package cluster

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"ebscope/internal/units"
)

// podLog is what a fake cluster gives as the log of any pod.
type podLog struct {
	mu   sync.Mutex
	text string
}

func (l *podLog) set(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = text
}

func (l *podLog) serve(set *fake.Clientset) {
	set.PrependReactor("get", "pods/log", func(clienttesting.Action) (bool, apiruntime.Object, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		return true, &apiruntime.Unknown{Raw: []byte(l.text)}, nil
	})
}

// told is a happening in a line.
func told(h Happening) string {
	switch h := h.(type) {
	case Line:
		return fmt.Sprintf("line %s %s", h.Event.Kind, h.Event.Phase)
	case Rate:
		return fmt.Sprintf("rate %.0f", float64(h.IOPS))
	case PodChange:
		s := fmt.Sprintf("pod %s %s %s", h.Pod.Name[len(runName)+1:], h.Pod.State, h.Pod.Reason)
		if h.Replaces != "" {
			s += " replaces " + h.Replaces[len(runName)+1:]
		}
		return strings.Join(strings.Fields(s), " ")
	case Event:
		return "event " + h.Reason
	case PairEnd:
		return fmt.Sprintf("pair %d %s", h.Pair.Pair, h.Pair.State)
	case LinesLost:
		return "lines lost"
	case Connection:
		if h.Err != nil {
			return "server away"
		}
		return "server back"
	}
	return "?"
}

func rateOf(line string) (units.IOPS, bool) {
	var rate float64
	_, err := fmt.Sscanf(line, "Jobs: %f", &rate)
	return units.IOPS(rate), err == nil
}

func must[T any](t *testing.T) func(T, error) {
	return func(_ T, err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
}

func TestFollowTellsAnInterruption(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logs := &podLog{}
		set := fake.NewClientset(recordOf(runID, noon), jobOf(runID, 0),
			warning("PersistentVolumeClaim", runName+"-gp2-0", "ProvisioningFailed", "throttled", noon))
		logs.serve(set)
		c := &Client{Namespace: space, Kubernetes: set}
		pods, ctx := set.CoreV1().Pods(space), t.Context()
		pod := func(n int, change func(*corev1.Pod)) *corev1.Pod { return podOf(runID, 0, n, change) }
		var got []string
		done := make(chan error)
		go func() {
			run, err := c.Find(ctx, runID)
			if err == nil {
				run, err = c.Follow(ctx, run, FollowOptions{Lines: true, Rate: rateOf}, func(h Happening) { got = append(got, told(h)) })
				if s := run.State(); s != JobSucceeded {
					t.Errorf("the run is %s", s)
				}
				if p := run.Pairs[0].Pods; len(p) != 2 || p[0].State != PodEvicted || p[1].State != PodSucceeded {
					t.Errorf("its pods are %+v", p)
				}
			}
			done <- err
		}()
		step := func(what ...string) {
			t.Helper()
			time.Sleep(5 * time.Second)
			synctest.Wait()
			if !cmp.Equal(got, what) {
				t.Errorf("told %q, want %q", got, what)
			}
			got = nil
		}
		step("event ProvisioningFailed")
		must[*corev1.Pod](t)(pods.Create(ctx, pod(1, nil), metav1.CreateOptions{}))
		step("pod 0-pod1 pending")
		must[*corev1.Event](t)(set.CoreV1().Events(space).Create(ctx, warning("Pod", runName+"-0-pod1", "FailedScheduling", "no node", noon), metav1.CreateOptions{}))
		step("event FailedScheduling")
		logs.set("2026-12-01T12:00:01Z {\"ebscope\":\"pod-started\"}\n2026-12-01T12:00:02Z {\"ebscope\":\"phase-started\",\"phase\":\"01-a\"}\n")
		must[*corev1.Pod](t)(pods.Update(ctx, pod(1, on("n1", corev1.PodRunning)), metav1.UpdateOptions{}))
		step("pod 0-pod1 running", "line pod-started ", "line phase-started 01-a")
		// The stream ends and is opened anew again and again: nothing is told twice, and what is new is told.
		logs.set("2026-12-01T12:00:02Z {\"ebscope\":\"phase-started\",\"phase\":\"01-a\"}\n2026-12-01T12:00:03Z Jobs: 3000\rJobs: 3001\n2026-12-01T12:00:03Z something else\n")
		step("rate 3000", "rate 3001")
		evicted := func(p *corev1.Pod) {
			on("n1", corev1.PodRunning)(p)
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI"}}
		}
		must[*corev1.Pod](t)(pods.Update(ctx, pod(1, evicted), metav1.UpdateOptions{}))
		step("pod 0-pod1 evicted EvictionByEvictionAPI")
		// What it writes while it ends is not lost.
		logs.set("2026-12-01T12:00:04Z {\"ebscope\":\"phase-cut\",\"phase\":\"01-a\"}")
		must[*corev1.Pod](t)(pods.Update(ctx, pod(1, func(p *corev1.Pod) { evicted(p); p.Status.Phase = corev1.PodFailed }), metav1.UpdateOptions{}))
		step("line phase-cut 01-a")
		if err := pods.Delete(ctx, runName+"-0-pod1", metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
		must[*corev1.Pod](t)(pods.Create(ctx, pod(2, nil), metav1.CreateOptions{}))
		step("pod 0-pod2 pending replaces 0-pod1")
		logs.set("2026-12-01T12:00:01Z {\"ebscope\":\"pod-started\"}\n2026-12-01T12:01:02Z {\"ebscope\":\"run-done\"}\n")
		must[*batchv1.Job](t)(set.BatchV1().Jobs(space).Update(ctx, jobOf(runID, 0, batchv1.JobCondition{Type: batchv1.JobComplete}), metav1.UpdateOptions{}))
		must[*corev1.Pod](t)(pods.Update(ctx, pod(2, on("n2", corev1.PodSucceeded)), metav1.UpdateOptions{}))
		if err := <-done; err != nil {
			t.Error(err)
		}
		// Jobs and pods are watched apart, so that either may be heard first.
		end := map[string]bool{}
		for _, s := range got {
			end[s] = true
		}
		if !end["pair 0 succeeded"] || !end["pod 0-pod2 succeeded"] || !end["line run-done "] || len(got) != 4 {
			t.Errorf("told %q at the end", got)
		}
	})
}

func TestFollowGoesOnWhileTheServerIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := fake.NewClientset(jobOf(runID, 0), podOf(runID, 0, 1, on("n1", corev1.PodRunning)))
		var mu sync.Mutex
		var fault error
		set.PrependReactor("list", "*", func(clienttesting.Action) (bool, apiruntime.Object, error) {
			mu.Lock()
			defer mu.Unlock()
			return fault != nil, nil, fault
		})
		c := &Client{Namespace: space, Kubernetes: set}
		set2 := func(err error) { mu.Lock(); fault = err; mu.Unlock() }
		set2(apierrors.NewServiceUnavailable("the server is shutting down"))
		var got []string
		done := make(chan error)
		go func() {
			_, err := c.Follow(t.Context(), RunStatus{ID: runID, Name: runName, Namespace: space}, FollowOptions{}, func(h Happening) { got = append(got, told(h)) })
			done <- err
		}()
		time.Sleep(time.Minute)
		set2(nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		if want := []string{"server away", "server back", "pod 0-pod1 running"}; !sameSet(got, want) || got[0] != want[0] {
			t.Errorf("told %q, want %q", got, want)
		}
		if err := set.BatchV1().Jobs(space).Delete(t.Context(), runName+"-0", metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
		// The pod of a deleted Job may still run: what becomes of it is waited for, but not for ever.
		if err := <-done; err != nil {
			t.Error(err)
		}
		if last := got[len(got)-1]; last != "pair 0 deleted" {
			t.Errorf("told %q last", last)
		}
	})
}

func sameSet(a, b []string) bool {
	count := map[string]int{}
	for _, s := range a {
		count[s]++
	}
	for _, s := range b {
		count[s]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

func TestFollowEndsWhereItIsOfNoUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run := RunStatus{ID: runID, Name: runName, Namespace: space}
		nothing := func(Happening) {}
		c := &Client{Namespace: space, Kubernetes: fake.NewClientset(jobOf("20261201T052101Z-other-kubernetes", 0))}
		var removed *RunRemovedError
		if _, err := c.Follow(t.Context(), run, FollowOptions{}, nothing); !errors.As(err, &removed) || removed.Half {
			t.Errorf("a run of which nothing is left: %v", err)
		}
		c = &Client{Namespace: space, Kubernetes: fake.NewClientset(recordOf(runID, noon))}
		if _, err := c.Follow(t.Context(), run, FollowOptions{}, nothing); !errors.As(err, &removed) || !strings.Contains(err.Error(), "half removed") ||
			!strings.Contains(err.Error(), "`ebscope cleanup "+runID+" -n "+space+"`") {
			t.Errorf("a run without Jobs: %v", err)
		}
		set := fake.NewClientset(jobOf(runID, 0))
		c = &Client{Namespace: space, Kubernetes: set}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if _, err := c.Follow(ctx, run, FollowOptions{}, nothing); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("cancelled: %v", err)
		}
		set.PrependReactor("list", "pods", func(clienttesting.Action) (bool, apiruntime.Object, error) {
			return true, nil, apierrors.NewForbidden(corev1.Resource("pods"), "", errors.New(`User "eve" cannot list resource "pods" in API group "" in the namespace "bench"`))
		})
		var forbidden *ForbiddenError
		if _, err := c.Follow(t.Context(), run, FollowOptions{}, nothing); !errors.As(err, &forbidden) || forbidden.Verb != "list" {
			t.Errorf("forbidden: %v", err)
		}
	})
}

// A thousand pairs are followed by one list and one watch for each kind of object.
func TestThousandPods(t *testing.T) {
	const pairs = 1000
	var objects []apiruntime.Object
	for i := range pairs {
		p := podOf(runID, i, 1, on(fmt.Sprintf("n%d", i), corev1.PodRunning))
		// What pods really carry, and is not to be held: 4 KiB each.
		p.ManagedFields = []metav1.ManagedFieldsEntry{{FieldsV1: metav1.NewFieldsV1(`{"x":"` + strings.Repeat("x", 4<<10) + `"}`)}}
		objects = append(objects, jobOf(runID, i), p)
	}
	set := fake.NewSimpleClientset(objects...)
	c := &Client{Namespace: space, Kubernetes: set}
	var running int
	var ended atomic.Int64
	ready := make(chan bool)
	run := RunStatus{ID: runID, Name: runName, Namespace: space}
	done := make(chan RunStatus)
	var before, during runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	go func() {
		last, err := c.Follow(t.Context(), run, FollowOptions{}, func(h Happening) {
			switch h := h.(type) {
			case PodChange:
				if h.Pod.State == PodRunning {
					if running++; running == pairs {
						close(ready)
					}
				}
			case PairEnd:
				ended.Add(1)
			}
		})
		if err != nil {
			t.Error(err)
		}
		done <- last
	}()
	<-ready
	runtime.GC()
	runtime.ReadMemStats(&during)
	if grown := int64(during.HeapAlloc) - int64(before.HeapAlloc); grown > 20<<20 {
		t.Errorf("%d MiB are held for %d pods, want 20 at most", grown>>20, pairs)
	}
	for i := range pairs {
		for i > int(ended.Load())+50 { // the fake's watches hold no more than 100 changes
			runtime.Gosched()
		}
		must[*corev1.Pod](t)(set.CoreV1().Pods(space).Update(t.Context(), podOf(runID, i, 1, on("n", corev1.PodSucceeded)), metav1.UpdateOptions{}))
		must[*batchv1.Job](t)(set.BatchV1().Jobs(space).Update(t.Context(), jobOf(runID, i, batchv1.JobCondition{Type: batchv1.JobComplete}), metav1.UpdateOptions{}))
	}
	if last := <-done; last.State() != JobSucceeded || len(last.Pairs) != pairs || ended.Load() != pairs {
		t.Errorf("%s, %d pairs, %d told to have ended", last.State(), len(last.Pairs), ended.Load())
	}
	asked := map[string]int{}
	for _, a := range set.Actions() {
		if a.GetVerb() == "list" || a.GetVerb() == "watch" {
			asked[a.GetVerb()+" "+a.GetResource().Resource]++
		}
	}
	want := map[string]int{"list jobs": 1, "watch jobs": 1, "list pods": 1, "watch pods": 1, "list events": 1, "watch events": 1}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Error(diff)
	}
}
