package manifest_test

import (
	"flag"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"ebscope/internal/cluster/manifest"
	"ebscope/internal/cluster/runner"
	"ebscope/internal/ebs"
	"ebscope/internal/fio"
	"ebscope/internal/fio/job"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

var update = flag.Bool("update", false, "rewrite the golden files from what the tests get")

// golden compares text with a file, or rewrites the file.
func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; write it with: go test ./internal/cluster/manifest -update", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (-want +got); if that is meant: go test ./internal/cluster/manifest -update\n%s", path, diff)
	}
}

const runID = "20261201T052101Z-gp2-vs-gp3-kubernetes"

// standard is the profile that ships, on volumes that are made.
func standard(t testing.TB) manifest.Spec {
	t.Helper()
	profile, err := workload.Shipped(ebs.Embedded(), "gp2-vs-gp3")
	if err != nil {
		t.Fatal(err)
	}
	s := manifest.Spec{
		Run: runID, Namespace: "ebscope", CreateNamespace: true, Provisioner: manifest.ProvisionerCSI,
		Jobs: map[string][]byte{}, Record: []byte("{\n  \"id\": \"" + runID + "\"\n}\n"),
		NodeSelector: map[string]string{corev1.LabelInstanceTypeStable: "m5.xlarge"},
		Deadline:     2*time.Hour + 500*time.Millisecond,
	}
	for _, v := range profile.Volumes {
		s.Volumes = append(s.Volumes, manifest.Volume{Name: v.Name, Config: v.Config})
	}
	for _, p := range profile.Phases[:3] {
		file := runner.VolumesDir + "/" + p.Volume + "/ebscope.dat"
		text, err := job.File(job.Job{Phase: p, Filename: file, Size: profile.FileSize, Engine: "libaio", Version: fio.TotalLatencyPercentiles})
		if err != nil {
			t.Fatal(err)
		}
		s.Jobs[p.ID()] = text
		s.Plan.Phases = append(s.Plan.Phases, runner.Phase{Name: p.ID(), Takes: p.Duration, File: file, Size: profile.FileSize, Layout: p.Layout()})
	}
	return s
}

// raw is three pairs of raw devices, on classes of which one exists, with all that a user can say of the pods.
func raw(t testing.TB) manifest.Spec {
	s := standard(t)
	s.CreateNamespace, s.Block, s.Replicas = false, true, 3
	s.Provisioner, s.ResultsClass = manifest.ProvisionerAutoMode, "standard"
	s.Volumes = []manifest.Volume{
		{Name: "gp2", Config: ebs.Volume{Type: ebs.GP2, Size: 100 * units.GiB}, Class: "gp2-of-the-platform"},
		{Name: "gp3", Config: ebs.Volume{Type: ebs.GP3, Size: 100 * units.GiB, IOPS: 6000, Throughput: 250 * units.MiBPerSecond}},
	}
	s.Image = "registry.example/fio:3.41"
	s.Tolerations = []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpEqual, Value: "bench", Effect: corev1.TaintEffectNoSchedule}}
	s.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}
	return s
}

// claimed measures an existing claim beside a volume that is made.
func claimed(t testing.TB) manifest.Spec {
	s := standard(t)
	s.CreateNamespace = false
	s.Volumes[1] = manifest.Volume{Name: "gp2", Claim: "data-postgres-0"}
	return s
}
