package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"ebscope/internal/cluster"
	"ebscope/internal/cluster/manifest"
	"ebscope/internal/fleet"
	"ebscope/test/kubernetes/fakekube"
)

const gib = 1 << 30

// storage is a quantity of storage in GiB.
func storage(size int) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceStorage: *resource.NewQuantity(int64(size)*gib, resource.BinarySI)}
}

func of(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID("uid-" + namespace + name), ResourceVersion: "7"}
}

func server(t *testing.T) (*fakekube.Server, *cluster.Client) {
	t.Helper()
	s := fakekube.New()
	t.Cleanup(s.Close)
	path, err := s.Kubeconfig(t.TempDir(), "arn:aws:eks:ap-northeast-2:111122223333:cluster/shop")
	if err != nil {
		t.Fatal(err)
	}
	return s, connect(t, path)
}

// shop has a StatefulSet with a claim on gp2, moved once, and much that is no business of a scan.
func shop(s *fakekube.Server) {
	meta := of("shop", "data-db-0")
	meta.Labels = map[string]string{"app": "db"}
	meta.Annotations = map[string]string{corev1.LastAppliedConfigAnnotation: "{…}", "team": "a"}
	s.Add("v1/persistentvolumeclaims", &corev1.PersistentVolumeClaim{
		ObjectMeta: meta,
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: new("gp2"), VolumeName: "pv-1", VolumeAttributesClassName: new("gp3-fast"), AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{Requests: storage(171)},
		},
		Status: corev1.PersistentVolumeClaimStatus{
			Phase: corev1.ClaimBound, Capacity: storage(170), CurrentVolumeAttributesClassName: new("gp3-slow"),
			ModifyVolumeStatus: &corev1.ModifyVolumeStatus{TargetVolumeAttributesClassName: "gp3-fast", Status: corev1.PersistentVolumeClaimModifyVolumeInfeasible},
		},
	}, &corev1.PersistentVolumeClaim{ObjectMeta: of("other", "data-db-0")})
	ref := &corev1.ObjectReference{Namespace: "shop", Name: "data-db-0", UID: "uid-shopdata-db-0"}
	csi := func(driver, handle string) corev1.PersistentVolumeSource {
		return corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: handle}}
	}
	s.Add("v1/persistentvolumes", &corev1.PersistentVolume{
		ObjectMeta: of("", "pv-1"),
		Spec: corev1.PersistentVolumeSpec{
			Capacity: storage(170), ClaimRef: ref, StorageClassName: "gp2", PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete,
			PersistentVolumeSource: csi(fleet.EBSDriver, "vol-1"), VolumeAttributesClassName: new("gp3-slow"),
		},
		Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeBound},
	}, &corev1.PersistentVolume{
		ObjectMeta: of("", "pv-2"), Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: corev1.PersistentVolumeSource{
			AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "aws://ap-northeast-2a/vol-2"},
		}},
	}, &corev1.PersistentVolume{ObjectMeta: of("", "pv-3"), Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: csi("efs.csi.aws.com", "fs-3")}})
	class := &storagev1.StorageClass{ObjectMeta: of("", "gp2"), Provisioner: fleet.EBSDriver, Parameters: map[string]string{"type": "gp2"}, AllowVolumeExpansion: new(true)}
	class.Annotations = map[string]string{"storageclass.beta.kubernetes.io/is-default-class": "true"}
	s.Add("storage.k8s.io/v1/storageclasses", class)
	s.Add("storage.k8s.io/v1/volumeattributesclasses", &storagev1.VolumeAttributesClass{ObjectMeta: of("", "gp3-fast"), DriverName: fleet.EBSDriver, Parameters: map[string]string{"iops": "6000"}})
	s.Add("storage.k8s.io/v1/csidrivers", &storagev1.CSIDriver{ObjectMeta: of("", fleet.EBSDriver)}, &storagev1.CSIDriver{ObjectMeta: of("", "efs.csi.aws.com")})
	claim := func(name string) corev1.Volume {
		return corev1.Volume{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}}
	}
	s.Add("v1/pods",
		&corev1.Pod{ObjectMeta: of("shop", "db-0"), Spec: corev1.PodSpec{NodeName: "n1", Volumes: []corev1.Volume{
			claim("data-db-0"), {Name: "scratch", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}},
		}}, Status: corev1.PodStatus{Phase: corev1.PodRunning}},
		&corev1.Pod{ObjectMeta: of("shop", "web"), Spec: corev1.PodSpec{NodeName: "n1"}})
	s.Add("apps/v1/statefulsets", &appsv1.StatefulSet{ObjectMeta: of("shop", "db"), Spec: appsv1.StatefulSetSpec{
		Replicas: new(int32(3)), VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{
			ObjectMeta: metav1.ObjectMeta{Name: "data"}, Spec: corev1.PersistentVolumeClaimSpec{Resources: corev1.VolumeResourceRequirements{Requests: storage(100)}},
		}},
	}}, &appsv1.StatefulSet{ObjectMeta: of("shop", "cache")})
	node := &corev1.Node{ObjectMeta: of("", "n1"), Spec: corev1.NodeSpec{ProviderID: "aws:///ap-northeast-2a/i-0abc"}}
	node.Labels = map[string]string{corev1.LabelInstanceTypeStable: "m5.xlarge", corev1.LabelTopologyZone: "ap-northeast-2a"}
	s.Add("v1/nodes", node, &corev1.Node{ObjectMeta: of("", "fargate"), Spec: corev1.NodeSpec{ProviderID: "aws:///ap-northeast-2a/0123/fargate-ip-10-0-0-1"}})
	daemon := &appsv1.DaemonSet{ObjectMeta: of("kube-system", "ebs-csi-node")}
	daemon.Spec.Template.Spec.Containers = []corev1.Container{{Name: "ebs-plugin", Image: "public.ecr.aws/ebs-csi-driver/aws-ebs-csi-driver:v1.64.0"}}
	s.Add("apps/v1/daemonsets", daemon)
	controller := &appsv1.Deployment{ObjectMeta: of("kube-system", "ebs-csi-controller")}
	controller.Spec.Template.Spec.Containers = []corev1.Container{{
		Name: "csi-resizer", Image: "public.ecr.aws/csi-components/csi-resizer:v2.3.0-eksbuild.1", Args: []string{"--v=2", "--feature-gates", "VolumeAttributesClass=true,Other=false"},
	}}
	s.Add("apps/v1/deployments", controller)
}

