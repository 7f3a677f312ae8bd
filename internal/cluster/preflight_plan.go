package cluster

import (
	"context"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"ebscope/internal/ebs"
)

// plan finds what a profile asks for that no pod can do.
func (s *survey) plan(context.Context) ([]Finding, error) {
	var found []Finding
	for _, stripe := range s.Profile.Stripes {
		found = append(found, refuse("stripe", "profile %s: stripe %s cannot be made in a pod: measure its volumes one by one", s.Profile.Name, stripe.Name))
	}
	groups := map[string][]string{}
	for _, p := range s.Profile.Phases {
		if p.Together != "" {
			groups[p.Together] = append(groups[p.Together], p.ID())
		}
	}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		if len(groups[name]) > 1 {
			found = append(found, refuse("together", "profile %s: %s are to run together (%s), and their node's limits would be measured, not the volumes': take `together` out of the profile",
				s.Profile.Name, strings.Join(groups[name], " and "), name))
		}
	}
	return found, nil
}

// instances holds the limits of the nodes that may be chosen against what the volumes deliver.
func (s *survey) instances(context.Context) ([]Finding, error) {
	var found []Finding
	for _, name := range s.instanceTypes() {
		instance, err := s.Catalog.Instance(name)
		if err != nil {
			continue // nothing is known of it, as of a machine that is no EC2 instance
		}
		for _, v := range s.Spec.Volumes {
			perf := s.Catalog.Performance(v.Config)
			if instance.BaselineIOPS < ebs.InstanceRoom*perf.Burst {
				found = append(found, warn("instance-too-close", "%s: its baseline, %v, is less than %v times the %v of volume %s, so the instance may show where the volume is meant: %s",
					name, instance.BaselineIOPS, ebs.InstanceRoom, perf.Burst, v.Name, s.larger(name, perf)))
			}
			if instance.BaselineThroughput < perf.Throughput {
				found = append(found, warn("instance-too-close", "%s: its baseline, %.0f MiB/s, is less than the %v of volume %s, and the instance holds it once its burst is spent: %s",
					name, instance.BaselineThroughput.MiBps(), perf.Throughput, v.Name, s.larger(name, perf)))
			}
		}
	}
	return found, nil
}

// instanceTypes are those that the pods may run on: the one that the selector names, or those of the nodes that fit.
func (s *survey) instanceTypes() []string {
	if name := s.pod().NodeSelector[corev1.LabelInstanceTypeStable]; name != "" {
		return []string{name}
	}
	types := map[string]bool{}
	for _, n := range s.nodes {
		if name := n.Labels[corev1.LabelInstanceTypeStable]; name != "" {
			types[name] = true
		}
	}
	return slices.Sorted(maps.Keys(types))
}

// larger names the smallest instance of the same family that does not stand in the volume's way.
func (s *survey) larger(name string, perf ebs.Performance) string {
	family, _, _ := strings.Cut(name, ".")
	var best ebs.Instance
	for _, i := range s.Catalog.Instances() {
		if strings.HasPrefix(i.Type, family+".") && i.BaselineIOPS >= ebs.InstanceRoom*perf.Burst && i.BaselineThroughput >= perf.Throughput &&
			(best.Type == "" || i.BaselineIOPS < best.BaselineIOPS) {
			best = i
		}
	}
	if best.Type == "" {
		return "use an instance type with higher limits"
	}
	return "use " + best.Type
}
