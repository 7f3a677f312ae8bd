package cluster

import (
	"context"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	storagev1beta1 "k8s.io/api/storage/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ebscope/internal/fleet"
)

func (r *reading) claims(ctx context.Context) {
	for _, namespace := range r.namespaces() {
		r.cluster.Claims = append(r.cluster.Claims, read(ctx, r, "persistentvolumeclaims", namespace, source[*corev1.PersistentVolumeClaimList, corev1.PersistentVolumeClaim, fleet.Claim]{
			list:  r.client.Kubernetes.CoreV1().PersistentVolumeClaims(namespace).List,
			items: func(l *corev1.PersistentVolumeClaimList) []corev1.PersistentVolumeClaim { return l.Items },
			keep:  func(p *corev1.PersistentVolumeClaim) (fleet.Claim, bool) { return claimOf(p), true },
		})...)
	}
}

// volumes keeps those that are EBS volumes, and of them those that the wanted namespaces claim.
func (r *reading) volumes(ctx context.Context) {
	r.cluster.Volumes = read(ctx, r, "persistentvolumes", "", source[*corev1.PersistentVolumeList, corev1.PersistentVolume, fleet.PersistentVolume]{
		list:  r.client.Kubernetes.CoreV1().PersistentVolumes().List,
		items: func(l *corev1.PersistentVolumeList) []corev1.PersistentVolume { return l.Items },
		keep: func(p *corev1.PersistentVolume) (fleet.PersistentVolume, bool) {
			v := persistentVolumeOf(p)
			_, ours := v.EBS()
			return v, ours && r.wanted(v.ClaimNamespace)
		},
	})
}

func (r *reading) classes(ctx context.Context) {
	r.cluster.Classes = read(ctx, r, "storageclasses.storage.k8s.io", "", source[*storagev1.StorageClassList, storagev1.StorageClass, fleet.StorageClass]{
		list:  r.client.Kubernetes.StorageV1().StorageClasses().List,
		items: func(l *storagev1.StorageClassList) []storagev1.StorageClass { return l.Items },
		keep:  func(c *storagev1.StorageClass) (fleet.StorageClass, bool) { return storageClassOf(c), true },
	})
}

// attributesClasses reads them in the newest form that the server has. Where it has none, nothing is missing.
func (r *reading) attributesClasses(ctx context.Context) {
	version, err := r.client.AttributesAPI(ctx)
	if err != nil {
		r.miss("discover "+storagev1.GroupName, "", err)
		return
	}
	r.cluster.AttributesAPI = version
	const resource = "volumeattributesclasses.storage.k8s.io"
	switch version {
	case attributesV1:
		r.cluster.AttributesClasses = read(ctx, r, resource, "", source[*storagev1.VolumeAttributesClassList, storagev1.VolumeAttributesClass, fleet.AttributesClass]{
			list:  r.client.Kubernetes.StorageV1().VolumeAttributesClasses().List,
			items: func(l *storagev1.VolumeAttributesClassList) []storagev1.VolumeAttributesClass { return l.Items },
			keep: func(c *storagev1.VolumeAttributesClass) (fleet.AttributesClass, bool) {
				return attributesClassOf(c, c.DriverName, c.Parameters), true
			},
		})
	case attributesBeta:
		r.cluster.AttributesClasses = read(ctx, r, resource, "", source[*storagev1beta1.VolumeAttributesClassList, storagev1beta1.VolumeAttributesClass, fleet.AttributesClass]{
			list: r.client.Kubernetes.StorageV1beta1().VolumeAttributesClasses().List,
			items: func(l *storagev1beta1.VolumeAttributesClassList) []storagev1beta1.VolumeAttributesClass {
				return l.Items
			},
			keep: func(c *storagev1beta1.VolumeAttributesClass) (fleet.AttributesClass, bool) {
				return attributesClassOf(c, c.DriverName, c.Parameters), true
			},
		})
	}
}

// pods keeps those that have claims and have not ended: only they use a volume.
func (r *reading) pods(ctx context.Context) {
	for _, namespace := range r.namespaces() {
		r.cluster.Pods = append(r.cluster.Pods, read(ctx, r, "pods", namespace, source[*corev1.PodList, corev1.Pod, fleet.Pod]{
			list:  r.client.Kubernetes.CoreV1().Pods(namespace).List,
			field: "status.phase!=" + string(corev1.PodSucceeded) + ",status.phase!=" + string(corev1.PodFailed),
			items: func(l *corev1.PodList) []corev1.Pod { return l.Items },
			keep: func(p *corev1.Pod) (fleet.Pod, bool) {
				pod := fleet.Pod{UID: fleet.UID(p.UID), Namespace: p.Namespace, Name: p.Name, Node: p.Spec.NodeName, Phase: string(p.Status.Phase), Claims: podClaims(p)}
				return pod, len(pod.Claims) > 0
			},
		})...)
	}
}

// podClaims are the claims that a pod names, and those that were made for it alone.
func podClaims(p *corev1.Pod) (names []string) {
	for _, v := range p.Spec.Volumes {
		switch {
		case v.PersistentVolumeClaim != nil:
			names = append(names, v.PersistentVolumeClaim.ClaimName)
		case v.Ephemeral != nil:
			names = append(names, p.Name+"-"+v.Name)
		}
	}
	return names
}

func (r *reading) statefulSets(ctx context.Context) {
	for _, namespace := range r.namespaces() {
		r.cluster.StatefulSets = append(r.cluster.StatefulSets, read(ctx, r, "statefulsets.apps", namespace, source[*appsv1.StatefulSetList, appsv1.StatefulSet, fleet.StatefulSet]{
			list:  r.client.Kubernetes.AppsV1().StatefulSets(namespace).List,
			items: func(l *appsv1.StatefulSetList) []appsv1.StatefulSet { return l.Items },
			keep: func(s *appsv1.StatefulSet) (fleet.StatefulSet, bool) {
				return statefulSetOf(s), len(s.Spec.VolumeClaimTemplates) > 0
			},
		})...)
	}
}

func (r *reading) nodes(ctx context.Context) {
	r.cluster.Nodes = read(ctx, r, "nodes", "", source[*corev1.NodeList, corev1.Node, fleet.Node]{
		list:  r.client.Kubernetes.CoreV1().Nodes().List,
		items: func(l *corev1.NodeList) []corev1.Node { return l.Items },
		keep: func(n *corev1.Node) (fleet.Node, bool) {
			return fleet.Node{
				UID: fleet.UID(n.UID), Name: n.Name, Instance: instanceOf(n.Spec.ProviderID),
				Type: n.Labels[corev1.LabelInstanceTypeStable], Zone: n.Labels[corev1.LabelTopologyZone],
			}, true
		},
	})
}

// instanceOf takes the instance out of a node's id at its provider: "aws:///ap-northeast-2a/i-0123456789abcdef0". A node of
// Fargate, or outside AWS, has none.
func instanceOf(provider string) fleet.InstanceID {
	id := provider[strings.LastIndexByte(provider, '/')+1:]
	if !strings.HasPrefix(provider, "aws://") || !strings.HasPrefix(id, "i-") {
		return ""
	}
	return fleet.InstanceID(id)
}

// annotations leaves out kubectl's copy of the whole object.
func annotations(o metav1.Object) map[string]string {
	all := o.GetAnnotations()
	delete(all, corev1.LastAppliedConfigAnnotation)
	if len(all) == 0 {
		return nil
	}
	return all
}