func shopRead() fleet.Cluster {
	return fleet.Cluster{
		UID: "kube-system-uid", Name: "shop", Server: "v1.36.3", AttributesAPI: "v1",
		Drivers: []fleet.Driver{{Name: fleet.EBSDriver, Version: "v1.64.0", Resizer: "v2.3.0", Gates: map[string]string{"VolumeAttributesClass": "true", "Other": "false"}}},
		Claims: []fleet.Claim{{
			UID: "uid-shopdata-db-0", Namespace: "shop", Name: "data-db-0", ResourceVersion: "7", Class: new("gp2"), Volume: "pv-1", Phase: "Bound",
			RequestedBytes: 171 * gib, CapacityBytes: 170 * gib, AttributesClass: "gp3-fast", CurrentAttributesClass: "gp3-slow",
			Modify: &fleet.ModifyStatus{Target: "gp3-fast", Status: "Infeasible"}, AccessModes: []string{"ReadWriteOnce"},
			Labels: map[string]string{"app": "db"}, Annotations: map[string]string{"team": "a"},
		}, {UID: "uid-otherdata-db-0", Namespace: "other", Name: "data-db-0", ResourceVersion: "7"}},
		Volumes: []fleet.PersistentVolume{{
			UID: "uid-pv-1", Name: "pv-1", Driver: fleet.EBSDriver, Handle: "vol-1", ClaimUID: "uid-shopdata-db-0", ClaimNamespace: "shop", ClaimName: "data-db-0",
			Class: "gp2", AttributesClass: "gp3-slow", Phase: "Bound", Reclaim: "Delete", CapacityBytes: 170 * gib,
		}, {UID: "uid-pv-2", Name: "pv-2", InTree: "aws://ap-northeast-2a/vol-2"}},
		Classes: []fleet.StorageClass{{
			UID: "uid-gp2", Name: "gp2", ResourceVersion: "7", Provisioner: fleet.EBSDriver, Default: true, Parameters: map[string]string{"type": "gp2"}, Expandable: true,
			Annotations: map[string]string{"storageclass.beta.kubernetes.io/is-default-class": "true"},
		}},
		AttributesClasses: []fleet.AttributesClass{{UID: "uid-gp3-fast", Name: "gp3-fast", Driver: fleet.EBSDriver, Parameters: map[string]string{"iops": "6000"}}},
		Pods:              []fleet.Pod{{UID: "uid-shopdb-0", Namespace: "shop", Name: "db-0", Node: "n1", Phase: "Running", Claims: []string{"data-db-0", "db-0-scratch"}}},
		StatefulSets: []fleet.StatefulSet{{UID: "uid-shopdb", Namespace: "shop", Name: "db", Replicas: 3,
			Templates: []fleet.Template{{Name: "data", RequestedBytes: 100 * gib}}}},
		Nodes: []fleet.Node{{UID: "uid-n1", Name: "n1", Instance: "i-0abc", Type: "m5.xlarge", Zone: "ap-northeast-2a"}, {UID: "uid-fargate", Name: "fargate"}},
	}
}

