package cluster_test

import (
	"fmt"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"ebscope/internal/cluster"
	"ebscope/internal/cluster/manifest"
)

// taint gives the only node a taint.
func taint(s *scene, effect corev1.TaintEffect) {
	get[*corev1.Node](s, "a").Spec.Taints = []corev1.Taint{{Key: "dedicated", Value: "db", Effect: effect}}
}

func TestNodes(t *testing.T) {
	m5large := func(s *scene) { get[*corev1.Node](s, "a").Labels[corev1.LabelInstanceTypeStable] = "m5.large" }
	checkAll(t, []look{
		{name: "none, and an autoscaler", code: "no-node", severity: cluster.Warn, text: []string{"The run waits for one"}, change: func(s *scene) {
			s.remove("a")
			s.wanted.AwaitNode = true
		}},
		{name: "none", code: "no-node", severity: cluster.Refuse, text: []string{"the cluster has no node"}, change: func(s *scene) { s.remove("a") }},
		{name: "of another type", code: "no-node", severity: cluster.Refuse, change: m5large,
			text: []string{"of 1 node, 1 whose label node.kubernetes.io/instance-type is not m5.xlarge (it is m5.large)", "no Karpenter NodePool"}},
		{name: "of another type, and one that fits", change: func(s *scene) {
			m5large(s)
			s.add(node("b", "m5.xlarge", "eu-west-1b"), csiNode("b", 25))
		}},
		{name: "cordoned", code: "no-node", severity: cluster.Refuse, text: []string{"1 cordoned"},
			change: func(s *scene) { get[*corev1.Node](s, "a").Spec.Unschedulable = true }},
		{name: "with a taint", code: "no-node", severity: cluster.Refuse, text: []string{"taint dedicated=db:NoSchedule"},
			change: func(s *scene) { taint(s, corev1.TaintEffectNoSchedule) }},
		{name: "with a taint that is tolerated", change: func(s *scene) {
			taint(s, corev1.TaintEffectNoSchedule)
			s.wanted.Spec.Tolerations = []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists}}
		}},
		{name: "with a taint that only prefers", change: func(s *scene) { taint(s, corev1.TaintEffectPreferNoSchedule) }},
		{name: "too few for the pairs", code: "no-node", severity: cluster.Refuse, text: []string{"2 pairs need as many nodes, and only 1 can be used; and no Karpenter NodePool fits. Use fewer --replicas, or add a node"},
			change: func(s *scene) { s.wanted.Spec.Replicas = 2 }},
		{name: "enough for the pairs", change: func(s *scene) {
			s.wanted.Spec.Replicas = 2
			s.add(node("b", "m5.xlarge", "eu-west-1b"), csiNode("b", 25))
		}},
	})
}

// Of 1,001 nodes, only the last fits: it comes on the third page of 500.
func TestNodesComeByPages(t *testing.T) {
	s := good()
	s.remove("a")
	last := "n1000"
	s.add(csiNode(last, 25))
	pages := 0
	s.react = func(k *fake.Clientset) {
		k.PrependReactor("list", "nodes", func(a clienttesting.Action) (bool, runtime.Object, error) {
			o := a.(clienttesting.ListActionImpl).ListOptions
			from, _ := strconv.Atoi(o.Continue)
			page := &corev1.NodeList{}
			for i := from; i < min(from+int(o.Limit), 1001); i++ {
				instance := "c5.large"
				if i == 1000 {
					instance = "m5.xlarge"
				}
				page.Items = append(page.Items, *node(fmt.Sprintf("n%d", i), instance, "eu-west-1a"))
			}
			if pages++; from+len(page.Items) < 1001 {
				page.Continue = strconv.Itoa(from + len(page.Items))
			}
			return true, page, nil
		})
	}
	if found := s.preflight(t); len(found) != 0 || pages != 3 {
		t.Errorf("found %+v on %d pages", found, pages)
	}
}

// reserved is a pod of another namespace on the node a, with all that a node of 3,920m CPU can lose.
func reserved(name, cpu string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "shop"},
		Spec: corev1.PodSpec{NodeName: "a", Containers: []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Requests: list("cpu", cpu)}}}}}
}

