//go:build linux

package e2e

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ebscope/internal/cluster/manifest"
	"ebscope/test/kubernetes/testcluster"
)

// The articles' run, from an empty cluster to an empty cluster.
func TestWholeRun(t *testing.T) {
	repeated(t, func(t testing.TB, _ int) {
		u := newUser(t)
		u.namespace = manifest.DefaultNamespace
		o := u.run(u.bench("gp2-vs-gp3", "60", testcluster.GP2, testcluster.GP3, "-o", "json")...)
		if o.code != 0 {
			t.Fatalf("exit %d\n%s", o.code, o.stderr)
		}
		u.nothingLeft()
		u.noClassLeft()
		// The run has made the namespace, so that it goes with it.
		_, err := cluster.Client.CoreV1().Namespaces().Get(t.Context(), u.namespace, metav1.GetOptions{})
		if !apierrors.IsNotFound(err) {
			t.Errorf("namespace %s is left (%v)", u.namespace, err)
		}

		d := parse(t, o.stdout)
		if d.Run.Target != "kubernetes-emulated" || d.Run.Compress != 60 || !d.Run.Complete {
			t.Errorf("run %+v", d.Run)
		}
		if d.Warnings.text("emulated") == "" || d.Warnings.text("compressed") == "" {
			t.Errorf("warnings %+v do not say that volumes were emulated and times compressed", d.Warnings)
		}
		// docs/model.md has the arithmetic: 5.4 M credits, less the layout, at 3,000 − 300 a second.
		gp2, gp3 := d.phase(t, "gp2", "randread-qd32"), d.phase(t, "gp3", "randread-qd32")
		if gp2.Cliff == nil {
			t.Error("gp2 has no cliff")
			return
		}
		near(t, "gp2 cliff in uncompressed seconds", gp2.Cliff.AtUncompressed, 1999, 60.0/1999)
		near(t, "gp2 IOPS before the cliff", gp2.Cliff.Before, 3000, 0.02)
		near(t, "gp2 IOPS after the cliff", gp2.Cliff.After, 300, 0.03)
		if gp2.Cliff.Cause != "gp2-credits" || gp2.Verdict != "burst-then-baseline" {
			t.Errorf("cause %s, verdict %s", gp2.Cliff.Cause, gp2.Verdict)
		}
		if gp3.Cliff != nil || gp3.Verdict != "sustained" {
			t.Errorf("gp3: cliff %v, verdict %s", gp3.Cliff, gp3.Verdict)
		}
		near(t, "gp3 IOPS", gp3.IOPS.Mean, 3000, 0.02)

		runDir := u.onlyRun("runs")
		measured(t, runDir, 12)
		recorded(t, runDir)
		text := read(t, filepath.Join(runDir, "report.md"))
		for _, label := range []string{"kubernetes-emulated", "compressed 60×", "Not measured on AWS"} {
			if !strings.Contains(text, label) {
				t.Errorf("report.md does not say %q", label)
			}
		}
	})
}

var volumeName = regexp.MustCompile(`^pvc-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// recorded fails the test unless run.json says where the run took place.
func recorded(t testing.TB, runDir string) {
	t.Helper()
	e := readJSON[record](t, filepath.Join(runDir, "run.json")).Environment
	c := e.Cluster
	if c.Version != "v1.36.3" || c.Namespace != manifest.DefaultNamespace || c.Image != testcluster.Image || e.Instance != testcluster.InstanceType || e.FioVersion == "" {
		t.Errorf("environment %+v", e)
	}
	if c.Node != testcluster.NodeName(0) && c.Node != testcluster.NodeName(1) {
		t.Errorf("node %q", c.Node)
	}
	if !regexp.MustCompile(`^sha256:[0-9a-f]{64}$`).MatchString(c.ImageDigest) {
		t.Errorf("image digest %q", c.ImageDigest)
	}
	classes := map[string]string{"gp2": testcluster.GP2, "gp3": testcluster.GP3}
	if len(c.Volumes) != len(classes) {
		t.Errorf("volumes %+v, want 2", c.Volumes)
	}
	for _, v := range c.Volumes {
		if v.Class != classes[v.Name] || v.Driver != testcluster.Provisioner || !volumeName.MatchString(v.Volume) || !strings.HasSuffix(v.Claim, "-"+v.Name+"-0") {
			t.Errorf("volume %+v", v)
		}
	}
}
