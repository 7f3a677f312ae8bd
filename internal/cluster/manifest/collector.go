package manifest

import (
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ebscope/internal/cluster/runner"
)

// CollectorContainer is the name of the container through which results are read.
const CollectorContainer = "collector"

// CollectorLife is how long a collector waits to be read, until it ends by itself. Whoever needs it longer makes it anew.
const CollectorLife = time.Hour

// Collector is a pod that has the results of a pair at ResultsDir, to read only, and sleeps. It is never root. Of the spec it
// needs what places a pod: Run, Namespace, Image, NodeSelector and Tolerations.
func Collector(s Spec, pair int) Object {
	c := container(s, CollectorContainer, "sleep", strconv.Itoa(int(CollectorLife.Seconds())))
	c.Resources.Requests = collectorRequests
	// Read-only in the container, not on the node: where a file system was not unmounted, its journal must be replayed first.
	c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: "results", MountPath: runner.ResultsDir, ReadOnly: true})

	pod := pod(s, 1, c) // second to end: sleep does not hear that it should
	pod.Volumes = append(pod.Volumes, claimed("results", ResultsClaimName(s.Run, pair)))
	// While the runner's pod is there, the results volume is attached to its node.
	pod.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{
		PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 100, PodAffinityTerm: corev1.PodAffinityTerm{
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{
				RunLabel: Name(s.Run), PairLabel: strconv.Itoa(pair), RoleLabel: RoleRunner,
			}},
			TopologyKey: corev1.LabelHostname,
		}}},
	}}
	return &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: s.podMeta(CollectorName(s.Run, pair), pair, RoleCollector),
		Spec:       pod,
	}
}
