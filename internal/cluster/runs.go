package cluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"ebscope/internal/cluster/manifest"
	"ebscope/internal/cluster/runner"
)

// RunStatus is a run in a cluster and how it comes along.
type RunStatus struct {
	ID        string // in full: 20261201T052101Z-gp2-vs-gp3-kubernetes
	Name      string // in the cluster: the value of manifest.RunLabel
	Namespace string
	Created   time.Time
	Record    []byte // run.json as it was planned; empty where the run has lost its ConfigMap
	Pairs     []PairStatus
	Events    []Event // what the cluster says about the run's objects, the oldest first
}

// State is active as long as a Job is, then failed or deleted if one is. A run without Jobs was deleted, or never applied
// in full.
func (r RunStatus) State() JobState {
	if len(r.Pairs) == 0 {
		return JobDeleted
	}
	for _, s := range []JobState{JobActive, JobFailed, JobDeleted} {
		if slices.ContainsFunc(r.Pairs, func(p PairStatus) bool { return p.State == s }) {
			return s
		}
	}
	return JobSucceeded
}

// NoRunError says that there is no such run.
type NoRunError struct {
	Name      string
	Namespace string
	Near      []string // ids of the runs that may have been meant, at most three
	Runs      int      // how many there are
}

func (e *NoRunError) Error() string {
	switch {
	case e.Runs == 0:
		return fmt.Sprintf("namespace %s has no run %s, nor any other; is it the right --namespace and --context?", e.Namespace, e.Name)
	case len(e.Near) == 0:
		return fmt.Sprintf("namespace %s has no run %s; `ebscope status` lists its %d", e.Namespace, e.Name, e.Runs)
	}
	return fmt.Sprintf("namespace %s has no run %s; did you mean %s?", e.Namespace, e.Name, strings.Join(e.Near, " or "))
}

// RunRemovedError says that a run was removed from the cluster, or is being removed, while something was wanted of it.
type RunRemovedError struct {
	Run       string // its id
	Namespace string
	// Half says that its ConfigMap is there still and its Jobs are not: a cleanup that was cut, or goes on.
	Half bool
}

func (e *RunRemovedError) Error() string {
	if e.Half {
		return fmt.Sprintf("run %s is half removed from namespace %s, since its Jobs are gone: `ebscope cleanup %[1]s -n %[2]s` finishes that", e.Run, e.Namespace)
	}
	return fmt.Sprintf("run %s was removed from the cluster, namespace %s", e.Run, e.Namespace)
}

// AmbiguousRunError says that a name fits several runs.
type AmbiguousRunError struct {
	Name string
	IDs  []string
}

func (e *AmbiguousRunError) Error() string {
	return fmt.Sprintf("%s may be each of %s: name one in full", e.Name, strings.Join(e.IDs, ", "))
}

// Runs returns the runs in the namespace, the oldest first: what has a ConfigMap with a record, and what has lost that but
// has a Job or a pod still.
func (c *Client) Runs(ctx context.Context) ([]RunStatus, error) {
	return c.runs(ctx, labels.SelectorFromSet(labels.Set{manifest.ManagedByLabel: manifest.ManagedBy}))
}

