package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/pager"
	"k8s.io/klog/v2"
)

// pod is the pod that measures a pair of volumes.
func (s *survey) pod() corev1.PodSpec {
	for _, o := range s.Objects {
		if j, ok := o.(*batchv1.Job); ok {
			return j.Spec.Template.Spec
		}
	}
	return corev1.PodSpec{}
}

// sieve keeps the nodes that have one thing that the run needs, and says why others have not.
type sieve struct {
	code, need string // need completes "no node …"
	sift       func(*survey, context.Context, []corev1.Node) (kept []corev1.Node, why reasons, err error)
}

var sieves = []sieve{
	{"no-node", "fits the run's pods", (*survey).schedulable},
	{"wrong-zone", "is where the volumes are", (*survey).placed},
	{"no-slot", "can attach the volumes", (*survey).attachable},
	{"no-room", "has room for a pod of the run", (*survey).roomy},
}

// reasons counts nodes by what is against them.
type reasons map[string]int

func (r reasons) String() string {
	parts := make([]string, 0, len(r))
	for _, why := range slices.Sorted(maps.Keys(r)) {
		parts = append(parts, fmt.Sprintf("%d %s", r[why], why))
	}
	return strings.Join(parts, ", ")
}

// inspectNodes finds the nodes that could take the run. It stops at the first thing for which too few are left.
func (s *survey) inspectNodes(ctx context.Context) ([]Finding, error) {
	nodes, err := s.listNodes(ctx)
	if err != nil {
		return nil, err
	}
	var found []Finding
	pairs := max(1, s.Spec.Replicas)
	against := reasons{}
	s.nodes = nodes
	for _, sieve := range sieves {
		kept, why, err := sieve.sift(s, ctx, s.nodes)
		if err != nil {
			f, ok := s.unseen("whether a node "+sieve.need, err)
			if !ok {
				return found, err
			}
			if !s.told(err) {
				found = append(found, f)
			}
			continue
		}
		maps.Copy(against, why)
		s.nodes = kept
		if len(kept) < pairs {
			return append(found, s.tooFew(sieve, len(nodes), pairs, against)...), nil
		}
	}
	return found, nil
}

// tooFew says what is missing, unless Karpenter will start it.
func (s *survey) tooFew(sieve sieve, nodes, pairs int, against reasons) []Finding {
	if len(s.pools) > 0 {
		return nil
	}
	what := "no node " + sieve.need
	if len(s.nodes) > 0 {
		what = fmt.Sprintf("%d pairs need as many nodes, and only %d can be used", pairs, len(s.nodes))
	}
	if len(against) > 0 {
		what += fmt.Sprintf(": of %s, %s", plural(nodes, "node"), against)
	}
	text := what + "; and no Karpenter NodePool fits. Choose another --node-selector, add a --toleration, or add a node"
	if len(against) == 0 { // every node fits: another choice would not bring more
		text = what + "; and no Karpenter NodePool fits. Use fewer --replicas, or add a node"
	}
	if nodes == 0 {
		text = "the cluster has no node, and no Karpenter NodePool fits: add a node"
	}
	switch {
	case s.AwaitNode:
		return []Finding{warn(sieve.code, "%s. The run waits for one", text)}
	case s.poolsHidden:
		return []Finding{warn(sieve.code, "%s (NodePools may not be listed)", text)}
	}
	return []Finding{refuse(sieve.code, "%s; with an autoscaler that starts such nodes, add --await-node", text)}
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// pageSize keeps the answer about a large cluster's nodes from taking hundreds of megabytes at once.
const pageSize = 500

// eachOf lists page by page.
func eachOf(ctx context.Context, list func(context.Context, metav1.ListOptions) (runtime.Object, error), each func(runtime.Object)) error {
	p := pager.New(pager.SimplePageFunc(func(o metav1.ListOptions) (runtime.Object, error) { return list(ctx, o) }))
	p.PageSize = pageSize
	return p.EachListItem(ctx, metav1.ListOptions{}, func(o runtime.Object) error {
		each(o)
		return nil
	})
}

// listNodes returns all nodes with what the checks look at.
func (s *survey) listNodes(ctx context.Context) ([]corev1.Node, error) {
	var nodes []corev1.Node
	err := eachOf(ctx, func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		return s.Kubernetes.CoreV1().Nodes().List(ctx, o)
	}, func(o runtime.Object) {
		n := o.(*corev1.Node)
		nodes = append(nodes, corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: n.Labels},
			Spec:       corev1.NodeSpec{Taints: n.Spec.Taints, Unschedulable: n.Spec.Unschedulable},
			Status:     corev1.NodeStatus{Allocatable: n.Status.Allocatable},
		})
	})
	return nodes, s.failed(err, "list nodes")
}

