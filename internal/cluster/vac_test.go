package cluster_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"

	"ebscope/internal/cluster"
	"ebscope/internal/cluster/manifest"
	"ebscope/internal/fleet"
)

// both runs a test with the fake, and with a real API server where there is one: as the user who may do what a migration's
// role grants. admin may do everything.
func both(t *testing.T, test func(t *testing.T, admin kubernetes.Interface, c *cluster.Client, namespace string)) {
	t.Run("fake", func(t *testing.T) {
		k := fake.NewClientset()
		k.Resources = []*metav1.APIResourceList{{GroupVersion: "storage.k8s.io/v1", APIResources: []metav1.APIResource{{Name: "volumeattributesclasses"}}}}
		test(t, k, &cluster.Client{Kubernetes: k}, "shop")
	})
	t.Run("server", func(t *testing.T) {
		path := os.Getenv("EBSCOPE_TEST_KUBECONFIG")
		if path == "" {
			t.Skip("no cluster: start one with `go run ./test/kubernetes/up` and put the path that it prints in EBSCOPE_TEST_KUBECONFIG")
		}
		admin := connect(t, path)
		test(t, admin.Kubernetes, granted(t, admin, manifest.MigrateRules()), namespaceOf(t, admin.Kubernetes))
	})
}

// granted is a client of a user who has some rules in the cluster, and no others.
func granted(t *testing.T, admin *cluster.Client, rules []rbacv1.PolicyRule) *cluster.Client {
	t.Helper()
	roles, user := admin.Kubernetes.RbacV1(), "user-of-"+strings.ToLower(strings.ReplaceAll(t.Name(), "/", "-"))
	role, err := roles.ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{GenerateName: "ebscope-test-"}, Rules: rules}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, Name: user, APIGroup: rbacv1.GroupName}},
	}
	if _, err := roles.ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if err := errors.Join(roles.ClusterRoleBindings().Delete(ctx, role.Name, metav1.DeleteOptions{}), roles.ClusterRoles().Delete(ctx, role.Name, metav1.DeleteOptions{})); err != nil {
			t.Error(err)
		}
	})
	config := rest.CopyConfig(admin.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: user}
	return &cluster.Client{Kubernetes: kubernetes.NewForConfigOrDie(config), Dynamic: dynamic.NewForConfigOrDie(config), Config: config}
}

func declinedWith(err error, code string, texts ...string) bool {
	var declined *cluster.DeclinedError
	return errors.As(err, &declined) && len(declined.Findings) == 1 && declined.Findings[0].Code == code &&
		!slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(err.Error(), text) })
}

