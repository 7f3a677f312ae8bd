//go:build linux

package migrate

import (
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ebscope/internal/fleet"
	"ebscope/internal/migration"
	"ebscope/test/fakeaws"
)

// volume is a gp2 volume with its claim.
type volume struct {
	u               *user
	id              string
	namespace, name string
	size            int // GiB
	inTree          bool
}

func (u *user) makeNamespace(name string) {
	u.Helper()
	n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := cluster.Client.CoreV1().Namespaces().Create(u.Context(), n, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		u.Fatal(err)
	}
}

// volume makes a gp2 volume, its PersistentVolume and a claim that is bound to it.
func (u *user) volume(namespace, name string, size int, inTree bool) volume {
	u.Helper()
	v := volume{u: u, namespace: namespace, name: name, size: size, inTree: inTree,
		id: aws.AddVolume(seoul, fakeaws.Volume{Setting: fakeaws.Setting{Type: "gp2", Size: size}})}
	clock.watch(v.id)
	u.makeNamespace(namespace)
	v.bind()
	return v
}

func (v volume) claim() string { return v.namespace + "/" + v.name }
func (v volume) pv() string    { return v.namespace + "-" + v.name }

// bind makes the objects of a volume.
func (v volume) bind() {
	v.u.Helper()
	class := csiClass
	source := corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: fleet.EBSDriver, VolumeHandle: v.id}}
	if v.inTree {
		class = inTreeClass
		source = corev1.PersistentVolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "aws://" + seoul + "a/" + v.id}}
	}
	storage := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(strconv.Itoa(v.size) + "Gi")}
	modes := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	core := cluster.Client.CoreV1()
	_, err := core.PersistentVolumes().Create(v.u.Context(), &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: v.pv()},
		Spec: corev1.PersistentVolumeSpec{Capacity: storage, AccessModes: modes, PersistentVolumeSource: source, StorageClassName: class,
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain, ClaimRef: &corev1.ObjectReference{Namespace: v.namespace, Name: v.name}},
	}, metav1.CreateOptions{})
	if err != nil {
		v.u.Fatal(err)
	}
	_, err = core.PersistentVolumeClaims(v.namespace).Create(v.u.Context(), &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: v.name},
		Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: &class, VolumeName: v.pv(), AccessModes: modes,
			Resources: corev1.VolumeResourceRequirements{Requests: storage}},
	}, metav1.CreateOptions{})
	if err != nil {
		v.u.Fatal(err)
	}
	eventually(v.u, time.Minute, v.claim()+" is bound", func() error {
		if c := v.read(); c.Status.Phase != corev1.ClaimBound {
			return fmt.Errorf("it is %s", c.Status.Phase)
		}
		return nil
	})
}

// unbind removes the objects, and leaves the volume.
func (v volume) unbind() {
	v.u.Helper()
	v.u.kubectl("--namespace="+v.namespace, "delete", "persistentvolumeclaim", v.name)
	v.u.kubectl("delete", "persistentvolume", v.pv())
}

// read reads the claim.
func (v volume) read() *corev1.PersistentVolumeClaim {
	v.u.Helper()
	c, err := cluster.Client.CoreV1().PersistentVolumeClaims(v.namespace).Get(v.u.Context(), v.name, metav1.GetOptions{})
	if err != nil {
		v.u.Fatal(err)
	}
	return c
}

// is checks that the volume has a setting, after so many changes in all, and that its claim knows: what it asks for, "" being
// no class, is in force.
func (v volume) is(setting fakeaws.Setting, changes int, class string) {
	v.u.Helper()
	setting.Size = v.size
	now, _ := aws.VolumeNow(v.id)
	if n := len(aws.Modifications(v.id)); now.Setting != setting || n != changes {
		v.u.Errorf("%s is %+v after %d changes, want %+v after %d", v.claim(), now.Setting, n, setting, changes)
	}
	c := v.read()
	asked, inForce := text(c.Spec.VolumeAttributesClassName), text(c.Status.CurrentVolumeAttributesClassName)
	if asked != class || inForce != class || class != "" && c.Status.ModifyVolumeStatus != nil {
		v.u.Errorf("claim %s asks for class %q, and %q is in force (%+v), want %q", v.claim(), asked, inForce, c.Status.ModifyVolumeStatus, class)
	}
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// requests are the changes that were asked of EC2 for the volume and not refused.
func (v volume) requests() (all []fakeaws.Call) {
	for _, c := range aws.Calls("ModifyVolume") {
		if c.Parameters["VolumeId"] == v.id && c.Code == "" {
			all = append(all, c)
		}
	}
	return all
}

// Settings as EC2 tells them. 100 GiB of gp2 have 3 IOPS a GiB; gp3 has what comes with it, whose 125 MiB/s count as gp2's 128, or
// 250 MiB/s from 171 GiB on.
func gp2(iops int) fakeaws.Setting { return fakeaws.Setting{Type: "gp2", IOPS: iops} }
func gp3(iops, throughput int) fakeaws.Setting {
	return fakeaws.Setting{Type: "gp3", IOPS: iops, Throughput: throughput}
}

// mark annotates the claim, so that it is left as it is.
func (v volume) mark() {
	v.u.Helper()
	v.u.kubectl("--namespace="+v.namespace, "annotate", "persistentvolumeclaim", v.name, migration.Mark+"=false")
}
