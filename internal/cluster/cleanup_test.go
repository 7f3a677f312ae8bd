package cluster

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	clienttesting "k8s.io/client-go/testing"

	"ebscope/internal/cluster/manifest"
)

const otherID = "20261201T070000Z-quick-kubernetes"

// claimed is a claim of a run and the volume that a provisioner made for it.
func claimed(id, volume string, policy corev1.PersistentVolumeReclaimPolicy) []apiruntime.Object {
	name := manifest.ClaimName(id, volume, 0)
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: objectMeta(id, name), Spec: corev1.PersistentVolumeClaimSpec{VolumeName: "pv-" + name}}
	return []apiruntime.Object{claim, &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "pv-" + name, Annotations: map[string]string{provisionedBy: manifest.ProvisionerCSI}},
		Spec: corev1.PersistentVolumeSpec{
			PersistentVolumeReclaimPolicy: policy, ClaimRef: &corev1.ObjectReference{Namespace: space, Name: name},
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{VolumeHandle: "vol-" + volume}},
		},
		Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeBound},
	}}
}

func classOf(id, volume string) *storagev1.StorageClass {
	m := objectMeta(id, manifest.ClassName(id, volume))
	m.Namespace = ""
	return &storagev1.StorageClass{ObjectMeta: m}
}

// whole is all that a run of one volume has.
func whole(id string, policy corev1.PersistentVolumeReclaimPolicy) []apiruntime.Object {
	return append(claimed(id, "gp2", policy), recordOf(id, noon), jobOf(id, 0), podOf(id, 0, 1, on("n1", corev1.PodRunning)),
		&policyv1.PodDisruptionBudget{ObjectMeta: objectMeta(id, manifest.ConfigMapName(id))}, classOf(id, "gp2"))
}

// strangers are things that are not ours, of all kinds.
func strangers() []apiruntime.Object {
	plain := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name, Namespace: space} }
	half := plain("half-labelled")
	half.Labels = map[string]string{manifest.RunLabel: runName}
	return []apiruntime.Object{
		&corev1.PersistentVolumeClaim{ObjectMeta: plain("existing"), Spec: corev1.PersistentVolumeClaimSpec{VolumeName: "pv-existing"}},
		&corev1.PersistentVolume{
			ObjectMeta: metav1.ObjectMeta{Name: "pv-existing"},
			Spec:       corev1.PersistentVolumeSpec{ClaimRef: &corev1.ObjectReference{Namespace: space, Name: "existing"}},
			Status:     corev1.PersistentVolumeStatus{Phase: corev1.VolumeBound},
		},
		&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "existing"}},
		&corev1.ConfigMap{ObjectMeta: half}, &corev1.Pod{ObjectMeta: plain("web")},
	}
}

// provisioner does to volumes what becomes of them once their claim is deleted.
func provisioner(set *fake.Clientset, release func(*corev1.PersistentVolume) bool) {
	set.PrependReactor("delete", "persistentvolumeclaims", func(a clienttesting.Action) (bool, apiruntime.Object, error) {
		name := "pv-" + a.(clienttesting.DeleteAction).GetName()
		volumes := schema.GroupVersionResource{Version: "v1", Resource: "persistentvolumes"}
		object, _ := set.Tracker().Get(volumes, "", name)
		v, ok := object.(*corev1.PersistentVolume)
		if !ok {
			return false, nil, nil
		}
		go func() {
			time.Sleep(10 * time.Second) // it is detached first
			if v = v.DeepCopy(); release(v) {
				_ = set.Tracker().Delete(volumes, "", name)
				return
			}
			_ = set.Tracker().Update(volumes, v, "")
		}()
		return false, nil, nil
	})
}

