package cluster_test

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"ebscope/internal/cluster"
	"ebscope/internal/cluster/manifest"
)

// objectsOf are the objects of the run of a good scene, in some namespace.
func objectsOf(t *testing.T, namespace string) []manifest.Object {
	t.Helper()
	spec := good().wanted.Spec
	spec.Namespace = namespace
	objects, err := manifest.Objects(spec)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// names lists what a run has in a cluster, as "kind name".
func names(t *testing.T, k kubernetes.Interface, namespace string) []string {
	t.Helper()
	ctx, o := t.Context(), metav1.ListOptions{LabelSelector: manifest.RunLabel + "=" + manifest.Name(run)}
	var all []string
	add := func(kind string, n int, name func(int) string, err error) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			all = append(all, kind+" "+name(i))
		}
	}
	classes, err := k.StorageV1().StorageClasses().List(ctx, o)
	add("class", len(classes.Items), func(i int) string { return classes.Items[i].Name }, err)
	claims, err := k.CoreV1().PersistentVolumeClaims(namespace).List(ctx, o)
	add("claim", len(claims.Items), func(i int) string { return claims.Items[i].Name }, err)
	configs, err := k.CoreV1().ConfigMaps(namespace).List(ctx, o)
	add("config", len(configs.Items), func(i int) string { return configs.Items[i].Name }, err)
	budgets, err := k.PolicyV1().PodDisruptionBudgets(namespace).List(ctx, o)
	add("budget", len(budgets.Items), func(i int) string { return budgets.Items[i].Name }, err)
	jobs, err := k.BatchV1().Jobs(namespace).List(ctx, o)
	add("job", len(jobs.Items), func(i int) string { return jobs.Items[i].Name }, err)
	return all
}

// The run of gp2 against gp3 in one pair, in the order of kinds above.
var everything = []string{
	"class ebscope-20261201t052101z-gp2-vs-gp3-gp2", "class ebscope-20261201t052101z-gp2-vs-gp3-gp3", "class ebscope-results-20261201t052101z-gp2-vs-gp3",
	"claim 20261201t052101z-gp2-vs-gp3-0-results", "claim 20261201t052101z-gp2-vs-gp3-gp2-0", "claim 20261201t052101z-gp2-vs-gp3-gp3-0",
	"config 20261201t052101z-gp2-vs-gp3", "budget 20261201t052101z-gp2-vs-gp3", "job 20261201t052101z-gp2-vs-gp3-0",
}

func TestApply(t *testing.T) {
	k := fake.NewClientset()
	c := &cluster.Client{Kubernetes: k, Namespace: "ebscope"}
	for range 2 { // the second time changes nothing
		if err := c.Apply(t.Context(), objectsOf(t, "ebscope")); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(everything, names(t, k, "ebscope")); diff != "" {
			t.Fatal(diff)
		}
	}
	n, err := k.CoreV1().Namespaces().Get(t.Context(), "ebscope", metav1.GetOptions{})
	if err != nil || n.Labels[manifest.EnforceLabel] != "restricted" {
		t.Errorf("namespace %+v, error %v", n, err)
	}
}

func TestApplyLeavesANamespaceAsItIs(t *testing.T) {
	labels := map[string]string{manifest.EnforceLabel: "privileged", "team": "db"}
	k := fake.NewClientset(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ebscope", Labels: maps.Clone(labels)}})
	c := &cluster.Client{Kubernetes: k, Namespace: "ebscope"}
	if err := c.Apply(t.Context(), objectsOf(t, "ebscope")); err != nil {
		t.Fatal(err)
	}
	n, err := k.CoreV1().Namespaces().Get(t.Context(), "ebscope", metav1.GetOptions{})
	if err != nil || !maps.Equal(n.Labels, labels) {
		t.Errorf("labels %v, error %v", n.Labels, err)
	}
}

func TestApplyTouchesNothingForeign(t *testing.T) {
	config := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: manifest.ConfigMapName(run), Namespace: "ebscope", Labels: map[string]string{manifest.ManagedByLabel: "Helm"}},
		Data:       map[string]string{"mine": "yes"},
	}
	k := fake.NewClientset(config, &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: manifest.ClassName(run, "gp2"), Labels: map[string]string{manifest.RunLabel: "another"}}})
	c := &cluster.Client{Kubernetes: k, Namespace: "ebscope"}
	err := c.Apply(t.Context(), objectsOf(t, "ebscope"))
	var declined *cluster.DeclinedError
	if !errors.As(err, &declined) || len(declined.Findings) != 2 {
		t.Fatalf("error %v, want a DeclinedError about two objects", err)
	}
	for i, want := range []string{
		"configmap ebscope/20261201t052101z-gp2-vs-gp3 exists already and is not this run's: it belongs to Helm",
		"storageclass.storage.k8s.io ebscope-20261201t052101z-gp2-vs-gp3-gp2 exists already and is not this run's: it belongs to the run another",
	} {
		if f := declined.Findings[i]; f.Code != cluster.CodeForeign || !strings.HasPrefix(f.Text, want) {
			t.Errorf("finding %+v, want %s", f, want)
		}
	}
	if there := names(t, k, "ebscope"); len(there) != 0 {
		t.Errorf("made nevertheless: %v", there)
	}
	after, err := k.CoreV1().ConfigMaps("ebscope").Get(t.Context(), config.Name, metav1.GetOptions{})
	if err != nil || !maps.Equal(after.Data, config.Data) {
		t.Errorf("the foreign ConfigMap is now %v, error %v", after, err)
	}
}

