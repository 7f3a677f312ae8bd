//go:build linux

// Package e2e drives the built program against a real cluster as a user would: real pods, real fio, emulated volumes. Tests
// that hold figures to the model, or stop the API server, run alone; then the others, side by side.
package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ebscope/internal/cluster/manifest"
	"ebscope/test/kubernetes/testcluster"
)

var (
	program string               // the built ebscope
	cluster *testcluster.Cluster // shared by all tests; nil where none is wanted
)

// nodes is two, so that two sets of volumes can be measured side by side.
const nodes = 2

func TestMain(m *testing.M) {
	code, err := tests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func tests(m *testing.M) (code int, err error) {
	if !testcluster.Wanted() {
		return m.Run(), nil // each test skips
	}
	dir, err := os.MkdirTemp("", "ebscope-e2e-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "ebscope")
	build := exec.Command("go", "build", "-o", program, "ebscope/cmd/ebscope")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return 1, err
	}
	ctx := context.Background()
	if cluster, err = testcluster.Open(ctx, nodes, os.Stderr); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, cluster.Close(ctx)) }()
	if !cluster.External() {
		if err := makeClasses(ctx); err != nil {
			return 1, err
		}
	}
	if code = m.Run(); code != 0 {
		logs, _ := os.MkdirTemp("", "ebscope-logs-")
		fmt.Fprintf(os.Stderr, "the cluster's logs are in %s: %v\n", logs, cluster.SaveLogs(logs))
	}
	return code, nil
}

// Classes of these tests, beside those of the cluster.
const (
	shortGP2 = "short-gp2" // all time constants divided by shortCompress
	shortGP3 = "short-gp3"
	steady   = "steady"       // gp3 in real time, which may be benchmarked
	unserved = "never-served" // nobody makes its volumes
)

const shortCompress = "100"

func makeClasses(ctx context.Context) error {
	wait, remove := storagev1.VolumeBindingWaitForFirstConsumer, corev1.PersistentVolumeReclaimDelete
	for _, c := range []struct{ name, kind, compress, provisioner string }{
		{shortGP2, "gp2", shortCompress, testcluster.Provisioner},
		{shortGP3, "gp3", shortCompress, testcluster.Provisioner},
		{steady, "gp3", "1", testcluster.Provisioner},
		{unserved, "gp3", shortCompress, "nobody.example.com"},
	} {
		_, err := cluster.Client.StorageV1().StorageClasses().Create(ctx, &storagev1.StorageClass{
			ObjectMeta:        metav1.ObjectMeta{Name: c.name, Annotations: map[string]string{manifest.EmulatedAnnotation: c.compress}},
			Provisioner:       c.provisioner,
			Parameters:        map[string]string{"type": c.kind, "csi.storage.k8s.io/fstype": "xfs"},
			VolumeBindingMode: &wait,
			ReclaimPolicy:     &remove,
		}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
	}
	// Drivers that serve no claim may be installed all the same.
	driver := &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: "nobody.example.com"}}
	if _, err := cluster.Client.StorageV1().CSIDrivers().Create(ctx, driver, metav1.CreateOptions{}); err != nil {
		return err
	}
	return attachEBS(ctx)
}

// attachEBS says of every node that the EBS CSI driver runs there, as its DaemonSet would.
func attachEBS(ctx context.Context) error {
	api := cluster.Client.StorageV1().CSINodes()
	there, err := api.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, n := range there.Items {
		n.Spec.Drivers = append(n.Spec.Drivers, storagev1.CSINodeDriver{
			Name: manifest.ProvisionerCSI, NodeID: n.Name, Allocatable: &storagev1.VolumeNodeResources{Count: new(int32(25))},
		})
		if _, err := api.Update(ctx, &n, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// eventually tries something again until it holds.
func eventually(t testing.TB, within time.Duration, what string, holds func() error) {
	t.Helper()
	for deadline := time.Now().Add(within); ; time.Sleep(200 * time.Millisecond) {
		err := holds()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %v: %v", what, within, err)
		}
	}
}