// standing names the objects that are left, of the kinds that matter here.
func standing(t *testing.T, set *fake.Clientset) []string {
	t.Helper()
	c := &Client{Kubernetes: set, Namespace: space}
	var all []string
	for _, k := range kinds {
		objects, err := k.list(t.Context(), c, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range objects {
			all = append(all, k.name+" "+o.GetName())
		}
	}
	volumes, err := set.CoreV1().PersistentVolumes().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range volumes.Items {
		all = append(all, "PersistentVolume "+v.Name)
	}
	slices.Sort(all)
	return all
}

func fakeOf(objects ...[]apiruntime.Object) *fake.Clientset {
	return fake.NewClientset(slices.Concat(objects...)...)
}

func TestCleanupRemovesARunAndNothingElse(t *testing.T) {
	for name, c := range map[string]struct {
		run  string
		stay []apiruntime.Object
	}{
		"one run":  {run: runName, stay: whole(otherID, corev1.PersistentVolumeReclaimDelete)},
		"all runs": {},
	} {
		synctest.Test(t, func(t *testing.T) {
			// A class of a run in another namespace stays whatever is cleaned up here.
			elsewhere := []apiruntime.Object{classOf("20261201T090000Z-elsewhere-kubernetes", "gp2")}
			set := fakeOf(whole(runID, corev1.PersistentVolumeReclaimDelete), whole(otherID, corev1.PersistentVolumeReclaimDelete), strangers(), elsewhere)
			provisioner(set, func(*corev1.PersistentVolume) bool { return true })
			cleaned, err := (&Client{Namespace: space, Kubernetes: set}).Cleanup(t.Context(), CleanupOptions{Run: c.run, Patience: time.Minute})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if want := standing(t, fakeOf(c.stay, strangers(), elsewhere)); !cmp.Equal(want, standing(t, set)) {
				t.Errorf("%s: %s", name, cmp.Diff(want, standing(t, set)))
			}
			// Job, pod, budget, claim, class, ConfigMap and volume: 7 a run.
			if want := 7 * (2 - len(c.stay)/7); len(cleaned.Removed) != want || len(cleaned.Left)+len(cleaned.Kept) != 0 {
				t.Errorf("%s: %+v", name, cleaned)
			}
		})
	}
}

func TestCleanupSaysWhatStays(t *testing.T) {
	volume := Object{Kind: "PersistentVolume", Name: "pv-" + runName + "-gp2-0"}
	for name, c := range map[string]struct {
		policy  corev1.PersistentVolumeReclaimPolicy
		change  func(*fake.Clientset)
		release func(*corev1.PersistentVolume) bool
		left    map[Object]string // and a part of the reason
		kept    bool              // the ConfigMap is, so that the run is found again
		quick   bool              // nothing is waited for
	}{
		"a volume that is retained": {
			policy:  corev1.PersistentVolumeReclaimRetain,
			release: func(v *corev1.PersistentVolume) bool { v.Status.Phase = corev1.VolumeReleased; return false },
			left:    map[Object]string{volume: "reclaim policy is Retain: volume vol-gp2 stays"}, quick: true,
		},
		"a volume that is still attached": {
			policy: corev1.PersistentVolumeReclaimDelete,
			release: func(v *corev1.PersistentVolume) bool {
				v.Status.Phase, v.Finalizers = corev1.VolumeReleased, []string{"external-attacher/ebs-csi-aws-com"}
				return false
			},
			left: map[Object]string{volume: "still attached"}, kept: true,
		},
		"a volume that cannot be deleted": {
			policy: corev1.PersistentVolumeReclaimDelete,
			change: func(set *fake.Clientset) {
				e := warning("PersistentVolume", volume.Name, "VolumeFailedDelete", "UnauthorizedOperation", noon)
				e.Namespace = metav1.NamespaceDefault
				_ = set.Tracker().Add(e)
			},
			release: func(v *corev1.PersistentVolume) bool { v.Status.Phase = corev1.VolumeReleased; return false },
			left:    map[Object]string{volume: "VolumeFailedDelete: UnauthorizedOperation"}, kept: true,
		},
		"a claim that may not be deleted": {
			policy: corev1.PersistentVolumeReclaimDelete,
			change: func(set *fake.Clientset) {
				set.PrependReactor("delete", "persistentvolumeclaims", func(clienttesting.Action) (bool, apiruntime.Object, error) {
					return true, nil, apierrors.NewForbidden(corev1.Resource("persistentvolumeclaims"), "x",
						errors.New(`User "eve" cannot delete resource "persistentvolumeclaims" in API group "" in the namespace "bench"`))
				})
			},
			left: map[Object]string{
				{Kind: "PersistentVolumeClaim", Namespace: space, Name: runName + "-gp2-0"}: "eve may not delete persistentvolumeclaims",
				volume: "its claim is still there",
			}, kept: true, quick: true,
		},
		"a pod whose node is gone": {
			policy: corev1.PersistentVolumeReclaimDelete,
			change: func(set *fake.Clientset) {
				set.PrependReactor("delete", "pods", func(clienttesting.Action) (bool, apiruntime.Object, error) { return true, nil, nil })
			},
			release: func(*corev1.PersistentVolume) bool { return true },
			left:    map[Object]string{{Kind: "Pod", Namespace: space, Name: runName + "-0-pod1"}: "has not ended on node n1"}, kept: true,
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			set := fakeOf(whole(runID, c.policy))
			if c.release != nil {
				provisioner(set, c.release)
			}
			if c.change != nil {
				c.change(set)
			}
			began := time.Now()
			cleaned, err := (&Client{Namespace: space, Kubernetes: set}).Cleanup(t.Context(), CleanupOptions{Run: runName, Patience: 10 * time.Minute})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if took := time.Since(began); c.quick != (took < time.Minute) {
				t.Errorf("%s: it took %v", name, took)
			}
			left := map[Object]string{}
			for _, r := range cleaned.Left {
				left[r.Object] = r.Reason
			}
			config := Object{Kind: "ConfigMap", Namespace: space, Name: runName}
			if _, kept := left[config]; kept != c.kept {
				t.Errorf("%s: the ConfigMap is left: %t", name, kept)
			}
			delete(left, config)
			for o, reason := range c.left {
				if !strings.Contains(left[o], reason) {
					t.Errorf("%s: %v is left because %q, want %q", name, o, left[o], reason)
				}
				delete(left, o)
			}
			if len(left) > 0 {
				t.Errorf("%s: also left: %v", name, left)
			}
			time.Sleep(time.Minute) // the provisioner ends
		})
	}
}