// Of two runs that were begun in the same second, the later one declines, and has applied nothing that a cleanup of its name
// would take from the first: neither where it sees the first's ConfigMap beforehand, nor where that comes in between.
func TestApplyOfTwoRunsOfOneName(t *testing.T) {
	spec := good().wanted.Spec
	spec.Record = []byte(`{"started":"another moment"}`)
	others, err := manifest.Objects(spec)
	if err != nil {
		t.Fatal(err)
	}
	for _, between := range []bool{false, true} {
		k := fake.NewClientset()
		c := &cluster.Client{Kubernetes: k, Namespace: "ebscope"}
		if err := c.Apply(t.Context(), objectsOf(t, "ebscope")); err != nil {
			t.Fatal(err)
		}
		if between { // its first look does not see the ConfigMap
			unseen := 1
			k.PrependReactor("get", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
				unseen--
				return unseen == 0, nil, apierrors.NewNotFound(corev1.Resource("configmaps"), manifest.ConfigMapName(run))
			})
		}
		k.ClearActions()
		err := c.Apply(t.Context(), others)
		var declined *cluster.DeclinedError
		var part *cluster.PartlyAppliedError
		if !errors.As(err, &declined) || errors.As(err, &part) || declined.Findings[0].Code != cluster.CodeForeign || !strings.Contains(err.Error(), "by another: try again") {
			t.Errorf("error %v, want a DeclinedError alone", err)
		}
		for _, a := range k.Actions() {
			if a.GetVerb() == "patch" {
				t.Errorf("applied nevertheless: %s", a.GetResource().Resource)
			}
		}
		if diff := cmp.Diff(everything, names(t, k, "ebscope")); diff != "" {
			t.Error(diff)
		}
	}
}

// As long as the run has not got its name, there is nothing of it that a cleanup should look for.
func TestApplyThatDoesNotGetTheName(t *testing.T) {
	k := fake.NewClientset()
	k.PrependReactor("create", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewServiceUnavailable("etcd has no leader")
	})
	c := &cluster.Client{Kubernetes: k, Namespace: "ebscope"}
	err := c.Apply(t.Context(), objectsOf(t, "ebscope"))
	var away *cluster.UnreachableError
	var part *cluster.PartlyAppliedError
	if !errors.As(err, &away) || errors.As(err, &part) {
		t.Errorf("error %v, want an UnreachableError alone", err)
	}
	if there := names(t, k, "ebscope"); len(there) != 0 {
		t.Errorf("made: %v", there)
	}
}

func TestApplyGoesOn(t *testing.T) {
	k := fake.NewClientset()
	full := true
	k.PrependReactor("patch", "jobs", func(clienttesting.Action) (bool, runtime.Object, error) {
		return full, nil, apierrors.NewForbidden(schema.GroupResource{Group: "batch", Resource: "jobs"}, manifest.JobName(run, 0), errorText("exceeded quota: team, requested: count/jobs.batch=1, used: 5, limited: 5"))
	})
	c := &cluster.Client{Kubernetes: k, Namespace: "ebscope"}
	err := c.Apply(t.Context(), objectsOf(t, "ebscope"))
	var part *cluster.PartlyAppliedError
	var declined *cluster.DeclinedError
	if !errors.As(err, &part) || !errors.As(err, &declined) || !strings.Contains(err.Error(), "exceeded quota: team") {
		t.Fatalf("error %v, want a PartlyAppliedError", err)
	}
	// Namespace, ConfigMap, 3 classes, 3 claims, budget.
	if len(part.Applied) != 9 || part.Applied[0] != "namespace ebscope" || part.Applied[1] != "configmap ebscope/20261201t052101z-gp2-vs-gp3" || part.Applied[8] != "poddisruptionbudget.policy ebscope/20261201t052101z-gp2-vs-gp3" {
		t.Errorf("applied %v", part.Applied)
	}
	full = false
	if err := c.Apply(t.Context(), objectsOf(t, "ebscope")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(everything, names(t, k, "ebscope")); diff != "" {
		t.Error(diff)
	}
}

func TestApplyLeavesWhatSomebodyElseHasTaken(t *testing.T) {
	k := fake.NewClientset()
	c := &cluster.Client{Kubernetes: k, Namespace: "ebscope"}
	objects := objectsOf(t, "ebscope")
	if err := c.Apply(t.Context(), objects); err != nil {
		t.Fatal(err)
	}
	budgets := k.PolicyV1().PodDisruptionBudgets("ebscope")
	b, err := budgets.Get(t.Context(), manifest.ConfigMapName(run), metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b.Spec.MinAvailable.IntVal = 0
	if _, err := budgets.Update(t.Context(), b, metav1.UpdateOptions{FieldManager: "kubectl-edit"}); err != nil {
		t.Fatal(err)
	}
	err = c.Apply(t.Context(), objects)
	var declined *cluster.DeclinedError
	if !errors.As(err, &declined) || declined.Findings[0].Code != cluster.CodeConflict || !strings.Contains(err.Error(), "kubectl-edit") {
		t.Errorf("error %v, want a DeclinedError that names kubectl-edit", err)
	}
	if b, err = budgets.Get(t.Context(), b.Name, metav1.GetOptions{}); err != nil || b.Spec.MinAvailable.IntVal != 0 {
		t.Errorf("budget %+v, error %v", b.Spec, err)
	}
}
