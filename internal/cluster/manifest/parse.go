package manifest

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// ParseTolerations reads tolerations as kubectl taint writes taints: KEY[=VALUE][:EFFECT].
func ParseTolerations(texts []string) (all []corev1.Toleration, err error) {
	for _, text := range texts {
		key, effect, _ := strings.Cut(text, ":")
		key, value, valued := strings.Cut(key, "=")
		t := corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffect(effect)}
		if valued {
			t.Operator, t.Value = corev1.TolerationOpEqual, value
		}
		switch t.Effect {
		case "", corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute:
		default:
			return nil, fmt.Errorf("toleration %q: the effect is NoSchedule, PreferNoSchedule or NoExecute", text)
		}
		if key == "" {
			return nil, fmt.Errorf("toleration %q: use KEY, KEY=VALUE or KEY=VALUE:EFFECT", text)
		}
		all = append(all, t)
	}
	return all, nil
}

// ParseResources reads amounts such as cpu=2 and memory=1Gi.
func ParseResources(amounts map[string]string) (corev1.ResourceList, error) {
	if len(amounts) == 0 {
		return nil, nil
	}
	list := corev1.ResourceList{}
	for name, amount := range amounts {
		if name != string(corev1.ResourceCPU) && name != string(corev1.ResourceMemory) && name != string(corev1.ResourceEphemeralStorage) {
			return nil, fmt.Errorf("resource %s=%s: use cpu, memory or ephemeral-storage", name, amount)
		}
		q, err := resource.ParseQuantity(amount)
		if err != nil || q.Sign() <= 0 {
			return nil, fmt.Errorf("resource %s=%s: use an amount such as 2, 500m or 1Gi", name, amount)
		}
		list[corev1.ResourceName(name)] = q
	}
	return list, nil
}