func TestSnapshot(t *testing.T) {
	s, c := server(t)
	shop(s)
	got, missing, err := c.Snapshot(t.Context(), cluster.SnapshotOptions{})
	if err != nil || len(missing) > 0 {
		t.Fatalf("missing %v, error %v", missing, err)
	}
	if diff := cmp.Diff(shopRead(), got); diff != "" {
		t.Error(diff)
	}
}

// A snapshot asks for what the role that ships grants, all of it and nothing else.
func TestSnapshotAndItsRole(t *testing.T) {
	s, c := server(t)
	shop(s)
	if _, _, err := c.Snapshot(t.Context(), cluster.SnapshotOptions{}); err != nil {
		t.Fatal(err)
	}
	var granted []string
	for _, p := range manifest.ScanPermissions() {
		granted = append(granted, strings.TrimSpace(p.Verb+" "+p.Resource+" "+p.Name))
	}
	slices.Sort(granted)
	asked := s.Calls()
	slices.Sort(asked)
	if diff := cmp.Diff(granted, slices.Compact(asked)); diff != "" {
		t.Errorf("-granted +asked:\n%s", diff)
	}
}

// Of the two claims of one name, and their volumes, only those of the namespace are read. A volume without a claim is nobody's.
func TestSnapshotOfANamespace(t *testing.T) {
	s, c := server(t)
	shop(s)
	got, missing, err := c.Snapshot(t.Context(), cluster.SnapshotOptions{Namespaces: []string{"other"}, Name: "mine"})
	if err != nil || len(missing) > 0 {
		t.Fatalf("missing %v, error %v", missing, err)
	}
	if got.Name != "mine" || len(got.Claims) != 1 || got.Claims[0].Namespace != "other" || len(got.Volumes)+len(got.Pods)+len(got.StatefulSets) != 0 || len(got.Classes) != 1 {
		t.Errorf("cluster %+v", got)
	}
}

