//go:build linux

package testcluster

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

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
