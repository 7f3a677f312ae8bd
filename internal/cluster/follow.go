package cluster

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"ebscope/internal/cluster/manifest"
	"ebscope/internal/units"
)

// FollowOptions say how closely a run is followed.
type FollowOptions struct {
	// Lines has the pods' logs read, a stream for each pair: for a few pairs. Without it there are no Line and no Rate.
	Lines bool
	// Rate reads the rate from a status line of fio; without it there is no Rate.
	Rate func(line string) (units.IOPS, bool)
}

const (
	// settle is how long the last news of pods may take once all Jobs have ended: Jobs and pods are watched apart.
	settle = 10 * time.Second
	// refusal is how long a server may refuse before it is believed: one that has just started knows no roles yet.
	refusal = time.Minute
)

// Follow tells what happens to a run from now on, beginning with how it stands, and returns its state once all its Jobs
// have ended. The handler is called by one goroutine at a time and holds up the others while it runs.
//
// It goes on while the API server cannot be reached, and tells so; it ends early when ctx is cancelled, when the server
// refuses, or with a RunRemovedError when there is no Job of the run.
func (c *Client) Follow(ctx context.Context, run RunStatus, o FollowOptions, handle func(Happening)) (RunStatus, error) {
	ctx, cancel := context.WithCancel(ctx)
	f := &follower{
		client: c, run: run, options: o, handle: handle, news: make(chan any),
		jobs: map[string]*batchv1.Job{}, pods: map[string]toldPod{}, down: map[string]error{}, readers: map[int]*pairLog{},
	}
	f.run.Pairs, f.run.Events = nil, nil
	defer f.work.Wait() // after the cancellation: defers run last first
	defer cancel()
	f.start(ctx)
	err := f.loop(ctx)
	f.run.Pairs = f.state()
	return f.run, err
}

type follower struct {
	client  *Client
	run     RunStatus
	options FollowOptions
	handle  func(Happening)
	news    chan any // of the informers and log readers
	work    sync.WaitGroup

	synced      bool
	jobs        map[string]*batchv1.Job
	deleted     []PairStatus // Jobs that were deleted before they ended
	pods        map[string]toldPod
	early       []Event          // heard before it is known which claims are the run's
	down        map[string]error // kinds for which the server does not answer
	refused     error            // the last answer was a refusal
	refusedLong <-chan time.Time // when it is believed
	readers     map[int]*pairLog
}

type toldPod struct {
	pair   int
	status PodStatus
}

// What the news are.
type (
	podNews struct {
		pod     *corev1.Pod
		deleted bool
	}
	jobNews struct {
		job     *batchv1.Job
		deleted bool
	}
	syncNews struct{} // what there was at the beginning has been told
)

// tell hands news to the loop, unless it has ended.
func (f *follower) tell(ctx context.Context, news any) {
	select {
	case f.news <- news:
	case <-ctx.Done():
	}
}

func (f *follower) start(ctx context.Context) {
	core, batch, namespace := f.client.Kubernetes.CoreV1(), f.client.Kubernetes.BatchV1(), f.run.Namespace
	heard := func(_ context.Context, a answer) { f.tell(ctx, a) }
	jobs := informer(f.client, batch.Jobs(namespace), kindJobs, &batchv1.Job{}, ofRun(f.run.Name), stripJob, heard)
	pods := informer(f.client, core.Pods(namespace), kindPods, &corev1.Pod{}, ofRun(f.run.Name), stripPod, heard)
	events := informer(f.client, core.Events(namespace), kindEvents, &corev1.Event{},
		func(o *metav1.ListOptions) { o.FieldSelector = notableEvents }, stripEvent, heard)

	synced := []cache.InformerSynced{
		f.listen(ctx, jobs, func(o any, deleted bool) {
			if j, ok := o.(*batchv1.Job); ok {
				f.tell(ctx, jobNews{j, deleted})
			}
		}),
		f.listen(ctx, pods, func(o any, deleted bool) {
			if p, ok := o.(*corev1.Pod); ok && p.Labels[manifest.RoleLabel] == manifest.RoleRunner {
				f.tell(ctx, podNews{p, deleted})
			}
		}),
		f.listen(ctx, events, func(o any, deleted bool) {
			if e, ok := o.(*corev1.Event); ok && !deleted {
				if c, notable := clusterEvent(e); notable {
					f.tell(ctx, c)
				}
			}
		}),
	}
	f.work.Go(func() {
		if cache.WaitForCacheSync(ctx.Done(), synced...) {
			f.tell(ctx, syncNews{})
		}
	})
}