// A volume that was made by hand and bound by the run's claim is not ours, and what an earlier cleanup left is found again.
func TestCleanupOfVolumes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		objects := whole(runID, corev1.PersistentVolumeReclaimRetain)
		byHand, _ := objects[1].(*corev1.PersistentVolume)
		byHand.Annotations = nil
		left, _ := claimed(runID, "gp3", corev1.PersistentVolumeReclaimDelete)[1].(*corev1.PersistentVolume)
		left.Status.Phase, left.Status.Message = corev1.VolumeFailed, "still attached to i-1"
		set := fakeOf(objects, []apiruntime.Object{left})
		provisioner(set, func(v *corev1.PersistentVolume) bool { v.Status.Phase = corev1.VolumeReleased; return false })
		cleaned, err := (&Client{Namespace: space, Kubernetes: set}).Cleanup(t.Context(), CleanupOptions{Run: runName, Patience: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		if len(cleaned.Kept) != 1 || cleaned.Kept[0].Name != byHand.Name || !strings.Contains(cleaned.Kept[0].Reason, "claimRef") {
			t.Errorf("kept %+v", cleaned.Kept)
		}
		if !slices.ContainsFunc(cleaned.Left, func(r Remainder) bool {
			return r.Name == left.Name && r.Reason == "volume vol-gp3 was not deleted: still attached to i-1"
		}) {
			t.Errorf("left %+v", cleaned.Left)
		}
	})
}

func TestCleanupOfTheNamespace(t *testing.T) {
	ours := func() *corev1.Namespace {
		return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: space, Labels: map[string]string{manifest.ManagedByLabel: manifest.ManagedBy}}}
	}
	root := &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{Name: "kube-root-ca.crt", Namespace: space}}
	secret := &corev1.Secret{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}, ObjectMeta: metav1.ObjectMeta{Name: "token", Namespace: space}}
	for name, c := range map[string]struct {
		namespace *corev1.Namespace
		inside    []apiruntime.Object
		blind     bool
		kept      string // a part of the reason
	}{
		"nothing is in it":         {namespace: ours(), inside: []apiruntime.Object{root}},
		"somebody else's":          {namespace: &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: space}}, kept: "not made by ebscope"},
		"something else is in it":  {namespace: ours(), inside: []apiruntime.Object{root, secret}, kept: "Secret token"},
		"it cannot be looked into": {namespace: ours(), blind: true, kept: "not known"},
		"there is none":            {},
	} {
		synctest.Test(t, func(t *testing.T) {
			set := fakeOf()
			if c.namespace != nil {
				_ = set.Tracker().Add(c.namespace)
			}
			list := metav1.Verbs{"list"}
			set.Resources = []*metav1.APIResourceList{{GroupVersion: "v1", APIResources: []metav1.APIResource{
				{Name: "configmaps", Kind: "ConfigMap", Namespaced: true, Verbs: list}, {Name: "secrets", Kind: "Secret", Namespaced: true, Verbs: list},
				{Name: "events", Kind: "Event", Namespaced: true, Verbs: list},
			}}}
			dynamic := dynamicfake.NewSimpleDynamicClient(scheme.Scheme, c.inside...)
			if c.blind {
				dynamic.PrependReactor("list", "secrets", func(clienttesting.Action) (bool, apiruntime.Object, error) {
					return true, nil, apierrors.NewForbidden(corev1.Resource("secrets"), "", errors.New(`User "eve" cannot list resource "secrets" in API group "" in the namespace "bench"`))
				})
			}
			cleaned, err := (&Client{Namespace: space, Kubernetes: set, Dynamic: dynamic}).Cleanup(t.Context(), CleanupOptions{Namespace: true, Patience: time.Minute})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			_, err = set.CoreV1().Namespaces().Get(t.Context(), space, metav1.GetOptions{})
			switch {
			case c.kept == "" && (!apierrors.IsNotFound(err) || len(cleaned.Kept) > 0):
				t.Errorf("%s: %v, %+v", name, err, cleaned)
			case c.kept != "" && (err != nil || len(cleaned.Kept) != 1 || !strings.Contains(cleaned.Kept[0].Reason, c.kept)):
				t.Errorf("%s: %v, %+v", name, err, cleaned)
			}
		})
	}
}
