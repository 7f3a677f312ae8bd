//go:build linux

package scale

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"ebscope/internal/cluster"
	"ebscope/internal/cluster/manifest"
	"ebscope/internal/cluster/runner"
	"ebscope/internal/ebs"
	"ebscope/internal/units"
	"ebscope/test/kubernetes/testcluster"
)

const (
	pairs     = 300
	namespace = "scale"
	runID     = "20261201T052101Z-scale-kubernetes"
	class     = "held" // of volumes that the test has made beforehand
	most      = 200e6  // bytes of a follower
)

// A run of many pairs, each with two volumes and on a node of its own, is followed by one list and one watch for each kind of
// object, in 200 MB. They are 300: with a thousand, two busy processors take over four minutes, and a server so overloaded may end
// a watch, which then goes on as another. A thousand took the follower 62 MB.
func TestManyPairsAreFollowed(t *testing.T) {
	if !testcluster.Wanted() {
		t.Skip(testcluster.SkipReason)
	}
	if os.Getenv(testcluster.ExternalVariable) != "" {
		t.Skip("this makes hundreds of nodes; run: env -u " + testcluster.ExternalVariable + " make e2e")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	c, err := testcluster.OpenSimulated(ctx, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			logs, _ := os.MkdirTemp("", "ebscope-logs-")
			t.Logf("the cluster's logs are in %s: %v", logs, c.SaveLogs(logs))
		}
		if err := c.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	started := time.Now()
	step := func(name string) { t.Logf("%6.1f s: %s", time.Since(started).Seconds(), name) }
	// These are a cluster's work and a user's, which is not what is measured.
	config := rest.CopyConfig(c.Config)
	config.QPS, config.Burst = 1000, 1000
	if c.Client, err = kubernetes.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	if err := c.AddSimulatedNodes(ctx, pairs); err != nil {
		t.Fatal(err)
	}
	step("there are nodes")
	objects, err := manifest.Objects(spec())
	if err != nil {
		t.Fatal(err)
	}
	makeVolumes(ctx, t, c.Client, objects)
	step("there are volumes")
	user := &cluster.Client{Kubernetes: c.Client, Config: config, Namespace: namespace}
	apply(ctx, t, user, objects)
	step("the run is applied")

	follower := exec.CommandContext(ctx, os.Args[0])
	follower.Env = append(follower.Environ(), followVariable+"="+runID, "KUBECONFIG="+c.AdminKubeconfig())
	follower.Stderr = os.Stderr
	follower.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stdout, err := follower.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := follower.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	if !lines.Scan() {
		t.Fatalf("the follower has heard of no pods: %v", follower.Wait())
	}
	step(lines.Text())
	// Only now can pods run, so that the follower hears of all that happens to each.
	if err := c.Simulate(ctx); err != nil {
		t.Fatal(err)
	}
	lines.Scan()
	last := slices.Clone(lines.Bytes())
	if err := follower.Wait(); err != nil {
		t.Fatal(err)
	}
	step("the run has ended")

	var got heard
	if err := json.Unmarshal(last, &got); err != nil {
		t.Fatalf("%v: %s", err, last)
	}
	if got.Pending != pairs || got.Running != pairs || got.Succeeded != pairs || got.Ends != pairs || got.Pairs != pairs || got.State != cluster.JobSucceeded {
		t.Errorf("heard %+v, want %d of each", got, pairs)
	}
	// A list may come as the beginning of a watch, without a request of its own.
	for _, kind := range []string{"jobs", "pods", "events"} {
		if lists, watches := got.Requests["list "+kind], got.Requests["watch "+kind]; lists > 1 || watches != 1 {
			t.Errorf("%s: %d lists and %d watches, want at most one and one", kind, lists, watches)
		}
		delete(got.Requests, "list "+kind)
		delete(got.Requests, "watch "+kind)
	}
	if len(got.Requests) > 0 {
		t.Errorf("other requests: %v", got.Requests)
	}
	usage, ok := follower.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		t.Fatal("the system does not tell the follower's memory")
	}
	resident := usage.Maxrss << 10 // Linux counts in KiB
	t.Logf("the follower took %.0f MB and %v of processor time", float64(resident)/1e6, follower.ProcessState.UserTime()+follower.ProcessState.SystemTime())
	if resident > most {
		t.Errorf("the follower took %.0f MB, want %.0f at most", float64(resident)/1e6, most/1e6)
	}
}

func spec() manifest.Spec {
	const phase = "01-gp3-randread"
	file := runner.VolumesDir + "/gp3/ebscope.dat"
	return manifest.Spec{
		Run: runID, Namespace: namespace, CreateNamespace: true, Replicas: pairs, Deadline: time.Hour,
		Volumes:      []manifest.Volume{{Name: "gp3", Config: ebs.Volume{Type: ebs.GP3, Size: 100 * units.GiB}, Class: class}},
		ResultsClass: class,
		Plan:         runner.Plan{Phases: []runner.Phase{{Name: phase, Takes: time.Minute, File: file, Size: units.GiB, Layout: true}}},
		Jobs:         map[string][]byte{phase: fmt.Appendf(nil, "[read]\nfilename=%s\nrw=randread\n", file)},
		Record:       []byte(`{"id": "` + runID + `"}`),
		NodeSelector: map[string]string{manifest.InstanceTypeLabel: testcluster.InstanceType},
	}
}

// apply applies a run as the program does, but claims and Jobs eight at once.
func apply(ctx context.Context, t *testing.T, user *cluster.Client, objects []manifest.Object) {
	t.Helper()
	var shared, claims, jobs []manifest.Object
	for _, o := range objects {
		switch o.(type) {
		case *corev1.PersistentVolumeClaim:
			claims = append(claims, o)
		case *batchv1.Job:
			jobs = append(jobs, o)
		default:
			shared = append(shared, o)
		}
	}
	if err := user.Apply(ctx, shared); err != nil {
		t.Fatal(err)
	}
	for _, many := range [][]manifest.Object{claims, jobs} {
		var work sync.WaitGroup
		for some := range slices.Chunk(many, (len(many)+7)/8) {
			work.Go(func() {
				if err := user.Apply(ctx, some); err != nil {
					t.Error(err)
				}
			})
		}
		work.Wait()
	}
	if t.Failed() {
		t.FailNow()
	}
}

// makeVolumes makes the volume of each claim, for that claim alone: nobody makes volumes on simulated nodes.
func makeVolumes(ctx context.Context, t *testing.T, client kubernetes.Interface, objects []manifest.Object) {
	t.Helper()
	_, err := client.StorageV1().StorageClasses().Create(ctx, &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: class}, Provisioner: "kubernetes.io/no-provisioner",
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		claim, ok := o.(*corev1.PersistentVolumeClaim)
		if !ok {
			continue
		}
		_, err := client.CoreV1().PersistentVolumes().Create(ctx, &corev1.PersistentVolume{
			ObjectMeta: metav1.ObjectMeta{Name: claim.Name},
			Spec: corev1.PersistentVolumeSpec{
				StorageClassName: class, AccessModes: claim.Spec.AccessModes, Capacity: claim.Spec.Resources.Requests,
				ClaimRef:                      &corev1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: claim.Namespace, Name: claim.Name},
				PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
				PersistentVolumeSource:        corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/simulated"}},
			},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
}
