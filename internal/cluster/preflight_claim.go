package cluster

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ebscope/internal/cluster/manifest"
	"ebscope/internal/units"
)

// fileSystemShare is what a file system leaves of a volume for one file: ext4 keeps 5 % for root and needs up to 2 % itself.
const fileSystemShare = 0.93

// inspectClaims looks at the claims that exist already, and at whether the test files fit on all.
func (s *survey) inspectClaims(ctx context.Context) ([]Finding, error) {
	var all []Finding
	for _, v := range s.Spec.Volumes {
		if v.Claim == "" {
			all = append(all, s.fits("volume "+v.Name, v.Name, v.Config.Size)...)
			continue
		}
		claim, err := s.Kubernetes.CoreV1().PersistentVolumeClaims(s.Namespace).Get(ctx, v.Claim, metav1.GetOptions{})
		err = s.failed(err, "read claim %s/%s", s.Namespace, v.Claim)
		if isNotFound(err) {
			all = append(all, refuse("no-claim", "volume %s: there is no claim %s in namespace %s: `kubectl get pvc -n %s` lists what there is",
				v.Name, v.Claim, s.Namespace, s.Namespace))
			continue
		}
		if err != nil {
			return all, err
		}
		s.claims[v.Claim] = claim
		all = append(all, s.claim(v, claim)...)
	}
	return all, nil
}

func (s *survey) claim(v manifest.Volume, claim *corev1.PersistentVolumeClaim) []Finding {
	name := "claim " + claim.Namespace + "/" + claim.Name
	switch {
	case claim.DeletionTimestamp != nil:
		return []Finding{refuse("claim-deleted", "%s is being deleted: name another", name)}
	case claim.Status.Phase == corev1.ClaimLost:
		return []Finding{refuse("claim-lost", "%s has lost its volume %s: name another", name, claim.Spec.VolumeName)}
	case isBlock(claim):
		return []Finding{refuse("claim-block", "%s is a raw device (volumeMode Block), and what it holds would be overwritten: leave the claim out, so that the run makes a volume of its own", name)}
	case s.Spec.Block:
		return []Finding{refuse("claim-mode", "%s has a file system (volumeMode Filesystem), and the run wants raw devices: use --volume-mode Filesystem, or leave the claim out", name)}
	}
	size := claimSize(claim)
	if found := s.fits(name, v.Name, size); len(found) > 0 {
		return found
	}
	if size != v.Config.Size {
		return []Finding{refuse("claim-size", "%s has %v, and the profile's volume %s %v: baseline, credits and prices would be those of a volume that does not exist. Write size: %s for %s in the profile, or name a claim of %v",
			name, size, v.Name, v.Config.Size, strings.ReplaceAll(size.String(), " ", ""), v.Name, v.Config.Size)}
	}
	return nil
}

// claimSize is the size of a claim's volume. One that is not bound yet will be what it asks for, in whole GiB as EBS has it.
func claimSize(claim *corev1.PersistentVolumeClaim) units.Bytes {
	if size, bound := claim.Status.Capacity[corev1.ResourceStorage]; bound {
		return units.Bytes(size.Value())
	}
	asked := claim.Spec.Resources.Requests[corev1.ResourceStorage]
	return (units.Bytes(asked.Value()) + units.GiB - 1) / units.GiB * units.GiB
}

func isBlock(claim *corev1.PersistentVolumeClaim) bool {
	return claim.Spec.VolumeMode != nil && *claim.Spec.VolumeMode == corev1.PersistentVolumeBlock
}

// fits finds out whether a volume is too small for the profile's test file.
func (s *survey) fits(name, volume string, size units.Bytes) []Finding {
	file, room := s.fileSize(volume), size
	if !s.Spec.Block {
		room = units.Bytes(fileSystemShare * float64(size))
	}
	if file <= room {
		return nil
	}
	return []Finding{refuse("too-small", "%s holds %v, of which a file system leaves about %.1f GiB, and the test file has %v: use a larger volume, or a smaller file_size in the profile",
		name, size, room.GiB(), file)}
}

// users finds pods that hold an existing claim: they would be measured too, or keep it from being attached.
func (s *survey) users(ctx context.Context) ([]Finding, error) {
	if len(s.claims) == 0 {
		return nil, nil
	}
	pods, err := s.Kubernetes.CoreV1().Pods(s.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, s.failed(err, "list pods in namespace %s", s.Namespace)
	}
	var all []Finding
	own := manifest.Name(s.Spec.Run)
	for _, p := range pods.Items {
		if p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed || p.Labels[manifest.RunLabel] == own {
			continue
		}
		for _, v := range p.Spec.Volumes {
			if c := v.PersistentVolumeClaim; c != nil && s.claims[c.ClaimName] != nil {
				all = append(all, refuse("claim-in-use", "claim %s/%s is in use by pod %s: stop what runs there, or name another claim", p.Namespace, c.ClaimName, p.Name))
			}
		}
	}
	slices.SortFunc(all, compareText)
	return all, nil
}
