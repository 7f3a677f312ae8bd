package manifest

import (
	"maps"
	"math"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ebscope/internal/cluster/runner"
)

// RunnerContainer is the name of the container that measures.
const RunnerContainer = "runner"

// replacements is how many pods may fail, each followed by another that goes on where it was cut. Evictions do not count.
const replacements = 6

// fioEnds is how long a pod is given to end, in seconds: fio waits for what is in flight, and writes its logs and results.
const fioEnds = 60

// job measures one pair. There is one Job a pair, since all pods of an indexed Job would have the same claims.
func job(s Spec, pair int) Object {
	return &batchv1.Job{
		TypeMeta:   metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
		ObjectMeta: s.pairMeta(JobName(s.Run, pair), pair),
		Spec: batchv1.JobSpec{
			BackoffLimit:          new(int32(replacements)),
			ActiveDeadlineSeconds: new(int64(math.Ceil(s.Deadline.Seconds()))),
			// A volume is attached to one node: the next pod has to wait until the last one has ended.
			PodReplacementPolicy: new(batchv1.Failed),
			PodFailurePolicy: &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
				// First, since fio may also fail because its pod is being evicted.
				{Action: batchv1.PodFailurePolicyActionIgnore, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{
					{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue},
				}},
				// What failed for good would fail in any other pod.
				{Action: batchv1.PodFailurePolicyActionFailJob, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
					ContainerName: new(RunnerContainer), Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{runner.ExitFailed},
				}},
			}},
			Template: corev1.PodTemplateSpec{ObjectMeta: s.podMeta("", pair, RoleRunner), Spec: runnerPod(s, pair)},
		},
	}
}

// podMeta is the metadata of a pod. No autoscaler is to take its node from under it.
func (s Spec) podMeta(name string, pair int, role string) metav1.ObjectMeta {
	m := s.pairMeta(name, pair)
	if name == "" {
		m.Namespace = "" // of a template: the Job's
	}
	m.Labels[RoleLabel] = role
	m.Annotations["karpenter.sh/do-not-disrupt"] = "true"
	m.Annotations["cluster-autoscaler.kubernetes.io/safe-to-evict"] = "false"
	return m
}

func runnerPod(s Spec, pair int) corev1.PodSpec {
	pod := pod(s, fioEnds, runnerContainer(s))
	if s.asRoot() {
		pod.SecurityContext = &corev1.PodSecurityContext{
			RunAsNonRoot: new(false), RunAsUser: new(int64(0)), RunAsGroup: new(int64(0)), SeccompProfile: pod.SecurityContext.SeccompProfile,
		}
	}
	pod.Volumes = append(pod.Volumes,
		corev1.Volume{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: ConfigMapName(s.Run)},
		}}},
		claimed("results", ResultsClaimName(s.Run, pair)),
	)
	for i, v := range s.Volumes {
		pod.Volumes = append(pod.Volumes, claimed(podVolume(i), s.claimOf(v, pair)))
	}
	if s.pairs() > 1 {
		// Pairs on one node would share its limits.
		pod.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{LabelSelector: s.runners(), TopologyKey: corev1.LabelHostname}},
		}}
	}
	return pod
}

func runnerContainer(s Spec) corev1.Container {
	c := container(s, RunnerContainer, "/bin/sh", runner.ConfigDir+"/"+runner.ScriptFile)
	c.Env = []corev1.EnvVar{fromField("POD_NAME", "metadata.name"), fromField("POD_UID", "metadata.uid"), fromField("NODE_NAME", "spec.nodeName")}
	c.Resources = corev1.ResourceRequirements{Requests: s.requests(), Limits: s.Limits}
	c.VolumeMounts = append(c.VolumeMounts,
		corev1.VolumeMount{Name: "config", MountPath: runner.ConfigDir, ReadOnly: true},
		corev1.VolumeMount{Name: "results", MountPath: runner.ResultsDir},
	)
	if s.usesClaim() && !s.Block {
		c.SecurityContext.Capabilities.Add = []corev1.Capability{"DAC_OVERRIDE"} // to make its file in a folder that another user owns
	}
	for i, v := range s.Volumes {
		if s.Block {
			c.VolumeDevices = append(c.VolumeDevices, corev1.VolumeDevice{Name: podVolume(i), DevicePath: runner.DevicesDir + "/" + v.Name})
		} else {
			c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: podVolume(i), MountPath: runner.VolumesDir + "/" + v.Name})
		}
	}
	return c
}

// podVolume names a volume under test within its pod, where the volume's own name may be too long.
func podVolume(i int) string { return "volume-" + strconv.Itoa(i) }

func fromField(name, path string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}}
}

// requests are those of the spec, and the defaults for what it neither requests nor limits: what is limited alone is
// requested to that limit by Kubernetes. There is no default limit: a throttled CPU would be measured as slow I/O.
func (s Spec) requests() corev1.ResourceList {
	all := maps.Clone(s.Requests)
	if all == nil {
		all = corev1.ResourceList{}
	}
	for name, quantity := range defaultRequests {
		_, requested := all[name]
		_, limited := s.Limits[name]
		if !requested && !limited {
			all[name] = quantity
		}
	}
	return all
}