// Find returns the run of that name or id. The beginning of an id is enough where only one run has it.
func (c *Client) Find(ctx context.Context, idOrName string) (RunStatus, error) {
	all, err := c.Runs(ctx)
	if err != nil {
		return RunStatus{}, err
	}
	var found []RunStatus
	for _, r := range all {
		if r.ID == idOrName || r.Name == idOrName {
			return r, nil
		}
		if idOrName != "" && strings.HasPrefix(r.ID, idOrName) {
			found = append(found, r)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return RunStatus{}, &NoRunError{Name: idOrName, Namespace: c.Namespace, Near: near(idOrName, all), Runs: len(all)}
	}
	return RunStatus{}, &AmbiguousRunError{Name: idOrName, IDs: ids(found)}
}

func (c *Client) runs(ctx context.Context, selector labels.Selector) ([]RunStatus, error) {
	o := metav1.ListOptions{LabelSelector: selector.String()}
	jobs, err := c.Kubernetes.BatchV1().Jobs(c.Namespace).List(ctx, o)
	if err != nil {
		return nil, c.failed(err, "list the Jobs of runs in namespace %s", c.Namespace)
	}
	pods, err := c.Kubernetes.CoreV1().Pods(c.Namespace).List(ctx, o)
	if err != nil {
		return nil, c.failed(err, "list the pods of runs in namespace %s", c.Namespace)
	}
	// After the Jobs: of a run that is being applied, it comes before them.
	maps, err := c.Kubernetes.CoreV1().ConfigMaps(c.Namespace).List(ctx, o)
	if err != nil {
		return nil, c.failed(err, "list the ConfigMaps of runs in namespace %s", c.Namespace)
	}
	events, err := c.Kubernetes.CoreV1().Events(c.Namespace).List(ctx, metav1.ListOptions{FieldSelector: notableEvents})
	if err != nil {
		return nil, c.failed(err, "list the events in namespace %s", c.Namespace)
	}
	byRun := map[string]*RunStatus{}
	for i := range maps.Items {
		m := &maps.Items[i]
		record, ok := m.Data[runner.RecordFile]
		name := m.Labels[manifest.RunLabel]
		if !ok || name == "" {
			continue // not the record of a run
		}
		byRun[name] = &RunStatus{
			ID: cmp.Or(m.Annotations[manifest.RunAnnotation], name), Name: name, Namespace: m.Namespace,
			Created: m.CreationTimestamp.Time, Record: []byte(record),
		}
	}
	runOf := func(o metav1.Object) string { // of a Job or pod; the run may have lost its ConfigMap
		name := o.GetLabels()[manifest.RunLabel]
		if name != "" && byRun[name] == nil {
			byRun[name] = &RunStatus{
				ID: cmp.Or(o.GetAnnotations()[manifest.RunAnnotation], name), Name: name, Namespace: o.GetNamespace(),
				Created: o.GetCreationTimestamp().Time,
			}
		}
		return name
	}
	jobsOf := map[string][]*batchv1.Job{}
	for i := range jobs.Items {
		name := runOf(&jobs.Items[i])
		jobsOf[name] = append(jobsOf[name], &jobs.Items[i])
	}
	podsOf := map[string][]*corev1.Pod{}
	for i := range pods.Items {
		name := runOf(&pods.Items[i])
		podsOf[name] = append(podsOf[name], &pods.Items[i])
	}
	all := make([]RunStatus, 0, len(byRun))
	for name, r := range byRun {
		r.Pairs = pairs(jobsOf[name], podsOf[name])
		r.Events = eventsOf(name, claimsOf(jobsOf[name]), events.Items)
		all = append(all, *r)
	}
	slices.SortFunc(all, func(a, b RunStatus) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
	})
	return all, nil
}

// near returns the ids of the runs that share the most with a name: its words in any order.
func near(name string, runs []RunStatus) []string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '-' || r == '_' || r == '.' || r == ' ' })
	shared := func(r RunStatus) (n int) {
		for _, w := range words {
			if len(w) > 2 && strings.Contains(strings.ToLower(r.ID), w) || len(w) > 8 && strings.HasPrefix(strings.ToLower(r.ID), w[:8]) {
				n++
			}
		}
		return n
	}
	runs = slices.DeleteFunc(slices.Clone(runs), func(r RunStatus) bool { return shared(r) == 0 })
	slices.SortStableFunc(runs, func(a, b RunStatus) int {
		return cmp.Or(cmp.Compare(shared(b), shared(a)), b.Created.Compare(a.Created))
	})
	return ids(runs[:min(len(runs), 3)])
}

func ids(runs []RunStatus) []string {
	all := make([]string, len(runs))
	for i, r := range runs {
		all[i] = r.ID
	}
	return all
}
