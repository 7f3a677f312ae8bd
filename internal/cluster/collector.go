package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	"ebscope/internal/cluster/manifest"
)

// NotRunningError says that a pod does not come up.
type NotRunningError struct {
	Pod     string
	Reason  string // the cluster's own word
	Message string
	After   time.Duration // how long it was waited for; zero where waiting cannot help
}

func (e *NotRunningError) Error() string {
	s := "pod " + e.Pod + " does not run"
	if e.After > 0 {
		s += fmt.Sprintf(" after %v", e.After.Round(time.Second))
	}
	s += ": " + cmp.Or(e.Reason, "the cluster gives no reason")
	if e.Message != "" {
		s += ": " + e.Message
	}
	return s
}

// hopeless are reasons for which a pod waits that do not go away by themselves.
var hopeless = []string{
	"ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError", "CreateContainerError", "RunContainerError",
}

// startCollector makes the pod through which the results of a pair are read, or takes one that an earlier attempt left, and
// waits until it runs. Without the results volume it never would, and would hold up who removes the run.
func (c *Client) startCollector(ctx context.Context, spec manifest.Spec, pair int, patience time.Duration) (name string, err error) {
	pod, ok := manifest.Collector(spec, pair).(*corev1.Pod)
	if !ok {
		return "", fmt.Errorf("the collector of run %s is no pod", spec.Run)
	}
	if err := c.resultsThere(ctx, spec, pair); err != nil {
		return pod.Name, err
	}
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	waiting, stop := c.whileResults(waiting, spec, pair)
	defer stop()
	defer func() {
		if removed := (*RunRemovedError)(nil); err != nil && errors.As(context.Cause(waiting), &removed) {
			err = removed
		}
	}()
	pods := c.Kubernetes.CoreV1().Pods(spec.Namespace)
	for {
		_, err := pods.Create(waiting, pod, metav1.CreateOptions{FieldManager: manifest.FieldManager})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return pod.Name, c.failed(err, "make pod %s/%s", spec.Namespace, pod.Name)
		}
		last, err := c.untilPod(waiting, spec.Namespace, pod.Name, func(p *corev1.Pod) bool {
			s := podStatus(p)
			return s.State != PodPending || slices.Contains(hopeless, s.Reason)
		})
		status := PodStatus{}
		if last != nil {
			status = podStatus(last)
		}
		switch {
		case waiting.Err() != nil && ctx.Err() == nil:
			return pod.Name, c.notRunning(ctx, spec.Namespace, pod.Name, status, patience)
		case err != nil:
			return pod.Name, err
		case status.State == PodRunning:
			return pod.Name, nil
		case status.State == PodPending:
			return pod.Name, c.notRunning(ctx, spec.Namespace, pod.Name, status, 0)
		}
		// It has slept for its hour, was evicted or is being deleted: away with it, and another.
		if err := c.deletePod(waiting, spec.Namespace, pod.Name); err != nil {
			return pod.Name, err
		}
		if _, err := c.untilPod(waiting, spec.Namespace, pod.Name, nil); err != nil && waiting.Err() == nil {
			return pod.Name, err
		}
	}
}

