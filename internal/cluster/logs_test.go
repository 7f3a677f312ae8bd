package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// aLog is the log of a pod as a kubelet gives it: lines with their stamps.
type aLog []stampedLine

// since is what a kubelet gives from a time on, which it takes in whole seconds.
func (l aLog) since(r *http.Request) string {
	var from time.Time
	if text := r.URL.Query().Get("sinceTime"); text != "" {
		var err error
		if from, err = time.Parse(time.RFC3339, text); err != nil {
			return "bad sinceTime " + text
		}
	}
	var s strings.Builder
	for _, line := range l {
		if !line.at.Before(from) {
			s.WriteString(line.at.Format(time.RFC3339Nano) + " " + line.text + "\n")
		}
	}
	return s.String()
}

func (l aLog) texts() []string {
	var all []string
	for _, line := range l {
		all = append(all, line.text)
	}
	return all
}

// unsteady is a log with all that makes dropping lines hard: equal lines with equal stamps, lines of two outputs that
// changed places, bursts and pauses.
func unsteady(random *rand.Rand) aLog {
	var l aLog
	at := noon
	for i := range 400 {
		switch random.IntN(8) {
		case 0:
			at = at.Add(time.Duration(random.IntN(5000)) * time.Millisecond)
		case 1, 2:
			at = at.Add(time.Duration(random.IntN(1e9)))
		case 3:
			at = at.Add(-time.Duration(random.IntN(3e6))) // 3 ms at most
		case 4:
			if i > 0 {
				l = append(l, l[i-1])
				continue
			}
		}
		l = append(l, stampedLine{at, fmt.Sprintf("line %d", i)})
	}
	return l
}

// transport answers requests in memory, so that the time between attempts costs none.
type transport func(*http.Request) (io.Reader, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := t(r)
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: http.StatusOK, Request: r, Header: http.Header{}, Body: io.NopCloser(body)}, nil
}

func logClient(t *testing.T, config *rest.Config) *Client {
	t.Helper()
	config.QPS = -1
	set, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return &Client{Kubernetes: set, Config: config, Namespace: space}
}

// Whatever breaks a stream, each line is told once and in order.
func TestLogsAcrossBrokenStreams(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 5))
			log := unsteady(random)
			over := make(chan struct{})
			breaks := 0
			c := logClient(t, &rest.Config{Host: "http://cluster", Transport: transport(func(r *http.Request) (io.Reader, error) {
				text := log.since(r)
				if r.URL.Query().Get("follow") == "" {
					return strings.NewReader(text), nil
				}
				if breaks++; breaks == 30 {
					close(over)
				}
				cut := text[:random.IntN(len(text)+1)]
				switch random.IntN(3) {
				case 0: // the server shuts down
					return nil, &net.OpError{Op: "dial", Err: errors.New("connection refused")}
				case 1: // in the middle of a line
					return io.MultiReader(strings.NewReader(cut), failing{}), nil
				default: // a clean end, as when a kubelet restarts
					return strings.NewReader(cut), nil
				}
			})})
			r := logReader{client: c, namespace: space, pod: "p", over: over}
			var got []string
			if err := r.read(t.Context(), func(_ time.Time, text string) { got = append(got, text) }); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(log.texts(), got); diff != "" {
				t.Errorf("seed %d: %s", seed, diff)
			}
		})
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// A node that is gone leaves a stream that neither gives anything nor ends. That the server is not reached afterwards says
// nothing about the pod: it is waited for, here up to a deadline.
func TestLogOfALostNodeEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		over := make(chan struct{})
		c := logClient(t, &rest.Config{Host: "http://cluster", Transport: transport(func(r *http.Request) (io.Reader, error) {
			if r.URL.Query().Get("follow") == "" {
				return nil, errors.New("connection refused")
			}
			return io.MultiReader(strings.NewReader("2026-12-01T12:00:00Z last words\n"), silent{r.Context()}), nil
		})})
		r := logReader{client: c, namespace: space, pod: "p", over: over}
		go func() {
			time.Sleep(time.Hour)
			close(over)
		}()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Hour)
		defer cancel()
		var got []string
		if err := r.read(ctx, func(_ time.Time, text string) { got = append(got, text) }); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		if !cmp.Equal(got, []string{"last words"}) {
			t.Errorf("read %q", got)
		}
	})
}

type silent struct{ ctx context.Context }

func (s silent) Read([]byte) (int, error) {
	<-s.ctx.Done()
	return 0, s.ctx.Err()
}

// Over a real connection: the server goes away in the middle of a line, refuses once because the pod's node does not
// answer, and gives the rest.
func TestLogsOverARealConnection(t *testing.T) {
	log := aLog{{noon, "first"}, {noon.Add(1), "second"}, {noon.Add(time.Minute), "third"}}
	over := make(chan struct{})
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := log.since(r)
		switch asked++; asked {
		case 1:
			close(over)
			connection, buffered, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			fmt.Fprintf(buffered, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s", len(text), text[:bytes.IndexByte([]byte(text), '\n')+20])
			_ = buffered.Flush()
			_ = connection.Close()
		case 2:
			http.Error(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"dial tcp: no route to host","code":500}`, http.StatusInternalServerError)
		default:
			_, _ = io.WriteString(w, text)
		}
	}))
	defer server.Close()
	r := logReader{client: logClient(t, &rest.Config{Host: server.URL}), namespace: space, pod: "p", over: over}
	var got []string
	if err := r.read(t.Context(), func(_ time.Time, text string) { got = append(got, text) }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(log.texts(), got); diff != "" {
		t.Error(diff)
	}
}

// A pod that is gone, a node that is, and a user who may not read logs: what could not be read is said.
func TestLogsThatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for message, code := range map[string]int{`pods \"p\" not found`: 404, "dial tcp 10.0.0.1:10250: no route to host": 500, "no": 403} {
			over := make(chan struct{})
			if code == 500 {
				close(over) // else the node may come back
			}
			reason := map[int]string{403: "Forbidden", 404: "NotFound", 500: "InternalError"}[code]
			c := logClient(t, &rest.Config{Host: "http://cluster", Transport: answering(code,
				fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"message":"%s","code":%d}`, reason, message, code))})
			r := logReader{client: c, namespace: space, pod: "p", over: over}
			if err := r.read(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "read the log of pod bench/p") {
				t.Errorf("%d: %v", code, err)
			}
		}
	})
}

func answering(code int, body string) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: code, Request: r, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body))}, nil
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func FuzzStampedLine(f *testing.F) {
	f.Add("2026-12-01T12:00:00.000000001Z text")
	f.Add("no stamp")
	f.Fuzz(func(t *testing.T, line string) {
		if l, ok := stamped(line); ok && !strings.HasSuffix(line, " "+l.text) {
			t.Errorf("%q became %q", line, l.text)
		}
	})
}
