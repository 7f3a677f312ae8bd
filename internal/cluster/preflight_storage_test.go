package cluster_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ebscope/internal/cluster"
	"ebscope/internal/cluster/manifest"
	"ebscope/internal/ebs"
	"ebscope/internal/units"
)

func TestNamespace(t *testing.T) {
	job := func(name, run string, conditions ...batchv1.JobCondition) *batchv1.Job {
		return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ebscope", Labels: map[string]string{
			manifest.ManagedByLabel: manifest.ManagedBy, manifest.RunLabel: run}}, Status: batchv1.JobStatus{Conditions: conditions}}
	}
	checkAll(t, []look{
		{name: "is made", change: func(s *scene) { s.remove("ebscope") }},
		{name: "is not there and not to be made", code: "no-namespace", severity: cluster.Refuse, text: []string{"ebscope", "kubectl create namespace"},
			change: func(s *scene) { s.remove("ebscope"); s.wanted.Spec.CreateNamespace = false }},
		{name: "is going", code: "namespace-terminating", severity: cluster.Refuse,
			change: func(s *scene) {
				get[*corev1.Namespace](s, "ebscope").Status.Phase = corev1.NamespaceTerminating
			}},
		{name: "restricted, raw devices", code: "pod-security", severity: cluster.Refuse, text: []string{"restricted", "baseline"},
			change: func(s *scene) { s.wanted.Spec.Block = true }},
		{name: "privileged, raw devices",
			change: func(s *scene) {
				s.wanted.Spec.Block = true
				get[*corev1.Namespace](s, "ebscope").Labels[manifest.EnforceLabel] = "privileged"
			}},
		{name: "another run", code: "other-run", severity: cluster.Refuse, text: []string{"`ebscope attach 20261201t040000z-quick -n ebscope`", "`ebscope cleanup 20261201t040000z-quick -n ebscope`"},
			change: func(s *scene) { s.add(job("j", "20261201t040000z-quick")) }},
		{name: "another run that is over",
			change: func(s *scene) {
				s.add(job("j", "20261201t040000z-quick", batchv1.JobCondition{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}))
			}},
		{name: "this run itself", change: func(s *scene) { s.add(job("j", manifest.Name(run))) }},
	})
}

// existing lets the volume gp2 use a claim that exists, from a class that exists.
func existing(s *scene) *corev1.PersistentVolumeClaim {
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "old", Namespace: "ebscope"},
		Spec:       corev1.PersistentVolumeClaimSpec{StorageClassName: new("gp2-class")},
		Status:     corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound, Capacity: list("storage", "100Gi")},
	}
	s.add(claim, class("gp2-class", "type", "gp2"))
	s.wanted.Spec.Volumes[1].Claim = claim.Name
	get[*corev1.Namespace](s, "ebscope").Labels = nil // fio runs as root there
	return claim
}

func class(name string, parameters ...string) *storagev1.StorageClass {
	c := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{}}, Provisioner: manifest.ProvisionerCSI, Parameters: map[string]string{},
		VolumeBindingMode: new(storagev1.VolumeBindingWaitForFirstConsumer), ReclaimPolicy: new(corev1.PersistentVolumeReclaimDelete)}
	for i := 0; i < len(parameters); i += 2 {
		c.Parameters[parameters[i]] = parameters[i+1]
	}
	return c
}

