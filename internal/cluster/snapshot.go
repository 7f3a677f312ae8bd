package cluster

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ebscope/internal/fleet"
)

// SnapshotOptions say what is read of a cluster.
type SnapshotOptions struct {
	// Name is what the cluster is called; empty: the context of the kubeconfig, an EKS cluster's without the rest of its ARN.
	Name string
	// Namespaces are those whose claims are read; empty: all.
	Namespaces []string
	// Progress hears how many objects were read so far, never twice at once. It may be nil.
	Progress func(objects int)
}

// ScanRole is the file with the permissions that Snapshot needs.
const ScanRole = "docs/kubernetes/scan-role.yaml"

// Snapshot reads what hangs on the volumes of a cluster. What cannot be read is missing, and the rest goes on; the error is
// of a cluster of which nothing could be read, or of a reading that was ended early.
func (c *Client) Snapshot(ctx context.Context, o SnapshotOptions) (fleet.Cluster, []fleet.Missing, error) {
	o.Namespaces = slices.Compact(slices.Sorted(slices.Values(o.Namespaces)))
	r := &reading{client: c, options: o}
	r.cluster.Name = cmp.Or(o.Name, c.clusterName())
	if err := r.identity(ctx); err != nil {
		return fleet.Cluster{}, nil, err
	}
	var all sync.WaitGroup
	for _, part := range r.parts() {
		all.Go(func() { part(ctx) })
	}
	all.Wait()
	if err := ctx.Err(); err != nil {
		return fleet.Cluster{}, nil, c.failed(err, "read cluster %s", r.cluster.Name)
	}
	if r.kinds == 0 {
		return fleet.Cluster{}, nil, r.first
	}
	slices.SortFunc(r.lost, func(a, b fleet.Missing) int {
		return cmp.Or(cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.Namespace, b.Namespace))
	})
	return r.cluster, r.lost, nil
}

// clusterName is the context's name. That of EKS is an ARN, whose last part is the cluster's own name.
func (c *Client) clusterName() string {
	if _, name, ok := strings.Cut(c.Context, ":cluster/"); ok && strings.HasPrefix(c.Context, "arn:") {
		return name
	}
	return cmp.Or(c.Context, "in-cluster")
}

// reading is a cluster while it is read, several kinds at once.
type reading struct {
	client  *Client
	options SnapshotOptions
	cluster fleet.Cluster // each part writes fields of its own

	mu      sync.Mutex // over the rest
	objects int
	kinds   int // that could be read at least in part
	lost    []fleet.Missing
	first   error
}

// UID tells the cluster apart from others, as fleet.Cluster has it: that of the namespace kube-system, which every cluster has
// and keeps.
func (c *Client) UID(ctx context.Context) (fleet.UID, error) {
	space, err := c.Kubernetes.CoreV1().Namespaces().Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
	if err != nil {
		return "", c.failed(err, "read namespace %s", metav1.NamespaceSystem)
	}
	return fleet.UID(space.UID), nil
}

// identity finds out which cluster it is. A server that does not answer, or does not know who asks, ends the reading here.
func (r *reading) identity(ctx context.Context) error {
	uid, err := r.client.UID(ctx)
	if err == nil {
		r.cluster.UID = uid
		return nil
	}
	var (
		silent  *UnreachableError
		unknown *UnauthorizedError
	)
	if errors.As(err, &silent) || errors.As(err, &unknown) || ctx.Err() != nil {
		return err
	}
	r.cluster.UID = fleet.UID(r.cluster.Name) // what tells it apart best
	r.miss("get namespaces "+metav1.NamespaceSystem, "", err)
	return nil
}

// parts read what is independent of one another.
func (r *reading) parts() []func(context.Context) {
	return []func(context.Context){r.claims, r.volumes, r.classes, r.attributesClasses, r.pods, r.statefulSets, r.nodes, r.version, r.drivers}
}

// miss notes what could not be read.
func (r *reading) miss(operation, namespace string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.first == nil {
		r.first = err
	}
	m := fleet.Missing{Cluster: r.cluster.Name, Namespace: namespace, Operation: operation, Reason: fleet.Failed, Text: err.Error()}
	var (
		forbidden *ForbiddenError
		silent    *UnreachableError
		unknown   *UnauthorizedError
		absent    *NotFoundError
	)
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		m.Reason = fleet.Interrupted
	case errors.As(err, &forbidden):
		m.Reason = fleet.Denied
		forbidden.Role = ScanRole
		m.Text = err.Error()
	case errors.As(err, &silent):
		m.Reason = fleet.Unreachable
	case errors.As(err, &unknown):
		m.Reason = fleet.Denied
	case errors.As(err, &absent):
		m.Reason = fleet.Disabled
	}
	r.lost = append(r.lost, m)
}

// heard notes a page of objects.
func (r *reading) heard(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.objects += n
	if r.options.Progress != nil {
		r.options.Progress(r.objects)
	}
}

// namespaces are those to read; "" is all of them.
func (r *reading) namespaces() []string {
	if len(r.options.Namespaces) == 0 {
		return []string{metav1.NamespaceAll}
	}
	return r.options.Namespaces
}

// wanted says whether a namespace is among those to read.
func (r *reading) wanted(namespace string) bool {
	return len(r.options.Namespaces) == 0 || slices.Contains(r.options.Namespaces, namespace)
}