func TestEnsureAttributesClass(t *testing.T) {
	both(t, func(t *testing.T, admin kubernetes.Interface, c *cluster.Client, namespace string) {
		class := fleet.AttributesClass{Name: "ebscope-" + namespace, Driver: fleet.EBSDriver, Parameters: map[string]string{"type": "gp3", "iops": "3000", "throughput": "128"}}
		t.Cleanup(func() {
			_ = admin.StorageV1().VolumeAttributesClasses().Delete(context.WithoutCancel(t.Context()), class.Name, metav1.DeleteOptions{})
		})
		for _, fresh := range []bool{true, false} { // the second time changes nothing
			if made, err := c.EnsureAttributesClass(t.Context(), class); err != nil || made != fresh {
				t.Fatalf("made %v, want %v; error %v", made, fresh, err)
			}
		}
		there, err := admin.StorageV1().VolumeAttributesClasses().Get(t.Context(), class.Name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(class.Parameters, there.Parameters); diff != "" || there.DriverName != class.Driver || there.Labels[manifest.ManagedByLabel] != manifest.ManagedBy {
			t.Errorf("driver %s, labels %v, parameters %s", there.DriverName, there.Labels, diff)
		}
		class.Parameters = map[string]string{"type": "gp3", "iops": "6000"}
		if _, err := c.EnsureAttributesClass(t.Context(), class); !declinedWith(err, cluster.CodeOtherParameters, class.Name, "driver ebs.csi.aws.com iops=3000 throughput=128 type=gp3", "driver ebs.csi.aws.com iops=6000 type=gp3") {
			t.Errorf("error %v", err)
		}
		if _, err := c.AttributesClass(t.Context(), "none"); !isMissing(err) {
			t.Errorf("a class that is not there: error %v", err)
		}
	})
}

func isMissing(err error) bool {
	var missing *cluster.NotFoundError
	return errors.As(err, &missing)
}

func TestNoAttributesAPI(t *testing.T) {
	k := fake.NewClientset()
	c := &cluster.Client{Kubernetes: k}
	if _, err := c.EnsureAttributesClass(t.Context(), fleet.AttributesClass{Name: "x"}); !declinedWith(err, cluster.CodeNoAttributesAPI, "1.34", "ModifyVolume") {
		t.Errorf("error %v", err)
	}
	if _, err := c.AttributesClass(t.Context(), "x"); !isMissing(err) {
		t.Errorf("error %v", err)
	}
}

// The beta is used where there is nothing newer.
func TestBetaAttributesAPI(t *testing.T) {
	k := fake.NewClientset()
	k.Resources = []*metav1.APIResourceList{{GroupVersion: "storage.k8s.io/v1beta1", APIResources: []metav1.APIResource{{Name: "volumeattributesclasses"}}}}
	c := &cluster.Client{Kubernetes: k}
	class := fleet.AttributesClass{Name: "gp3-3000", Driver: fleet.EBSDriver, Parameters: map[string]string{"iops": "3000"}}
	if made, err := c.EnsureAttributesClass(t.Context(), class); err != nil || !made {
		t.Fatalf("made %v, error %v", made, err)
	}
	there, err := k.StorageV1beta1().VolumeAttributesClasses().Get(t.Context(), class.Name, metav1.GetOptions{})
	if err != nil || there.Parameters["iops"] != "3000" {
		t.Errorf("class %+v, error %v", there, err)
	}
}

// bound makes a claim of 100 GiB that is bound, and asks for no class.
func bound(t *testing.T, admin kubernetes.Interface, namespace string) cluster.ClaimChange {
	t.Helper()
	name := "expandable-" + namespace
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: fleet.EBSDriver, AllowVolumeExpansion: new(true)}
	if _, err := admin.StorageV1().StorageClasses().Create(t.Context(), class, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = admin.StorageV1().StorageClasses().Delete(context.WithoutCancel(t.Context()), name, metav1.DeleteOptions{})
	})
	claims := admin.CoreV1().PersistentVolumeClaims(namespace)
	claim, err := claims.Create(t.Context(), &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "data", Namespace: namespace, Labels: map[string]string{"app": "db"}},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: &name, VolumeName: "pv-" + namespace, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{Requests: storage(100)},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	claim.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound, Capacity: storage(100), AccessModes: claim.Spec.AccessModes}
	if claim, err = claims.UpdateStatus(t.Context(), claim, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	return cluster.ClaimChange{Namespace: namespace, Name: "data", UID: fleet.UID(claim.UID)}
}

