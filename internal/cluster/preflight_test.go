package cluster_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"ebscope/internal/cluster"
	"ebscope/internal/cluster/manifest"
	"ebscope/internal/cluster/runner"
	"ebscope/internal/ebs"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

// scene is a cluster and a run that is wanted in it. A test changes one thing of a scene in which nothing is wrong.
type scene struct {
	wanted  cluster.Wanted
	objects []runtime.Object // in the cluster
	pools   []runtime.Object // Karpenter's NodePools; nil: there is no Karpenter
	denied  []string         // "list nodes": what the user may not do
	react   func(*fake.Clientset)
}

const run = "20261201T052101Z-gp2-vs-gp3-kubernetes"

// good is a cluster with one m5.xlarge, and the run of gp2 against gp3 that fits it.
func good() *scene {
	s := &scene{wanted: cluster.Wanted{
		Spec: manifest.Spec{
			Run: run, Namespace: "ebscope", CreateNamespace: true, Provisioner: manifest.ProvisionerCSI, Image: "alpine:3",
			Volumes: []manifest.Volume{
				{Name: "gp3", Config: ebs.Volume{Type: ebs.GP3, Size: 100 * units.GiB, IOPS: 3000, Throughput: 125 * units.MiBPerSecond}},
				{Name: "gp2", Config: ebs.Volume{Type: ebs.GP2, Size: 100 * units.GiB}},
			},
			Plan: runner.Plan{Phases: []runner.Phase{
				{Name: "01-gp3-layout", File: "/volumes/gp3/test.dat", Size: 8 * units.GiB, Layout: true, Takes: 10 * time.Minute},
				{Name: "02-gp2-layout", File: "/volumes/gp2/test.dat", Size: 8 * units.GiB, Layout: true, Takes: 50 * time.Minute},
			}},
			Jobs:         map[string][]byte{"01-gp3-layout": []byte("[j]\n"), "02-gp2-layout": []byte("[j]\n")},
			NodeSelector: map[string]string{corev1.LabelInstanceTypeStable: "m5.xlarge"},
			Requests:     list("cpu", "500m", "memory", "256Mi"),
			Deadline:     2 * time.Hour,
		},
		Profile:  workload.Profile{Name: "gp2-vs-gp3", Phases: []workload.Phase{{Name: "layout", Volume: "gp3"}, {Name: "layout", Volume: "gp2"}}},
		Compress: 1,
		Catalog:  ebs.Embedded(),
	}}
	s.add(
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ebscope", Labels: map[string]string{manifest.EnforceLabel: "restricted"}}},
		&storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: manifest.ProvisionerCSI}},
		daemonSet("public.ecr.aws/ebs-csi-driver/aws-ebs-csi-driver:v1.51.1"),
		node("a", "m5.xlarge", "eu-west-1a"),
		csiNode("a", 25),
	)
	return s
}

func (s *scene) add(objects ...runtime.Object) { s.objects = append(s.objects, objects...) }

// get finds an object of the cluster by name and type.
func get[T metav1.Object](s *scene, name string) T {
	for _, o := range s.objects {
		if found, ok := o.(T); ok && found.GetName() == name {
			return found
		}
	}
	panic("no such object: " + name)
}

func (s *scene) remove(name string) {
	s.objects = slices.DeleteFunc(s.objects, func(o runtime.Object) bool { return o.(metav1.Object).GetName() == name })
}

func list(pairs ...string) corev1.ResourceList {
	l := corev1.ResourceList{}
	for p := range slices.Chunk(pairs, 2) {
		l[corev1.ResourceName(p[0])] = resource.MustParse(p[1])
	}
	return l
}

func node(name, instance, zone string) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			corev1.LabelHostname: name, corev1.LabelInstanceTypeStable: instance, corev1.LabelTopologyZone: zone}},
		Status: corev1.NodeStatus{Allocatable: list("cpu", "3920m", "memory", "14Gi", "pods", "58")},
	}
}

func csiNode(name string, volumes int32) *storagev1.CSINode {
	return &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{
		{Name: manifest.ProvisionerCSI, NodeID: "i-" + name, Allocatable: &storagev1.VolumeNodeResources{Count: &volumes}}}}}
}

func daemonSet(image string) *appsv1.DaemonSet {
	return &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: "ebs-csi-node", Namespace: "kube-system"},
		Spec: appsv1.DaemonSetSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{
			{Name: "node-driver-registrar", Image: "registrar:v2.9.9"}, {Name: "ebs-plugin", Image: image}}}}}}
}

