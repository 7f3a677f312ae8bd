package cluster

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
)

func TestPodState(t *testing.T) {
	disrupted := func(reason string, phase corev1.PodPhase) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			on("n1", phase)(p)
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: reason, Message: "why"}}
		}
	}
	waiting := func(reason string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			on("n1", corev1.PodPending)(p)
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "runner", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: "why"}}}}
		}
	}
	for name, c := range map[string]struct {
		pod    func(*corev1.Pod)
		state  PodState
		reason string
		exit   int
	}{
		"new": {nil, PodPending, "", 0},
		"no node fits": {func(p *corev1.Pod) {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "why"}}
		}, PodPending, "Unschedulable", 0},
		"image cannot be pulled": {waiting("ErrImagePull"), PodPending, "ErrImagePull", 0},
		"runs":                   {on("n1", corev1.PodRunning), PodRunning, "", 0},
		"done":                   {on("n1", corev1.PodSucceeded), PodSucceeded, "", 0},
		"fio failed": {func(p *corev1.Pod) {
			on("n1", corev1.PodFailed)(p)
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "runner", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 42, Reason: "Error"}}}}
		}, PodFailed, "Error", 42},
		"evicted by the kubelet": {func(p *corev1.Pod) {
			disrupted("TerminationByKubelet", corev1.PodFailed)(p)
			p.Status.Reason, p.Status.Message = "Evicted", "The node was low on resource: memory."
		}, PodEvicted, "Evicted", 0},
		"drained, and still ending":  {disrupted("EvictionByEvictionAPI", corev1.PodRunning), PodEvicted, "EvictionByEvictionAPI", 0},
		"node does not answer":       {disrupted("DeletionByTaintManager", corev1.PodRunning), PodLost, "DeletionByTaintManager", 0},
		"node is gone":               {disrupted("DeletionByPodGC", corev1.PodFailed), PodLost, "DeletionByPodGC", 0},
		"done before it was drained": {disrupted("EvictionByEvictionAPI", corev1.PodSucceeded), PodSucceeded, "", 0},
		"deleted, and has ended": {func(p *corev1.Pod) {
			on("n1", corev1.PodFailed)(p)
			p.DeletionTimestamp = &metav1.Time{Time: noon}
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "runner", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 143, Reason: "Error"}}}}
		}, PodDeleted, "Error", 143},
		"deleted by somebody's hands": {func(p *corev1.Pod) { on("n1", corev1.PodRunning)(p); p.DeletionTimestamp = &metav1.Time{Time: noon} }, PodDeleted, "", 0},
	} {
		s := podStatus(podOf(runID, 0, 1, c.pod))
		if s.State != c.state || s.Reason != c.reason || s.Exit != c.exit {
			t.Errorf("%s: %s, reason %q, exit %d; want %s, %q, %d", name, s.State, s.Reason, s.Exit, c.state, c.reason, c.exit)
		}
	}
}

// Kubernetes keeps the end of a failed container's log: what the runner said last is the reason.
func TestLastWords(t *testing.T) {
	for log, want := range map[string]string{
		"": "",
		`{"ebscope":"phase-failed","text":"no space left on device"}` + "\n":                           "no space left on device",
		`tory"}` + "\n" + `{"ebscope":"run-failed","text":"this image has no fio"}` + "\nTerminated\n": "this image has no fio",
		`{"ebscope":"phase-started"}` + "\nKilled\n":                                                   "Killed",
		`{"ebscope":"phase-started"}` + "\n":                                                           "",
	} {
		if got := lastWords(log); got != want {
			t.Errorf("%q says %q, want %q", log, got, want)
		}
	}
}

