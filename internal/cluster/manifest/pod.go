package manifest

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"ebscope/internal/cluster/runner"
)

// DefaultImage has a shell but no fio: the runner unpacks Alpine's package of it into its scratch space, for which the node
// has to reach Alpine's mirror. An image with fio in it needs no such thing. The tag is of one release, so that runs
// compare; its digest is recorded with the results.
const DefaultImage = "docker.io/library/alpine:3.24.1"

// user runs fio, and owns the volumes as a group. It exists in no image and need not.
const user = 65532

var (
	defaultRequests = corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("1"), // fio at 16,000 IOPS takes about half of it
		corev1.ResourceMemory: resource.MustParse("512Mi"),
	}
	collectorRequests = corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("100m"),
		corev1.ResourceMemory: resource.MustParse("64Mi"),
	}
)

// asRoot says whether fio has to be user 0. The nodes of raw devices are made for root alone. And on an existing claim, where
// files may be somebody else's, a group would be given all of them: only root writes there and leaves them as they are.
func (s Spec) asRoot() bool { return s.Block || s.usesClaim() }

func (s Spec) usesClaim() bool {
	return slices.ContainsFunc(s.Volumes, func(v Volume) bool { return v.Claim != "" })
}

// Pod Security levels, and the label of a namespace that says which one it enforces.
const (
	EnforceLabel    = "pod-security.kubernetes.io/enforce"
	LevelRestricted = "restricted"
	LevelBaseline   = "baseline"
)

// PodSecurityLevel is the strictest level that admits the run's pods: restricted, which forbids user 0, or else baseline.
func (s Spec) PodSecurityLevel() string {
	if s.asRoot() {
		return LevelBaseline
	}
	return LevelRestricted
}

func (s Spec) image() string {
	if s.Image == "" {
		return DefaultImage
	}
	return s.Image
}

// pod is what a runner and a collector have in common. Its container may write to WorkDir and /tmp.
func pod(s Spec, grace int64, c corev1.Container) corev1.PodSpec {
	return corev1.PodSpec{
		RestartPolicy:                 corev1.RestartPolicyNever,
		TerminationGracePeriodSeconds: &grace,
		AutomountServiceAccountToken:  new(false), // nothing in the pod talks to the cluster
		EnableServiceLinks:            new(false),
		NodeSelector:                  s.NodeSelector,
		Tolerations:                   s.Tolerations,
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: new(true),
			RunAsUser:    new(int64(user)),
			RunAsGroup:   new(int64(user)),
			FSGroup:      new(int64(user)),
			// A new pod finds the results of an earlier one as it left them.
			FSGroupChangePolicy: new(corev1.FSGroupChangeOnRootMismatch),
			SeccompProfile:      &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Containers: []corev1.Container{c},
		Volumes:    []corev1.Volume{scratch("work"), scratch("tmp")},
	}
}

func container(s Spec, name string, command ...string) corev1.Container {
	return corev1.Container{
		Name:       name,
		Image:      s.image(),
		Command:    command,
		WorkingDir: runner.WorkDir,
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: new(false),
			ReadOnlyRootFilesystem:   new(true),
			Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		VolumeMounts:             []corev1.VolumeMount{{Name: "work", MountPath: runner.WorkDir}, {Name: "tmp", MountPath: "/tmp"}},
	}
}

func scratch(name string) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}
}

func claimed(name, claim string) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
	}}
}
