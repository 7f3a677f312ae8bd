package cluster

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// place says on which nodes a volume can be. A node must match one of the terms.
type place struct {
	what  string // the volume or class, for a message
	terms []corev1.NodeSelectorTerm
}

// inspectPlaces finds out where the volumes of existing claims are, and where classes allow volumes to be made.
func (s *survey) inspectPlaces(ctx context.Context) ([]Finding, error) {
	for _, v := range s.Spec.Volumes {
		claim := s.claims[v.Claim]
		if claim == nil || claim.Spec.VolumeName == "" {
			continue
		}
		pv, err := s.Kubernetes.CoreV1().PersistentVolumes().Get(ctx, claim.Spec.VolumeName, metav1.GetOptions{})
		if err != nil {
			return nil, s.failed(err, "read PersistentVolume %s", claim.Spec.VolumeName)
		}
		if a := pv.Spec.NodeAffinity; a != nil && a.Required != nil {
			s.places = append(s.places, place{"claim " + claim.Name, a.Required.NodeSelectorTerms})
		}
	}
	for _, class := range s.usedClasses() {
		if terms := topologyTerms(class); len(terms) > 0 {
			s.places = append(s.places, place{"StorageClass " + class.Name, terms})
		}
	}
	return nil, nil
}

// usedClasses are the classes that volumes are to be made from: existing ones and the run's own.
func (s *survey) usedClasses() (all []*storagev1.StorageClass) {
	add := func(name string) {
		if c := s.classes[name]; c != nil && !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	add(s.Spec.ResultsClass)
	for _, v := range s.Spec.Volumes {
		if v.Claim == "" {
			add(v.Class)
		}
	}
	for _, o := range s.Objects {
		if c, ok := o.(*storagev1.StorageClass); ok {
			all = append(all, c)
		}
	}
	return all
}

func topologyTerms(class *storagev1.StorageClass) []corev1.NodeSelectorTerm {
	terms := make([]corev1.NodeSelectorTerm, len(class.AllowedTopologies))
	for i, topology := range class.AllowedTopologies {
		for _, e := range topology.MatchLabelExpressions {
			terms[i].MatchExpressions = append(terms[i].MatchExpressions, corev1.NodeSelectorRequirement{Key: e.Key, Operator: corev1.NodeSelectorOpIn, Values: e.Values})
		}
	}
	return terms
}

// has says whether a node is among the places.
func (p place) has(n corev1.Node) bool {
	return slices.ContainsFunc(p.terms, func(t corev1.NodeSelectorTerm) bool {
		return all(t.MatchExpressions, func(r corev1.NodeSelectorRequirement) bool { return matches(r, n.Labels) }) &&
			all(t.MatchFields, func(r corev1.NodeSelectorRequirement) bool {
				return matches(r, map[string]string{metav1.ObjectNameField: n.Name})
			})
	})
}

func (p place) String() string {
	var alternatives []string
	for _, t := range p.terms {
		var parts []string
		for _, r := range slices.Concat(t.MatchExpressions, t.MatchFields) {
			parts = append(parts, strings.TrimSpace(r.Key+" "+strings.ToLower(string(r.Operator))+" "+strings.Join(r.Values, ", ")))
		}
		alternatives = append(alternatives, strings.Join(parts, " and "))
	}
	return p.what + " needs " + strings.Join(alternatives, " or ")
}

var operators = map[corev1.NodeSelectorOperator]selection.Operator{
	corev1.NodeSelectorOpIn: selection.In, corev1.NodeSelectorOpNotIn: selection.NotIn,
	corev1.NodeSelectorOpExists: selection.Exists, corev1.NodeSelectorOpDoesNotExist: selection.DoesNotExist,
	corev1.NodeSelectorOpGt: selection.GreaterThan, corev1.NodeSelectorOpLt: selection.LessThan,
}

// matches says whether labels meet a requirement. One that cannot be read is met by nothing.
func matches(r corev1.NodeSelectorRequirement, of map[string]string) bool {
	if r.Key == metav1.ObjectNameField { // no label: its form is another
		return r.Operator == corev1.NodeSelectorOpIn && slices.Contains(r.Values, of[r.Key]) ||
			r.Operator == corev1.NodeSelectorOpNotIn && !slices.Contains(r.Values, of[r.Key])
	}
	requirement, err := labels.NewRequirement(r.Key, operators[r.Operator], r.Values)
	return err == nil && requirement.Matches(labels.Set(of))
}

func all[T any](of []T, ok func(T) bool) bool {
	return !slices.ContainsFunc(of, func(x T) bool { return !ok(x) })
}