func TestRoom(t *testing.T) {
	checkAll(t, []look{
		// 3,920m − 3,420m = 500m, and 500m are needed.
		{name: "just enough", change: func(s *scene) { s.add(reserved("web", "3420m")) }},
		{name: "too little CPU", code: "no-room", severity: cluster.Refuse, text: []string{"1 short of cpu: 500m is needed, 420m is free"},
			change: func(s *scene) { s.add(reserved("web", "3500m")) }},
		{name: "room on another node", change: func(s *scene) {
			s.add(reserved("web", "3500m"), node("b", "m5.xlarge", "eu-west-1b"), csiNode("b", 25))
		}},
		{name: "too many pods", code: "no-room", severity: cluster.Refuse, text: []string{"pods: 1 is needed, 0 is free"},
			change: func(s *scene) {
				s.add(reserved("web", "0"))
				get[*corev1.Node](s, "a").Status.Allocatable["pods"] = list("pods", "1")["pods"]
			}},
		{name: "other namespaces cannot be seen",
			change: func(s *scene) { s.denied = []string{"list pods everywhere"}; s.add(reserved("web", "3500m")) }},
		{name: "never enough, whatever others take", code: "no-room", severity: cluster.Refuse, text: []string{"8 is needed, 3920m is free"},
			change: func(s *scene) {
				s.denied = []string{"list pods everywhere"}
				s.wanted.Spec.Requests = list("cpu", "8")
			}},
	})
}

// attach puts volumes on the node a.
func attach(s *scene, n int, attacher string) {
	for i := range n {
		s.add(&storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(attacher, i)}, Spec: storagev1.VolumeAttachmentSpec{Attacher: attacher, NodeName: "a"}})
	}
}

func TestSlots(t *testing.T) {
	checkAll(t, []look{
		// Two volumes and the results: 25 − 22 = 3.
		{name: "just enough", change: func(s *scene) { attach(s, 22, manifest.ProvisionerCSI) }},
		{name: "too few", code: "no-slot", severity: cluster.Refuse, text: []string{"23 of 25 are taken, 3 more are needed"},
			change: func(s *scene) { attach(s, 23, manifest.ProvisionerCSI) }},
		{name: "taken by another driver", change: func(s *scene) { attach(s, 23, "efs.csi.aws.com") }},
		{name: "no driver on the node", code: "no-slot", severity: cluster.Refuse, text: []string{"ebs.csi.aws.com does not run"},
			change: func(s *scene) { get[*storagev1.CSINode](s, "a").Spec.Drivers = nil }},
		{name: "any number", change: func(s *scene) {
			get[*storagev1.CSINode](s, "a").Spec.Drivers[0].Allocatable = nil
			attach(s, 100, manifest.ProvisionerCSI)
		}},
	})
}

func TestZones(t *testing.T) {
	in := func(zones ...string) *corev1.VolumeNodeAffinity {
		return &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: zones}}}}}}
	}
	at := func(zones ...string) func(*scene) {
		return func(s *scene) {
			existing(s).Spec.VolumeName = "pv-1"
			s.add(&corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv-1"}, Spec: corev1.PersistentVolumeSpec{NodeAffinity: in(zones...)}})
		}
	}
	checkAll(t, []look{
		{name: "the node's", change: at("eu-west-1a")},
		{name: "another than the node's", code: "wrong-zone", severity: cluster.Refuse, change: at("eu-west-1b"),
			text: []string{"1 elsewhere in eu-west-1a (claim old needs topology.kubernetes.io/zone in eu-west-1b)"}},
		{name: "a zone that a NodePool serves", change: func(s *scene) {
			at("eu-west-1b")(s)
			s.pools = []runtime.Object{pool("b", inZone("eu-west-1b"))}
		}},
		{name: "a zone that no NodePool serves", code: "wrong-zone", severity: cluster.Refuse, change: func(s *scene) {
			at("eu-west-1b")(s)
			s.pools = []runtime.Object{pool("a", inZone("eu-west-1a"))}
		}},
		{name: "one of a class's", change: func(s *scene) {
			c := class("c")
			c.AllowedTopologies = []corev1.TopologySelectorTerm{{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: corev1.LabelTopologyZone, Values: []string{"eu-west-1b", "eu-west-1a"}}}}}
			s.add(c)
			s.wanted.Spec.Volumes[0].Class = "c"
		}},
		// Auto Mode's classes are for its own nodes, which carry this label.
		{name: "Auto Mode's volumes and another node", code: "wrong-zone", severity: cluster.Refuse, text: []string{"eks.amazonaws.com/compute-type in auto"},
			change: func(s *scene) {
				s.wanted.Spec.Provisioner = manifest.ProvisionerAutoMode
				s.add(&storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: manifest.ProvisionerAutoMode}})
			}},
	})
}

