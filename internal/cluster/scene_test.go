package cluster

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"ebscope/internal/cluster/manifest"
	"ebscope/internal/cluster/runner"
)

const (
	space   = "bench"
	runID   = "20261201T052101Z-gp2-vs-gp3-kubernetes"
	runName = "20261201t052101z-gp2-vs-gp3" // manifest.Name of it
)

var noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

// meta is the metadata of an object of a run. More are pairs of label and value.
func objectMeta(id, name string, more ...string) metav1.ObjectMeta {
	labels := map[string]string{manifest.ManagedByLabel: manifest.ManagedBy, manifest.RunLabel: manifest.Name(id)}
	for i := 0; i < len(more); i += 2 {
		labels[more[i]] = more[i+1]
	}
	return metav1.ObjectMeta{
		Name: name, Namespace: space, UID: types.UID(name), Labels: labels, CreationTimestamp: metav1.NewTime(noon),
		Annotations: map[string]string{manifest.RunAnnotation: id},
	}
}

func recordOf(id string, created time.Time) *corev1.ConfigMap {
	m := &corev1.ConfigMap{ObjectMeta: objectMeta(id, manifest.ConfigMapName(id)), Data: map[string]string{runner.RecordFile: `{"id":"` + id + `"}`}}
	m.CreationTimestamp = metav1.NewTime(created)
	return m
}

// jobOf is the Job of a pair, with conditions that are true.
func jobOf(id string, pair int, conditions ...batchv1.JobCondition) *batchv1.Job {
	j := &batchv1.Job{ObjectMeta: objectMeta(id, manifest.JobName(id, pair), manifest.PairLabel, fmt.Sprint(pair))}
	j.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "volume-0", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: manifest.ClaimName(id, "gp2", pair)},
	}}}
	for _, c := range conditions {
		c.Status = corev1.ConditionTrue
		c.LastTransitionTime = metav1.NewTime(noon.Add(time.Hour))
		j.Status.Conditions = append(j.Status.Conditions, c)
	}
	return j
}

// podOf is the n-th pod of a pair.
func podOf(id string, pair, n int, change func(*corev1.Pod)) *corev1.Pod {
	name := fmt.Sprintf("%s-pod%d", manifest.JobName(id, pair), n)
	p := &corev1.Pod{ObjectMeta: objectMeta(id, name, manifest.PairLabel, fmt.Sprint(pair), manifest.RoleLabel, manifest.RoleRunner)}
	p.CreationTimestamp = metav1.NewTime(noon.Add(time.Duration(n) * time.Minute))
	p.Spec.Containers = []corev1.Container{{Name: manifest.RunnerContainer, Image: "alpine:3"}}
	p.Status.Phase = corev1.PodPending
	if change != nil {
		change(p)
	}
	return p
}

func on(node string, phase corev1.PodPhase) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.NodeName, p.Status.Phase = node, phase }
}

// warning is an event of type Warning about an object.
func warning(kind, object, reason, message string, at time.Time) *corev1.Event {
	return &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: object + "." + reason, Namespace: space, UID: types.UID(object + reason), CreationTimestamp: metav1.NewTime(at)},
		InvolvedObject: corev1.ObjectReference{Kind: kind, Namespace: space, Name: object},
		Type:           corev1.EventTypeWarning, Reason: reason, Message: message, Count: 1,
		FirstTimestamp: metav1.NewTime(at), LastTimestamp: metav1.NewTime(at), Source: corev1.EventSource{Component: "kubelet"},
	}
}
