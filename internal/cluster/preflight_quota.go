package cluster

import (
	"context"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// quotas finds the ResourceQuotas that would not admit what the run needs.
func (s *survey) quotas(ctx context.Context) ([]Finding, error) {
	quotas, err := s.Kubernetes.CoreV1().ResourceQuotas(s.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, s.failed(err, "list ResourceQuotas in namespace %s", s.Namespace)
	}
	needs := s.demand()
	var found []Finding
	for _, q := range quotas.Items {
		if !counts(q) {
			continue
		}
		for _, name := range names(q.Spec.Hard) {
			hard, used := q.Spec.Hard[name], q.Status.Used[name]
			need, needed := needs[name]
			if !needed && perContainer(name) {
				found = append(found, refuse("quota", "ResourceQuota %s/%s admits only pods that state %s, and the run's do not: set it (--requests, --limits), or use another namespace", q.Namespace, q.Name, name))
			}
			if !needed {
				continue
			}
			sum := used.DeepCopy()
			sum.Add(need)
			if sum.Cmp(hard) > 0 {
				found = append(found, refuse("quota", "ResourceQuota %s/%s allows %s %s, of which %s are used, and the run needs %s more: have it raised, or use another namespace",
					q.Namespace, q.Name, hard.String(), name, used.String(), need.String()))
			}
		}
	}
	return found, nil
}

// counts says whether a quota holds for the run's pods, which have requests, no deadline of their own and no priority.
func counts(q corev1.ResourceQuota) bool {
	return q.Spec.ScopeSelector == nil && all(q.Spec.Scopes, func(s corev1.ResourceQuotaScope) bool {
		return s == corev1.ResourceQuotaScopeNotTerminating || s == corev1.ResourceQuotaScopeNotBestEffort
	})
}

// perContainer says whether a quota on this makes every container state it.
func perContainer(name corev1.ResourceName) bool {
	switch name {
	case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory, corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory:
		return true
	}
	return false
}

// demand is what the run takes of a quota's resources: all its objects, and one collector.
func (s *survey) demand() corev1.ResourceList {
	needs := corev1.ResourceList{}
	count := func(name string) {
		add(needs, corev1.ResourceList{corev1.ResourceName(name): *resource.NewQuantity(1, resource.DecimalSI)})
	}
	for _, o := range s.Objects {
		if o.GetNamespace() == "" {
			continue
		}
		kinds, _ := meta.UnsafeGuessKindToResource(o.GetObjectKind().GroupVersionKind())
		count(strings.TrimSuffix("count/"+kinds.Resource+"."+kinds.Group, "."))
		switch o := o.(type) {
		case *corev1.PersistentVolumeClaim:
			storage := o.Spec.Resources.Requests[corev1.ResourceStorage]
			count(string(corev1.ResourcePersistentVolumeClaims))
			add(needs, corev1.ResourceList{corev1.ResourceRequestsStorage: storage})
			if class := o.Spec.StorageClassName; class != nil {
				prefix := *class + ".storageclass.storage.k8s.io/"
				count(prefix + string(corev1.ResourcePersistentVolumeClaims))
				add(needs, corev1.ResourceList{corev1.ResourceName(prefix) + corev1.ResourceRequestsStorage: storage})
			}
		case *corev1.ConfigMap:
			count(string(corev1.ResourceConfigMaps))
		case *batchv1.Job:
			s.addPod(needs, o.Spec.Template.Spec)
		}
	}
	count(string(corev1.ResourcePods)) // the collector
	count("count/pods")
	return needs
}

func (s *survey) addPod(needs corev1.ResourceList, p corev1.PodSpec) {
	one := *resource.NewQuantity(1, resource.DecimalSI)
	add(needs, corev1.ResourceList{corev1.ResourcePods: one, "count/pods": one})
	for _, c := range p.Containers {
		requests, limits := s.stated(c)
		for _, name := range names(requests) {
			q := requests[name]
			add(needs, corev1.ResourceList{"requests." + name: q})
			if name == corev1.ResourceCPU || name == corev1.ResourceMemory {
				add(needs, corev1.ResourceList{name: q})
			}
		}
		for name, q := range limits {
			add(needs, corev1.ResourceList{"limits." + name: q})
		}
	}
}

// stated is what a container asks for once the namespace's LimitRanges have filled in what it leaves out.
func (s *survey) stated(c corev1.Container) (requests, limits corev1.ResourceList) {
	requests, limits = corev1.ResourceList{}, corev1.ResourceList{}
	fill := func(into, from corev1.ResourceList) {
		for name, q := range from {
			if _, set := into[name]; !set {
				into[name] = q
			}
		}
	}
	fill(limits, c.Resources.Limits)
	fill(requests, c.Resources.Requests)
	fill(requests, c.Resources.Limits) // the server's own default
	for _, l := range s.limits {
		if l.Type == corev1.LimitTypeContainer {
			fill(limits, l.Default)
			fill(requests, l.DefaultRequest)
		}
	}
	return requests, limits
}

// limitRanges finds the LimitRanges that would not admit the run's claims and pods.
func (s *survey) limitRanges(ctx context.Context) ([]Finding, error) {
	ranges, err := s.Kubernetes.CoreV1().LimitRanges(s.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, s.failed(err, "list LimitRanges in namespace %s", s.Namespace)
	}
	for _, r := range ranges.Items {
		s.limits = append(s.limits, r.Spec.Limits...)
	}
	var found []Finding
	for _, r := range ranges.Items {
		for _, limit := range r.Spec.Limits {
			for _, against := range s.outside(limit) {
				f := refuse("limit-range", "LimitRange %s/%s %s: change the profile or the pod's resources, or use another namespace", r.Namespace, r.Name, against)
				if !slices.Contains(found, f) {
					found = append(found, f)
				}
			}
		}
	}
	return found, nil
}

// outside says what of the run lies outside of a limit.
func (s *survey) outside(l corev1.LimitRangeItem) (against []string) {
	for _, o := range s.Objects {
		switch o := o.(type) {
		case *corev1.PersistentVolumeClaim:
			if l.Type == corev1.LimitTypePersistentVolumeClaim {
				against = append(against, beyond("claim "+o.Name, l, o.Spec.Resources.Requests, o.Spec.Resources.Requests)...)
			}
		case *batchv1.Job:
			requests, limits := corev1.ResourceList{}, corev1.ResourceList{}
			for _, c := range o.Spec.Template.Spec.Containers {
				ownRequests, ownLimits := s.stated(c)
				add(requests, ownRequests)
				add(limits, ownLimits)
				if l.Type == corev1.LimitTypeContainer {
					against = append(against, beyond("container "+c.Name, l, ownRequests, ownLimits)...)
				}
			}
			if l.Type == corev1.LimitTypePod {
				against = append(against, beyond("the run's pod", l, requests, limits)...)
			}
		}
	}
	return against
}

// beyond holds requests against the least and limits against the most that is allowed.
func beyond(what string, l corev1.LimitRangeItem, requests, limits corev1.ResourceList) (against []string) {
	for _, name := range names(l.Min) {
		least := l.Min[name]
		if q, set := requests[name]; set && q.Cmp(least) < 0 {
			against = append(against, "demands at least "+least.String()+" "+string(name)+", and "+what+" asks for "+q.String())
		}
	}
	for _, name := range names(l.Max) {
		most := l.Max[name]
		q, set := limits[name]
		if !set {
			q, set = requests[name]
		}
		if set && q.Cmp(most) > 0 {
			against = append(against, "allows at most "+most.String()+" "+string(name)+", and "+what+" asks for "+q.String())
		}
	}
	return against
}