func TestChangeClaim(t *testing.T) {
	both(t, func(t *testing.T, admin kubernetes.Interface, c *cluster.Client, namespace string) {
		change := bound(t, admin, namespace)
		change.To, change.SizeBytes = "gp3-a", 171*gib
		for range 2 { // the second time changes nothing
			state, err := c.ChangeClaim(t.Context(), change)
			if err != nil || state.AttributesClass != "gp3-a" || state.RequestedBytes != 171*gib || state.Labels["app"] != "db" || state.InForce("gp3-a") {
				t.Fatalf("state %+v, error %v", state, err)
			}
		}
		// The size that it has is kept, whoever asked for it.
		next := change
		next.From, next.To, next.SizeBytes = "gp3-a", "gp3-b", 0
		if state, err := c.ChangeClaim(t.Context(), next); err != nil || state.AttributesClass != "gp3-b" || state.RequestedBytes != 171*gib {
			t.Fatalf("state %+v, error %v", state, err)
		}

		claims := admin.CoreV1().PersistentVolumeClaims(namespace)
		claim, err := claims.Get(t.Context(), "data", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		claim.Status.CurrentVolumeAttributesClassName = new("gp3-a")
		claim.Status.ModifyVolumeStatus = &corev1.ModifyVolumeStatus{TargetVolumeAttributesClassName: "gp3-b", Status: corev1.PersistentVolumeClaimModifyVolumeInfeasible}
		claim.Status.Conditions = []corev1.PersistentVolumeClaimCondition{{
			Type: corev1.PersistentVolumeClaimVolumeModifyVolumeError, Status: corev1.ConditionTrue, Message: "rpc error: code = InvalidArgument desc = iops 90000",
		}}
		if _, err = claims.UpdateStatus(t.Context(), claim, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		state, err := c.ClaimState(t.Context(), namespace, "data")
		if err != nil || !state.Infeasible() || state.InForce("gp3-b") || !strings.Contains(state.Reason(), "iops 90000") {
			t.Errorf("state %+v, reason %q, error %v", state, state.Reason(), err)
		}
		// The way back.
		back := change
		back.From, back.To, back.SizeBytes = "gp3-b", "gp3-a", 0
		if state, err = c.ChangeClaim(t.Context(), back); err != nil || state.AttributesClass != "gp3-a" || state.Infeasible() || !state.Withdrawn() || state.Modifying() {
			t.Errorf("state %+v, error %v", state, err)
		}
	})
}

func TestChangeClaimThatMovedOn(t *testing.T) {
	both(t, func(t *testing.T, admin kubernetes.Interface, c *cluster.Client, namespace string) {
		good := bound(t, admin, namespace)
		good.To = "gp3-a"
		for _, test := range []struct {
			name   string
			change func(*cluster.ClaimChange)
			text   string
		}{
			{"another of that name", func(c *cluster.ClaimChange) { c.UID = "other" }, "another claim of that name"},
			{"smaller", func(c *cluster.ClaimChange) { c.SizeBytes = 50 * gib }, "it requests 100Gi, and cannot shrink to 50Gi"},
			{"asks for something else", func(c *cluster.ClaimChange) { c.From = "gp3-before" }, "it asks for no VolumeAttributesClass, and asked for VolumeAttributesClass gp3-before"},
		} {
			change := good
			test.change(&change)
			if _, err := c.ChangeClaim(t.Context(), change); !declinedWith(err, cluster.CodeMoved, namespace+"/data", test.text) {
				t.Errorf("%s: error %v", test.name, err)
			}
		}
		gone := good
		gone.Name = "gone"
		if _, err := c.ChangeClaim(t.Context(), gone); !isMissing(err) {
			t.Errorf("gone: error %v", err)
		}
		state, err := c.ClaimState(t.Context(), namespace, "data")
		if err != nil || state.AttributesClass != "" || state.RequestedBytes != 100*gib {
			t.Errorf("it was changed: %+v, error %v", state, err)
		}
	})
}

// A claim whose status is written between the read and the patch is read again; one that is written without end is given up.
func TestChangeClaimWhileOthersWrite(t *testing.T) {
	for conflicts, fails := range map[int]bool{1: false, 4: false, 5: true} {
		k := fake.NewClientset()
		change := bound(t, k, "shop")
		change.To = "gp3-a"
		left := conflicts
		k.PrependReactor("patch", "persistentvolumeclaims", func(clienttesting.Action) (bool, runtime.Object, error) {
			if left--; left >= 0 {
				return true, nil, apierrors.NewConflict(schema.GroupResource{Resource: "persistentvolumeclaims"}, "data", errors.New("modified"))
			}
			return false, nil, nil
		})
		_, err := (&cluster.Client{Kubernetes: k}).ChangeClaim(t.Context(), change)
		if (err != nil) != fails {
			t.Errorf("%d conflicts: error %v", conflicts, err)
		}
	}
}

// marked returns the default classes among some.
func marked(t *testing.T, k kubernetes.Interface, among []string) (all []string) {
	t.Helper()
	for _, name := range among {
		class, err := k.StorageV1().StorageClasses().Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"} {
			if class.Annotations[key] == "true" && !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

// classesOf makes four classes: two are the default, one of them by the old annotation.
func classesOf(t *testing.T, k kubernetes.Interface, prefix string) []string {
	t.Helper()
	names := []string{prefix + "-gp2", prefix + "-old", prefix + "-gp3", prefix + "-other"}
	for i, key := range []string{"storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class", "note", "note"} {
		class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: names[i], Annotations: map[string]string{key: "true"}}, Provisioner: fleet.EBSDriver}
		if _, err := k.StorageV1().StorageClasses().Create(t.Context(), class, metav1.CreateOptions{FieldManager: "helm"}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = k.StorageV1().StorageClasses().Delete(context.WithoutCancel(t.Context()), class.Name, metav1.DeleteOptions{})
		})
	}
	return names
}

func TestSetDefaultClass(t *testing.T) {
	both(t, func(t *testing.T, admin kubernetes.Interface, c *cluster.Client, namespace string) {
		names := classesOf(t, admin, namespace)
		was, err := c.SetDefaultClass(t.Context(), names[2])
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(names[:2], was); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(names[2:3], marked(t, admin, names)); diff != "" {
			t.Error(diff)
		}
		if was, err := c.SetDefaultClass(t.Context(), names[2]); err != nil || !slices.Equal(was, names[2:3]) { // again
			t.Errorf("was %v, error %v", was, err)
		}
		if was, err := c.SetDefaultClass(t.Context(), names[0]); err != nil || !slices.Equal(was, names[2:3]) { // and back
			t.Errorf("was %v, error %v", was, err)
		}
		if diff := cmp.Diff(names[:1], marked(t, admin, names)); diff != "" {
			t.Error(diff)
		}
		if _, err := c.SetDefaultClass(t.Context(), "none"); !isMissing(err) {
			t.Errorf("no such class: error %v", err)
		}
		class, err := admin.StorageV1().StorageClasses().Get(t.Context(), names[3], metav1.GetOptions{})
		if err != nil || class.Annotations["note"] != "true" || len(class.Annotations) != 1 {
			t.Errorf("a class that was not the default was changed: %v, error %v", class.Annotations, err)
		}
	})
}

// Whichever step fails, the defaults are what they were.
func TestSetDefaultClassIsTakenBack(t *testing.T) {
	for failing := range 3 {
		k := fake.NewClientset()
		names := classesOf(t, k, "shop")
		patches := 0
		k.PrependReactor("patch", "storageclasses", func(clienttesting.Action) (bool, runtime.Object, error) {
			patches++
			if patches == failing+1 {
				return true, nil, apierrors.NewConflict(schema.GroupResource{Resource: "storageclasses"}, "x", errors.New("modified"))
			}
			return false, nil, nil
		})
		if _, err := (&cluster.Client{Kubernetes: k}).SetDefaultClass(t.Context(), names[2]); err == nil {
			t.Errorf("step %d failed, and nobody heard", failing)
		}
		if diff := cmp.Diff(names[:2], marked(t, k, names)); diff != "" {
			t.Errorf("step %d: %s", failing, diff)
		}
	}
}

// A step whose answer is lost may have been done: then it is said what there is now.
func TestSetDefaultClassWhoseAnswerIsLost(t *testing.T) {
	k := fake.NewClientset()
	names := classesOf(t, k, "shop")
	lost := false
	k.PrependReactor("patch", "storageclasses", func(clienttesting.Action) (bool, runtime.Object, error) {
		if lost {
			return false, nil, nil
		}
		lost = true
		resource := storagev1.SchemeGroupVersion.WithResource("storageclasses")
		object, err := k.Tracker().Get(resource, "", names[2])
		if err != nil {
			return true, nil, err
		}
		class := object.(*storagev1.StorageClass)
		class.Annotations["storageclass.kubernetes.io/is-default-class"] = "true"
		if err := k.Tracker().Update(resource, class, ""); err != nil {
			return true, nil, err
		}
		return true, nil, errors.New("EOF")
	})
	_, err := (&cluster.Client{Kubernetes: k}).SetDefaultClass(t.Context(), names[2])
	if err == nil || !strings.Contains(err.Error(), "the default classes were shop-gp2, shop-old, and are now shop-gp2, shop-gp3, shop-old") {
		t.Errorf("error %v", err)
	}
	if _, err := (&cluster.Client{Kubernetes: k}).SetDefaultClass(t.Context(), names[2]); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(names[2:3], marked(t, k, names)); diff != "" {
		t.Error(diff)
	}
}

// At no time is there no default.
func TestSetDefaultClassOrder(t *testing.T) {
	k := fake.NewClientset()
	names := classesOf(t, k, "shop")
	var order []string
	k.PrependReactor("patch", "storageclasses", func(a clienttesting.Action) (bool, runtime.Object, error) {
		order = append(order, a.(clienttesting.PatchAction).GetName())
		return false, nil, nil
	})
	if _, err := (&cluster.Client{Kubernetes: k}).SetDefaultClass(t.Context(), names[2]); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{names[2], names[0], names[1]}, order); diff != "" {
		t.Error(diff)
	}
}