func TestClaims(t *testing.T) {
	user := func(phase corev1.PodPhase) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "db-0", Namespace: "ebscope"}, Status: corev1.PodStatus{Phase: phase},
			Spec: corev1.PodSpec{Volumes: []corev1.Volume{{VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "old"}}}}}}
	}
	checkAll(t, []look{
		{name: "a good one", change: func(s *scene) { existing(s) }},
		{name: "none of that name", code: "no-claim", severity: cluster.Refuse, text: []string{"volume gp2", "claim older", "namespace ebscope"},
			change: func(s *scene) { existing(s); s.wanted.Spec.Volumes[1].Claim = "older" }},
		{name: "a raw device", code: "claim-block", severity: cluster.Refuse, text: []string{"ebscope/old", "overwritten"},
			change: func(s *scene) { existing(s).Spec.VolumeMode = new(corev1.PersistentVolumeBlock) }},
		{name: "a file system, where raw devices are wanted", code: "claim-mode", severity: cluster.Refuse, text: []string{"ebscope/old"},
			change: func(s *scene) {
				existing(s).Spec.VolumeMode = new(corev1.PersistentVolumeFilesystem)
				s.wanted.Spec.Block = true
			}},
		// 93 % of 8 GiB are 7.44 GiB.
		{name: "as small as the file", code: "too-small", severity: cluster.Refuse, text: []string{"ebscope/old holds 8 GiB", "7.4 GiB", "8 GiB: use a larger"},
			change: func(s *scene) { existing(s).Status.Capacity = list("storage", "8Gi") }},
		{name: "somewhat larger than the file", change: func(s *scene) {
			existing(s).Status.Capacity = list("storage", "9Gi")
			s.wanted.Spec.Volumes[1].Config.Size = 9 * units.GiB
		}},
		{name: "of another size than the profile's", code: "claim-size", severity: cluster.Refuse,
			text:   []string{"claim ebscope/old has 200 GiB", "volume gp2 100 GiB", "size: 200GiB for gp2 in the profile"},
			change: func(s *scene) { existing(s).Status.Capacity = list("storage", "200Gi") }},
		// 100e9 bytes are 93.1 GiB, of which EBS makes 94.
		{name: "not bound yet, and of another size", code: "claim-size", severity: cluster.Refuse, text: []string{"has 94 GiB"},
			change: func(s *scene) {
				claim := existing(s)
				claim.Status.Capacity, claim.Spec.Resources.Requests = nil, list("storage", "100G")
			}},
		{name: "not bound yet, and too small", code: "too-small", severity: cluster.Refuse,
			change: func(s *scene) {
				claim := existing(s)
				claim.Status.Capacity, claim.Spec.Resources.Requests = nil, list("storage", "4Gi")
			}},
		{name: "lost", code: "claim-lost", severity: cluster.Refuse, change: func(s *scene) { existing(s).Status.Phase = corev1.ClaimLost }},
		{name: "being deleted", code: "claim-deleted", severity: cluster.Refuse,
			change: func(s *scene) {
				claim := existing(s)
				claim.DeletionTimestamp, claim.Finalizers = &metav1.Time{Time: time.Unix(1, 0)}, []string{"kubernetes.io/pvc-protection"}
			}},
		{name: "in use", code: "claim-in-use", severity: cluster.Refuse, text: []string{"ebscope/old", "pod db-0"},
			change: func(s *scene) { existing(s); s.add(user(corev1.PodRunning)) }},
		{name: "used by a pod that is done", change: func(s *scene) { existing(s); s.add(user(corev1.PodSucceeded)) }},
		{name: "from a class that is gone", change: func(s *scene) { existing(s); s.remove("gp2-class") }},
		{name: "from a class of another type", code: "class-parameters", severity: cluster.Warn, text: []string{"makes gp3 100 GiB", "says gp2 100 GiB"},
			change: func(s *scene) { existing(s); get[*storagev1.StorageClass](s, "gp2-class").Parameters = nil }},
		{name: "changed since its class made it",
			change: func(s *scene) {
				existing(s).Status.CurrentVolumeAttributesClassName = new("gp2-now")
				get[*storagev1.StorageClass](s, "gp2-class").Parameters = nil
			}},
	})
}

