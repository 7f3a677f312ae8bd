//go:build linux

package testcluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"ebscope/internal/emulate"
)

// ExternalVariable names the kubeconfig of an existing cluster that is to be used instead.
const ExternalVariable = "E2E_KUBECONFIG"

// startTime is what a cluster gets to become ready; it takes some ten seconds on two processors.
const startTime = 5 * time.Minute

// Cluster is a running cluster.
type Cluster struct {
	Config *rest.Config         // of the administrator
	Client kubernetes.Interface // of the administrator

	external   bool
	dir        string
	lock       io.Closer
	programs   map[string]string
	tokens     map[string]string
	kubeconfig string

	etcdURL string
	apiPort int
	flags   []string // of controllers and scheduler, beside those that all clusters give them

	etcd, api, controllers, scheduler *process
	simulator                         *process // nil where nodes are real
	driver, resizer                   *process // nil before StartResizer
	nodes                             []*node
	volumes                           *provisioner
}

var errExternal = errors.New("this cluster was not started by the tests; unset " + ExternalVariable + " for a test that needs its own")

// WantedVariable set to 1 lets tests start clusters, which takes rights and, the first time, many minutes.
const WantedVariable = "EBSCOPE_E2E"

// Wanted says whether tests may open a cluster.
func Wanted() bool { return os.Getenv(WantedVariable) == "1" || os.Getenv(ExternalVariable) != "" }

// SkipReason is what a test says that is skipped for want of a cluster.
const SkipReason = "this needs a Kubernetes cluster; `make e2e` builds and starts one, or set " + ExternalVariable + " to the kubeconfig of an existing one"

// Open returns the cluster that E2E_KUBECONFIG names, or else builds and starts one of so many nodes, up to MaxNodes. Progress
// gets a line for each step. The caller closes the cluster.
func Open(ctx context.Context, nodes int, progress io.Writer) (*Cluster, error) {
	if file := os.Getenv(ExternalVariable); file != "" {
		return connect(file)
	}
	if os.Geteuid() != 0 {
		return nil, fmt.Errorf("a Kubernetes node needs root; run the tests as root, or set %s to the kubeconfig of an existing cluster", ExternalVariable)
	}
	return assemble(ctx, &Cluster{}, tools, progress, func(ctx context.Context, c *Cluster) error { return c.up(ctx, nodes) })
}

// assemble builds the programs of a cluster and starts it by up.
func assemble(ctx context.Context, c *Cluster, tools []tool, progress io.Writer, up func(context.Context, *Cluster) error) (*Cluster, error) {
	programs, err := buildTools(ctx, tools, progress)
	if err != nil {
		return nil, err
	}
	if err := sweep(ctx, progress); err != nil {
		return nil, err
	}
	started := time.Now()
	c.programs = programs
	if c.dir, c.lock, err = newFolder(); err != nil {
		return nil, err
	}
	fmt.Fprintf(progress, "starting a cluster in %s\n", c.dir)
	if err := up(ctx, c); err != nil {
		kept := filepath.Join(os.TempDir(), filepath.Base(c.dir)+"-logs")
		return nil, errors.Join(fmt.Errorf("starting the cluster: %w; all logs are in %s", err, kept),
			os.Rename(c.Logs(), kept), c.Close(context.WithoutCancel(ctx)))
	}
	fmt.Fprintf(progress, "the cluster was ready after %v\n", time.Since(started).Round(100*time.Millisecond))
	return c, nil
}

func (c *Cluster) up(ctx context.Context, nodes int) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	if err := writeImages(ctx, c.file("image.tar")); err != nil {
		return err
	}
	if err := c.startControlPlane(ctx); err != nil {
		return err
	}
	if err := errors.Join(c.shareMounts(), c.prepareNodes(nodes)); err != nil {
		return err
	}
	for i := range c.nodes {
		if err := c.StartNode(ctx, i); err != nil {
			return err
		}
	}
	return c.startVolumes(ctx)
}

func connect(file string) (*Cluster, error) {
	config, err := clientcmd.BuildConfigFromFlags("", file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ExternalVariable, err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	c := &Cluster{Config: config, Client: client, kubeconfig: file, external: true}
	c.dir, c.lock, err = newFolder()
	return c, err
}

// External says that the cluster is one that E2E_KUBECONFIG names: it has none of the emulated volumes, and its parts cannot
// be stopped.
func (c *Cluster) External() bool { return c.external }

// Logs returns the folder with the log of each part: kube-apiserver.log, node0.log (containerd and kubelet), ….
func (c *Cluster) Logs() string { return filepath.Join(c.dir, "logs") }

// SaveLogs copies the logs to a folder that does not go with the cluster.
func (c *Cluster) SaveLogs(dir string) error { return os.CopyFS(dir, os.DirFS(c.Logs())) }

// Kubectl returns the path of a kubectl of the cluster's version.
func (c *Cluster) Kubectl() string {
	if c.External() {
		return "kubectl"
	}
	return c.programs["kubectl"]
}

// Close ends everything that the cluster consists of and removes it from the machine, whatever pods there still are. The context
// of a test is over when its cleanup runs: give another.
func (c *Cluster) Close(ctx context.Context) error {
	c.volumes.stop()
	// The nodes go first: what their pods hold open would keep the volumes.
	for _, n := range c.nodes {
		n.process.kill()
	}
	err := c.volumes.close(ctx)
	ending, cancel := context.WithTimeout(ctx, stopTime)
	defer cancel()
	for _, n := range c.nodes {
		err = errors.Join(err, removeCgroups(ending, n.cgroups))
	}
	for _, p := range []*process{c.resizer, c.driver, c.simulator, c.scheduler, c.controllers, c.api, c.etcd} {
		p.stop(ending)
	}
	return errors.Join(err, removeFolder(c.dir), c.lock.Close())
}

// sweep removes what killed tests have left.
func sweep(ctx context.Context, progress io.Writer) error {
	orphans := detachHolders("", true)
	removed, err := emulate.Sweep(ctx)
	for _, line := range removed {
		fmt.Fprintln(progress, line)
	}
	return errors.Join(orphans, err, sweepFolders(ctx, progress))
}
