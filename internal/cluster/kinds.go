package cluster

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// kind is a kind of object that a run has in a cluster.
type kind struct {
	name    string
	cluster bool // belongs to the cluster, not to a namespace
	waits   bool // others have to do something before it is gone
}

var (
	jobKind    = kind{name: "Job", waits: true}
	podKind    = kind{name: "Pod", waits: true}
	budgetKind = kind{name: "PodDisruptionBudget"}
	claimKind  = kind{name: "PersistentVolumeClaim", waits: true}
	configKind = kind{name: "ConfigMap"}
	classKind  = kind{name: "StorageClass", cluster: true}
)

// kinds are all of them, those of the cluster last.
var kinds = []kind{jobKind, podKind, budgetKind, claimKind, configKind, classKind}

func (k kind) object(o metav1.Object) Object {
	if k.cluster {
		return Object{Kind: k.name, Name: o.GetName()}
	}
	return Object{Kind: k.name, Namespace: o.GetNamespace(), Name: o.GetName()}
}

func (k kind) list(ctx context.Context, c *Client, selector string) ([]metav1.Object, error) {
	var (
		o    = metav1.ListOptions{LabelSelector: selector}
		list runtime.Object
		err  error
	)
	switch k {
	case jobKind:
		list, err = c.Kubernetes.BatchV1().Jobs(c.Namespace).List(ctx, o)
	case podKind:
		list, err = c.Kubernetes.CoreV1().Pods(c.Namespace).List(ctx, o)
	case budgetKind:
		list, err = c.Kubernetes.PolicyV1().PodDisruptionBudgets(c.Namespace).List(ctx, o)
	case claimKind:
		list, err = c.Kubernetes.CoreV1().PersistentVolumeClaims(c.Namespace).List(ctx, o)
	case configKind:
		list, err = c.Kubernetes.CoreV1().ConfigMaps(c.Namespace).List(ctx, o)
	case classKind:
		list, err = c.Kubernetes.StorageV1().StorageClasses().List(ctx, o)
	}
	if err != nil {
		return nil, err
	}
	items, err := meta.ExtractList(list)
	if err != nil {
		return nil, fmt.Errorf("read the list: %w", err)
	}
	all := make([]metav1.Object, 0, len(items))
	for _, item := range items {
		object, err := meta.Accessor(item)
		if err != nil {
			return nil, fmt.Errorf("read the list: %w", err)
		}
		all = append(all, object)
	}
	return all, nil
}

func (k kind) delete(ctx context.Context, c *Client, name string, o metav1.DeleteOptions) error {
	switch k {
	case jobKind:
		return c.Kubernetes.BatchV1().Jobs(c.Namespace).Delete(ctx, name, o)
	case podKind:
		return c.Kubernetes.CoreV1().Pods(c.Namespace).Delete(ctx, name, o)
	case budgetKind:
		return c.Kubernetes.PolicyV1().PodDisruptionBudgets(c.Namespace).Delete(ctx, name, o)
	case claimKind:
		return c.Kubernetes.CoreV1().PersistentVolumeClaims(c.Namespace).Delete(ctx, name, o)
	case configKind:
		return c.Kubernetes.CoreV1().ConfigMaps(c.Namespace).Delete(ctx, name, o)
	default:
		return c.Kubernetes.StorageV1().StorageClasses().Delete(ctx, name, o)
	}
}

// until watches the objects of a kind that waits until they fit.
func (k kind) until(ctx context.Context, c *Client, selector string, fits func([]any) bool) error {
	narrow := func(o *metav1.ListOptions) { o.LabelSelector = selector }
	switch k {
	case jobKind:
		return until(ctx, c, c.Kubernetes.BatchV1().Jobs(c.Namespace), kindJobs, &batchv1.Job{}, narrow, stripJob, fits)
	case podKind:
		return until(ctx, c, c.Kubernetes.CoreV1().Pods(c.Namespace), kindPods, &corev1.Pod{}, narrow, stripPod, fits)
	default:
		return until(ctx, c, c.Kubernetes.CoreV1().PersistentVolumeClaims(c.Namespace), "persistentvolumeclaims", &corev1.PersistentVolumeClaim{}, narrow, stripNothing, fits)
	}
}
