package cluster

import (
	"context"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"ebscope/internal/cluster/manifest"
)

// kinds that are watched.
const (
	kindJobs   = "jobs"
	kindPods   = "pods"
	kindEvents = "events"
)

// answer is the outcome of a request for a list or a watch.
type answer struct {
	kind string
	err  error // nil: the server answered
}

// lister is what client-go's typed clients have in common.
type lister[L runtime.Object] interface {
	List(context.Context, metav1.ListOptions) (L, error)
	Watch(context.Context, metav1.ListOptions) (watch.Interface, error)
}

// informer keeps what is watched of one kind, by one list and one watch. Each answer of the server is told to heard.
func informer[L runtime.Object](
	c *Client, from lister[L], kind string, object runtime.Object, narrow func(*metav1.ListOptions), strip cache.TransformFunc,
	heard func(context.Context, answer),
) cache.SharedIndexInformer {
	lw := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			narrow(&o)
			list, err := from.List(ctx, o)
			heard(ctx, answer{kind, err})
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			narrow(&o)
			w, err := from.Watch(ctx, o)
			heard(ctx, answer{kind, err})
			return w, err
		},
	}
	i := cache.NewSharedIndexInformer(cache.ToListWatcherWithWatchListSemantics(lw, c.Kubernetes), object, 0, cache.Indexers{})
	// These fail only on an informer that already runs. Errors are told to heard; client-go would also log them.
	_ = i.SetTransform(strip)
	_ = i.SetWatchErrorHandlerWithContext(func(context.Context, *cache.Reflector, error) {})
	return i
}

// ofRun narrows a list to the objects of one run.
func ofRun(run string) func(*metav1.ListOptions) {
	selector := runSelector(run).String()
	return func(o *metav1.ListOptions) { o.LabelSelector = selector }
}

func runSelector(run string) labels.Selector {
	return labels.SelectorFromSet(labels.Set{manifest.ManagedByLabel: manifest.ManagedBy, manifest.RunLabel: run})
}

// The strip functions leave only what this package reads: a thousand pods are held in memory at once.

func stripPod(object any) (any, error) {
	p, ok := object.(*corev1.Pod)
	if !ok {
		return object, nil
	}
	s := &corev1.Pod{ObjectMeta: stripMeta(p.ObjectMeta)}
	s.Spec.NodeName = p.Spec.NodeName
	for _, c := range p.Spec.Containers {
		s.Spec.Containers = append(s.Spec.Containers, corev1.Container{Name: c.Name})
	}
	s.Status = corev1.PodStatus{
		Phase: p.Status.Phase, Reason: p.Status.Reason, Message: p.Status.Message, Conditions: p.Status.Conditions,
		ContainerStatuses: p.Status.ContainerStatuses, InitContainerStatuses: p.Status.InitContainerStatuses,
	}
	return s, nil
}

func stripJob(object any) (any, error) {
	j, ok := object.(*batchv1.Job)
	if !ok {
		return object, nil
	}
	s := &batchv1.Job{ObjectMeta: stripMeta(j.ObjectMeta)}
	s.Status.Conditions = j.Status.Conditions
	for _, v := range j.Spec.Template.Spec.Volumes {
		if v.PersistentVolumeClaim != nil {
			s.Spec.Template.Spec.Volumes = append(s.Spec.Template.Spec.Volumes, v)
		}
	}
	return s, nil
}

// stripNothing is for kinds of which there are few.
func stripNothing(object any) (any, error) { return object, nil }

func stripEvent(object any) (any, error) {
	if e, ok := object.(*corev1.Event); ok {
		e.ManagedFields, e.Related, e.Annotations = nil, nil, nil
	}
	return object, nil
}

func stripMeta(m metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: m.Name, Namespace: m.Namespace, UID: m.UID, ResourceVersion: m.ResourceVersion,
		CreationTimestamp: m.CreationTimestamp, DeletionTimestamp: m.DeletionTimestamp, Finalizers: m.Finalizers,
		Labels: map[string]string{
			manifest.ManagedByLabel: m.Labels[manifest.ManagedByLabel], manifest.RunLabel: m.Labels[manifest.RunLabel],
			manifest.PairLabel: m.Labels[manifest.PairLabel], manifest.RoleLabel: m.Labels[manifest.RoleLabel],
		},
	}
}

// until watches objects until those that there are fit, or ctx is done. It goes on while the server does not answer, but
// not when it refuses.
func until[L runtime.Object](
	ctx context.Context, c *Client, from lister[L], kind string, object runtime.Object, narrow func(*metav1.ListOptions),
	strip cache.TransformFunc, fits func(objects []any) bool,
) error {
	ctx, cancel := context.WithCancelCause(ctx)
	i := informer(c, from, kind, object, narrow, strip, func(_ context.Context, a answer) {
		if apierrors.IsForbidden(a.err) || apierrors.IsUnauthorized(a.err) {
			cancel(c.failed(a.err, "watch %s", kind))
		}
	})
	changed := make(chan struct{}, 1)
	note := func() {
		select {
		case changed <- struct{}{}:
		default: // there is a note already
		}
	}
	_, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { note() }, UpdateFunc: func(any, any) { note() }, DeleteFunc: func(any) { note() },
	})
	if err != nil {
		cancel(nil)
		return err
	}
	var work sync.WaitGroup
	defer work.Wait() // after the cancellation: defers run last first
	defer cancel(nil)
	work.Go(func() { i.RunWithContext(ctx) })
	if !cache.WaitForCacheSync(ctx.Done(), i.HasSynced) {
		return context.Cause(ctx)
	}
	for !fits(i.GetStore().List()) {
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}
