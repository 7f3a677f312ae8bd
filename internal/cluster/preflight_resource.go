package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// podRequests is what the scheduler reserves for a pod, and the one pod itself: the sum of what runs side by side, or an
// init container that needs more.
func podRequests(p corev1.PodSpec) corev1.ResourceList {
	sum := corev1.ResourceList{}
	for _, c := range p.Containers {
		add(sum, c.Resources.Requests)
	}
	for _, c := range p.InitContainers {
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			add(sum, c.Resources.Requests) // a sidecar
		}
	}
	for _, c := range p.InitContainers {
		for name, q := range c.Resources.Requests {
			if q.Cmp(sum[name]) > 0 {
				sum[name] = q.DeepCopy()
			}
		}
	}
	add(sum, p.Overhead)
	sum[corev1.ResourcePods] = *resource.NewQuantity(1, resource.DecimalSI)
	return sum
}

func add(to, more corev1.ResourceList) {
	for name, q := range more {
		sum := to[name]
		sum.Add(q)
		to[name] = sum
	}
}

func subtract(from, less corev1.ResourceList) {
	for name, q := range less {
		if left, ok := from[name]; ok {
			left.Sub(q)
			from[name] = left
		}
	}
}

// shortOf names the first resource of which there is too little: "cpu: 500m is needed, 100m is free".
func shortOf(needs, free corev1.ResourceList) string {
	for _, name := range names(needs) {
		need, has := needs[name], free[name]
		if need.Sign() > 0 && need.Cmp(has) > 0 {
			return fmt.Sprintf("%s: %s is needed, %s is free", name, need.String(), has.String())
		}
	}
	return ""
}

func names(l corev1.ResourceList) []corev1.ResourceName {
	all := make([]corev1.ResourceName, 0, len(l))
	for name := range l {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

func compareText(a, b Finding) int {
	return cmp.Or(cmp.Compare(a.Code, b.Code), strings.Compare(a.Text, b.Text))
}
