//go:build linux

package e2e

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ebscope/internal/cluster/manifest"
	"ebscope/test/kubernetes/testcluster"
)

// Whatever is wrong is said before anything is made.
func TestRefused(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	config := read(t, u.kubeconfig)
	wrongToken := u.file("wrong", regexp.MustCompile(`token: .*`).ReplaceAllString(config, "token: not-the-token"))
	down := u.file("down", regexp.MustCompile(`127\.0\.0\.1:\d+`).ReplaceAllString(config, "127.0.0.1:1"))
	for _, c := range []struct {
		name  string
		args  []string
		code  int
		texts []string
	}{
		{"no such kubeconfig", u.brief("--kubeconfig", filepath.Join(u.dir, "none")), 2, []string{"there is no such file"}},
		{"no such context", u.brief("--context", "elsewhere"), 2, []string{`there is no context "elsewhere"`, "test"}},
		{"a wrong token", u.brief("--kubeconfig", wrongToken), 1, []string{"the credentials of context test were not accepted", "log in again"}},
		{"a server that is down", u.brief("--kubeconfig", down), 1, []string{"the API server at https://127.0.0.1:1 does not answer", "connection refused"}},
		{"no such class", u.bench(u.file("brief.yaml", briefProfile), shortCompress, "nowhere", shortGP3), 4, []string{"there is no StorageClass nowhere", shortGP2}},
		{"no such claim", []string{"bench", "--target", "kubernetes", "-n", "default", "--profile", "brief.yaml", "--compress", shortCompress, "--pvc", "gp2=none", "--storage-class", "gp3=" + shortGP3, "--results-class", testcluster.Results}, 4, []string{"there is no claim none in namespace default"}},
		{"no such node", u.brief("--node-selector", "disk=nvme"), 4, []string{"no node fits the run's pods", "disk is not nvme"}},
		{"another compression than the volumes'", u.bench("brief.yaml", "50", shortGP2, shortGP3), 4, []string{shortGP2, "100"}},
		{"a flag of another target", u.brief("--path", "gp2=/tmp"), 2, []string{"--path means nothing with --target kubernetes"}},
		{"an unknown run", []string{"attach", "20260101T000000Z-x-kubernetes", "-n", u.namespace}, 2, []string{"has no run 20260101T000000Z-x-kubernetes"}},
		{"no space for a pod", u.brief("--requests", "cpu=500"), 4, []string{"cpu"}},
	} {
		o := u.run(c.args...)
		if o.code != c.code || o.stdout != "" {
			t.Errorf("%s: exit %d, want %d\n%s%s", c.name, o.code, c.code, o.stdout, o.stderr)
		}
		for _, text := range append(c.texts, "ebscope: ") {
			if !strings.Contains(o.stderr, text) {
				t.Errorf("%s: stderr does not say %q:\n%s", c.name, text, o.stderr)
			}
		}
		if strings.Contains(o.stderr, "not-the-token") {
			t.Errorf("%s: the token is told", c.name)
		}
	}
	nobody := *u
	nobody.kubeconfig = ""
	nobody.run(u.brief()...).expect(t, 4, "no cluster is configured", "name a kubeconfig")
	nobody.run("status").expect(t, 4, "no cluster is configured")
	if _, err := cluster.Client.CoreV1().Namespaces().Get(t.Context(), u.namespace, metav1.GetOptions{}); err == nil {
		t.Error("the namespace was made")
	}
}

// What keeps a pod from starting is told in the cluster's words, and the run is taken away.
func TestPodDoesNotStart(t *testing.T) {
	t.Parallel()
	t.Run("a claim that nobody serves", func(t *testing.T) {
		u := newUser(t)
		o := u.run(u.bench(u.file("brief.yaml", briefProfile), shortCompress, unserved, shortGP3, "--start-timeout", "10s")...)
		o.expect(t, 1, "has not started in 0:10", "-gp2-0 ", "nobody.example.com", "removing run")
		if left := u.kubectl("", "get", kinds, "--selector="+manifest.ManagedByLabel, "--output=name"); left != "" {
			t.Errorf("left: %s", left)
		}
	})
	t.Run("an image that cannot be pulled", func(t *testing.T) {
		u := newUser(t)
		o := u.run(u.brief("--image", "127.0.0.1:1/none:1", "--start-timeout", "15s")...)
		o.expect(t, 1, "ErrImagePull", "127.0.0.1:1/none:1", "connection refused", "removing run")
		u.nothingLeft()
	})
	t.Run("kept on failure", func(t *testing.T) {
		u := newUser(t)
		u.run(u.brief("--image", "127.0.0.1:1/none:1", "--start-timeout", "15s", "--keep-on-failure")...).expect(t, 1, "ErrImagePull")
		u.run("status", u.runID(), "-n", u.namespace).expect(t, 0)
		u.run("cleanup", "--all", "-n", u.namespace).expect(t, 0)
		u.nothingLeft()
	})
}

// An object of somebody's that has a name of ours is left alone.
func TestForeignObject(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.makeNamespace()
	// A run is named after the second in which it begins.
	now := time.Now()
	for i := range 15 {
		name := manifest.ConfigMapName(now.Add(time.Duration(i)*time.Second).UTC().Format("20060102T150405Z") + "-brief-kubernetes-emulated")
		theirs := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"theirs": "untouched"}}
		if _, err := cluster.Client.CoreV1().ConfigMaps(u.namespace).Create(t.Context(), theirs, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	o := u.run(u.brief()...)
	o.expect(t, 4, "-brief", "exists already and is not this run's", "use another namespace")
	maps, err := cluster.Client.CoreV1().ConfigMaps(u.namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	untouched := 0
	for _, m := range maps.Items {
		if m.Data["theirs"] == "untouched" && len(m.Data) == 1 && len(m.Labels) == 0 {
			untouched++
		}
	}
	if untouched != 15 {
		t.Errorf("%d of 15 objects are untouched", untouched)
	}
	if left := u.kubectl("", "get", kinds, "--selector="+manifest.ManagedByLabel, "--output=name"); left != "" {
		t.Errorf("left: %s", left)
	}
}

// A second run in a namespace would share the nodes' limits with the first. A results volume that is full ends a run, which
// keeps what it has measured.
func TestSecondRunAndFullResults(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	first := u.start(u.short()...)
	first.await("[3/5] gp3 randread-qd32")
	u.run(u.brief()...).expect(t, 4, "namespace "+u.namespace+" has an active run already", "ebscope attach")
	// Space is reserved, not written: that takes no time, and the phase outlasts it.
	fill := "n=0; for size in 256m 16m 1m 64k 4k; do while fallocate -l $size /results/fill$n 2>/dev/null; do n=$((n + 1)); done; done"
	u.kubectl("", "exec", u.runner().Name, "--", "sh", "-c", fill)
	o := first.wait()
	o.expect(t, 5, "the results volume", "is full", "phases were measured")
	r := readJSON[record](t, filepath.Join(u.onlyRun("runs"), "run.json"))
	if r.Phases[0].State != "done" || r.Phases[4].State == "done" || r.Finished != nil {
		t.Errorf("phases %+v, finished %v", r.Phases, r.Finished)
	}
	u.nothingLeft()
}

// An image without fio, and without a way to fetch it, is named.
func TestNoFio(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	o := u.run(u.brief("--image", testcluster.PlainImage)...)
	o.expect(t, 1, "this image has no fio", "--image", fmt.Sprint("0 of ", 4, " phases were measured"))
	u.nothingLeft()
}
