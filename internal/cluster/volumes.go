package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
)

const volumeKind = "PersistentVolume"

// provisionedBy is on a PersistentVolume that a provisioner made for a claim. Without it, somebody made it by hand.
const provisionedBy = "pv.kubernetes.io/provisioned-by"

// findVolumes finds the volumes behind the claims that will be deleted, and those that an earlier cleanup left.
func (s *sweep) findVolumes(ctx context.Context) error {
	s.volumes = map[string]Object{}
	claims := map[string]bool{}
	for _, o := range s.found[claimKind] {
		claims[o.GetName()] = true
	}
	list, err := s.client.Kubernetes.CoreV1().PersistentVolumes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return s.client.failed(err, "list the volumes of runs")
	}
	for i := range list.Items {
		v := &list.Items[i]
		claim := v.Spec.ClaimRef
		if claim == nil || claim.Namespace != s.client.Namespace {
			continue
		}
		if claims[claim.Name] || v.Status.Phase != corev1.VolumeBound && s.named(claim.Name) {
			s.volumes[v.Name] = Object{Kind: claimKind.name, Namespace: claim.Namespace, Name: claim.Name}
		}
	}
	return nil
}

// named says whether a claim has the name of a run before its own.
func (s *sweep) named(claim string) bool {
	for run := range s.runs {
		if strings.HasPrefix(claim, run+"-") {
			return true
		}
	}
	return false
}

// waitForVolumes waits until the volumes are gone that go with their claims, and says of the others why they stay.
func (s *sweep) waitForVolumes(ctx context.Context) {
	if len(s.volumes) == 0 {
		return
	}
	there := map[string]*corev1.PersistentVolume{}
	err := until(ctx, s.client, s.client.Kubernetes.CoreV1().PersistentVolumes(), "persistentvolumes", &corev1.PersistentVolume{},
		func(*metav1.ListOptions) {}, stripVolume, func(objects []any) bool {
			there = map[string]*corev1.PersistentVolume{}
			waits := false
			for _, o := range objects {
				if v, ok := o.(*corev1.PersistentVolume); ok && s.volumes[v.Name] != (Object{}) {
					there[v.Name] = v
					waits = waits || !s.settled(v)
				}
			}
			return !waits
		})
	for name := range s.volumes {
		object := Object{Kind: volumeKind, Name: name}
		v, stays := there[name]
		switch {
		case stays && v.Status.Phase != corev1.VolumeBound && byHand(v):
			s.kept[object] = "it was not made for the run: " + afterwards(v)
		case stays && v.Status.Phase != corev1.VolumeBound && v.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimDelete:
			s.retained++
			s.left[object] = fmt.Sprintf("its reclaim policy is %s: %s stays, and costs, until it is deleted by hand", v.Spec.PersistentVolumeReclaimPolicy, disk(v))
		case stays:
			s.left[object] = s.stuck(ctx, v)
		case err != nil && ctx.Err() == nil:
			s.left[object] = "it is not known whether it is gone: " + err.Error()
		default:
			s.removed = append(s.removed, object)
		}
	}
}

// settled says whether waiting would change nothing about a volume.
func (s *sweep) settled(v *corev1.PersistentVolume) bool {
	if _, held := s.left[s.volumes[v.Name]]; held {
		return true // its claim stays
	}
	released := v.Status.Phase != corev1.VolumeBound
	return released && (byHand(v) || v.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimDelete)
}

func byHand(v *corev1.PersistentVolume) bool { return v.Annotations[provisionedBy] == "" }

func afterwards(v *corev1.PersistentVolume) string {
	if v.Status.Phase == corev1.VolumeReleased && v.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRetain {
		return "no other claim gets it until its claimRef is removed"
	}
	return "it is " + strings.ToLower(string(v.Status.Phase))
}

// disk names what is behind a volume.
func disk(v *corev1.PersistentVolume) string {
	switch {
	case v.Spec.CSI != nil:
		return "volume " + v.Spec.CSI.VolumeHandle
	case v.Spec.AWSElasticBlockStore != nil:
		return "volume " + v.Spec.AWSElasticBlockStore.VolumeID
	}
	return "the volume behind it"
}

// stuck says why a volume is still there.
func (s *sweep) stuck(ctx context.Context, v *corev1.PersistentVolume) string {
	claim := s.volumes[v.Name]
	if _, held := s.left[claim]; held {
		return "its claim is still there: " + claim.String()
	}
	if v.Status.Message != "" {
		return disk(v) + " was not deleted: " + v.Status.Message
	}
	if said := s.said(ctx, v.Name); said != "" {
		return disk(v) + " was not deleted: " + said
	}
	if i := slices.IndexFunc(v.Finalizers, func(f string) bool { return strings.HasPrefix(f, "external-attacher/") }); i >= 0 {
		return fmt.Sprintf("%s is still attached to a node (finalizer %s): see `kubectl get volumeattachments`, then run cleanup again", disk(v), v.Finalizers[i])
	}
	return disk(v) + " was not deleted in time: does its provisioner run? Then run cleanup again"
}

// said returns the last warning about a volume. Events about what belongs to the cluster are in the namespace default, which
// may not be ours to read.
func (s *sweep) said(ctx context.Context, volume string) string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), parting)
	defer cancel()
	events, err := s.client.Kubernetes.CoreV1().Events(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("involvedObject.name", volume).String(),
	})
	if err != nil {
		return ""
	}
	var last Event
	for i := range events.Items {
		if e, _ := clusterEvent(&events.Items[i]); e.Warning && e.Object == volume && !e.Time.Before(last.Time) {
			last = e
		}
	}
	if last.Reason == "" {
		return ""
	}
	return last.Reason + ": " + last.Message
}

func stripVolume(object any) (any, error) {
	v, ok := object.(*corev1.PersistentVolume)
	if !ok {
		return object, nil
	}
	s := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{
		Name: v.Name, UID: v.UID, ResourceVersion: v.ResourceVersion, Finalizers: v.Finalizers, DeletionTimestamp: v.DeletionTimestamp,
	}}
	if by := v.Annotations[provisionedBy]; by != "" {
		s.Annotations = map[string]string{provisionedBy: by}
	}
	s.Spec.PersistentVolumeReclaimPolicy, s.Spec.CSI, s.Spec.AWSElasticBlockStore = v.Spec.PersistentVolumeReclaimPolicy, v.Spec.CSI, v.Spec.AWSElasticBlockStore
	s.Status = v.Status
	return s, nil
}