// schedulable keeps the nodes that the scheduler would consider: by selector, cordon and taints.
func (s *survey) schedulable(_ context.Context, nodes []corev1.Node) (kept []corev1.Node, why reasons, err error) {
	pod, why := s.pod(), reasons{}
	for _, n := range nodes {
		if key, ok := unselected(pod, n); ok {
			has := "has none"
			if value := n.Labels[key]; value != "" {
				has = "is " + value
			}
			why[fmt.Sprintf("whose label %s is not %s (it %s)", key, pod.NodeSelector[key], has)]++
			continue
		}
		if n.Spec.Unschedulable {
			why["cordoned"]++
			continue
		}
		if t := untolerated(pod, n.Spec.Taints); t != nil {
			why["with the taint "+t.ToString()]++
			continue
		}
		kept = append(kept, n)
	}
	return kept, why, nil
}

// unselected returns a label of the pod's node selector that a node does not have.
func unselected(pod corev1.PodSpec, n corev1.Node) (string, bool) {
	for _, key := range slices.Sorted(maps.Keys(pod.NodeSelector)) {
		if n.Labels[key] != pod.NodeSelector[key] {
			return key, true
		}
	}
	return "", false
}

// untolerated returns a taint that keeps the pod away; nil where there is none.
func untolerated(pod corev1.PodSpec, taints []corev1.Taint) *corev1.Taint {
	for i, t := range taints {
		if t.Effect == corev1.TaintEffectPreferNoSchedule {
			continue
		}
		if !slices.ContainsFunc(pod.Tolerations, func(o corev1.Toleration) bool { return o.ToleratesTaint(klog.Logger{}, &t, false) }) {
			return &taints[i]
		}
	}
	return nil
}

// placed keeps the nodes where every existing volume can be attached, and every new one made.
func (s *survey) placed(_ context.Context, nodes []corev1.Node) (kept []corev1.Node, why reasons, err error) {
	why = reasons{}
	for _, n := range nodes {
		i := slices.IndexFunc(s.places, func(p place) bool { return !p.has(n) })
		if i < 0 {
			kept = append(kept, n)
			continue
		}
		zone := n.Labels[corev1.LabelTopologyZone]
		if zone != "" {
			zone = " in " + zone
		}
		why["elsewhere"+zone+" ("+s.places[i].String()+")"]++
	}
	return kept, why, nil
}

// roomy keeps the nodes that have the CPU, the memory and the place for one pod more. It looks at no more than it needs:
// each node is a request.
func (s *survey) roomy(ctx context.Context, nodes []corev1.Node) (kept []corev1.Node, why reasons, err error) {
	needs, pairs := podRequests(s.pod()), max(1, s.Spec.Replicas)
	why = reasons{}
	var hidden *ForbiddenError // the shipped Role shows no pods of other namespaces: their specs may hold secrets
	for i, n := range nodes {
		if len(kept) == pairs {
			kept = append(kept, nodes[i:]...)
			break
		}
		free := n.Status.Allocatable.DeepCopy()
		if hidden == nil {
			if err := s.taken(ctx, n.Name, free); err != nil && !errors.As(err, &hidden) {
				return nil, nil, err
			}
		}
		if short := shortOf(needs, free); short != "" {
			why["short of "+short]++
			continue
		}
		kept = append(kept, n)
	}
	// Without them it is known what nodes have, though not what is left of it. Where nothing is, the pod waits and says so.
	return kept, why, nil
}

// taken subtracts what the pods on a node have reserved.
func (s *survey) taken(ctx context.Context, node string, free corev1.ResourceList) error {
	pods, err := s.Kubernetes.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{
		FieldSelector: "spec.nodeName=" + node + ",status.phase!=Succeeded,status.phase!=Failed"})
	if err != nil {
		return s.failed(err, "list the pods on node %s", node)
	}
	for _, p := range pods.Items {
		if p.Spec.NodeName == node {
			subtract(free, podRequests(p.Spec))
		}
	}
	return nil
}
