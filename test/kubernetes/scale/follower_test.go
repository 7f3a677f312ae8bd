//go:build linux

package scale

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"
	"sync"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"ebscope/internal/cluster"
	"ebscope/internal/cluster/manifest"
)

// heard is how many of each a follower was told.
type heard struct {
	Pending, Running, Succeeded int // pods
	Ends                        int // pairs
	State                       cluster.JobState
	Pairs                       int            // in the state at the end
	Requests                    map[string]int // by what was asked: "list pods"
}

// follow follows a run to its end. It writes a line once all pods are waiting for a node, and what it has heard as another.
func follow(run, kubeconfig string, out io.Writer) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	asked := &counter{requests: map[string]int{}}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		asked.next = next
		return asked
	})
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	c := &cluster.Client{Kubernetes: client, Config: config, Namespace: namespace}
	told := heard{Requests: asked.requests}
	seen := map[string]bool{}
	status := cluster.RunStatus{ID: run, Name: manifest.Name(run), Namespace: namespace}
	last, err := c.Follow(context.Background(), status, cluster.FollowOptions{}, func(h cluster.Happening) {
		switch h := h.(type) {
		case cluster.PodChange:
			switch h.Pod.State {
			case cluster.PodPending:
				if seen[h.Pod.Name] {
					return
				}
				seen[h.Pod.Name] = true
				if told.Pending++; told.Pending == pairs {
					fmt.Fprintln(out, "all pods wait")
				}
			case cluster.PodRunning:
				told.Running++
			case cluster.PodSucceeded:
				told.Succeeded++
			}
		case cluster.PairEnd:
			told.Ends++
		}
	})
	if err != nil {
		return err
	}
	told.State, told.Pairs = last.State(), len(last.Pairs)
	return json.NewEncoder(out).Encode(told)
}

// counter counts the requests that go to the API server.
type counter struct {
	next     http.RoundTripper
	mu       sync.Mutex
	requests map[string]int
}

func (c *counter) RoundTrip(req *http.Request) (*http.Response, error) {
	verb := "list"
	if req.URL.Query().Get("watch") != "" {
		verb = "watch"
	}
	c.mu.Lock()
	c.requests[verb+" "+path.Base(req.URL.Path)]++
	c.mu.Unlock()
	return c.next.RoundTrip(req)
}