// listen runs an informer. An event that only happened again is no news.
func (f *follower) listen(ctx context.Context, i cache.SharedIndexInformer, news func(object any, deleted bool)) cache.InformerSynced {
	registration, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(o any) { news(o, false) },
		UpdateFunc: func(old, o any) {
			was, _ := old.(*corev1.Event)
			if is, ok := o.(*corev1.Event); ok && was != nil && was.Message == is.Message {
				return
			}
			news(o, false)
		},
		DeleteFunc: func(o any) {
			if unseen, ok := o.(cache.DeletedFinalStateUnknown); ok {
				o = unseen.Obj
			}
			news(o, true)
		},
	})
	if err != nil {
		return func() bool { return false } // only an informer that was stopped takes no handler
	}
	f.work.Go(func() { i.RunWithContext(ctx) })
	return registration.HasSynced
}

func (f *follower) loop(ctx context.Context) error {
	var settled <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-f.refusedLong:
			return f.refused
		case <-settled:
			if f.ended() && f.drained() {
				return nil
			}
			settled = nil
			continue
		case news := <-f.news:
			if err := f.take(ctx, news); err != nil {
				return err
			}
		}
		switch {
		case !f.ended() || !f.drained():
			settled = nil
		case f.settled():
			return nil
		case settled == nil:
			settled = time.After(settle)
		}
	}
}

func (f *follower) take(ctx context.Context, news any) error {
	switch n := news.(type) {
	case answer:
		return f.connection(n)
	case syncNews:
		return f.sync(ctx)
	case jobNews:
		f.job(n)
	case podNews:
		f.pod(ctx, n)
	case Event:
		f.event(n)
	case readerDone:
		f.readOn(ctx, n)
	case Happening: // of a log reader
		f.handle(n)
	}
	return nil
}

// connection takes note of whether the server answers.
func (f *follower) connection(a answer) error {
	if a.err == nil {
		if _, was := f.down[a.kind]; was {
			delete(f.down, a.kind)
			if len(f.down) == 0 {
				f.refused, f.refusedLong = nil, nil
				f.handle(Connection{})
			}
		}
		return nil
	}
	if errors.Is(a.err, context.Canceled) {
		return nil
	}
	err := f.client.failed(a.err, "watch the %s of run %s", a.kind, f.run.ID)
	var forbidden *ForbiddenError
	var unauthorized *UnauthorizedError
	if errors.As(err, &forbidden) || errors.As(err, &unauthorized) {
		if !f.synced {
			return err
		}
		if f.refused == nil {
			f.refusedLong = time.After(refusal)
		}
		f.refused = err
	}
	if len(f.down) == 0 {
		f.handle(Connection{Err: err})
	}
	f.down[a.kind] = err
	return nil
}

func (f *follower) sync(ctx context.Context) error {
	f.synced = true
	if len(f.jobs) == 0 && len(f.deleted) == 0 {
		_, err := f.client.Kubernetes.CoreV1().ConfigMaps(f.run.Namespace).Get(ctx, manifest.ConfigMapName(f.run.ID), metav1.GetOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return f.client.failed(err, "read the ConfigMap of run %s", f.run.ID)
		}
		return &RunRemovedError{Run: f.run.ID, Namespace: f.run.Namespace, Half: err == nil}
	}
	slices.SortStableFunc(f.early, func(a, b Event) int { return a.Time.Compare(b.Time) })
	for _, e := range f.early {
		f.event(e)
	}
	f.early = nil
	return nil
}

