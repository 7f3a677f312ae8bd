package manifest

import (
	"math"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ebscope/internal/ebs"
	"ebscope/internal/units"
)

// ResultsSize is the size of a results volume. A run of an hour leaves some tens of MiB.
const ResultsSize = 1 * units.GiB

// fileSystem is XFS: ext4 goes on writing inode tables for minutes after it was made, which would be measured.
const fileSystem = "xfs"

// makesClass says whether the run needs a StorageClass of its own.
func (s Spec) makesClass() bool {
	for _, v := range s.Volumes {
		if v.makesClass() {
			return true
		}
	}
	return s.ResultsClass == ""
}

func (v Volume) makesClass() bool { return v.Class == "" && v.Claim == "" }

// classes are the StorageClasses of the volumes under test that have none, and of the results.
func classes(s Spec) (all []Object) {
	for _, v := range s.Volumes {
		if v.makesClass() {
			c := class(s, ClassName(s.Run, v.Name), v.Config, !s.Block)
			c.Labels[VolumeLabel] = v.Name
			all = append(all, c)
		}
	}
	if s.ResultsClass == "" {
		all = append(all, class(s, ResultsClassName(s.Run), ebs.Volume{Type: ebs.GP3}, true))
	}
	return all
}

func class(s Spec, name string, v ebs.Volume, formatted bool) *storagev1.StorageClass {
	parameters := map[string]string{"type": string(v.Type), "encrypted": "true"}
	if v.IOPS != 0 {
		parameters["iops"] = whole(float64(v.IOPS))
	}
	if v.Throughput != 0 {
		parameters["throughput"] = whole(v.Throughput.MiBps()) // EBS takes it in MiB/s
	}
	if formatted {
		parameters["csi.storage.k8s.io/fstype"] = fileSystem
	}
	meta := s.meta(name)
	meta.Namespace = "" // a class belongs to the cluster
	c := &storagev1.StorageClass{
		TypeMeta:    metav1.TypeMeta{APIVersion: "storage.k8s.io/v1", Kind: "StorageClass"},
		ObjectMeta:  meta,
		Provisioner: s.provisioner(),
		Parameters:  parameters,
		// The volume is made where its pod goes, and goes with its claim.
		VolumeBindingMode: new(storagev1.VolumeBindingWaitForFirstConsumer),
		ReclaimPolicy:     new(corev1.PersistentVolumeReclaimDelete),
	}
	if c.Provisioner == ProvisionerAutoMode {
		// Other nodes of the cluster cannot attach its volumes, https://docs.aws.amazon.com/eks/latest/userguide/create-storage-class.html
		c.AllowedTopologies = []corev1.TopologySelectorTerm{{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{
			{Key: "eks.amazonaws.com/compute-type", Values: []string{"auto"}},
		}}}
	}
	return c
}

func (s Spec) provisioner() string {
	if s.Provisioner == "" {
		return ProvisionerCSI
	}
	return s.Provisioner
}

func whole(x float64) string { return strconv.FormatInt(int64(math.Round(x)), 10) }

// claims are the PersistentVolumeClaims of a pair: of its volumes that have none, and of its results.
func claims(s Spec, pair int) (all []Object) {
	for _, v := range s.Volumes {
		if v.Claim != "" {
			continue
		}
		className, mode := v.Class, corev1.PersistentVolumeFilesystem
		if className == "" {
			className = ClassName(s.Run, v.Name)
		}
		if s.Block {
			mode = corev1.PersistentVolumeBlock
		}
		c := claim(s, pair, s.claimOf(v, pair), className, mode, v.Config.Size)
		c.Labels[VolumeLabel] = v.Name
		all = append(all, c)
	}
	className := s.ResultsClass
	if className == "" {
		className = ResultsClassName(s.Run)
	}
	return append(all, claim(s, pair, ResultsClaimName(s.Run, pair), className, corev1.PersistentVolumeFilesystem, ResultsSize))
}

func claim(s Spec, pair int, name, className string, mode corev1.PersistentVolumeMode, size units.Bytes) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"},
		ObjectMeta: s.pairMeta(name, pair),
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			VolumeMode:       &mode,
			StorageClassName: &className,
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: *resource.NewQuantity(int64(size), resource.BinarySI)},
			},
		},
	}
}

// claimOf names the claim that a pair measures a volume through.
func (s Spec) claimOf(v Volume, pair int) string {
	if v.Claim != "" {
		return v.Claim
	}
	return ClaimName(s.Run, v.Name, pair)
}
