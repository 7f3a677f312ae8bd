package cli

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

func TestBenchKubernetesWrongUse(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--pvc", "gp2=x"}, exitUsage, "--pvc is for --target kubernetes, not for emulated"},
		{[]string{"--target", "path", "--path", "gp2=/tmp", "--replicas", "2"}, exitUsage, "--replicas is for --target kubernetes"},
		{[]string{"--target", "kubernetes", "--path", "gp2=/tmp"}, exitUsage, "use --pvc or --storage-class"},
		{[]string{"--target", "kubernetes", "--repeat", "2"}, exitUsage, "use --replicas"},
		{[]string{"--target", "kubernetes", "--resume", "runs/x"}, exitUsage, "use ebscope attach"},
		{[]string{"--target", "kubernetes", "--volume-mode", "Raw"}, exitUsage, "use Filesystem or Block"},
		{[]string{"--target", "kubernetes", "--replicas", "0"}, exitUsage, "--replicas 0"},
		{[]string{"--target", "kubernetes", "--replicas", "2", "--pvc", "gp2=x"}, exitUsage, "leave out --pvc"},
		{[]string{"--target", "kubernetes", "--pvc", "gp2=x", "--storage-class", "gp2=y"}, exitUsage, "both --pvc and --storage-class"},
		{[]string{"--target", "kubernetes", "--toleration", "a:Never"}, exitUsage, "NoSchedule"},
		{[]string{"--target", "kubernetes", "--requests", "cpu=much"}, exitUsage, "--requests"},
		{[]string{"--target", "kubernetes", "--dry-run", "--detach"}, exitUsage, "leave out one of the two"},
		{[]string{"--target", "kubernetes", "--dry-run", "--storage-class", "gp9=x"}, exitUsage, `no volume "gp9"`},
		{[]string{"--target", "kubernetes", "--dry-run", "--provisioner", "kubernetes.io/aws-ebs"}, exitUsage, "use ebs.csi.aws.com"},
		{[]string{"--target", "kubernetes", "-n", "Img_x"}, exitUsage, `namespace "Img_x"`},
		{[]string{"--target", "kubernetes"}, exitDeclined, "no cluster is configured"},
	} {
		var stdout, stderr bytes.Buffer
		code := Main(t.Context(), append([]string{"ebscope", "bench"}, tt.args...), &stdout, &stderr)
		if code != tt.code || !strings.Contains(stderr.String(), tt.want) || stdout.Len() > 0 {
			t.Errorf("%v: exit code %d, want %d and %q\n%s", tt.args, code, tt.code, tt.want, stderr.String())
		}
	}
}

func TestDryRun(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	var stdout, stderr bytes.Buffer
	code := Main(t.Context(), []string{"ebscope", "bench", "--target", "kubernetes", "--dry-run", "--storage-class", "gp2=fast", "--toleration", "spot"}, &stdout, &stderr)
	if code != exitDone {
		t.Fatalf("exit code %d\n%s", code, stderr.String())
	}
	for _, want := range []string{"kind: Job", "storageClassName: fast", "key: spot", "node.kubernetes.io/instance-type: m5.xlarge", "filename=/volumes/gp2/ebscope-"} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("the manifest lacks %q", want)
		}
	}
	// A class for gp3 and one for the results; that of gp2 exists.
	if n := strings.Count(stdout.String(), "kind: StorageClass\n"); n != 2 {
		t.Errorf("%d StorageClasses, want 2", n)
	}
}

func TestClusterCommandsWithoutACluster(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	for _, tt := range []struct {
		args []string
		code int
	}{
		{[]string{"status"}, exitDeclined}, {[]string{"attach", "x"}, exitDeclined}, {[]string{"collect", "x"}, exitDeclined},
		{[]string{"cleanup", "x"}, exitDeclined}, {[]string{"cleanup", "--all"}, exitDeclined}, {[]string{"cleanup", "x", "--all"}, exitUsage},
		{[]string{"cleanup", "-n", "y"}, exitUsage}, {[]string{"status", "-n", ""}, exitUsage}, {[]string{"cleanup", "--all", "-n", "a.b"}, exitUsage}, {[]string{"status", "x", "y"}, exitUsage}, {[]string{"attach"}, exitUsage},
		{[]string{"status", "--kubeconfig", filepath.Join(t.TempDir(), "missing")}, exitUsage},
	} {
		var stdout, stderr bytes.Buffer
		if code := Main(t.Context(), append([]string{"ebscope"}, tt.args...), &stdout, &stderr); code != tt.code || stderr.Len() == 0 {
			t.Errorf("%v: exit code %d, want %d\n%s", tt.args, code, tt.code, stderr.String())
		}
	}
}
