package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"ebscope/internal/fleet"
	"ebscope/test/fakeaws"
	"ebscope/test/kubernetes/fakekube"
)

// estate is an account and a cluster that share volumes.
type estate struct {
	aws        *fakeaws.Server
	kube       *fakekube.Server
	kubeconfig string
}

// newEstate has a gp2 volume of 100 GiB that a StatefulSet's claim has and that is near its fall, a gp3 volume that no cluster
// knows, and a gp2 volume that is attached to nothing.
func newEstate(t *testing.T) estate {
	t.Helper()
	e := estate{aws: fakeAccount(t), kube: fakekube.New()}
	t.Cleanup(e.kube.Close)
	e.aws.AddMachine(seoul, fakeaws.Machine{ID: "i-1", Type: "m5.xlarge"})
	attached := []fakeaws.Attachment{{Instance: "i-1", Device: "/dev/sdf"}}
	e.aws.AddVolume(seoul, fakeaws.Volume{ID: "vol-1", Setting: fakeaws.Setting{Type: "gp2", Size: 100}, Attachments: attached, Tags: map[string]string{"team": "a"}})
	e.aws.AddVolume(seoul, fakeaws.Volume{ID: "vol-2", Setting: fakeaws.Setting{Type: "gp3", Size: 50}, Attachments: attached})
	e.aws.AddVolume(seoul, fakeaws.Volume{ID: "vol-3", Setting: fakeaws.Setting{Type: "gp2", Size: 10}})
	e.aws.Metric = func(_ string, m fakeaws.Metric) fakeaws.Series {
		switch {
		case m.Dimensions["VolumeId"] != "vol-1":
			return nil
		case m.Name == "VolumeReadOps": // 300,000 in 5 minutes are 1,000 IOPS
			return func(_ string, _ time.Time, period time.Duration) (float64, bool) {
				return 1000 * period.Seconds(), true
			}
		case m.Name == "BurstBalance":
			return fakeaws.Constant(20)
		}
		return nil
	}
	of := func(namespace, name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID("uid-" + namespace + name)}
	}
	e.kube.Add("v1/persistentvolumeclaims", &corev1.PersistentVolumeClaim{ObjectMeta: of("shop", "data-db-0"), Spec: corev1.PersistentVolumeClaimSpec{VolumeName: "pv-1"}})
	e.kube.Add("v1/persistentvolumes", &corev1.PersistentVolume{ObjectMeta: of("", "pv-1"), Spec: corev1.PersistentVolumeSpec{
		ClaimRef:               &corev1.ObjectReference{Namespace: "shop", Name: "data-db-0", UID: "uid-shopdata-db-0"},
		PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: fleet.EBSDriver, VolumeHandle: "vol-1"}},
	}})
	class := &storagev1.StorageClass{ObjectMeta: of("", "gp2"), Provisioner: fleet.EBSDriver, Parameters: map[string]string{"type": "gp2"}}
	class.Annotations = map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}
	e.kube.Add("storage.k8s.io/v1/storageclasses", class)
	e.kube.Add("apps/v1/statefulsets", &appsv1.StatefulSet{ObjectMeta: of("shop", "db"), Spec: appsv1.StatefulSetSpec{
		VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}},
	}})
	var err error
	if e.kubeconfig, err = e.kube.Kubeconfig(t.TempDir(), "shop"); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", e.kubeconfig)
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	return e
}

func scan(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = Main(t.Context(), append([]string{"ebscope", "scan"}, args...), &out, &errs)
	return code, out.String(), errs.String()
}

func scanned(t *testing.T, stdout string) (d fleet.Document) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(stdout))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&d); err != nil {
		t.Fatalf("%v in %s", err, stdout)
	}
	return d
}

