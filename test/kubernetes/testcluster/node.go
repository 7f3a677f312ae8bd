//go:build linux

package testcluster

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

//go:embed node.sh
var nodeScript []byte

// networkPlugin is the only one that a pod's network needs here.
const networkPlugin = "ptp"

// networkPluginDirs is where distributions put such plugins.
var networkPluginDirs = []string{"/usr/lib/cni", "/usr/libexec/cni", "/opt/cni/bin"}

// startNode starts containerd and the kubelet and waits until the node is ready.
func (c *Cluster) startNode(ctx context.Context) error {
	runc, err := exec.LookPath("runc")
	if err != nil {
		return fmt.Errorf("%w; run scripts/install.sh runc", err)
	}
	plugins, err := findNetworkPlugins()
	if err != nil {
		return err
	}
	if err := c.shareMounts(); err != nil {
		return err
	}
	group := filepath.Base(c.dir)
	if c.cgroups, err = cgroupFolders(group); err != nil {
		return err
	}
	enableControllers(c.cgroups)
	for _, dir := range append([]string{c.file("sysctl"), c.file("cni")}, c.cgroups...) {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
	}
	for name, text := range map[string]string{
		"node.sh": string(nodeScript), "containerd.toml": c.containerdConfig(runc, plugins), "kubelet.yaml": c.kubeletConfig(group),
		"cni/pods.conflist": c.networkConfig(), "resolv.conf": "",
	} {
		if err := os.WriteFile(c.file(name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	labels := corev1.LabelInstanceTypeStable + "=" + InstanceType + "," + corev1.LabelTopologyZone + "=" + Zone
	if c.node, err = c.start("node", syscall.CLONE_NEWPID|syscall.CLONE_NEWNS, "/usr/bin/env",
		"DIR="+c.dir, "NODE="+Node, "LABELS="+labels, "CONTAINERD="+c.programs["containerd"], "CTR="+c.programs["ctr"],
		"KUBELET="+c.programs["kubelet"], "PATH="+filepath.Dir(c.programs["containerd"])+":"+os.Getenv("PATH")+":/usr/sbin:/sbin",
		"/bin/sh", c.file("node.sh")); err != nil {
		return err
	}
	return c.node.await(ctx, func(ctx context.Context) error {
		node, err := c.Client.CoreV1().Nodes().Get(ctx, Node, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, condition := range node.Status.Conditions {
			if condition.Type == corev1.NodeReady && condition.Status != corev1.ConditionTrue {
				return fmt.Errorf("node %s: %s", Node, condition.Message)
			}
		}
		for _, taint := range node.Spec.Taints {
			return fmt.Errorf("node %s has the taint %s", Node, taint.Key)
		}
		// Pods need the ServiceAccount that a controller makes.
		_, err = c.Client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
		return err
	})
}

func findNetworkPlugins() (string, error) {
	for _, dir := range networkPluginDirs {
		if _, err := os.Stat(filepath.Join(dir, networkPlugin)); err == nil {
			return dir, nil
		}
	}
	return "", fmt.Errorf("the network plugin %s is in none of %s; run scripts/install.sh %[1]s", networkPlugin, strings.Join(networkPluginDirs, ", "))
}

func (c *Cluster) containerdConfig(runc, plugins string) string {
	return fmt.Sprintf(`version = 3
root = %[1]q
state = %[2]q
# It makes folders in /opt.
disabled_plugins = ["io.containerd.internal.v1.opt"]
[grpc]
address = %[3]q
[plugins.'io.containerd.cri.v1.images']
[plugins.'io.containerd.cri.v1.images'.pinned_images]
sandbox = %[4]q
[plugins.'io.containerd.cri.v1.runtime']
# Where CAP_SYS_RESOURCE is missing, runc may not lower its score.
restrict_oom_score_adj = true
netns_mounts_under_state_dir = true
# Raw devices belong to the user that the pod runs as.
device_ownership_from_security_context = true
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
BinaryName = %[5]q
SystemdCgroup = false
[plugins.'io.containerd.cri.v1.runtime'.cni]
bin_dirs = [%[6]q]
conf_dir = %[7]q
`, c.file("containerd"), c.file("containerd-state"), c.file("containerd.sock"), Image, runc, plugins, c.file("cni"))
}

func (c *Cluster) kubeletConfig(group string) string {
	return fmt.Sprintf(`apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: %[1]s
port: %[2]d
readOnlyPort: 0
healthzPort: 0
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
containerRuntimeEndpoint: unix://%[3]s
cgroupDriver: cgroupfs
cgroupRoot: /%[4]s
failCgroupV1: false
failSwapOn: false
oomScoreAdj: 0
makeIPTablesUtilChains: false
clusterDNS: [%[1]s]
resolvConf: %[5]s
podLogsDir: %[6]s
# A machine that runs tests may be rather full.
evictionHard: {memory.available: 100Mi, nodefs.available: 1%%, imagefs.available: 1%%}
imageGCHighThresholdPercent: 100
`, loopback, c.kubeletPort, c.file("containerd.sock"), group, c.file("resolv.conf"), c.file("pod-logs"))
}

// networkConfig gives each pod an address that only this machine can reach. No other network is routed to it. The addresses
// are of the range for benchmarks; their third part comes from a port that is this cluster's own, so that clusters that run
// at once differ.
func (c *Cluster) networkConfig() string {
	config, err := json.Marshal(map[string]any{
		"cniVersion": "1.0.0", "name": "pods",
		"plugins": []any{map[string]any{
			"type": networkPlugin,
			"ipam": map[string]any{
				"type": "host-local", "dataDir": c.file("addresses"),
				"ranges": []any{[]any{map[string]any{"subnet": fmt.Sprintf("198.18.%d.0/24", c.kubeletPort%256)}}},
			},
		}},
	})
	if err != nil {
		panic(err)
	}
	return string(config)
}