// inZone is a NodePool's template for nodes of one zone.
func inZone(zone string) map[string]any {
	return map[string]any{"spec": map[string]any{"requirements": []any{map[string]any{"key": corev1.LabelTopologyZone, "operator": "In", "values": []any{zone}}}}}
}

func TestPools(t *testing.T) {
	require := func(key, operator string, values ...any) map[string]any {
		return map[string]any{"key": key, "operator": operator, "values": values}
	}
	const category, generation = "karpenter.k8s.aws/instance-category", "karpenter.k8s.aws/instance-generation"
	with := func(spec map[string]any, more ...map[string]any) func(*scene) {
		return func(s *scene) {
			s.remove("a") // a NodePool is all there is
			template := map[string]any{"spec": spec}
			for _, m := range more {
				template["metadata"] = m
			}
			s.pools = []runtime.Object{pool("general", template)}
		}
	}
	requirements := func(r ...any) map[string]any { return map[string]any{"requirements": r, "expireAfter": "720h"} }
	checkAll(t, []look{
		{name: "the instance's category", change: with(requirements(require(category, "In", "c", "m", "r"), require(generation, "Gt", "4")))},
		{name: "another category", code: "no-node", severity: cluster.Refuse, change: with(requirements(require(category, "In", "c")))},
		{name: "later generations", code: "no-node", severity: cluster.Refuse, change: with(requirements(require(generation, "Gt", "5")))},
		{name: "the instance itself", change: with(requirements(require(corev1.LabelInstanceTypeStable, "In", "m5.xlarge")))},
		{name: "not the instance", code: "no-node", severity: cluster.Refuse, change: with(requirements(require(corev1.LabelInstanceTypeStable, "NotIn", "m5.xlarge")))},
		{name: "with a taint", code: "no-node", severity: cluster.Refuse,
			change: with(map[string]any{"taints": []any{map[string]any{"key": "gpu", "effect": "NoSchedule"}}})},
		{name: "a label of the user's own", change: func(s *scene) {
			with(requirements(), map[string]any{"labels": map[string]any{"team": "db"}})(s)
			s.wanted.Spec.NodeSelector["team"] = "db"
		}},
		{name: "without the user's own label", code: "no-node", severity: cluster.Refuse, change: func(s *scene) {
			with(requirements())(s)
			s.wanted.Spec.NodeSelector["team"] = "db"
		}},
		// The run takes an hour: 10 and 50 minutes.
		{name: "nodes that live half an hour", code: "node-expires", severity: cluster.Warn, text: []string{"NodePool general", "30m0s", "1h0m0s"},
			change: with(map[string]any{"expireAfter": "30m"})},
		{name: "nodes that live for ever", change: with(map[string]any{"expireAfter": "Never"})},
		{name: "half an hour to go", code: "node-grace", severity: cluster.Warn, text: []string{"NodePool general", "30m0s", "terminationGracePeriod"},
			change: with(map[string]any{"terminationGracePeriod": "30m"})},
		{name: "two hours to go", change: with(map[string]any{"terminationGracePeriod": "2h"})},
		{name: "an annotation of old", code: "do-not-evict", severity: cluster.Warn, text: []string{"NodePool general", "karpenter.sh/do-not-disrupt"},
			change: with(requirements(), map[string]any{"annotations": map[string]any{"karpenter.sh/do-not-evict": "true"}})},
		{name: "a pod with an annotation of old", code: "do-not-evict", severity: cluster.Warn, text: []string{"pod ebscope/old"},
			change: func(s *scene) {
				s.add(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "old", Namespace: "ebscope", Annotations: map[string]string{"karpenter.sh/do-not-evict": "true"}}})
			}},
	})
}