// With the role that ships a real server lets a scan read everything, and change nothing.
func TestScanRole(t *testing.T) {
	path := os.Getenv("EBSCOPE_TEST_KUBECONFIG")
	if path == "" {
		t.Skip("no cluster: start one with `go run ./test/kubernetes/up` and put the path that it prints in EBSCOPE_TEST_KUBECONFIG")
	}
	admin := connect(t, path)
	namespace := namespaceOf(t, admin.Kubernetes)
	change := bound(t, admin.Kubernetes, namespace)
	c := granted(t, admin, manifest.ScanRules())
	got, missing, err := c.Snapshot(t.Context(), cluster.SnapshotOptions{Namespaces: []string{namespace}})
	if err != nil || len(missing) > 0 || len(got.Claims) != 1 || got.UID == "" || !strings.HasPrefix(got.Server, "v1.") || got.AttributesAPI != "v1" {
		t.Errorf("cluster %+v, missing %v, error %v", got, missing, err)
	}
	var forbidden *cluster.ForbiddenError
	change.To = "gp3-a"
	if _, err := c.ChangeClaim(t.Context(), change); !errors.As(err, &forbidden) || !strings.Contains(err.Error(), cluster.MigrateRole) {
		t.Errorf("error %v", err)
	}
}

// A class that was made is made the default, and back, and is whole thereafter.
func TestEnsureStorageClass(t *testing.T) {
	both(t, func(t *testing.T, admin kubernetes.Interface, c *cluster.Client, namespace string) {
		names := classesOf(t, admin, namespace)
		class := fleet.StorageClass{Name: "ebscope-gp3-" + namespace, Provisioner: fleet.EBSDriver, Parameters: map[string]string{"type": "gp3"}, Binding: "WaitForFirstConsumer", Expandable: true}
		t.Cleanup(func() {
			_ = admin.StorageV1().StorageClasses().Delete(context.WithoutCancel(t.Context()), class.Name, metav1.DeleteOptions{})
		})
		for _, fresh := range []bool{true, false} {
			if made, err := c.EnsureStorageClass(t.Context(), class); err != nil || made != fresh {
				t.Fatalf("made %v, want %v; error %v", made, fresh, err)
			}
			for _, name := range []string{class.Name, names[0], class.Name} {
				if _, err := c.SetDefaultClass(t.Context(), name); err != nil {
					t.Fatal(err)
				}
			}
		}
		there, err := admin.StorageV1().StorageClasses().Get(t.Context(), class.Name, metav1.GetOptions{})
		if err != nil || there.Parameters["type"] != "gp3" || *there.VolumeBindingMode != storagev1.VolumeBindingWaitForFirstConsumer || *there.ReclaimPolicy != corev1.PersistentVolumeReclaimDelete || !*there.AllowVolumeExpansion {
			t.Errorf("class %+v, error %v", there, err)
		}
		class.Parameters = map[string]string{"type": "gp3", "iops": "4000"}
		if _, err := c.EnsureStorageClass(t.Context(), class); !declinedWith(err, cluster.CodeOtherParameters, class.Name, "type=gp3, reclaim Delete", "iops=4000") {
			t.Errorf("error %v", err)
		}
	})
}
