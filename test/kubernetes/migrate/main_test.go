//go:build linux

// Package migrate drives the built program against a real cluster, whose csi-resizer has a small CSI driver change volumes at a
// stateful EC2 of the tests' own: scan, plan, apply, rollback and alarms as a user has them, with no more rights than ship.
package migrate

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

	"ebscope/test/fakeaws"
	"ebscope/test/kubernetes/testcluster"
)

const seoul = "ap-northeast-2"

var (
	program string               // the built ebscope
	cluster *testcluster.Cluster // nil where none is wanted
	aws     *fakeaws.Server
	clock   *ticker
)

func TestMain(m *testing.M) {
	code, err := tests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func tests(m *testing.M) (code int, err error) {
	if !testcluster.Wanted() || os.Getenv(testcluster.ExternalVariable) != "" {
		return m.Run(), nil // each test skips
	}
	dir, err := os.MkdirTemp("", "ebscope-migrate-")
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
	aws = fakeaws.New()
	defer aws.Close()
	aws.OptimizingPerTiB = 2 * time.Hour
	clock = startTicker(aws)
	defer clock.stop()
	ctx := context.Background()
	if cluster, err = testcluster.Open(ctx, 1, os.Stderr); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, cluster.Close(ctx)) }()
	// The driver has rights of its own.
	operator := append(aws.Environment(), "AWS_ACCESS_KEY_ID="+fakeaws.OperatorKey)
	if err := cluster.StartResizer(ctx, operator, os.Stderr); err != nil {
		return 1, err
	}
	if err := makeClasses(ctx); err != nil {
		return 1, err
	}
	if code = m.Run(); code != 0 {
		logs, _ := os.MkdirTemp("", "ebscope-logs-")
		fmt.Fprintf(os.Stderr, "the cluster's logs are in %s: %v\n", logs, cluster.SaveLogs(logs))
	}
	return code, nil
}

// StorageClasses as an old cluster has them: both are gp2, and both are the default.
const (
	inTreeClass = "gp2"
	csiClass    = "gp2-csi"
)

// defaultMark is the annotation of the default class.
const defaultMark = "storageclass.kubernetes.io/is-default-class"

func makeClasses(ctx context.Context) error {
	wait, remove := storagev1.VolumeBindingWaitForFirstConsumer, corev1.PersistentVolumeReclaimRetain
	for name, provisioner := range map[string]string{inTreeClass: "kubernetes.io/aws-ebs", csiClass: "ebs.csi.aws.com"} {
		class := &storagev1.StorageClass{
			ObjectMeta:  metav1.ObjectMeta{Name: name, Annotations: map[string]string{defaultMark: "true"}},
			Provisioner: provisioner, Parameters: map[string]string{"type": "gp2"}, VolumeBindingMode: &wait, ReclaimPolicy: &remove,
		}
		if _, err := cluster.Client.StorageV1().StorageClasses().Create(ctx, class, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}
