//go:build linux

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ebscope/internal/cluster/manifest"
	"ebscope/test/kubernetes/testcluster"
)

// user works at a machine of their own, in a namespace of their own.
type user struct {
	testing.TB
	dir        string // working directory
	kubeconfig string
	namespace  string // ebscope makes it where it does not exist
}

// newUser skips the test where there is no cluster. When the test ends, the namespace goes.
func newUser(t testing.TB) *user {
	t.Helper()
	switch {
	case cluster == nil:
		t.Skip(testcluster.SkipReason)
	case cluster.External():
		t.Skip("this needs emulated volumes behind the claims, which the cluster that the tests start has; run: env -u " + testcluster.ExternalVariable + " make e2e")
	}
	name := strings.ToLower(regexp.MustCompile(`[^A-Za-z0-9]+`).ReplaceAllString(t.Name(), "-"))
	u := &user{TB: t, dir: t.TempDir(), kubeconfig: cluster.AdminKubeconfig(), namespace: name[:min(len(name), 60)]}
	t.Cleanup(u.leave)
	return u
}

// leave removes the namespace, and with it whatever a failed test has left.
func (u *user) leave() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	namespaces := cluster.Client.CoreV1().Namespaces()
	if u.Failed() {
		pods, err := cluster.Client.CoreV1().Pods(u.namespace).List(ctx, metav1.ListOptions{})
		if err == nil {
			for _, p := range pods.Items {
				u.Logf("pod %s on %s is %s: %s %+v", p.Name, p.Spec.NodeName, p.Status.Phase, p.Status.Message, p.Status.ContainerStatuses)
			}
		}
	}
	err := namespaces.Delete(ctx, u.namespace, metav1.DeleteOptions{})
	for ; err == nil && ctx.Err() == nil; time.Sleep(200 * time.Millisecond) {
		_, err = namespaces.Get(ctx, u.namespace, metav1.GetOptions{})
	}
	if !apierrors.IsNotFound(err) {
		u.Errorf("namespace %s: %v", u.namespace, err)
	}
}

// makeNamespace makes the namespace before ebscope does.
func (u *user) makeNamespace() {
	u.Helper()
	n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: u.namespace}}
	if _, err := cluster.Client.CoreV1().Namespaces().Create(u.Context(), n, metav1.CreateOptions{}); err != nil {
		u.Fatal(err)
	}
}