func TestSnapshotInPart(t *testing.T) {
	s, c := server(t)
	shop(s)
	s.Denied = map[string]bool{"statefulsets": true, "deployments": true, "namespaces": true}
	s.Kinds = append(s.Kinds[:len(s.Kinds)-1], "storage.k8s.io/v1beta1/volumeattributesclasses")
	s.Add("storage.k8s.io/v1beta1/volumeattributesclasses", &storagev1.VolumeAttributesClass{ObjectMeta: of("", "beta"), DriverName: fleet.EBSDriver})
	got, missing, err := c.Snapshot(t.Context(), cluster.SnapshotOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := shopRead()
	want.UID, want.StatefulSets, want.AttributesAPI = "shop", nil, "v1beta1"
	want.AttributesClasses = []fleet.AttributesClass{{UID: "uid-beta", Name: "beta", Driver: fleet.EBSDriver}}
	want.Drivers[0].Resizer, want.Drivers[0].Gates = "", nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	var told []string
	for _, m := range missing {
		told = append(told, fmt.Sprintf("%s %s %s", m.Cluster, m.Operation, m.Reason))
		if !strings.Contains(m.Text, fakekube.User) || !strings.Contains(m.Text, cluster.ScanRole) {
			t.Errorf("text %q names neither who asks nor the role", m.Text)
		}
	}
	if diff := cmp.Diff([]string{"shop get deployments.apps ebs-csi-controller denied", "shop get namespaces kube-system denied", "shop list statefulsets.apps denied"}, told); diff != "" {
		t.Error(diff)
	}
}

// A server without VolumeAttributesClass, and without the EBS CSI driver, has nothing that is missing.
func TestSnapshotOfAnOldServer(t *testing.T) {
	s, c := server(t)
	s.Kinds = s.Kinds[:len(s.Kinds)-1]
	got, missing, err := c.Snapshot(t.Context(), cluster.SnapshotOptions{})
	if err != nil || len(missing) > 0 || got.AttributesAPI != "" || got.Drivers != nil {
		t.Errorf("cluster %+v, missing %v, error %v", got, missing, err)
	}
}

func TestNoSnapshot(t *testing.T) {
	var (
		forbidden *cluster.ForbiddenError
		silent    *cluster.UnreachableError
		unknown   *cluster.UnauthorizedError
	)
	s, c := server(t)
	for _, kind := range s.Kinds {
		s.Denied[kind[strings.LastIndexByte(kind, '/')+1:]] = true
	}
	if _, _, err := c.Snapshot(t.Context(), cluster.SnapshotOptions{}); !errors.As(err, &forbidden) || !strings.Contains(err.Error(), cluster.ScanRole) {
		t.Errorf("all denied: error %v", err)
	}
	if _, _, err := connect(t, kubeconfig(t, "https://127.0.0.1:1")).Snapshot(t.Context(), cluster.SnapshotOptions{}); !errors.As(err, &silent) {
		t.Errorf("nobody there: error %v", err)
	}
	if _, _, err := answering(t, metav1.Status{Code: 401, Reason: metav1.StatusReasonUnauthorized}).Snapshot(t.Context(), cluster.SnapshotOptions{}); !errors.As(err, &unknown) {
		t.Errorf("unknown: error %v", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, _, err := c.Snapshot(ended, cluster.SnapshotOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("ended: error %v", err)
	}
}

// Of 1,203 claims, each is read once: pages hold 500, and the server forgets its place as it likes.
func TestSnapshotByPages(t *testing.T) {
	forgotten := func(place string) *apierrors.StatusError {
		err := apierrors.NewResourceExpired("the provided continue parameter is too old")
		err.ErrStatus.Continue = place
		return err
	}
	for _, test := range []struct {
		name    string
		expired func(times int) *apierrors.StatusError // on the third page
		pages   int                                    // that were answered, and refused
		missing fleet.MissingReason
	}{
		{name: "remembered", expired: func(int) *apierrors.StatusError { return nil }, pages: 3},
		{name: "another place", pages: 4, expired: func(times int) *apierrors.StatusError {
			if times == 1 {
				return forgotten("1000")
			}
			return nil
		}},
		{name: "from the start", pages: 6, expired: func(times int) *apierrors.StatusError {
			if times == 1 {
				return forgotten("")
			}
			return nil
		}},
		{name: "for ever", pages: 12, missing: fleet.Failed, expired: func(int) *apierrors.StatusError { return forgotten("") }},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, c := server(t)
			for i := range 1203 {
				s.Add("v1/persistentvolumeclaims", &corev1.PersistentVolumeClaim{ObjectMeta: of("shop", fmt.Sprint(i))})
			}
			times := 0
			s.Expired = func(_ string, page int) *apierrors.StatusError {
				if page < 2 {
					return nil
				}
				times++
				return test.expired(times)
			}
			most := 0
			got, missing, err := c.Snapshot(t.Context(), cluster.SnapshotOptions{Progress: func(n int) { most = n }})
			if err != nil {
				t.Fatal(err)
			}
			pages := 0
			for _, call := range s.Calls() {
				if call == "list persistentvolumeclaims" {
					pages++
				}
			}
			if pages != test.pages || most < 1000 {
				t.Errorf("%d requests, want %d; progress up to %d", pages, test.pages, most)
			}
			if test.missing != "" {
				if len(missing) != 1 || missing[0].Reason != test.missing || missing[0].Operation != "list persistentvolumeclaims" {
					t.Errorf("missing %v", missing)
				}
				return
			}
			if len(missing) > 0 || len(got.Claims) != 1203 {
				t.Fatalf("%d claims, missing %v", len(got.Claims), missing)
			}
			for i, claim := range got.Claims {
				if claim.Name != fmt.Sprint(i) {
					t.Fatalf("claim %d is %s", i, claim.Name)
				}
			}
		})
	}
}

// BenchmarkSnapshot reads a cluster of 10,000 claims, with a volume and a pod for each.
func BenchmarkSnapshot(b *testing.B) {
	s := fakekube.New()
	defer s.Close()
	for i := range 10_000 {
		name := fmt.Sprintf("data-%d", i)
		claim, volume, pod := bulky(of("shop", name)), bulky(of("", "pv-"+name)), bulky(of("shop", "pod-"+name))
		s.Add("v1/persistentvolumeclaims", &corev1.PersistentVolumeClaim{ObjectMeta: claim, Spec: corev1.PersistentVolumeClaimSpec{
			VolumeName: "pv-" + name, StorageClassName: new("gp2"), Resources: corev1.VolumeResourceRequirements{Requests: storage(100)},
		}})
		s.Add("v1/persistentvolumes", &corev1.PersistentVolume{ObjectMeta: volume, Spec: corev1.PersistentVolumeSpec{
			Capacity: storage(100), ClaimRef: &corev1.ObjectReference{Namespace: "shop", Name: name, UID: claim.UID},
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: fleet.EBSDriver, VolumeHandle: fmt.Sprintf("vol-%017x", i)}},
		}})
		p := &corev1.Pod{ObjectMeta: pod, Spec: corev1.PodSpec{NodeName: "n1", Volumes: []corev1.Volume{
			{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}},
		}}}
		for j := range 30 { // some 6 KiB, as pods have
			p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: fmt.Sprint("c", j), Image: strings.Repeat("i", 80), Command: []string{strings.Repeat("x", 80)}})
		}
		s.Add("v1/pods", p)
	}
	path, err := s.Kubeconfig(b.TempDir(), "bench")
	if err != nil {
		b.Fatal(err)
	}
	c, err := cluster.Connect(cluster.Options{Kubeconfig: path})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		began := time.Now()
		got, missing, err := c.Snapshot(b.Context(), cluster.SnapshotOptions{})
		if err != nil || len(missing) > 0 || len(got.Claims) != 10_000 {
			b.Fatalf("%d claims, missing %v, error %v", len(got.Claims), missing, err)
		}
		inventory := fleet.Join(fleet.Snapshot{Taken: began, Clusters: []fleet.Cluster{got}})
		if len(inventory.Entries) != 10_000 {
			b.Fatalf("%d volumes", len(inventory.Entries))
		}
	}
}

// bulky adds managed fields, which are most of a claim.
func bulky(m metav1.ObjectMeta) metav1.ObjectMeta {
	raw := `{"f:metadata":{"f:annotations":{` + strings.TrimSuffix(strings.Repeat(`"f:`+strings.Repeat("a", 40)+`":{},`, 20), ",") + `}}}`
	m.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kube-controller-manager", FieldsV1: metav1.NewFieldsV1(raw)}}
	return m
}
