// Package testcluster builds and starts a real Kubernetes cluster on this machine: etcd, API server with RBAC, controllers,
// scheduler, and for each node containerd and a kubelet, from pinned modules. Nothing listens but on loopback. Its
// StorageClasses make emulated EBS volumes, so that a pod's fio meets real limits and a real credit bucket. It needs Linux, root
// and what scripts/install.sh gets for `make e2e`.
//
// A package of tests opens one cluster, which takes some eight seconds when its programs are built:
//
//	func TestMain(m *testing.M) {
//		if !testcluster.Wanted() {
//			os.Exit(m.Run()) // each test skips with testcluster.SkipReason
//		}
//		ctx := context.Background()
//		c, err := testcluster.Open(ctx, 1, os.Stderr)
//		…
//		code := m.Run()
//		…c.SaveLogs(dir) where code is not 0; c.Close(ctx)
//	}
//
// Claims of the classes GP2, GP3 and Results get volumes of their own size, made for them and removed after them, as with a CSI
// driver; Cluster.Volume gives a test the credit bucket behind a claim. Pods run Image, which is on every node.
//
// StartResizer adds csi-resizer with a CSI driver whose volumes are those of an EC2 that the test gives; Requests says what a
// user has asked of the API server.
//
// Each node is a process namespace with a mount namespace. Ending its first process ends all that the node runs and unmounts
// all that it has mounted, so that nothing outlives the tests, not even when they are killed; the next Open removes files,
// control groups and volumes of killed ones. Clusters can run side by side.
package testcluster
