package cluster

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ebscope/internal/cluster/manifest"
)

// Unbound says of each claim that a run made and that has no volume yet what it waits for, in the cluster's words. As long as
// a pod waits for the volumes of its claims, nothing in the pod itself says so.
func (c *Client) Unbound(ctx context.Context, run RunStatus) ([]string, error) {
	claims, err := c.Kubernetes.CoreV1().PersistentVolumeClaims(run.Namespace).List(ctx, metav1.ListOptions{LabelSelector: manifest.RunLabel + "=" + run.Name})
	if err != nil {
		return nil, c.failed(err, "list the claims of run %s", run.Name)
	}
	events, err := c.Kubernetes.CoreV1().Events(run.Namespace).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.kind=PersistentVolumeClaim"})
	if err != nil {
		return nil, c.failed(err, "list the events of namespace %s", run.Namespace)
	}
	var waits []string
	for _, claim := range claims.Items {
		if claim.Status.Phase != corev1.ClaimPending {
			continue
		}
		text := fmt.Sprintf("claim %s has no volume", claim.Name)
		if class := claim.Spec.StorageClassName; class != nil {
			text += " of StorageClass " + *class
		}
		if said := eventsOf(run.Name, map[string]bool{claim.Name: true}, events.Items); len(said) > 0 {
			// A warning says more than that a provisioner is waited for.
			last := said[len(said)-1]
			if i := slices.IndexFunc(said, func(e Event) bool { return e.Warning }); i >= 0 {
				last = said[i]
			}
			text += ": " + last.Reason + ": " + last.Message
		}
		waits = append(waits, text)
	}
	return waits, nil
}
