//go:build linux

package testcluster

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
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
		t.Skip("this tests the cluster that the tests start; run: env -u " + ExternalVariable + " make e2e")
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
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(200 * time.Millisecond) {
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
