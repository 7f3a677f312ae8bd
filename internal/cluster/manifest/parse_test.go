package manifest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"ebscope/internal/cluster/manifest"
)

func TestParseTolerations(t *testing.T) {
	got, err := manifest.ParseTolerations([]string{"dedicated=storage:NoSchedule", "spot", "a=b"})
	want := []corev1.Toleration{
		{Key: "dedicated", Operator: "Equal", Value: "storage", Effect: "NoSchedule"},
		{Key: "spot", Operator: "Exists"},
		{Key: "a", Operator: "Equal", Value: "b"},
	}
	if err != nil || !cmp.Equal(got, want) {
		t.Errorf("%v\n%s", err, cmp.Diff(want, got))
	}
	for _, bad := range []string{"", "=x", "a:Never", ":NoSchedule"} {
		if got, err := manifest.ParseTolerations([]string{bad}); err == nil {
			t.Errorf("%q is taken for %v", bad, got)
		}
	}
}

func TestParseResources(t *testing.T) {
	got, err := manifest.ParseResources(map[string]string{"cpu": "500m", "memory": "1Gi"})
	if err != nil || got.Cpu().MilliValue() != 500 || got.Memory().Value() != 1<<30 {
		t.Errorf("%v, %v", got, err)
	}
	for name, amount := range map[string]string{"cpu": "-1", "memory": "much", "gpu": "1", "ephemeral-storage": "0"} {
		if got, err := manifest.ParseResources(map[string]string{name: amount}); err == nil {
			t.Errorf("%s=%s is taken for %v", name, amount, got)
		}
	}
}