func (f *follower) event(e Event) {
	if !f.synced {
		f.early = append(f.early, e)
		return
	}
	claims := claimsOf(values(f.jobs))
	if concerns(e, f.run.Name, claims) {
		f.run.Events = append(f.run.Events, e)
		f.handle(e)
	}
}

func (f *follower) job(n jobNews) {
	if n.job.Labels[manifest.RunLabel] != f.run.Name {
		return
	}
	was, known := f.jobs[n.job.Name]
	before := JobActive
	if known {
		before = pairStatus(was).State
	}
	is := pairStatus(n.job)
	if n.deleted {
		delete(f.jobs, n.job.Name)
		if is.State == JobActive {
			is.State = JobDeleted
		}
		f.deleted = append(f.deleted, is)
	} else {
		f.jobs[n.job.Name] = n.job
	}
	if before == JobActive && is.State != JobActive {
		is.Pods = f.podsOf(is.Pair)
		f.handle(PairEnd{Pair: is})
	}
}

func (f *follower) pod(ctx context.Context, n podNews) {
	if n.pod.Labels[manifest.RunLabel] != f.run.Name {
		return
	}
	status, pair := podStatus(n.pod), pairOf(n.pod.Labels)
	if n.deleted && !status.State.Over() {
		status.State, status.Reason, status.Message = PodDeleted, "", ""
	}
	was, known := f.pods[n.pod.Name]
	if known && was.status.State.Over() && status.State != was.status.State {
		// It keeps the reason for which it ended: a pod that was evicted is deleted afterwards.
		status.State, status.Reason, status.Message = was.status.State, was.status.Reason, was.status.Message
	}
	change := PodChange{Pair: pair, Pod: status}
	if !known {
		if before := f.podsOf(pair); len(before) > 0 {
			change.Replaces = before[len(before)-1].Name
		}
	}
	f.pods[n.pod.Name] = toldPod{pair, status}
	if !known || was.status.State != status.State || was.status.Reason != status.Reason || was.status.Message != status.Message ||
		was.status.Node != status.Node {
		f.handle(change)
	}
	if f.options.Lines {
		f.readLog(ctx, pair, n.pod, status)
	}
}

// podsOf returns the pods of a pair that were seen, the oldest first.
func (f *follower) podsOf(pair int) []PodStatus {
	var all []PodStatus
	for _, p := range f.pods {
		if p.pair == pair {
			all = append(all, p.status)
		}
	}
	slices.SortFunc(all, func(a, b PodStatus) int { return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Name, b.Name)) })
	return all
}

// ended says whether every Job of the run has.
func (f *follower) ended() bool {
	if !f.synced {
		return false
	}
	for _, j := range f.jobs {
		if pairStatus(j).State == JobActive {
			return false
		}
	}
	return true
}

// settled says whether the pods have been heard of up to their end too.
func (f *follower) settled() bool {
	if len(f.down) > 0 {
		return false
	}
	succeeded := map[int]bool{}
	for _, p := range f.pods {
		if !p.status.State.Over() {
			return false
		}
		if p.status.State == PodSucceeded {
			succeeded[p.pair] = true
		}
	}
	for _, j := range f.jobs {
		if s := pairStatus(j); s.State == JobSucceeded && !succeeded[s.Pair] {
			return false
		}
	}
	return true
}

// state returns how the pairs stand, with the pods that are gone.
func (f *follower) state() []PairStatus {
	all := slices.Clone(f.deleted)
	for _, j := range f.jobs {
		all = append(all, pairStatus(j))
	}
	for i := range all {
		all[i].Pods = f.podsOf(all[i].Pair)
	}
	slices.SortFunc(all, func(a, b PairStatus) int { return cmp.Compare(a.Pair, b.Pair) })
	return all
}

func values(jobs map[string]*batchv1.Job) []*batchv1.Job {
	all := make([]*batchv1.Job, 0, len(jobs))
	for _, j := range jobs {
		all = append(all, j)
	}
	return all
}
