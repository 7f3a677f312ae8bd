package cluster

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"ebscope/internal/cluster/manifest"
)

// attachable keeps the nodes on which every driver in use can attach the volumes of a pair, and its results volume.
func (s *survey) attachable(ctx context.Context, nodes []corev1.Node) (kept []corev1.Node, why reasons, err error) {
	needs := s.attachments()
	if len(needs) == 0 {
		return nodes, nil, nil
	}
	drivers, err := s.nodeDrivers(ctx)
	if err != nil {
		return nil, nil, err
	}
	taken, err := s.attached(ctx)
	if err != nil {
		return nil, nil, err
	}
	why = reasons{}
	for _, n := range nodes {
		if short := shortOfSlots(needs, drivers[n.Name], taken[n.Name]); short != "" {
			why[short]++
			continue
		}
		kept = append(kept, n)
	}
	return kept, why, nil
}

func shortOfSlots(needs map[string]int, drivers map[string]*int32, taken map[string]int) string {
	for _, driver := range slices.Sorted(maps.Keys(needs)) {
		most, there := drivers[driver]
		switch {
		case !there:
			return "on which the CSI driver " + driver + " does not run"
		case most != nil && int(*most)-taken[driver] < needs[driver]:
			return fmt.Sprintf("with too few free attachments of %s (%d of %d are taken, %d more are needed)", driver, taken[driver], *most, needs[driver])
		}
	}
	return ""
}

// attachments counts the volumes of a pair by the EBS driver that attaches them. Other drivers need not be on each node.
func (s *survey) attachments() map[string]int {
	needs := map[string]int{}
	count := func(class *storagev1.StorageClass) {
		if class != nil && makesEBS(class.Provisioner) {
			needs[driverOf(class.Provisioner)]++
		}
	}
	own := maps.Clone(s.classes)
	for _, o := range s.Objects {
		switch o := o.(type) {
		case *storagev1.StorageClass:
			own[o.Name] = o
		case *corev1.PersistentVolumeClaim:
			if name := o.Spec.StorageClassName; name != nil && o.Labels[manifest.PairLabel] == "0" {
				count(own[*name])
			}
		}
	}
	for _, v := range s.Spec.Volumes {
		if v.Claim != "" {
			count(own[s.className(v)])
		}
	}
	return needs
}

// nodeDrivers are the drivers of each node, and how many volumes each can attach there; nil: any number.
func (s *survey) nodeDrivers(ctx context.Context) (map[string]map[string]*int32, error) {
	drivers := map[string]map[string]*int32{}
	err := eachOf(ctx, func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		return s.Kubernetes.StorageV1().CSINodes().List(ctx, o)
	}, func(o runtime.Object) {
		n := o.(*storagev1.CSINode)
		drivers[n.Name] = map[string]*int32{}
		for _, d := range n.Spec.Drivers {
			drivers[n.Name][d.Name] = nil
			if d.Allocatable != nil {
				drivers[n.Name][d.Name] = d.Allocatable.Count
			}
		}
	})
	return drivers, s.failed(err, "list CSINodes")
}

// attached counts the volumes that each driver has attached to each node.
func (s *survey) attached(ctx context.Context) (map[string]map[string]int, error) {
	taken := map[string]map[string]int{}
	err := eachOf(ctx, func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		return s.Kubernetes.StorageV1().VolumeAttachments().List(ctx, o)
	}, func(o runtime.Object) {
		a := o.(*storagev1.VolumeAttachment)
		if taken[a.Spec.NodeName] == nil {
			taken[a.Spec.NodeName] = map[string]int{}
		}
		taken[a.Spec.NodeName][a.Spec.Attacher]++
	})
	return taken, s.failed(err, "list VolumeAttachments")
}
