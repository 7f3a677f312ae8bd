package cluster

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"ebscope/internal/lazy"
)

// nodePool is what matters of a NodePool of Karpenter, or of EKS Auto Mode, https://karpenter.sh/docs/concepts/nodepools/.
type nodePool struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		Template struct {
			Metadata metav1.ObjectMeta `json:"metadata"`
			Spec     struct {
				Requirements           []corev1.NodeSelectorRequirement `json:"requirements"`
				Taints                 []corev1.Taint                   `json:"taints"`
				ExpireAfter            string                           `json:"expireAfter"`            // "720h", "Never"
				TerminationGracePeriod string                           `json:"terminationGracePeriod"` // empty: a node waits for ever
			} `json:"spec"`
		} `json:"template"`
	} `json:"spec"`
}

var nodePools = schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodepools"}

// The annotation that Karpenter has not read since v0.32, and the one that it reads.
const (
	doNotEvict   = "karpenter.sh/do-not-evict"
	doNotDisrupt = "karpenter.sh/do-not-disrupt"
)

// inspectPools finds the NodePools that could start a node for the run, and whether their nodes live long enough.
func (s *survey) inspectPools(ctx context.Context) ([]Finding, error) {
	found, err := s.oldKeys(ctx)
	if err != nil || s.Dynamic == nil {
		return found, err
	}
	list, err := s.Dynamic.Resource(nodePools).List(ctx, metav1.ListOptions{})
	err = s.failed(err, "list NodePools")
	if isNotFound(err) {
		return found, nil // no Karpenter
	}
	if err != nil {
		s.poolsHidden = true
		return found, err
	}
	for _, item := range list.Items {
		var p nodePool
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(item.Object, &p); err != nil {
			found = append(found, warn("unchecked", "not checked: NodePool %s, which cannot be read: %v", item.GetName(), err))
			continue
		}
		if _, old := p.Spec.Template.Metadata.Annotations[doNotEvict]; old {
			found = append(found, warn("do-not-evict", "NodePool %s has the annotation %s, which Karpenter no longer reads: use %s", p.Metadata.Name, doNotEvict, doNotDisrupt))
		}
		if !s.takes(p) {
			continue
		}
		s.pools = append(s.pools, p)
		found = append(found, s.lifetime(p)...)
	}
	return found, nil
}

// oldKeys finds pods beside the run's that rely on the old annotation: their owner will want to know, and their nodes are
// the ones that the run shares.
func (s *survey) oldKeys(ctx context.Context) ([]Finding, error) {
	pods, err := s.Kubernetes.CoreV1().Pods(s.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, s.failed(err, "list pods in namespace %s", s.Namespace)
	}
	var found []Finding
	for _, p := range pods.Items {
		if _, old := p.Annotations[doNotEvict]; old {
			found = append(found, warn("do-not-evict", "pod %s/%s has the annotation %s, which Karpenter no longer reads, so it may be evicted: use %s", p.Namespace, p.Name, doNotEvict, doNotDisrupt))
		}
	}
	return found, nil
}

// lifetime compares how long a pool's nodes live with how long the run takes.
func (s *survey) lifetime(p nodePool) []Finding {
	var found []Finding
	length := s.length()
	if d, err := time.ParseDuration(p.Spec.Template.Spec.ExpireAfter); err == nil && d < length {
		found = append(found, warn("node-expires", "NodePool %s replaces its nodes after %v (expireAfter), and the run takes about %v: raise it, or use another pool", p.Metadata.Name, d, length.Round(time.Minute)))
	}
	if d, err := time.ParseDuration(p.Spec.Template.Spec.TerminationGracePeriod); err == nil && d < length {
		found = append(found, warn("node-grace", "NodePool %s gives pods of a node that is to go %v (terminationGracePeriod), whatever their annotations say, and the run takes about %v: raise it, or use another pool", p.Metadata.Name, d, length.Round(time.Minute)))
	}
	return found
}

// takes says whether a node that the pool may start can have the run's pods.
func (s *survey) takes(p nodePool) bool {
	pod := s.pod()
	for key, value := range pod.NodeSelector {
		if !p.allows(key, value) {
			return false
		}
	}
	if untolerated(pod, p.Spec.Template.Spec.Taints) != nil {
		return false
	}
	return all(s.places, func(place place) bool { return slices.ContainsFunc(place.terms, p.allowsTerm) })
}

// allows says whether a node of the pool may have a label of that value.
func (p nodePool) allows(key, value string) bool {
	if own, fixed := p.Spec.Template.Metadata.Labels[key]; fixed {
		return own == value
	}
	of := maps.Clone(instanceLabels(key, value))
	of[key] = value
	known := strings.Contains(key, "kubernetes.io/") || strings.Contains(key, "karpenter")
	for _, r := range p.Spec.Template.Spec.Requirements {
		if _, concerned := of[r.Key]; concerned && !matches(r, of) {
			return false
		}
		known = known || r.Key == key
	}
	return known // a label of a user's own is only on nodes that get it from the pool
}

// allowsTerm says whether the pool may start a node in such a place. A node that does not exist yet has no name.
func (p nodePool) allowsTerm(t corev1.NodeSelectorTerm) bool {
	return len(t.MatchFields) == 0 && all(t.MatchExpressions, func(r corev1.NodeSelectorRequirement) bool {
		switch {
		case r.Key == corev1.LabelHostname:
			return false
		case r.Operator != corev1.NodeSelectorOpIn:
			return true
		case strings.HasSuffix(r.Key, "/zone"): // topology.ebs.csi.aws.com/zone among them
			return slices.ContainsFunc(r.Values, func(zone string) bool { return p.allows(corev1.LabelTopologyZone, zone) })
		}
		return true
	})
}

var instanceForm = lazy.Regexp(`^(([a-z]+)([0-9]+)[^.]*)\.(.+)$`)

// instanceLabels are the labels that Karpenter and Auto Mode derive from an instance type, which pools mostly choose by.
func instanceLabels(key, value string) map[string]string {
	derived := map[string]string{}
	parts := instanceForm().FindStringSubmatch(value)
	if key != corev1.LabelInstanceTypeStable || parts == nil {
		return derived
	}
	for _, prefix := range []string{"karpenter.k8s.aws/", "eks.amazonaws.com/"} {
		derived[prefix+"instance-family"] = parts[1]
		derived[prefix+"instance-category"] = parts[2]
		derived[prefix+"instance-generation"] = parts[3]
		derived[prefix+"instance-size"] = parts[4]
	}
	return derived
}
