//go:build linux

package testcluster

import "fmt"

func (n *node) containerdConfig(runc, plugins string) string {
	return fmt.Sprintf(`version = 3
root = %[1]q
state = %[2]q
# It makes folders in /opt.
disabled_plugins = ["io.containerd.internal.v1.opt"]
[grpc]
address = %[3]q
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
`, n.file("containerd"), n.file("containerd-state"), n.file("containerd.sock"), Image, runc, plugins, n.file("cni"))
}

func (n *node) kubeletConfig(group string) string {
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
`, n.name, n.port, n.file("containerd.sock"), group, n.file("resolv.conf"), n.file("pod-logs"))
}

// networkConfig gives each pod an address that only this machine can reach. No other network is routed to it. The addresses
// are of the range for benchmarks; cluster differs between clusters that run at once, and i between the nodes of one.
func (n *node) networkConfig(cluster, i int) string {
	return fmt.Sprintf(`{"cniVersion": "1.0.0", "name": "pods", "plugins": [{"type": %q, "ipam":
{"type": "host-local", "dataDir": %q, "ranges": [[{"subnet": "198.18.%d.%d/26"}]]}}]}
`, networkPlugin, n.file("addresses"), cluster, 64*i)
}
