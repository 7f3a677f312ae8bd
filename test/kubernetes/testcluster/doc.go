// Package testcluster builds and starts a real Kubernetes cluster of one node on this machine: etcd, API server, controllers,
// scheduler, containerd and kubelet, from pinned modules. Nothing listens but on loopback. Its StorageClasses make emulated
// EBS volumes, so that a pod's fio meets real limits and a real credit bucket. It needs Linux and root.
package testcluster
