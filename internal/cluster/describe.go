package cluster

import (
	"context"
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ebscope/internal/cluster/manifest"
	"ebscope/internal/cluster/runner"
	"ebscope/internal/result"
)

// Place is where a pair was measured.
type Place struct {
	Cluster      result.Cluster
	InstanceType string // of the node; empty where it is not known
	Emulated     bool   // a StorageClass says that its volumes are emulated
}

// Describe finds out where a pair of a run was measured. Volumes are the profile's names, in its order. Nothing fails: what
// cannot be read, because it is gone or may not be seen, stays empty.
func (c *Client) Describe(ctx context.Context, run RunStatus, pair int, volumes []string) Place {
	p := Place{Cluster: result.Cluster{Namespace: run.Namespace}}
	if v, err := c.Kubernetes.Discovery().ServerVersion(); err == nil {
		p.Cluster.Version = v.GitVersion
	}
	for _, s := range run.Pairs {
		if s.Pair != pair {
			continue
		}
		for _, pod := range s.Pods { // the last that ran stands for the run
			if pod.Node != "" {
				p.Cluster.Node = pod.Node
			}
			if pod.Image != "" {
				p.Cluster.ImageDigest = pod.Image
			}
		}
	}
	if p.Cluster.Node != "" {
		if n, err := c.Kubernetes.CoreV1().Nodes().Get(ctx, p.Cluster.Node, metav1.GetOptions{}); err == nil {
			p.Cluster.Zone, p.InstanceType = n.Labels[corev1.LabelTopologyZone], n.Labels[corev1.LabelInstanceTypeStable]
		}
	}
	job, err := c.Kubernetes.BatchV1().Jobs(run.Namespace).Get(ctx, manifest.JobName(run.ID, pair), metav1.GetOptions{})
	if err != nil {
		return p
	}
	pod := job.Spec.Template.Spec
	if len(pod.Containers) > 0 {
		p.Cluster.Image = pod.Containers[0].Image
	}
	for _, name := range volumes {
		v := result.ClusterVolume{Name: name, Claim: claimAt(pod, name)}
		class := c.describeVolume(ctx, run.Namespace, &v)
		if class != nil && class.Annotations[manifest.EmulatedAnnotation] != "" {
			p.Emulated = true
		}
		p.Cluster.Volumes = append(p.Cluster.Volumes, v)
	}
	return p
}

// Emulated says whether the volumes that a run is to use are emulated, by what their StorageClasses say.
func (c *Client) Emulated(ctx context.Context, spec manifest.Spec) bool {
	for _, v := range spec.Volumes {
		name := v.Class
		if v.Claim != "" {
			claim, err := c.Kubernetes.CoreV1().PersistentVolumeClaims(c.Namespace).Get(ctx, v.Claim, metav1.GetOptions{})
			if err != nil || claim.Spec.StorageClassName == nil {
				continue // preflight says what is wrong with it
			}
			name = *claim.Spec.StorageClassName
		}
		if name == "" {
			continue
		}
		class, err := c.Kubernetes.StorageV1().StorageClasses().Get(ctx, name, metav1.GetOptions{})
		if err == nil && class.Annotations[manifest.EmulatedAnnotation] != "" {
			return true
		}
	}
	return false
}

// claimAt returns the claim that a pod has under the profile's name of a volume.
func claimAt(pod corev1.PodSpec, volume string) string {
	claims := map[string]string{} // by the pod's name for the volume
	for _, v := range pod.Volumes {
		if v.PersistentVolumeClaim != nil {
			claims[v.Name] = v.PersistentVolumeClaim.ClaimName
		}
	}
	for _, c := range pod.Containers {
		for _, m := range c.VolumeMounts {
			if m.MountPath == path.Join(runner.VolumesDir, volume) {
				return claims[m.Name]
			}
		}
		for _, d := range c.VolumeDevices {
			if d.DevicePath == path.Join(runner.DevicesDir, volume) {
				return claims[d.Name]
			}
		}
	}
	return ""
}

// describeVolume fills in what stands behind a claim, and returns its class, nil where that is not known.
func (c *Client) describeVolume(ctx context.Context, namespace string, v *result.ClusterVolume) (class *storagev1.StorageClass) {
	claim, err := c.Kubernetes.CoreV1().PersistentVolumeClaims(namespace).Get(ctx, v.Claim, metav1.GetOptions{})
	if err != nil {
		return nil
	}
	v.Volume = claim.Spec.VolumeName
	if name := claim.Spec.StorageClassName; name != nil {
		v.Class = *name
		if found, err := c.Kubernetes.StorageV1().StorageClasses().Get(ctx, v.Class, metav1.GetOptions{}); err == nil {
			class, v.Driver = found, found.Provisioner
		}
	}
	pv, err := c.Kubernetes.CoreV1().PersistentVolumes().Get(ctx, v.Volume, metav1.GetOptions{})
	if err == nil {
		switch source := pv.Spec.PersistentVolumeSource; {
		case source.CSI != nil:
			v.Driver, v.Handle = source.CSI.Driver, source.CSI.VolumeHandle
		case source.AWSElasticBlockStore != nil: // in-tree; migrated, its id may have a zone before it
			v.Driver, v.Handle = manifest.ProvisionerInTree, source.AWSElasticBlockStore.VolumeID[strings.LastIndex(source.AWSElasticBlockStore.VolumeID, "/")+1:]
		case source.Local != nil:
			v.Handle = source.Local.Path
		}
	}
	if v.Driver == manifest.ProvisionerCSI || v.Driver == manifest.ProvisionerInTree {
		v.DriverVersion, _ = c.DriverVersion(ctx) // empty where it is not known
	}
	return class
}