// resultsThere says whether a pair's results volume is there to be read.
func (c *Client) resultsThere(ctx context.Context, spec manifest.Spec, pair int) error {
	name := manifest.ResultsClaimName(spec.Run, pair)
	claim, err := c.Kubernetes.CoreV1().PersistentVolumeClaims(spec.Namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && claim.DeletionTimestamp != nil {
		return &RunRemovedError{Run: spec.Run, Namespace: spec.Namespace}
	}
	return c.failed(err, "read claim %s/%s", spec.Namespace, name)
}

// whileResults returns a context that is cancelled with a RunRemovedError once a pair's results volume is to go. Call stop
// when it is not needed any more.
func (c *Client) whileResults(ctx context.Context, spec manifest.Spec, pair int) (while context.Context, stop func()) {
	name := manifest.ResultsClaimName(spec.Run, pair)
	while, cancel := context.WithCancelCause(ctx)
	var work sync.WaitGroup
	work.Go(func() {
		err := until(while, c, c.Kubernetes.CoreV1().PersistentVolumeClaims(spec.Namespace), "persistentvolumeclaims", &corev1.PersistentVolumeClaim{}, called(name), stripNothing,
			func(objects []any) bool {
				return !slices.ContainsFunc(objects, func(o any) bool {
					claim, ok := o.(*corev1.PersistentVolumeClaim)
					return ok && claim.Name == name && claim.DeletionTimestamp == nil
				})
			})
		if err == nil { // without leave to watch it, the pod is waited for all the same
			cancel(&RunRemovedError{Run: spec.Run, Namespace: spec.Namespace})
		}
	})
	return while, func() {
		cancel(nil)
		work.Wait()
	}
}

// called narrows a list to the object of one name.
func called(name string) func(*metav1.ListOptions) {
	return func(o *metav1.ListOptions) {
		o.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()
	}
}

// notRunning looks for the reason in the pod and in what the cluster last said about it: why a volume is not attached is
// said in events alone.
func (c *Client) notRunning(ctx context.Context, namespace, pod string, s PodStatus, after time.Duration) error {
	e := &NotRunningError{Pod: namespace + "/" + pod, Reason: s.Reason, Message: s.Message, After: after}
	if s.Reason != "" && s.Reason != "ContainerCreating" {
		return e
	}
	events, err := c.Kubernetes.CoreV1().Events(namespace).List(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("involvedObject.name", pod).String(),
	})
	if err != nil {
		return e // the reason is only missing
	}
	var last Event
	for i := range events.Items {
		if h, notable := clusterEvent(&events.Items[i]); notable && h.Object == pod && !h.Time.Before(last.Time) {
			last = h
		}
	}
	if last.Reason != "" {
		e.Reason, e.Message = last.Reason, last.Message
	}
	return e
}

// untilPod waits until a pod fits, and returns it as it was last seen. Without fits it waits until the pod is gone.
func (c *Client) untilPod(ctx context.Context, namespace, name string, fits func(*corev1.Pod) bool) (last *corev1.Pod, err error) {
	err = until(ctx, c, c.Kubernetes.CoreV1().Pods(namespace), kindPods, &corev1.Pod{}, called(name), stripPod, func(objects []any) bool {
		last = nil
		for _, o := range objects {
			if p, ok := o.(*corev1.Pod); ok && p.Name == name {
				last = p
			}
		}
		if fits == nil {
			return last == nil
		}
		return last != nil && fits(last)
	})
	return last, err
}

func (c *Client) deletePod(ctx context.Context, namespace, name string) error {
	err := c.Kubernetes.CoreV1().Pods(namespace).Delete(ctx, name, metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return c.failed(err, "delete pod %s/%s", namespace, name)
}

// placement returns what a collector needs of the spec of a run, from its Job: it may have been applied by other hands.
func (c *Client) placement(ctx context.Context, run RunStatus, pair int) (manifest.Spec, bool, error) {
	spec := manifest.Spec{Run: run.ID, Namespace: run.Namespace}
	job, err := c.Kubernetes.BatchV1().Jobs(run.Namespace).Get(ctx, manifest.JobName(run.ID, pair), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return spec, true, nil // the results may still be there
	}
	if err != nil {
		return spec, false, c.failed(err, "read the Job of pair %d of run %s", pair, run.ID)
	}
	pod := job.Spec.Template.Spec
	spec.NodeSelector, spec.Tolerations = pod.NodeSelector, pod.Tolerations
	for _, container := range pod.Containers {
		if container.Name == manifest.RunnerContainer {
			spec.Image = container.Image
		}
	}
	return spec, pairStatus(job).State != JobActive, nil
}
