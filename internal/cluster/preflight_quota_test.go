package cluster_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ebscope/internal/cluster"
	"ebscope/internal/cluster/manifest"
	"ebscope/internal/workload"
)

func TestQuotas(t *testing.T) {
	quota := func(hard, used corev1.ResourceList, scopes ...corev1.ResourceQuotaScope) func(*scene) {
		return func(s *scene) {
			s.add(&corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "team", Namespace: "ebscope"},
				Spec: corev1.ResourceQuotaSpec{Hard: hard, Scopes: scopes}, Status: corev1.ResourceQuotaStatus{Hard: hard, Used: used}})
		}
	}
	gp3Class := manifest.ClassName(run, "gp3") + ".storageclass.storage.k8s.io/"
	checkAll(t, []look{
		// 100 + 100 + 1 GiB of results
		{name: "storage, just enough", change: quota(list("requests.storage", "301Gi"), list("requests.storage", "100Gi"))},
		{name: "storage", code: "quota", severity: cluster.Refuse, text: []string{"ebscope/team allows 300Gi requests.storage, of which 100Gi are used, and the run needs 201Gi"},
			change: quota(list("requests.storage", "300Gi"), list("requests.storage", "100Gi"))},
		{name: "claims", code: "quota", severity: cluster.Refuse, text: []string{"allows 2 persistentvolumeclaims", "needs 3 more"},
			change: quota(list("persistentvolumeclaims", "2"), nil)},
		{name: "storage of a class", code: "quota", severity: cluster.Refuse, text: []string{"the run needs 100Gi"},
			change: quota(list(gp3Class+"requests.storage", "0"), nil)},
		{name: "storage of another class", change: quota(list("gold.storageclass.storage.k8s.io/requests.storage", "0"), nil)},
		// The runner and a collector.
		{name: "pods", code: "quota", severity: cluster.Refuse, text: []string{"allows 5 pods, of which 4 are used, and the run needs 2"},
			change: quota(list("pods", "5"), list("pods", "4"))},
		{name: "Jobs", code: "quota", severity: cluster.Refuse, text: []string{"count/jobs.batch"}, change: quota(list("count/jobs.batch", "0"), nil)},
		{name: "CPU", code: "quota", severity: cluster.Refuse, text: []string{"allows 2 requests.cpu, of which 1600m are used, and the run needs 500m"},
			change: quota(list("requests.cpu", "2"), list("requests.cpu", "1600m"))},
		{name: "limits, of which the pod has none", code: "quota", severity: cluster.Refuse, text: []string{"only pods that state limits.cpu"},
			change: quota(list("limits.cpu", "8"), nil)},
		{name: "limits, which a LimitRange gives", change: func(s *scene) {
			quota(list("limits.cpu", "8"), nil)(s)
			s.add(limitRange(corev1.LimitRangeItem{Type: corev1.LimitTypeContainer, Default: list("cpu", "1")}))
		}},
		{name: "for pods with a deadline", change: quota(list("pods", "0"), nil, corev1.ResourceQuotaScopeTerminating)},
	})
}

func limitRange(l corev1.LimitRangeItem) *corev1.LimitRange {
	return &corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Name: "sizes", Namespace: "ebscope"}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{l}}}
}

func TestLimitRanges(t *testing.T) {
	with := func(l corev1.LimitRangeItem) func(*scene) { return func(s *scene) { s.add(limitRange(l)) } }
	checkAll(t, []look{
		{name: "claims may be as large", change: with(corev1.LimitRangeItem{Type: corev1.LimitTypePersistentVolumeClaim, Min: list("storage", "1Gi"), Max: list("storage", "100Gi")})},
		{name: "claims may not be as small", code: "limit-range", severity: cluster.Refuse, text: []string{"ebscope/sizes demands at least 2Gi storage", "-results asks for 1Gi"},
			change: with(corev1.LimitRangeItem{Type: corev1.LimitTypePersistentVolumeClaim, Min: list("storage", "2Gi")})},
		{name: "containers may not be as large", code: "limit-range", severity: cluster.Refuse, text: []string{"allows at most 250m cpu, and container ", " asks for 500m"},
			change: with(corev1.LimitRangeItem{Type: corev1.LimitTypeContainer, Max: list("cpu", "250m")})},
		{name: "containers may not be as small", code: "limit-range", severity: cluster.Refuse, text: []string{"demands at least 1 cpu"},
			change: with(corev1.LimitRangeItem{Type: corev1.LimitTypeContainer, Min: list("cpu", "1")})},
		{name: "pods may not be as large", code: "limit-range", severity: cluster.Refuse, text: []string{"the run's pod asks for 256Mi"},
			change: with(corev1.LimitRangeItem{Type: corev1.LimitTypePod, Max: list("memory", "128Mi")})},
	})
}

func TestPlan(t *testing.T) {
	onNode := func(instance string) func(*scene) {
		return func(s *scene) {
			s.wanted.Spec.NodeSelector = nil
			get[*corev1.Node](s, "a").Labels[corev1.LabelInstanceTypeStable] = instance
		}
	}
	checkAll(t, []look{
		{name: "phases together", code: "together", severity: cluster.Refuse, text: []string{"gp3-layout and gp2-layout", "take `together` out"},
			change: func(s *scene) {
				s.wanted.Profile.Phases[0].Together, s.wanted.Profile.Phases[1].Together = "both", "both"
			}},
		{name: "a stripe", code: "stripe", severity: cluster.Refuse, text: []string{"stripe r0"},
			change: func(s *scene) { s.wanted.Profile.Stripes = []workload.Stripe{{Name: "r0"}} }},
		{name: "an instance that is large enough", change: onNode("m5.xlarge")},
		{name: "a machine that is no instance", change: onNode("rack-7")},
	})
}

// m5.large holds 3,600 IOPS and 650 Mbps = 81.25 MB/s = 77.5 MiB/s: less than 1.5 × 3,000 IOPS, and less than the 125 MiB/s
// of gp3 and the 128 MiB/s of gp2 (100 GiB). m5.xlarge holds 6,000 IOPS and 143.75 MB/s = 137.1 MiB/s.
func TestInstanceTooClose(t *testing.T) {
	s := good()
	s.wanted.Spec.NodeSelector = nil
	get[*corev1.Node](s, "a").Labels[corev1.LabelInstanceTypeStable] = "m5.large"
	want := []string{
		"m5.large: its baseline, 3,600 IOPS, is less than 1.5 times the 3,000 IOPS of volume gp3, so the instance may show where the volume is meant: use m5.xlarge",
		"m5.large: its baseline, 77 MiB/s, is less than the 125 MiB/s of volume gp3, and the instance holds it once its burst is spent: use m5.xlarge",
		"m5.large: its baseline, 3,600 IOPS, is less than 1.5 times the 3,000 IOPS of volume gp2, so the instance may show where the volume is meant: use m5.xlarge",
		"m5.large: its baseline, 77 MiB/s, is less than the 128 MiB/s of volume gp2, and the instance holds it once its burst is spent: use m5.xlarge",
	}
	found := s.preflight(t)
	if len(found) != len(want) {
		t.Fatalf("found %+v", found)
	}
	for i, f := range found {
		if f.Code != "instance-too-close" || f.Severity != cluster.Warn || f.Text != want[i] {
			t.Errorf("found %+v\nwant  %s", f, want[i])
		}
	}
}
