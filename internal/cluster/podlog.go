package cluster

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// pairLog is where the reading of a pair's logs stands. Its pods are read one after another, so that what one of them said
// comes before what the next one says.
type pairLog struct {
	known   []string    // pods that were read, are read, or wait for it
	waiting []*podToken // the oldest first
	current *podToken   // nil: none is read now
}

// podToken is a pod whose log is to be read.
type podToken struct {
	pair   int
	name   string
	over   chan struct{} // closed when it will write nothing more
	closed bool
}

func (p *podToken) end() {
	if !p.closed {
		close(p.over)
		p.closed = true
	}
}

// readerDone says that a pod's log was read to its end.
type readerDone struct {
	pod *podToken
	err error // of the last attempt; nil: nothing is missing
}

// readLog sees to it that a pod's log is read once its container has started.
func (f *follower) readLog(ctx context.Context, pair int, p *corev1.Pod, s PodStatus) {
	l := f.readers[pair]
	if l == nil {
		l = &pairLog{}
		f.readers[pair] = l
	}
	phase := p.Status.Phase
	terminal := phase == corev1.PodSucceeded || phase == corev1.PodFailed
	if !slices.Contains(l.known, p.Name) && (phase == corev1.PodRunning || terminal && s.Node != "") {
		l.known = append(l.known, p.Name)
		l.waiting = append(l.waiting, &podToken{pair: pair, name: p.Name, over: make(chan struct{})})
		if l.current != nil {
			l.current.end() // it was replaced: its node may be lost, and its log never end
		}
	}
	_, stillThere := f.pods[p.Name]
	if terminal || !stillThere || s.State == PodLost {
		for _, t := range append(slices.Clone(l.waiting), l.current) {
			if t != nil && t.name == p.Name {
				t.end()
			}
		}
	}
	f.next(ctx, l)
}

// readOn goes on with the next pod of a pair.
func (f *follower) readOn(ctx context.Context, n readerDone) {
	if n.err != nil {
		f.handle(LinesLost{Pair: n.pod.pair, Pod: n.pod.name, Err: n.err})
	}
	l := f.readers[n.pod.pair]
	l.current = nil
	f.next(ctx, l)
}

func (f *follower) next(ctx context.Context, l *pairLog) {
	if l.current != nil || len(l.waiting) == 0 {
		return
	}
	t := l.waiting[0]
	l.current, l.waiting = t, l.waiting[1:]
	if len(l.waiting) > 0 {
		t.end()
	}
	f.work.Go(func() {
		r := logReader{client: f.client, namespace: f.run.Namespace, pod: t.name, over: t.over}
		err := r.read(ctx, func(at time.Time, text string) { f.line(ctx, t, at, text) })
		f.tell(ctx, readerDone{t, err})
	})
}

// drained says whether no log is being read.
func (f *follower) drained() bool {
	for _, l := range f.readers {
		if l.current != nil {
			return false
		}
	}
	return true
}

// line tells what a line of a log says. Whatever is neither an event nor a status line is left in the log.
func (f *follower) line(ctx context.Context, t *podToken, at time.Time, text string) {
	if e, ok := eventLine(text); ok {
		f.tell(ctx, Line{Pair: t.pair, Pod: t.name, Event: e})
		return
	}
	if f.options.Rate == nil {
		return
	}
	if iops, ok := f.options.Rate(text); ok {
		f.tell(ctx, Rate{Pair: t.pair, Pod: t.name, Time: at, IOPS: iops})
	}
}
