//go:build linux

package testcluster

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const namespace = "measure" // of testdata/fio.yaml

// open starts a cluster of the test's own. The test has closed it when it ends well.
func open(t *testing.T, nodes int) *Cluster {
	t.Helper()
	if !Wanted() {
		t.Skip(SkipReason)
	}
	if os.Getenv(ExternalVariable) != "" {
		t.Skip("this tests the cluster that the tests start; unset " + ExternalVariable)
	}
	c, err := Open(t.Context(), nodes, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			logs, _ := os.MkdirTemp("", "ebscope-logs-")
			t.Logf("the cluster's logs are in %s: %v", logs, c.SaveLogs(logs))
		}
		if _, err := os.Stat(c.dir); err == nil {
			if err := c.Close(context.Background()); err != nil {
				t.Error(err)
			}
		}
	})
	return c
}

func kubectl(t *testing.T, c *Cluster, kubeconfig string, args ...string) (string, error) {
	t.Helper()
	return output(exec.CommandContext(t.Context(), c.Kubectl(), append([]string{"--kubeconfig=" + kubeconfig}, args...)...))
}

func admin(t *testing.T, c *Cluster, args ...string) string {
	t.Helper()
	out, err := kubectl(t, c, c.AdminKubeconfig(), args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// iops measures 16 KiB random reads for three seconds in the pod.
func iops(t *testing.T, c *Cluster, file string) float64 {
	t.Helper()
	out := admin(t, c, "--namespace="+namespace, "exec", "fio", "--", "fio", "--name=read", "--filename="+file, "--size=64M", "--rw=randread",
		"--bs=16k", "--ioengine=libaio", "--direct=1", "--iodepth=32", "--runtime=3", "--time_based", "--output-format=json")
	var result struct {
		Jobs []struct {
			Error int
			Read  struct{ IOPS float64 }
		}
	}
	// fio tells on stdout too when it lays out a file or may not flush a device.
	if err := json.Unmarshal([]byte(out[max(0, strings.Index(out, "{")):]), &result); err != nil || len(result.Jobs) != 1 {
		t.Fatalf("%v: %s", err, out)
	}
	if result.Jobs[0].Error != 0 {
		t.Errorf("fio's error is %d", result.Jobs[0].Error)
	}
	t.Logf("%s: %.0f IOPS", file, result.Jobs[0].Read.IOPS)
	return result.Jobs[0].Read.IOPS
}

func TestCluster(t *testing.T) {
	c := open(t, 1)
	admin(t, c, "apply", "-f", "testdata/fio.yaml")
	admin(t, c, "--namespace="+namespace, "wait", "--for=condition=Ready", "pod/fio", "--timeout=60s")

	t.Run("a pod measures emulated volumes", func(t *testing.T) {
		gp2, err := c.Volume(t.Context(), namespace, "gp2")
		if err != nil {
			t.Fatal(err)
		}
		// With credits, gp2 serves 3,000 IOPS. Only the upper bound is checked: other work on the machine makes it less.
		if got := iops(t, c, "/volumes/gp2/file"); got < 1 || got > 3100 {
			t.Errorf("%.0f IOPS with credits, want up to 3,000", got)
		}
		if got := gp2.Credits(); got <= 0 || got >= 1 {
			t.Errorf("burst balance %v, want some spent", got)
		}
		// Without, 100 GiB × 3 IOPS a GiB = 300, and what was earned in the second or so until fio began: 300 more in the
		// three seconds, and the 50 of the rate bucket.
		gp2.SetCredits(0)
		if got := iops(t, c, "/volumes/gp2/file"); got < 1 || got > 600 {
			t.Errorf("%.0f IOPS without credits, want up to 300", got)
		}
		// gp3 as it comes has 3,000.
		if got := iops(t, c, "/devices/raw"); got < 1 || got > 3100 {
			t.Errorf("%.0f IOPS of the raw device, want up to 3,000", got)
		}
	})
	t.Run("logs and exec", func(t *testing.T) {
		if got := admin(t, c, "--namespace="+namespace, "logs", "fio"); got != "begun" {
			t.Errorf("logs %q", got)
		}
		if got := admin(t, c, "--namespace="+namespace, "exec", "fio", "--", "id", "-u"); got != "1000" {
			t.Errorf("user %q, want 1000", got)
		}
	})
	t.Run("users have the rights that a test gives them", func(t *testing.T) {
		developer, err := c.DeveloperKubeconfig()
		if err != nil {
			t.Fatal(err)
		}
		account, err := c.ServiceAccountKubeconfig(t.Context(), namespace, "runner")
		if err != nil {
			t.Fatal(err)
		}
		get := []string{"--namespace=" + namespace, "get", "pod", "fio", "--output=name"}
		for _, user := range []struct{ kubeconfig, subject string }{
			{developer, "--user=" + Developer}, {account, "--serviceaccount=" + namespace + ":runner"},
		} {
			if out, err := kubectl(t, c, user.kubeconfig, get...); err == nil || !strings.Contains(err.Error(), "forbidden") {
				t.Errorf("%s: %q, %v, want it forbidden", user.subject, out, err)
			}
			admin(t, c, "--namespace="+namespace, "create", "rolebinding", "view"+strings.TrimPrefix(user.subject[:6], "--"), "--clusterrole=view", user.subject)
			// The server hears of a binding a moment later.
			for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(100 * time.Millisecond) {
				if out, err := kubectl(t, c, user.kubeconfig, get...); err == nil && out == "pod/fio" {
					break
				} else if time.Now().After(deadline) {
					t.Errorf("%s with the role view: %q, %v", user.subject, out, err)
					break
				}
			}
		}
	})
	t.Run("the API server goes and comes back", func(t *testing.T) {
		pods := c.Client.CoreV1().Pods(namespace)
		before, err := pods.Get(t.Context(), "fio", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.StopAPIServer(); err != nil {
			t.Fatal(err)
		}
		if _, err := pods.Get(t.Context(), "fio", metav1.GetOptions{}); err == nil {
			t.Error("the API server still answers")
		}
		time.Sleep(10 * time.Second)
		if err := c.StartAPIServer(t.Context()); err != nil {
			t.Fatal(err)
		}
		after, err := pods.Get(t.Context(), "fio", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if after.UID != before.UID || after.Status.Phase != corev1.PodRunning || after.Status.ContainerStatuses[0].RestartCount != 0 {
			t.Errorf("pod %s is %s after %d restarts, want %s running", after.UID, after.Status.Phase, after.Status.ContainerStatuses[0].RestartCount, before.UID)
		}
	})
	t.Run("a volume goes with its claim", func(t *testing.T) {
		gp2, err := c.Volume(t.Context(), namespace, "gp2")
		if err != nil {
			t.Fatal(err)
		}
		admin(t, c, "delete", "namespace", namespace, "--timeout=120s")
		for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(200 * time.Millisecond) {
			_, err := c.Client.CoreV1().PersistentVolumes().Get(t.Context(), gp2.Name, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				break
			} else if time.Now().After(deadline) {
				t.Fatalf("PersistentVolume %s is still there: %v", gp2.Name, err)
			}
		}
		if _, err := os.Stat(gp2.device.Path()); err == nil && mounted(t, gp2.Name) {
			t.Errorf("%s is still mounted", gp2.Name)
		}
	})
}

// Two pods that may not share a node run on two, each with a volume of its own. A node that loses power comes back with its
// volumes, and without its pods.
func TestNodes(t *testing.T) {
	c := open(t, 2)
	admin(t, c, "apply", "-f", "testdata/apart.yaml")
	ready := []string{"wait", "--for=condition=Ready", "pod", "--selector=app=apart", "--timeout=60s"}
	admin(t, c, ready...)
	if got := admin(t, c, "get", "pods", "--output=jsonpath={.items[*].spec.nodeName}"); got != NodeName(0)+" "+NodeName(1) && got != NodeName(1)+" "+NodeName(0) {
		t.Errorf("pods are on %q, want one on each node", got)
	}
	for _, pod := range []string{"apart-0", "apart-1"} {
		if got := admin(t, c, "exec", pod, "--", "sh", "-c", "echo $HOSTNAME > /data/name && cat /data/name"); got != pod {
			t.Errorf("%s wrote %q", pod, got)
		}
	}
	if err := c.StopNode(1); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if err := c.StartNode(ctx, 1); err != nil {
		t.Fatal(err)
	}
	// The StatefulSet's pod is restarted in place.
	for _, pod := range []string{"apart-0", "apart-1"} {
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(500 * time.Millisecond) {
			out, err := kubectl(t, c, c.AdminKubeconfig(), "exec", pod, "--", "cat", "/data/name")
			if err == nil && out == pod {
				break
			} else if time.Now().After(deadline) {
				t.Fatalf("%s reads %q after its node came back: %v", pod, out, err)
			}
		}
	}
	if err := c.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	c := open(t, 1)
	admin(t, c, "apply", "-f", "testdata/fio.yaml")
	admin(t, c, "--namespace="+namespace, "wait", "--for=condition=Ready", "pod/fio", "--timeout=60s")
	gp2, err := c.Volume(t.Context(), namespace, "gp2")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := c.Volume(t.Context(), namespace, "raw")
	if err != nil {
		t.Fatal(err)
	}
	network := subnet(t, c.dir)
	if !routed(t, network) {
		t.Errorf("no route to the pod in %s", network)
	}
	if err := c.Close(t.Context()); err != nil {
		t.Error(err)
	}
	checkNothing(t, c.dir, network, gp2.Name, raw.Name)
}

// A cluster whose process is killed leaves no process. The next one removes the rest.
func TestKilled(t *testing.T) {
	if !Wanted() || os.Getenv(ExternalVariable) != "" {
		t.Skip(SkipReason)
	}
	up := filepath.Join(t.TempDir(), "up")
	if _, err := output(exec.CommandContext(t.Context(), "go", "build", "-o", up, "../up")); err != nil {
		t.Fatal(err)
	}
	kubeconfig, killed := startUp(t, up)
	dir := filepath.Dir(kubeconfig)
	programs, err := Build(t.Context(), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	c := &Cluster{dir: dir, programs: programs, kubeconfig: kubeconfig}
	admin(t, c, "apply", "-f", "testdata/fio.yaml")
	admin(t, c, "--namespace="+namespace, "wait", "--for=condition=Ready", "pod/fio", "--timeout=60s")
	volumes := strings.Fields(admin(t, c, "get", "persistentvolumes", "--output=jsonpath={.items[*].metadata.name}"))
	if len(volumes) != 2 {
		t.Fatalf("volumes %v, want 2", volumes)
	}
	network := subnet(t, dir)
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = killed.Wait()

	_, next := startUp(t, up)
	if err := next.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := next.Wait(); err != nil {
		t.Error(err)
	}
	checkNothing(t, dir, network, volumes...)
}

// startUp starts the program up and returns when its cluster is ready.
func startUp(t *testing.T, up string) (kubeconfig string, cmd *exec.Cmd) {
	t.Helper()
	cmd = exec.CommandContext(t.Context(), up)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 4096)
	n, err := stdout.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(line[:n])), cmd
}

// checkNothing looks for what a cluster could leave on the machine.
func checkNothing(t *testing.T, dir, network string, volumes ...string) {
	t.Helper()
	if _, err := os.Stat(dir); err == nil {
		t.Errorf("%s is still there", dir)
	}
	name := filepath.Base(dir)
	for _, trace := range append([]string{name}, volumes...) {
		if mounted(t, trace) {
			t.Errorf("%s is still mounted", trace)
		}
	}
	groups, err := cgroupFolders(name + "-*")
	if err != nil {
		t.Error(err)
	}
	for _, g := range groups {
		if found, _ := filepath.Glob(g); len(found) > 0 {
			t.Errorf("control groups %v are still there", found)
		}
	}
	commands, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range commands {
		if data, _ := os.ReadFile(file); strings.Contains(string(data), name) {
			t.Errorf("still running: %s", strings.ReplaceAll(string(data), "\x00", " "))
		}
	}
	backing, _ := filepath.Glob("/sys/block/loop*/loop/backing_file")
	for _, file := range backing {
		data, _ := os.ReadFile(file)
		for _, trace := range append([]string{name}, volumes...) {
			if strings.Contains(string(data), trace) {
				t.Errorf("%s is still attached: %s", filepath.Dir(filepath.Dir(file)), data)
			}
		}
		if strings.TrimSpace(string(data)) == "/" {
			t.Errorf("%s is still attached to a device that is gone", filepath.Dir(filepath.Dir(file)))
		}
	}
	if routed(t, network) {
		t.Errorf("pods of %s still have a route", network)
	}
}

// subnet returns the first three bytes of the addresses of a cluster's pods.
func subnet(t *testing.T, dir string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "node0", "cni", "pods.conflist"))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(198\.18\.\d+)\.0/26`).FindSubmatch(data)
	if found == nil {
		t.Fatalf("no subnet in %s", data)
	}
	return string(found[1])
}

// routed says whether this machine has a route to an address of the subnet, which it has as long as a pod has that address.
func routed(t *testing.T, subnet string) bool {
	t.Helper()
	data, err := os.ReadFile("/proc/net/fib_trie")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(data), " "+subnet+".")
}

func mounted(t *testing.T, trace string) bool {
	t.Helper()
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(data), trace)
}