var poolResource = schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodepools"}

// preflight lets the product look at the scene.
func (s *scene) preflight(t *testing.T) []cluster.Finding {
	t.Helper()
	var err error
	if s.wanted.Objects, err = manifest.Objects(s.wanted.Spec); err != nil {
		t.Fatal(err)
	}
	kubernetes := fake.NewClientset(s.objects...)
	kubernetes.PrependReactor("create", "selfsubjectaccessreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
		review := a.(clienttesting.CreateAction).GetObject().(*authorizationv1.SelfSubjectAccessReview).DeepCopy()
		attributes := review.Spec.ResourceAttributes
		review.Status.Allowed = !slices.Contains(s.denied, attributes.Verb+" "+strings.TrimSuffix(attributes.Resource+"/"+attributes.Subresource, "/"))
		return true, review, nil
	})
	deny := func(a clienttesting.Action) (bool, runtime.Object, error) {
		what := a.GetVerb() + " " + a.GetResource().Resource
		everywhere := what + " everywhere" // where the namespace decides
		if !slices.Contains(s.denied, what) && (a.GetNamespace() != "" || !slices.Contains(s.denied, everywhere)) {
			return false, nil, nil
		}
		return true, nil, forbidden(a.GetVerb(), a.GetResource(), a.GetNamespace())
	}
	kubernetes.PrependReactor("*", "*", deny)
	if s.react != nil {
		s.react(kubernetes)
	}
	c := &cluster.Client{Kubernetes: kubernetes, Namespace: s.wanted.Spec.Namespace}
	if s.pools != nil {
		dynamic := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{poolResource: "NodePoolList"}, s.pools...)
		dynamic.PrependReactor("*", "*", deny)
		c.Dynamic = dynamic
	}
	found, err := c.Preflight(t.Context(), s.wanted)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// forbidden is what the API server's authorizer answers.
func forbidden(verb string, of schema.GroupVersionResource, namespace string) error {
	message := `User "eve" cannot ` + verb + ` resource "` + of.Resource + `" in API group "` + of.Group + `"`
	if namespace == "" {
		message += " at the cluster scope"
	} else {
		message += ` in the namespace "` + namespace + `"`
	}
	return apierrors.NewForbidden(of.GroupResource(), "", errorText(message))
}

type errorText string

func (e errorText) Error() string { return string(e) }

// look is a scene with one thing changed, and the one finding that it should lead to; none if code is empty.
type look struct {
	name     string
	change   func(*scene)
	code     string
	severity cluster.Severity
	text     []string // what it says, among other things
}

func checkAll(t *testing.T, looks []look) {
	t.Helper()
	for _, l := range looks {
		t.Run(l.name, func(t *testing.T) {
			s := good()
			l.change(s)
			found := s.preflight(t)
			if l.code == "" {
				if len(found) != 0 {
					t.Fatalf("found %+v, want nothing", found)
				}
				return
			}
			if len(found) != 1 || found[0].Code != l.code || found[0].Severity != l.severity {
				t.Fatalf("found %+v, want one %s: %s", found, l.severity, l.code)
			}
			for _, part := range l.text {
				if !strings.Contains(found[0].Text, part) {
					t.Errorf("%q does not say %q", found[0].Text, part)
				}
			}
		})
	}
}

func TestNothingIsWrong(t *testing.T) {
	checkAll(t, []look{{name: "as it is", change: func(*scene) {}}})
}

func TestRefusalsComeFirst(t *testing.T) {
	s := good()
	s.wanted.Spec.NodeSelector = map[string]string{corev1.LabelInstanceTypeStable: "m5.large"} // warns
	get[*corev1.Node](s, "a").Labels[corev1.LabelInstanceTypeStable] = "m5.large"
	s.remove(manifest.ProvisionerCSI) // refuses
	found := s.preflight(t)
	if len(found) < 2 || found[0].Code != "no-provisioner" || found[len(found)-1].Severity != cluster.Warn {
		t.Fatalf("found %+v", found)
	}
	if err := cluster.Declined("start the run", found[1:]); err != nil {
		t.Errorf("warnings alone decline the run: %v", err)
	}
	err := cluster.Declined("start the run", found)
	if err == nil || !strings.Contains(err.Error(), "cannot start the run: no EBS volume can be made") {
		t.Errorf("error %v", err)
	}
}

func pool(name string, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": map[string]any{"name": name, "creationTimestamp": "2026-11-01T00:00:00Z"},
		"spec": map[string]any{"template": spec}}}
}
