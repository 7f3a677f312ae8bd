package manifest

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ebscope/internal/cluster/runner"
)

// configMap holds what the runner works from. It cannot be changed while the runner does.
func configMap(s Spec) (Object, error) {
	plan, err := s.Plan.Text()
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", s.Run, err)
	}
	data := map[string]string{
		runner.ScriptFile: string(runner.Script()),
		runner.PlanFile:   string(plan),
		runner.RecordFile: string(s.Record),
	}
	for _, p := range s.Plan.Phases {
		text, ok := s.Jobs[p.Name]
		if !ok {
			return nil, fmt.Errorf("run %s: phase %s has no job file", s.Run, p.Name)
		}
		data[p.Name+runner.JobSuffix] = string(text)
	}
	size := 0
	for key, text := range data {
		size += len(key) + len(text)
	}
	if size > corev1.MaxSecretSize {
		return nil, fmt.Errorf("run %s: its %d job files, script and record take %d bytes, and a ConfigMap holds %d; use a profile with fewer phases",
			s.Run, len(s.Plan.Phases), size, corev1.MaxSecretSize)
	}
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: s.meta(ConfigMapName(s.Run)),
		Immutable:  new(true),
		Data:       data,
	}, nil
}
