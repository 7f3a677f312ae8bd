//go:build linux

package testcluster

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

//go:embed node.sh
var nodeScript []byte

// Labels of every node.
const (
	InstanceType = "m5.xlarge"
	Zone         = "us-east-1a"
)

// MaxNodes is how many nodes a cluster can have.
const MaxNodes = 4

// node is one containerd and one kubelet. Nodes share this machine's processors, memory and network.
type node struct {
	name    string // also its address: logs and exec dial it
	dir     string
	port    int      // of the kubelet
	cgroups []string // folders of the node's control group, one in each hierarchy
	process *process // first of the node's own process namespace
}

// NodeName returns the name of a node, counted from 0.
func NodeName(i int) string { return fmt.Sprintf("127.0.0.%d", i+1) }

// prepareNodes writes the configuration of the cluster's nodes.
func (c *Cluster) prepareNodes(count int) error {
	if count < 1 || count > MaxNodes {
		return fmt.Errorf("a cluster of %d nodes: use 1 to %d", count, MaxNodes)
	}
	runc, err := exec.LookPath("runc")
	if err != nil {
		return fmt.Errorf("%w; run scripts/install.sh runc", err)
	}
	plugins, err := findNetworkPlugins()
	if err != nil {
		return err
	}
	ports, err := freePorts(count)
	if err != nil {
		return err
	}
	for i, port := range ports {
		n := &node{name: NodeName(i), dir: c.file(fmt.Sprint("node", i)), port: port}
		c.nodes = append(c.nodes, n)
		group := fmt.Sprint(filepath.Base(c.dir), "-", i)
		if n.cgroups, err = cgroupFolders(group); err != nil {
			return err
		}
		enableControllers(n.cgroups)
		for _, dir := range append([]string{n.dir, n.file("sysctl"), n.file("cni")}, n.cgroups...) {
			if err := os.Mkdir(dir, 0o755); err != nil {
				return err
			}
		}
		for name, text := range map[string]string{
			"node.sh": string(nodeScript), "containerd.toml": n.containerdConfig(runc, plugins), "kubelet.yaml": n.kubeletConfig(group),
			"cni/pods.conflist": n.networkConfig(ports[0]%256, i), "resolv.conf": "",
		} {
			if err := os.WriteFile(n.file(name), []byte(text), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// StartNode starts a node, again with what was on its disk, and waits until it is ready.
func (c *Cluster) StartNode(ctx context.Context, i int) (err error) {
	if c.External() {
		return errExternal
	}
	n := c.nodes[i]
	labels := corev1.LabelInstanceTypeStable + "=" + InstanceType + "," + corev1.LabelTopologyZone + "=" + Zone
	if n.process, err = c.start("node"+fmt.Sprint(i), syscall.CLONE_NEWPID|syscall.CLONE_NEWNS, "/usr/bin/env",
		"DIR="+n.dir, "NODE="+n.name, "LABELS="+labels, "IMAGE="+c.file("image.tar"), "MOUNTS="+c.file(mountsDir), "KUBECONFIG="+c.kubeconfig,
		"CONTAINERD="+c.programs["containerd"], "CTR="+c.programs["ctr"], "KUBELET="+c.programs["kubelet"],
		"PATH="+filepath.Dir(c.programs["containerd"])+":"+os.Getenv("PATH")+":/usr/sbin:/sbin", "/bin/sh", n.file("node.sh")); err != nil {
		return err
	}
	started := metav1.Now()
	return n.process.await(ctx, func(ctx context.Context) error {
		object, err := c.Client.CoreV1().Nodes().Get(ctx, n.name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if err := usable(object, started); err != nil {
			return err
		}
		// Pods need the ServiceAccount that a controller makes.
		_, err = c.Client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
		return err
	})
}

// StopNode ends a node with all its pods at once, as if its machine had lost power. The API server learns of it after some
// forty seconds, as in any cluster.
func (c *Cluster) StopNode(i int) error {
	if c.External() {
		return errExternal
	}
	c.nodes[i].process.kill()
	return detachHolders("", true)
}

// usable returns what keeps a node that was started at the given time from taking pods.
func usable(n *corev1.Node, started metav1.Time) error {
	i := slices.IndexFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool { return c.Type == corev1.NodeReady })
	if i < 0 {
		return fmt.Errorf("node %s has not reported yet", n.Name)
	}
	// Times of the API are whole seconds.
	if ready := n.Status.Conditions[i]; ready.Status != corev1.ConditionTrue || ready.LastHeartbeatTime.Unix() < started.Unix() {
		return fmt.Errorf("node %s has not been ready since %v: %s", n.Name, started, ready.Message)
	}
	for _, taint := range n.Spec.Taints {
		return fmt.Errorf("node %s has the taint %s", n.Name, taint.Key)
	}
	return nil
}

func (n *node) file(name string) string { return filepath.Join(n.dir, name) }

// networkPlugin is the only one that a pod's network needs here.
const networkPlugin = "ptp"

// networkPluginDirs is where distributions put such plugins.
var networkPluginDirs = []string{"/usr/lib/cni", "/usr/libexec/cni", "/opt/cni/bin"}

func findNetworkPlugins() (string, error) {
	for _, dir := range networkPluginDirs {
		if _, err := os.Stat(filepath.Join(dir, networkPlugin)); err == nil {
			return dir, nil
		}
	}
	return "", fmt.Errorf("the network plugin %[1]s is in none of %[2]s; run scripts/install.sh %[1]s", networkPlugin, strings.Join(networkPluginDirs, ", "))
}