func TestClasses(t *testing.T) {
	use := func(c *storagev1.StorageClass) func(*scene) {
		return func(s *scene) {
			s.add(c)
			s.wanted.Spec.Volumes[0].Class = c.Name
		}
	}
	perGiB := class("c", "type", "io1", "iopsPerGB", "50")
	emulated := class("c")
	emulated.Provisioner, emulated.Annotations[manifest.EmulatedAnnotation] = "kubernetes.io/no-provisioner", "60"
	foreign := class("c")
	foreign.Provisioner = "rancher.io/local-path"
	inTree := class("c", "type", "gp3")
	immediate, retain := class("c"), class("c")
	immediate.VolumeBindingMode, retain.ReclaimPolicy = nil, new(corev1.PersistentVolumeReclaimRetain)
	inTree.Provisioner = manifest.ProvisionerInTree
	checkAll(t, []look{
		{name: "the profile's volume, its defaults written out", change: use(class("c", "type", "gp3", "iops", "3000", "Throughput", "125", "encrypted", "true"))},
		{name: "the profile's volume, left to the defaults", change: use(class("c"))},
		{name: "in-tree, migrated", change: use(inTree)},
		{name: "none of that name", code: "no-class", severity: cluster.Refuse, text: []string{"no StorageClass nvme", "the cluster has gp2, gp3"},
			change: func(s *scene) { s.add(class("gp3"), class("gp2")); s.wanted.Spec.Volumes[0].Class = "nvme" }},
		{name: "none of that name for the results", code: "no-class", severity: cluster.Refuse, text: []string{"no StorageClass keep; the cluster has none"},
			change: func(s *scene) { s.wanted.Spec.ResultsClass = "keep" }},
		{name: "more IOPS than the profile says", code: "class-parameters", severity: cluster.Warn, text: []string{"StorageClass c makes gp3 100 GiB, 6,000 IOPS", "says gp3 100 GiB, 3,000 IOPS"},
			change: use(class("c", "iops", "6000"))},
		// 50 IOPS/GiB × 100 GiB
		{name: "IOPS for each GiB", code: "class-parameters", severity: cluster.Warn, text: []string{"makes io1 100 GiB, 5,000 IOPS"}, change: use(perGiB)},
		{name: "a parameter that is no number", code: "class-parameters", severity: cluster.Warn, text: []string{`iops is "many"`}, change: use(class("c", "iops", "many"))},
		{name: "made before the pod has a node", code: "immediate", severity: cluster.Warn, text: []string{"StorageClass c", "WaitForFirstConsumer"}, change: use(immediate)},
		{name: "kept after their claims", code: "retain", severity: cluster.Warn, text: []string{"StorageClass c", "Retain"}, change: use(retain)},
		{name: "no EBS", code: "not-ebs", severity: cluster.Warn, text: []string{"rancher.io/local-path"}, change: use(foreign)},
		{name: "compressed volumes, a run that is not", code: "not-compressed", severity: cluster.Refuse, text: []string{"volume gp3", "60 times", "use --compress 60"}, change: use(emulated)},
		{name: "real volumes, a compressed run", code: "not-compressed", severity: cluster.Refuse, text: []string{"compressed 60 times", "leave --compress out"},
			change: func(s *scene) {
				s.wanted.Compress = 60
				s.add(emulated)
				s.wanted.Spec.Volumes[0].Class = "c" // gp2 stays a class of the run's own
			}},
		{name: "none of that name, a compressed run", code: "no-class", severity: cluster.Refuse, text: []string{"no StorageClass nosuch"},
			change: func(s *scene) {
				s.wanted.Compress = 60
				s.add(emulated)
				s.wanted.Spec.Volumes[0].Class, s.wanted.Spec.Volumes[1].Class = "c", "nosuch"
			}},
		{name: "no claim of that name, a compressed run", code: "no-claim", severity: cluster.Refuse, text: []string{"no claim nope"},
			change: func(s *scene) {
				s.wanted.Compress = 60
				s.add(emulated)
				existing(s)
				s.wanted.Spec.Volumes[0].Class, s.wanted.Spec.Volumes[1].Claim = "c", "nope"
			}},
		{name: "both compressed alike",
			change: func(s *scene) {
				s.wanted.Compress = 60
				s.add(emulated)
				s.wanted.Spec.Volumes[0].Class, s.wanted.Spec.Volumes[1].Class, s.wanted.Spec.ResultsClass = "c", "c", "c"
				s.remove(manifest.ProvisionerCSI)
			}},
	})
}

func TestDriver(t *testing.T) {
	auto := &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: manifest.ProvisionerAutoMode}}
	image := func(tag string) func(*scene) {
		return func(s *scene) {
			s.remove("ebs-csi-node")
			s.add(daemonSet("602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/aws-ebs-csi-driver" + tag))
		}
	}
	large := func(tag string) func(*scene) {
		return func(s *scene) {
			image(tag)(s)
			s.wanted.Spec.NodeSelector = nil // no m5 would be large enough
			delete(get[*corev1.Node](s, "a").Labels, corev1.LabelInstanceTypeStable)
			s.wanted.Spec.Volumes[0].Config = ebs.Volume{Type: ebs.GP3, Size: 1000 * units.GiB, IOPS: 20000, Throughput: 125 * units.MiBPerSecond}
		}
	}
	checkAll(t, []look{
		{name: "none", code: "no-provisioner", severity: cluster.Refuse, text: []string{"ebs.csi.aws.com is not installed (the cluster has none)", "aws-ebs-csi-driver"},
			change: func(s *scene) { s.remove(manifest.ProvisionerCSI) }},
		{name: "Auto Mode's instead", code: "no-provisioner", severity: cluster.Refuse, text: []string{"use --provisioner ebs.csi.eks.amazonaws.com"},
			change: func(s *scene) { s.remove(manifest.ProvisionerCSI); s.add(auto) }},
		{name: "an add-on's build", change: image(":v1.51.1-eksbuild.1")},
		{name: "known by digest", change: image("@sha256:0123")},
		{name: "broken throughput", code: "driver-version", severity: cluster.Warn, text: []string{"volume gp3", "1.50.1", "1.50.2"}, change: image(":v1.50.1-eksbuild.1")},
		{name: "before large gp3", code: "driver-version", severity: cluster.Warn, text: []string{"1.48.0", "16,000 IOPS"}, change: large(":v1.48.0")},
		{name: "with large gp3", change: large(":v1.53.0")},
		{name: "elsewhere", change: func(s *scene) { s.remove("ebs-csi-node") }},
	})
}
