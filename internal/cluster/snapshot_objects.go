package cluster

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ebscope/internal/fleet"
)

func claimOf(p *corev1.PersistentVolumeClaim) fleet.Claim {
	c := fleet.Claim{
		UID: fleet.UID(p.UID), Namespace: p.Namespace, Name: p.Name, ResourceVersion: p.ResourceVersion,
		Class: p.Spec.StorageClassName, Volume: p.Spec.VolumeName, Phase: string(p.Status.Phase),
		RequestedBytes: p.Spec.Resources.Requests.Storage().Value(), CapacityBytes: p.Status.Capacity.Storage().Value(),
		AttributesClass: text(p.Spec.VolumeAttributesClassName), CurrentAttributesClass: text(p.Status.CurrentVolumeAttributesClassName),
		Deleting: p.DeletionTimestamp != nil, Labels: p.Labels, Annotations: annotations(p),
	}
	if class, old := p.Annotations[corev1.BetaStorageClassAnnotation]; old && c.Class == nil {
		c.Class = &class
	}
	if m := p.Status.ModifyVolumeStatus; m != nil {
		c.Modify = &fleet.ModifyStatus{Target: m.TargetVolumeAttributesClassName, Status: string(m.Status)}
	}
	for _, mode := range p.Spec.AccessModes {
		c.AccessModes = append(c.AccessModes, string(mode))
	}
	return c
}

func persistentVolumeOf(p *corev1.PersistentVolume) fleet.PersistentVolume {
	v := fleet.PersistentVolume{
		UID: fleet.UID(p.UID), Name: p.Name, Class: p.Spec.StorageClassName, AttributesClass: text(p.Spec.VolumeAttributesClassName),
		Phase: string(p.Status.Phase), Reclaim: string(p.Spec.PersistentVolumeReclaimPolicy),
		CapacityBytes: p.Spec.Capacity.Storage().Value(), Labels: p.Labels, Annotations: annotations(p),
	}
	if csi := p.Spec.CSI; csi != nil {
		v.Driver, v.Handle = csi.Driver, csi.VolumeHandle
	}
	if old := p.Spec.AWSElasticBlockStore; old != nil {
		v.InTree = old.VolumeID
	}
	if claim := p.Spec.ClaimRef; claim != nil {
		v.ClaimUID, v.ClaimNamespace, v.ClaimName = fleet.UID(claim.UID), claim.Namespace, claim.Name
	}
	return v
}

// The annotations that make a StorageClass the default one, in the present form and in the old one, which still counts.
const (
	defaultClass     = "storageclass.kubernetes.io/is-default-class"
	defaultClassBeta = "storageclass.beta.kubernetes.io/is-default-class"
)

func isDefault(c *storagev1.StorageClass) bool {
	return c.Annotations[defaultClass] == "true" || c.Annotations[defaultClassBeta] == "true"
}

func storageClassOf(c *storagev1.StorageClass) fleet.StorageClass {
	s := fleet.StorageClass{
		UID: fleet.UID(c.UID), Name: c.Name, ResourceVersion: c.ResourceVersion, Provisioner: c.Provisioner, Default: isDefault(c),
		Created: c.CreationTimestamp.UTC(), Parameters: c.Parameters, Labels: c.Labels, Annotations: annotations(c),
	}
	if c.ReclaimPolicy != nil {
		s.Reclaim = string(*c.ReclaimPolicy)
	}
	if c.VolumeBindingMode != nil {
		s.Binding = string(*c.VolumeBindingMode)
	}
	if c.AllowVolumeExpansion != nil {
		s.Expandable = *c.AllowVolumeExpansion
	}
	return s
}

// attributesClassOf describes a VolumeAttributesClass of any version.
func attributesClassOf(o metav1.Object, driver string, parameters map[string]string) fleet.AttributesClass {
	return fleet.AttributesClass{UID: fleet.UID(o.GetUID()), Name: o.GetName(), Driver: driver, Parameters: parameters, Labels: o.GetLabels()}
}

func statefulSetOf(s *appsv1.StatefulSet) fleet.StatefulSet {
	set := fleet.StatefulSet{
		UID: fleet.UID(s.UID), Namespace: s.Namespace, Name: s.Name, Replicas: 1, Labels: s.Labels, Annotations: annotations(s),
	}
	if s.Spec.Replicas != nil {
		set.Replicas = int64(*s.Spec.Replicas)
	}
	for i := range s.Spec.VolumeClaimTemplates {
		claim := claimOf(&s.Spec.VolumeClaimTemplates[i])
		set.Templates = append(set.Templates, fleet.Template{Name: claim.Name, Class: claim.Class, RequestedBytes: claim.RequestedBytes})
	}
	return set
}

// text is the text behind a pointer; empty where it is nil.
func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
