// Package cluster works with a Kubernetes cluster: it connects, finds out beforehand what would go wrong, applies the
// objects of a run, follows the run, collects its results and cleans up. It is the only package that knows client-go.
package cluster

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	"ebscope/internal/cluster/manifest"
)

// Client is a connection to a cluster. No request has been made yet when Connect returns it.
type Client struct {
	Kubernetes kubernetes.Interface
	Dynamic    dynamic.Interface // for what client-go has no types for; may be nil: then there is nothing of the kind
	Config     *rest.Config      // for exec; nil with a fake
	Namespace  string            // where runs go
	Context    string            // of the kubeconfig; empty within a cluster
}

// Options say which cluster.
type Options struct {
	Kubeconfig string // a file; empty: $KUBECONFIG, ~/.kube/config, or the service account of the pod that this runs in
	Context    string // empty: the kubeconfig's current one
	Namespace  string // empty: manifest.DefaultNamespace
	Version    string // of this program, for the server's audit log
}

// A bench makes tens of requests at once when it begins, and a preflight on a large cluster some hundred. client-go's
// own 5 requests/s would make a user wait; the server protects itself by priority and fairness.
const (
	requestsPerSecond = 50
	requestBurst      = 100
)

// Connect finds the cluster by the rules that kubectl has. Its errors are NoConfigError and ConfigError.
func Connect(o Options) (*Client, error) {
	silence()
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = o.Kubeconfig
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: o.Context})
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, configError(err, loader, rules, o)
	}
	config.UserAgent = "ebscope/" + o.Version
	config.QPS, config.Burst = requestsPerSecond, requestBurst
	config.WarningHandler = rest.NoWarnings{} // they would be printed between the lines of a progress bar
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, configError(err, loader, rules, o)
	}
	untyped, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, configError(err, loader, rules, o)
	}
	c := &Client{Kubernetes: typed, Dynamic: untyped, Config: config, Namespace: o.Namespace, Context: o.Context}
	if c.Namespace == "" {
		c.Namespace = manifest.DefaultNamespace
	}
	if raw, err := loader.RawConfig(); err == nil && c.Context == "" {
		c.Context = raw.CurrentContext
	}
	return c, nil
}

// silence keeps client-go's own log from standard error: whatever matters comes back as an error.
var silence = sync.OnceFunc(func() { klog.SetSlogLogger(slog.New(slog.DiscardHandler)) })

// address is where the API server is, without a user name or password; empty with a fake.
func (c *Client) address() string {
	if c.Config == nil {
		return ""
	}
	if u, err := url.Parse(c.Config.Host); err == nil && u.Host != "" {
		return u.Scheme + "://" + u.Host
	}
	return c.Config.Host
}

// NoConfigError says that nothing tells which cluster is meant.
type NoConfigError struct {
	Looked []string // files that do not exist, or say nothing
}

func (e *NoConfigError) Error() string {
	return fmt.Sprintf("no cluster is configured (looked at %s, and this is no pod): name a kubeconfig with --kubeconfig or $KUBECONFIG; on EKS, "+
		"`aws eks update-kubeconfig --name CLUSTER` writes one", strings.Join(e.Looked, ", "))
}

// ConfigError says that a kubeconfig cannot be used.
type ConfigError struct {
	Files []string
	Err   error
}

func (e *ConfigError) Error() string {
	return fmt.Sprintf("kubeconfig %s: %v", strings.Join(e.Files, ", "), e.Err)
}
func (e *ConfigError) Unwrap() error { return e.Err }

func configError(err error, loader clientcmd.ClientConfig, rules *clientcmd.ClientConfigLoadingRules, o Options) error {
	files := rules.GetLoadingPrecedence()
	raw, rawErr := loader.RawConfig()
	switch {
	case errors.Is(err, os.ErrNotExist) && o.Kubeconfig != "":
		return &ConfigError{files, errors.New("there is no such file")}
	case rawErr == nil && o.Context != "" && raw.Contexts[o.Context] == nil:
		return &ConfigError{files, fmt.Errorf("there is no context %q; %s", o.Context, contexts(slices.Sorted(maps.Keys(raw.Contexts))))}
	case rawErr == nil && len(raw.Contexts) > 0 && raw.CurrentContext == "":
		return &ConfigError{files, fmt.Errorf("no context is the current one; %s", contexts(slices.Sorted(maps.Keys(raw.Contexts))))}
	case clientcmd.IsEmptyConfig(err):
		return &NoConfigError{Looked: files}
	}
	return &ConfigError{files, err}
}

func contexts(names []string) string {
	if len(names) == 0 {
		return "the file has none"
	}
	return "name one with --context: " + strings.Join(names, ", ")
}
