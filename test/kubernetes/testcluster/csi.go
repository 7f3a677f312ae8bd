//go:build linux

package testcluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// resizer is what has a driver change the volumes of claims that ask for another VolumeAttributesClass.
var resizer = tool{
	folder: "resizer", module: "github.com/kubernetes-csi/external-resizer/v2",
	packages: []string{"github.com/kubernetes-csi/external-resizer/v2/cmd/csi-resizer"},
}

// driverSource is the module of the driver that stands in for the EBS CSI driver.
const driverSource = "test/kubernetes/csidriver"

// DriverVersion is the release of the EBS CSI driver whose manners the one of the tests has.
const DriverVersion = "v1.51.1"

// retryInterval is the longest pause of csi-resizer before it tries a change again.
const retryInterval = "5s"

// StartResizer starts csi-resizer with a driver of the EBS CSI driver's name, which asks EC2 by the environment that is given.
// Both run on the machine; objects in kube-system say of them what the driver's chart would. Volumes are PersistentVolumes
// that a test makes: nobody provisions or attaches any. The first time some minutes go by until both are built.
func (c *Cluster) StartResizer(ctx context.Context, environment []string, progress io.Writer) error {
	if c.External() {
		return errExternal
	}
	programs, err := buildTools(ctx, []tool{resizer}, progress)
	if err != nil {
		return err
	}
	driver, socket := c.file("csidriver"), c.file("csi.sock")
	if err := buildDriver(ctx, driver); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	ports, err := freePorts(1)
	if err != nil {
		return err
	}
	if c.driver, err = c.start("csidriver", 0, "/usr/bin/env", append(environment, driver, socket)...); err != nil {
		return err
	}
	address := fmt.Sprintf("%s:%d", loopback, ports[0])
	if c.resizer, err = c.start("csi-resizer", 0, programs["csi-resizer"], "--csi-address="+socket, "--kubeconfig="+c.kubeconfig,
		"--timeout=60s", "--retry-interval-max="+retryInterval, "--http-endpoint="+address, "--v=4"); err != nil {
		return err
	}
	// It listens once the driver has said what it can do.
	err = c.resizer.await(ctx, answers(http.DefaultClient, "http://"+address+"/metrics"))
	version := strings.TrimPrefix(filepath.Base(filepath.Dir(programs["csi-resizer"])), resizer.folder+"-")
	return errors.Join(err, c.describeDriver(ctx, version))
}

// buildDriver builds the driver with the flags of a test, whose packages are in Go's cache then.
func buildDriver(ctx context.Context, path string) error {
	root, err := repository(ctx)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-o", path, ".")
	cmd.Dir = filepath.Join(root, driverSource)
	cmd.Env = append(cmd.Environ(), "GOWORK=off")
	_, err = output(cmd)
	return err
}

// describeDriver makes the objects by which the driver's and csi-resizer's versions are known. They have no pods.
func (c *Cluster) describeDriver(ctx context.Context, resizerVersion string) error {
	const namespace = metav1.NamespaceSystem
	pods := func(name string, containers ...corev1.Container) (*metav1.LabelSelector, corev1.PodTemplateSpec) {
		labels := map[string]string{"app": name}
		return &metav1.LabelSelector{MatchLabels: labels}, corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec:       corev1.PodSpec{Containers: containers, NodeSelector: map[string]string{"nowhere": "true"}},
		}
	}
	plugin := corev1.Container{Name: "ebs-plugin", Image: "public.ecr.aws/ebs-csi-driver/aws-ebs-csi-driver:" + DriverVersion}
	sidecar := corev1.Container{Name: "csi-resizer", Image: "public.ecr.aws/csi-components/csi-resizer:" + resizerVersion}
	daemons := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: "ebs-csi-node"}}
	daemons.Spec.Selector, daemons.Spec.Template = pods("ebs-csi-node", plugin)
	controller := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "ebs-csi-controller"}, Spec: appsv1.DeploymentSpec{Replicas: new(int32)}}
	controller.Spec.Selector, controller.Spec.Template = pods("ebs-csi-controller", plugin, sidecar)
	if _, err := c.Client.AppsV1().DaemonSets(namespace).Create(ctx, daemons, metav1.CreateOptions{}); err != nil {
		return err
	}
	_, err := c.Client.AppsV1().Deployments(namespace).Create(ctx, controller, metav1.CreateOptions{})
	return err
}