func TestScan(t *testing.T) {
	newEstate(t)
	code, stdout, stderr := scan(t, "--window", "1d", "-o", "json", "--sort", "id")
	if code != exitDone || stderr != "" {
		t.Fatalf("exit code %d, %s", code, stderr)
	}
	d := scanned(t, stdout)
	if len(d.Volumes) != 3 || d.WindowS != 86400 || len(d.Clusters) != 1 || d.Clusters[0].Name != "shop" || d.Totals.AtRisk == 0 {
		t.Fatalf("document %s", stdout)
	}
	v := d.Volumes[0]
	if v.ID != "vol-1" || v.Namespace != "shop" || v.Claim != "data-db-0" || v.StatefulSet != "db" || v.InstanceType != "m5.xlarge" || v.Region != "ap-northeast-2" {
		t.Errorf("volume %+v", v)
	}
	// 100 GiB have 300 IOPS and a bucket of 5.4 million I/Os: 20 % are 1,080,000, which 1,000 IOPS empty at 700 a second in
	// 1,543 s. At 0.114 USD a GiB a month in Seoul it costs 11.40 USD; gp3 of the same size 9.12.
	if v.Demand == nil || v.Demand.PeakIOPS != 1000 || v.Balance == nil || v.Balance.NowPercent != 20 || v.SecondsToEmpty == nil || *v.SecondsToEmpty != 1543 || v.Monthly.USD().String() != "$11.40" || v.Recommendation.Action != fleet.Modify {
		t.Errorf("demand %+v, balance %+v, empty %v, %v, %+v", v.Demand, v.Balance, v.SecondsToEmpty, v.Monthly.USD(), v.Recommendation)
	}
	for i, code := range []fleet.Code{fleet.GP2AtRisk, "", fleet.Unattached} {
		if code != "" && !d.Volumes[i].Has(code) {
			t.Errorf("%s has no finding %s: %+v", d.Volumes[i].ID, code, d.Volumes[i].Findings)
		}
	}
}

