package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"ebscope/internal/cluster/manifest"
)

func resultsOf(id string, pair int) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{ObjectMeta: objectMeta(id, manifest.ResultsClaimName(id, pair), manifest.PairLabel, fmt.Sprint(pair))}
}

// A collector of a run that is being removed would wait for its volume for ever, and the removal for the collector.
func TestCollectionOfARunThatIsRemoved(t *testing.T) {
	deleted := resultsOf(runID, 0)
	deleted.DeletionTimestamp, deleted.Finalizers = &metav1.Time{Time: noon}, []string{"kubernetes.io/pvc-protection"}
	run := RunStatus{ID: runID, Name: runName, Namespace: space}
	for name, c := range map[string]struct {
		claim    *corev1.PersistentVolumeClaim
		then     func(*fake.Clientset, context.CancelFunc) // a minute later
		after    time.Duration
		canceled bool
	}{
		"gone before":          {},
		"being deleted before": {claim: deleted},
		"deleted meanwhile": {claim: resultsOf(runID, 0), after: time.Minute, then: func(set *fake.Clientset, _ context.CancelFunc) {
			must[*corev1.PersistentVolumeClaim](t)(set.CoreV1().PersistentVolumeClaims(space).Update(t.Context(), deleted, metav1.UpdateOptions{}))
		}},
		"gone meanwhile": {claim: resultsOf(runID, 0), after: time.Minute, then: func(set *fake.Clientset, _ context.CancelFunc) {
			_ = set.CoreV1().PersistentVolumeClaims(space).Delete(t.Context(), deleted.Name, metav1.DeleteOptions{})
		}},
		"cancelled": {claim: resultsOf(runID, 0), after: time.Minute, canceled: true, then: func(_ *fake.Clientset, cancel context.CancelFunc) { cancel() }},
	} {
		synctest.Test(t, func(t *testing.T) {
			set := fake.NewClientset()
			if c.claim != nil {
				set = fake.NewClientset(c.claim)
			}
			client := &Client{Namespace: space, Kubernetes: set}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if c.then != nil {
				go func() {
					time.Sleep(c.after)
					c.then(set, cancel)
				}()
			}
			began := time.Now()
			_, err := client.Collect(ctx, run, 0, t.TempDir(), CollectOptions{Patience: 24 * time.Hour})
			var removed *RunRemovedError
			if c.canceled != errors.Is(err, context.Canceled) || c.canceled == errors.As(err, &removed) {
				t.Errorf("%s: error %v", name, err)
			}
			if took := time.Since(began) - c.after; took > 2*time.Second {
				t.Errorf("%s: it went on for %v", name, took)
			}
			made := slices.ContainsFunc(set.Actions(), func(a clienttesting.Action) bool { return a.Matches("create", "pods") })
			if pods, _ := set.CoreV1().Pods(space).List(t.Context(), metav1.ListOptions{}); len(pods.Items) != 0 || made != (c.then != nil) {
				t.Errorf("%s: made %v, %d pods are left", name, made, len(pods.Items))
			}
		})
	}
}
