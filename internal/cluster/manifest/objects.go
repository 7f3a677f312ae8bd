package manifest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Object is something to be applied. Its kind and version are set.
type Object interface {
	metav1.Object
	runtime.Object
}

// Objects returns everything that a cluster needs to run a benchmark on its own, in the order in which it must be applied. The
// ConfigMap comes right after the namespace: whoever makes it has claimed the run's name, and a run is found by it.
// What the spec says exists already is not among it.
func Objects(s Spec) ([]Object, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	config, err := configMap(s)
	if err != nil {
		return nil, err
	}
	var all []Object
	if s.CreateNamespace {
		all = append(all, namespace(s))
	}
	all = append(all, config)
	all = append(all, classes(s)...)
	for pair := range s.pairs() {
		all = append(all, claims(s, pair)...)
	}
	all = append(all, budget(s))
	for pair := range s.pairs() {
		all = append(all, job(s, pair))
	}
	return all, nil
}

// pairs is how many times the volumes are measured side by side.
func (s Spec) pairs() int { return max(1, s.Replicas) }

// meta is the metadata of an object of the run as a whole.
func (s Spec) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: name, Namespace: s.Namespace,
		Labels:      map[string]string{ManagedByLabel: ManagedBy, RunLabel: Name(s.Run)},
		Annotations: map[string]string{RunAnnotation: s.Run},
	}
}

// pairMeta is the metadata of an object of one pair.
func (s Spec) pairMeta(name string, pair int) metav1.ObjectMeta {
	m := s.meta(name)
	m.Labels[PairLabel] = strconv.Itoa(pair)
	return m
}

// namespace is shared by later runs. So it does not carry this run's label, and cleaning up this run leaves it.
func namespace(s Spec) Object {
	return &corev1.Namespace{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
		ObjectMeta: metav1.ObjectMeta{
			Name:   s.Namespace,
			Labels: map[string]string{ManagedByLabel: ManagedBy, EnforceLabel: s.PodSecurityLevel()},
		},
	}
}

// budget keeps nodes from being drained in the middle of a measurement. It counts pods, since a budget that allows none to
// be unavailable needs a controller with a scale, which a Job is not. Pods that are done may always go.
func budget(s Spec) Object {
	all := intstr.FromInt(s.pairs())
	return &policyv1.PodDisruptionBudget{
		TypeMeta:   metav1.TypeMeta{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"},
		ObjectMeta: s.meta(ConfigMapName(s.Run)),
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: &all, Selector: s.runners()},
	}
}

// runners selects the pods that measure.
func (s Spec) runners() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{RunLabel: Name(s.Run), RoleLabel: RoleRunner}}
}

// validate checks what the cluster would refuse, or accept and never run.
func (s Spec) validate() error {
	switch {
	case s.Run == "":
		return fmt.Errorf("a run in a cluster needs an id")
	case s.Namespace == "":
		return fmt.Errorf("run %s: no namespace is given", s.Run)
	case s.Deadline <= 0:
		return fmt.Errorf("run %s: its Job has no deadline", s.Run)
	case len(s.Volumes) == 0:
		return fmt.Errorf("run %s: it has no volumes", s.Run)
	case s.makesClass() && s.Provisioner == ProvisionerInTree:
		return fmt.Errorf("provisioner %s: use %s, which has replaced it and reads its classes too; or name an existing class by --storage-class",
			ProvisionerInTree, ProvisionerCSI)
	}
	if err := checkImage(s.image()); err != nil {
		return err
	}
	requests := s.requests()
	for _, name := range slices.Sorted(maps.Keys(s.Limits)) {
		limit := s.Limits[name]
		if request, both := requests[name]; both && request.Cmp(limit) > 0 {
			return fmt.Errorf("the run's pod requests %s of %s, and its limit is %s: lower --requests, or raise --limits", request.String(), name, limit.String())
		}
	}
	names, held := map[string]bool{}, map[string]string{}
	for _, v := range s.Volumes {
		if names[v.Name] {
			return fmt.Errorf("volume %s: the name is used twice", v.Name)
		}
		names[v.Name] = true
		if v.Claim == "" {
			if v.Config.Size <= 0 {
				return fmt.Errorf("volume %s: it has no size", v.Name)
			}
			continue
		}
		if other, twice := held[v.Claim]; twice {
			return fmt.Errorf("volumes %s and %s both use the claim %s: give each its own", other, v.Name, v.Claim)
		}
		held[v.Claim] = v.Name
		if s.pairs() > 1 {
			return fmt.Errorf("volume %s: one claim, %s, cannot be measured %d times side by side; use --replicas 1, or leave the claim out",
				v.Name, v.Claim, s.pairs())
		}
	}
	return nil
}
