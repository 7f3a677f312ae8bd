package cluster

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"ebscope/internal/cluster/manifest"
)

const (
	// maxLine is the longest line that is read whole; the rest of a longer one is passed over.
	maxLine = 64 << 10
	// overlap is how much of a log is asked for again when a stream is opened anew: the server counts in whole seconds, and
	// lines of standard output and error may change places within less than one.
	overlap = 2 * time.Second
	// drain is how long the stream of a pod that is over may stay silent: as long as a runner has to end.
	drain = time.Minute
	// attempts is how often the log of a pod that is over is asked for without getting anything new, and how often a refusal
	// is not believed.
	attempts = 6
)

// logReader reads the log of one pod, across broken streams, each line once.
type logReader struct {
	client    *Client
	namespace string
	pod       string
	over      <-chan struct{} // closed when the pod will write nothing more

	newest time.Time     // stamp of the newest line that was read
	recent []stampedLine // lines not older than overlap before it
}

type stampedLine struct {
	at   time.Time
	text string
}

// read calls line for each line until the pod is over and its log is read to the end. The error says why something of it
// may be missing; it is that of ctx where that was done.
func (r *logReader) read(ctx context.Context, line func(time.Time, string)) error {
	backoff := func() wait.Backoff {
		return wait.Backoff{Duration: time.Second, Factor: 2, Steps: 5, Cap: 15 * time.Second, Jitter: 0.1}
	}
	pause := backoff()
	for failed := 0; ; {
		over := isClosed(r.over)
		n, err := r.stream(ctx, over, line)
		if over && apierrors.IsBadRequest(err) {
			err = nil // its container never started
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil && over:
			return nil
		case apierrors.IsNotFound(err):
			return r.client.failed(err, "read the log of pod %s/%s", r.namespace, r.pod)
		}
		if n > 0 {
			failed, pause = 0, backoff()
		}
		// A server that cannot be reached says nothing about the pod, and the watches wait for it too. One that refuses may
		// only have started a moment ago. Of a pod that still runs, all else may pass: its node may be busy.
		// A node that is gone is an internal error of the server.
		var unreachable *UnreachableError
		answered := !errors.As(r.client.failed(err, "read"), &unreachable) || apierrors.IsInternalError(err)
		refused := apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err)
		if over && answered || refused {
			if failed++; failed >= attempts {
				return r.client.failed(err, "read the log of pod %s/%s", r.namespace, r.pod)
			}
		}
		news := r.over
		if over {
			news = nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-news:
		case <-time.After(pause.Step()):
		}
	}
}

// stream reads the log from where it stands until the server ends it, and returns how many lines were new.
func (r *logReader) stream(ctx context.Context, over bool, line func(time.Time, string)) (fresh int, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-r.over:
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(drain):
			cancel()
		case <-ctx.Done():
		}
	}()
	o := &corev1.PodLogOptions{Container: manifest.RunnerContainer, Follow: !over, Timestamps: true}
	from := time.Time{}
	if !r.newest.IsZero() {
		from = r.newest.Add(-overlap)
		o.SinceTime = &metav1.Time{Time: from.Truncate(time.Second)}
	}
	body, err := r.client.Kubernetes.CoreV1().Pods(r.namespace).GetLogs(r.pod, o).Stream(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { _ = body.Close() }() // it was only read
	known := map[stampedLine]int{}
	for _, l := range r.recent {
		known[l]++
	}
	lines := bufio.NewReaderSize(body, maxLine)
	for {
		text, err := nextLine(lines)
		if err != nil && (!errors.Is(err, io.EOF) || !over || text == "") {
			if errors.Is(err, io.EOF) {
				return fresh, nil
			}
			return fresh, err // text is the beginning of a line, which comes again
		}
		l, ok := stamped(text)
		switch {
		case !ok || l.at.Before(from):
		case known[l] > 0:
			known[l]--
		default:
			fresh++
			r.remember(l)
			for part := range strings.SplitSeq(l.text, "\r") {
				if part != "" {
					line(l.at, part)
				}
			}
		}
	}
}

// remember keeps a line for as long as it may come again.
func (r *logReader) remember(l stampedLine) {
	if l.at.After(r.newest) {
		r.newest = l.at
	}
	r.recent = append(r.recent, l)
	old := 0
	for old < len(r.recent) && r.recent[old].at.Before(r.newest.Add(-overlap)) {
		old++
	}
	r.recent = r.recent[old:]
}

// nextLine returns the next line without its end, cut at maxLine. With an error it is the beginning of a line.
func nextLine(r *bufio.Reader) (string, error) {
	text, err := r.ReadSlice('\n')
	line := string(text)
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = r.ReadSlice('\n')
	}
	return strings.TrimSuffix(line, "\n"), err
}

// stamped takes the server's time stamp off a line.
func stamped(line string) (stampedLine, bool) {
	stamp, text, found := strings.Cut(line, " ")
	if !found {
		return stampedLine{}, false
	}
	at, err := time.Parse(time.RFC3339Nano, stamp)
	return stampedLine{at.UTC(), text}, err == nil
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