func TestRunsAreFoundWithWhatBecameOfThem(t *testing.T) {
	const failedID, otherID = "20261130T080000Z-quick-kubernetes", "20261201T070000Z-quick-kubernetes"
	failure := batchv1.JobCondition{Type: batchv1.JobFailed, Reason: "PodFailurePolicy", Message: "exit code 42"}
	foreign := recordOf("20261201T080000Z-foreign-kubernetes", noon)
	delete(foreign.Labels, "app.kubernetes.io/managed-by")
	// The event about the claim is of normal type, but says why it waits; that the pod was scheduled is of no interest.
	waits := warning("PersistentVolumeClaim", runName+"-gp2-0", "ExternalProvisioning", "Waiting for a volume to be created", noon.Add(time.Second))
	waits.Type = corev1.EventTypeNormal
	scheduled := warning("Pod", runName+"-0-pod1", "Scheduled", "assigned", noon)
	scheduled.Type = corev1.EventTypeNormal
	c := &Client{Namespace: space, Kubernetes: fake.NewClientset(
		recordOf(runID, noon), jobOf(runID, 0), jobOf(runID, 1, batchv1.JobCondition{Type: batchv1.JobComplete}),
		podOf(runID, 0, 2, on("n2", corev1.PodRunning)), podOf(runID, 0, 1, on("n1", corev1.PodFailed)),
		podOf(runID, 1, 1, on("n3", corev1.PodSucceeded)),
		recordOf(failedID, noon.Add(-time.Hour)), jobOf(failedID, 0, failure),
		recordOf(otherID, noon.Add(time.Hour)), foreign, waits, scheduled,
		warning("Pod", runName+"-0-pod1", "Evicted", "low on memory", noon.Add(time.Minute)),
		warning("Pod", runName+"-r1-0-pod1", "Evicted", "of another run", noon.Add(time.Minute)),
		warning("PersistentVolumeClaim", "somebodys", "ProvisioningFailed", "of nobody here", noon),
	)}
	runs, err := c.Runs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := ids(runs), []string{failedID, runID, otherID}; !cmp.Equal(got, want) {
		t.Fatalf("runs %v, want %v", got, want)
	}
	r := runs[1]
	if string(r.Record) != `{"id":"`+runID+`"}` || r.Name != runName || !r.Created.Equal(noon) {
		t.Errorf("run %+v", r)
	}
	var pods []string
	for _, p := range r.Pairs {
		for _, pod := range p.Pods {
			pods = append(pods, string(p.State)+" "+pod.Node+" "+string(pod.State))
		}
	}
	if want := []string{"active n1 failed", "active n2 running", "succeeded n3 succeeded"}; !cmp.Equal(pods, want) {
		t.Errorf("pods %v, want %v", pods, want)
	}
	var reasons []string
	for _, e := range r.Events {
		reasons = append(reasons, e.Reason)
	}
	if want := []string{"ExternalProvisioning", "Evicted"}; !cmp.Equal(reasons, want) {
		t.Errorf("events %v, want %v", reasons, want)
	}
	for i, want := range []JobState{JobFailed, JobActive, JobDeleted} {
		if got := runs[i].State(); got != want {
			t.Errorf("run %s is %s, want %s", runs[i].ID, got, want)
		}
	}
	if p := runs[0].Pairs[0]; p.Reason != "PodFailurePolicy" || p.Message != "exit code 42" || !p.Ended.Equal(noon.Add(time.Hour)) {
		t.Errorf("failed pair %+v", p)
	}
}

func TestRunIsFoundByIDNameAndBeginning(t *testing.T) {
	const quick = "20261201T070000Z-quick-kubernetes"
	c := &Client{Namespace: space, Kubernetes: fake.NewClientset(recordOf(runID, noon), recordOf(quick, noon))}
	for _, name := range []string{runID, runName, "20261201T05"} {
		if r, err := c.Find(t.Context(), name); err != nil || r.ID != runID {
			t.Errorf("%s: found %s, %v", name, r.ID, err)
		}
	}
	var ambiguous *AmbiguousRunError
	if _, err := c.Find(t.Context(), "20261201"); !errors.As(err, &ambiguous) || len(ambiguous.IDs) != 2 {
		t.Errorf("a beginning of two runs: %v", err)
	}
	for name, near := range map[string][]string{"20261201T052102Z-gp2-vs-gp3": {runID}, "quikc": {}, "my-quick": {quick}} {
		var none *NoRunError
		if _, err := c.Find(t.Context(), name); !errors.As(err, &none) || len(near) > 0 && (len(none.Near) == 0 || none.Near[0] != near[0]) {
			t.Errorf("%s: %v, want %v to be named first", name, err, near)
		}
	}
}

// A run that has lost its ConfigMap is known by its Job, and one that has lost that too by its pods.
func TestRunWithoutItsConfigMap(t *testing.T) {
	const podsOnly = "20261201T070000Z-quick-kubernetes"
	job := jobOf(runID, 0)
	job.CreationTimestamp = metav1.NewTime(noon)
	c := &Client{Namespace: space, Kubernetes: fake.NewClientset(job, podOf(runID, 0, 1, on("n1", corev1.PodRunning)), podOf(podsOnly, 0, 1, nil))}
	runs, err := c.Runs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := ids(runs), []string{runID, podsOnly}; !cmp.Equal(got, want) {
		t.Fatalf("runs %v, want %v", got, want)
	}
	r := runs[0]
	if r.Name != runName || len(r.Record) != 0 || !r.Created.Equal(noon) || r.State() != JobActive || len(r.Pairs) != 1 || len(r.Pairs[0].Pods) != 1 {
		t.Errorf("run %+v", r)
	}
	if s := runs[1].State(); s != JobDeleted {
		t.Errorf("a run with pods alone is %s", s)
	}
	if found, err := c.Find(t.Context(), "20261201T05"); err != nil || found.ID != runID {
		t.Errorf("found %s, %v", found.ID, err)
	}
}