func TestScanTable(t *testing.T) {
	newEstate(t)
	code, stdout, stderr := scan(t, "--window", "1d")
	if code != exitDone || !strings.Contains(stdout, "vol-1") || !strings.Contains(stdout, "shop/data-db-0") {
		t.Errorf("exit code %d, %s%s", code, stderr, stdout)
	}
	for line := range strings.Lines(stdout) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

func TestScanFilters(t *testing.T) {
	newEstate(t)
	for _, test := range []struct {
		args string
		want []fleet.VolumeID
	}{
		{"--type gp2", []fleet.VolumeID{"vol-1", "vol-3"}},
		{"--namespace sh*", []fleet.VolumeID{"vol-1"}},
		{"-n other", nil},
		{"--tag team=a", []fleet.VolumeID{"vol-1"}},
		{"--finding unattached", []fleet.VolumeID{"vol-3"}},
		{"--region ap-*", []fleet.VolumeID{"vol-1", "vol-2", "vol-3"}},
		{"--region us-east-1 --no-cluster", nil},
		{"--sort size", []fleet.VolumeID{"vol-1", "vol-2", "vol-3"}},
		{"--no-account", []fleet.VolumeID{"vol-1"}},
	} {
		code, stdout, stderr := scan(t, append(strings.Fields(test.args), "--window", "0", "-o", "json")...)
		if code != exitDone {
			t.Errorf("%s: exit code %d, %s", test.args, code, stderr)
			continue
		}
		var got []fleet.VolumeID
		for _, v := range scanned(t, stdout).Volumes {
			got = append(got, v.ID)
		}
		if !strings.Contains(test.args, "--sort") {
			slices.Sort(got)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", test.args, diff)
		}
	}
}

// A saved snapshot says offline what the scan said, byte by byte.
func TestScanFromASnapshot(t *testing.T) {
	e := newEstate(t)
	file := filepath.Join(t.TempDir(), "fleet.jsonl")
	_, live, _ := scan(t, "--window", "1d", "--snapshot", file, "-o", "json")
	e.aws.Close()
	e.kube.Close()
	withoutCredentials(t)
	for _, format := range []string{"json", "table", "csv", "html"} {
		code, stdout, stderr := scan(t, "--from", file, "-o", format)
		if code != exitDone || stderr != "" || !strings.Contains(stdout, "vol-1") {
			t.Errorf("%s: exit code %d, %s", format, code, stderr)
		}
		if format == "json" && stdout != live {
			t.Error(cmp.Diff(live, stdout))
		}
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, error %v", info.Mode(), err)
	}
	if left, err := os.ReadDir(filepath.Dir(file)); err != nil || len(left) != 1 {
		t.Errorf("left beside it: %v, error %v", left, err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text[:len(text)-10], 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := scan(t, "--from", file); code != exitUsage || !strings.Contains(stderr, file) {
		t.Errorf("cut short: exit code %d, %s", code, stderr)
	}
}

// Whatever cannot be read is named, and the rest is there all the same: as JSON on standard output, and in words beside it.
func TestScanInPart(t *testing.T) {
	for _, test := range []struct {
		name    string
		spoil   func(t *testing.T, e estate)
		args    string
		missing []string // operation and reason
		stderr  string
		volumes int
	}{
		{"modifications denied", func(_ *testing.T, e estate) { e.aws.Deny("ec2:DescribeVolumesModifications") }, "",
			[]string{"ec2:DescribeVolumesModifications denied"}, "ec2:DescribeVolumesModifications", 3},
		{"volumes denied", func(_ *testing.T, e estate) { e.aws.Deny("ec2:DescribeVolumes") }, "", []string{"ec2:DescribeVolumes denied"}, "the permission ec2:DescribeVolumes is needed", 1},
		{"metrics denied", func(_ *testing.T, e estate) { e.aws.Deny("cloudwatch:GetMetricData") }, "", []string{"cloudwatch:GetMetricData denied"}, "cloudwatch:GetMetricData", 3},
		{"pods denied", func(_ *testing.T, e estate) { e.kube.Denied["pods"] = true }, "", []string{"list pods denied"}, "docs/kubernetes/scan-role.yaml", 3},
		{"no credentials", func(t *testing.T, _ estate) { withoutCredentials(t) }, "", []string{"AWS account denied"}, "set AWS_PROFILE", 1},
		{"no cluster", func(_ *testing.T, e estate) { e.kube.Close() }, "", []string{"cluster unreachable"}, "--no-cluster", 3},
		{"no kubeconfig", func(t *testing.T, _ estate) { t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none")) }, "", []string{"cluster failed"}, "--kubeconfig", 3},
		{"a region that is not enabled", func(*testing.T, estate) {}, "--region af-south-1 --region ap-northeast-2", []string{" disabled"}, "af-south-1", 3},
		{"no region", func(t *testing.T, e estate) { t.Setenv("AWS_REGION", "") }, "", []string{"regions failed"}, "--region", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := newEstate(t)
			test.spoil(t, e)
			code, stdout, stderr := scan(t, append(strings.Fields(test.args), "--window", "1h", "-o", "json")...)
			if code != exitPart || !strings.Contains(stderr, test.stderr) {
				t.Fatalf("exit code %d, %s", code, stderr)
			}
			d := scanned(t, stdout)
			var missing []string
			for _, m := range d.Missing {
				missing = append(missing, fmt.Sprintf("%s %s", m.Operation, m.Reason))
			}
			if diff := cmp.Diff(test.missing, missing); diff != "" || len(d.Volumes) != test.volumes {
				t.Errorf("%d volumes, missing %s", len(d.Volumes), diff)
			}
			if _, table, _ := scan(t, append(strings.Fields(test.args), "--window", "1h")...); !strings.Contains(table, "Not read") {
				t.Error(table)
			}
		})
	}
}

func withoutCredentials(t *testing.T) {
	t.Helper()
	for _, setting := range fakeaws.NoCredentials() {
		name, value, _ := strings.Cut(setting, "=")
		t.Setenv(name, value)
	}
}

// The regions of a cluster's volumes are read though the environment names none.
func TestScanRegionOfACluster(t *testing.T) {
	e := newEstate(t)
	t.Setenv("AWS_REGION", "")
	pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv-2", UID: "uid-pv-2", Labels: map[string]string{corev1.LabelTopologyZone: "ap-northeast-2a"}}}
	pv.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: fleet.EBSDriver, VolumeHandle: "vol-2"}
	e.kube.Add("v1/persistentvolumes", pv)
	code, stdout, stderr := scan(t, "--window", "0", "-o", "json")
	if code != exitDone || len(scanned(t, stdout).Volumes) != 3 {
		t.Errorf("exit code %d, %s%s", code, stderr, stdout)
	}
}

func TestScanDeclined(t *testing.T) {
	for _, test := range []struct {
		name  string
		spoil func(t *testing.T, e estate)
		args  string
		code  int
		text  string
	}{
		{"nothing at all", func(t *testing.T, e estate) {
			withoutCredentials(t)
			t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
		}, "", exitDeclined, "no AWS credentials"},
		{"credentials missing, account alone", func(t *testing.T, _ estate) { withoutCredentials(t) }, "--no-cluster", exitDeclined, "set AWS_PROFILE"},
		{"all denied, account alone", func(_ *testing.T, e estate) {
			e.aws.Deny("ec2:DescribeVolumes", "ec2:DescribeInstances", "ec2:DescribeVolumesModifications", "cloudwatch:DescribeAlarms")
		}, "--no-cluster", exitDeclined, "the permission ec2:DescribeVolumes is needed"},
		{"no such context", nil, "--context none", exitUsage, `there is no context "none"`},
		{"no such region", nil, "--region eu-*", exitUsage, "eu-*"},
		{"nothing to read", nil, "--no-cluster --no-account", exitUsage, "nothing to read"},
		{"no such key", nil, "--sort age", exitUsage, "age"},
		{"no such finding", nil, "--finding odd", exitUsage, "odd"},
		{"no such type", nil, "--metrics gp9", exitUsage, "gp9"},
		{"a long window", nil, "--window 15d", exitUsage, "up to 14 days"},
		{"no window", nil, "--window soon", exitUsage, "soon"},
		{"from and reading", nil, "--from x --window 1d", exitUsage, "--window"},
		{"from nothing", nil, "--from /nonexistent/x", exitUsage, "/nonexistent/x"},
		{"a snapshot nowhere", nil, "--window 0 --snapshot /nonexistent/x", exitUsage, "/nonexistent"},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := newEstate(t)
			if test.spoil != nil {
				test.spoil(t, e)
			}
			if code, stdout, stderr := scan(t, strings.Fields(test.args)...); code != test.code || !strings.Contains(stderr, test.text) || stdout != "" {
				t.Errorf("exit code %d, want %d: %s%s", code, test.code, stderr, stdout)
			}
		})
	}
}

func TestScanOfTheSameClusterTwice(t *testing.T) {
	e := newEstate(t)
	text, err := os.ReadFile(e.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	two := strings.Replace(string(text), `"contexts":[`, `"contexts":[{"name":"again","context":{"cluster":"c","user":"u"}},`, 1)
	if err := os.WriteFile(e.kubeconfig, []byte(two), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := scan(t, "--context", "shop", "--context", "again", "--window", "0"); code != exitUsage || !strings.Contains(stderr, "shop and again are of the same cluster") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
}

// An interrupted scan prints nothing, and leaves no file behind.
func TestScanInterrupted(t *testing.T) {
	e := newEstate(t)
	ctx, interrupt := context.WithCancel(t.Context())
	e.aws.Metric = func(string, fakeaws.Metric) fakeaws.Series {
		interrupt()
		return nil
	}
	dir := t.TempDir()
	var stdout, stderr bytes.Buffer
	code := Main(ctx, []string{"ebscope", "scan", "--window", "1h", "--snapshot", filepath.Join(dir, "fleet.jsonl")}, &stdout, &stderr)
	if code != exitInterrupted || stdout.Len() > 0 {
		t.Errorf("exit code %d, %s%s", code, stderr.String(), stdout.String())
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, error %v", left, err)
	}
}

// What is done soon says nothing; what takes longer says where it is every ten seconds.
func TestSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		s := newSteps(&log)
		for second := range 25 {
			s.at("second %d", second)
			time.Sleep(time.Second)
		}
		s.close()
		if want := "second 10\nsecond 20\n"; log.String() != want {
			t.Errorf("%q, want %q", log.String(), want)
		}
	})
}