// kubectl runs kubectl as an administrator in the user's namespace.
func (u *user) kubectl(stdin string, args ...string) string {
	u.Helper()
	cmd := exec.CommandContext(u.Context(), cluster.Kubectl(), append([]string{"--kubeconfig=" + cluster.AdminKubeconfig(), "--namespace=" + u.namespace}, args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		u.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return strings.TrimSpace(stdout.String())
}

// outcome is what a finished ebscope left.
type outcome struct {
	code           int
	stdout, stderr string
}

// expect fails the test unless ebscope ended with an exit code, having said each of the texts on stderr.
func (o outcome) expect(t testing.TB, code int, texts ...string) {
	t.Helper()
	if o.code != code {
		t.Errorf("exit %d, want %d\n%s", o.code, code, o.stderr)
	}
	said := strings.Join(strings.Fields(o.stderr), " ") // lines are wrapped
	for _, text := range texts {
		if !strings.Contains(said, text) {
			t.Errorf("stderr does not say %q:\n%s", text, o.stderr)
		}
	}
}

// run runs ebscope to its end.
func (u *user) run(args ...string) outcome {
	u.Helper()
	return u.start(args...).wait()
}

// running is an ebscope on its way.
type running struct {
	u              *user
	cmd            *exec.Cmd
	stdout, stderr buffer
	done           chan struct{} // closed when it has ended
}

// longest is how long one ebscope may take; the longest needs two minutes.
const longest = 6 * time.Minute

func (u *user) start(args ...string) *running {
	u.Helper()
	r := &running{u: u, cmd: exec.Command(program, args...), done: make(chan struct{})}
	r.cmd.Dir = u.dir
	r.cmd.Env = append(os.Environ(), "KUBECONFIG="+u.kubeconfig, "HOME="+u.dir)
	r.cmd.Stdout, r.cmd.Stderr = &r.stdout, &r.stderr
	if err := r.cmd.Start(); err != nil {
		u.Fatal(err)
	}
	killer := time.AfterFunc(longest, func() { _ = r.cmd.Process.Kill() })
	go func() {
		defer close(r.done)
		defer killer.Stop()
		var exit *exec.ExitError
		if err := r.cmd.Wait(); err != nil && !errors.As(err, &exit) {
			u.Error(err)
		}
	}()
	u.Cleanup(func() { r.kill() })
	return r
}

// await waits until ebscope has said something on stderr.
func (r *running) await(text string) {
	r.u.Helper()
	eventually(r.u, 3*time.Minute, fmt.Sprintf("stderr says %q", text), func() error {
		switch {
		case strings.Contains(r.stderr.String(), text):
			return nil
		case r.ended():
			r.u.Fatalf("ebscope ended with %d and did not say %q:\n%s", r.cmd.ProcessState.ExitCode(), text, r.stderr.String())
		}
		return errors.New(r.stderr.String())
	})
}

func (r *running) ended() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

func (r *running) signal(s syscall.Signal) {
	r.u.Helper()
	if err := r.cmd.Process.Signal(s); err != nil {
		r.u.Fatal(err)
	}
}

// kill ends ebscope without asking it.
func (r *running) kill() {
	_ = r.cmd.Process.Kill() // fails, as it may, once it has ended
	<-r.done
}

func (r *running) wait() outcome {
	<-r.done
	return outcome{r.cmd.ProcessState.ExitCode(), r.stdout.String(), r.stderr.String()}
}

// buffer can be read while a program writes to it.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// bench is the command line of a benchmark on claims of two classes.
func (u *user) bench(profile, compress, gp2, gp3 string, more ...string) []string {
	return append([]string{
		"bench", "--target", "kubernetes", "-n", u.namespace, "--profile", profile, "--compress", compress, "--image", testcluster.Image,
		"--storage-class", "gp2=" + gp2, "--storage-class", "gp3=" + gp3, "--results-class", testcluster.Results,
	}, more...)
}

// short is a benchmark that takes half a minute; brief one that takes some seconds.
func (u *user) short(more ...string) []string {
	return u.bench(u.file("short.yaml", shortProfile), shortCompress, shortGP2, shortGP3, more...)
}

func (u *user) brief(more ...string) []string {
	return u.bench(u.file("brief.yaml", briefProfile), shortCompress, shortGP2, shortGP3, more...)
}

// shortProfile is the demonstration in little: 100 times compressed, gp2 falls after 20 s of 27.
const shortProfile = `
name: short
instance: m5.xlarge
file_size: 8GiB
gap: 450ms
volumes:
  - {name: gp3, type: gp3, size: 100GiB}
  - {name: gp2, type: gp2, size: 100GiB}
phases:
  - {name: layout, volume: gp3, rw: write, block_size: 1MiB, queue_depth: 1}
  - {name: layout, volume: gp2, rw: write, block_size: 1MiB, queue_depth: 1}
  - {name: randread-qd32, volume: gp3, rw: randread, block_size: 4KiB, queue_depth: 32, duration: 400s}
  - {name: randread-qd32, volume: gp2, rw: randread, block_size: 4KiB, queue_depth: 32, duration: 2700s}
  - {name: randwrite-qd32, volume: gp2, rw: randwrite, block_size: 4KiB, queue_depth: 32, duration: 200s, rest: 200s}
`

const briefProfile = `
name: brief
instance: m5.xlarge
file_size: 2GiB
gap: 450ms
volumes:
  - {name: gp3, type: gp3, size: 100GiB}
  - {name: gp2, type: gp2, size: 100GiB}
phases:
  - {name: layout, volume: gp3, rw: write, block_size: 1MiB, queue_depth: 1}
  - {name: layout, volume: gp2, rw: write, block_size: 1MiB, queue_depth: 1}
  - {name: randread-qd32, volume: gp3, rw: randread, block_size: 4KiB, queue_depth: 32, duration: 200s}
  - {name: randread-qd32, volume: gp2, rw: randread, block_size: 4KiB, queue_depth: 32, duration: 200s}
`

// file writes a file into the user's working directory and returns its name.
func (u *user) file(name, text string) string {
	u.Helper()
	if err := os.WriteFile(filepath.Join(u.dir, name), []byte(text), 0o600); err != nil {
		u.Fatal(err)
	}
	return name
}

// runID is the only run in the namespace.
func (u *user) runID() string {
	u.Helper()
	maps, err := cluster.Client.CoreV1().ConfigMaps(u.namespace).List(u.Context(), metav1.ListOptions{LabelSelector: manifest.RunLabel})
	if err != nil || len(maps.Items) != 1 {
		u.Fatalf("%d runs, %v; want one", len(maps.Items), err)
	}
	return maps.Items[0].Annotations[manifest.RunAnnotation]
}

// runner is the pod that measures now.
func (u *user) runner() corev1.Pod {
	u.Helper()
	var found corev1.Pod
	eventually(u, time.Minute, "a runner", func() error {
		pods, err := cluster.Client.CoreV1().Pods(u.namespace).List(u.Context(), metav1.ListOptions{LabelSelector: manifest.RoleLabel + "=" + manifest.RoleRunner})
		if err != nil {
			return err
		}
		for _, p := range pods.Items {
			if p.Status.Phase == corev1.PodRunning && p.DeletionTimestamp == nil {
				found = p
				return nil
			}
		}
		return fmt.Errorf("no runner of %d runs", len(pods.Items))
	})
	return found
}

// kubectlAfter is kubectl for when the test is over.
func (u *user) kubectlAfter(args ...string) {
	u.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if out, err := exec.CommandContext(ctx, cluster.Kubectl(), append([]string{"--kubeconfig=" + cluster.AdminKubeconfig()}, args...)...).CombinedOutput(); err != nil {
		u.Errorf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}
