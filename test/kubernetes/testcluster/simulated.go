//go:build linux

package testcluster

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"net/http"
	"os"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// stages are how simulated nodes and pods come along.
//
//go:embed stages.yaml
var stages []byte

// OpenSimulated builds and starts a real control plane without nodes, for many that are simulated: see AddSimulatedNodes and
// Simulate. It needs no rights on the machine, and has no volumes.
func OpenSimulated(ctx context.Context, progress io.Writer) (*Cluster, error) {
	// By default controllers make 20 requests a second, which a thousand Jobs would wait for.
	c := &Cluster{flags: []string{"--kube-api-qps=1000", "--kube-api-burst=1000"}}
	return assemble(ctx, c, append([]tool{simulator}, tools...), progress, func(ctx context.Context, c *Cluster) error {
		ctx, cancel := context.WithTimeout(ctx, startTime)
		defer cancel()
		return c.startControlPlane(ctx)
	})
}

// AddSimulatedNodes makes so many nodes of an m5.xlarge's size. They take no pods before Simulate.
func (c *Cluster) AddSimulatedNodes(ctx context.Context, count int) error {
	size := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("16Gi"), corev1.ResourcePods: resource.MustParse("58"),
	}
	for i := range count {
		_, err := c.Client.CoreV1().Nodes().Create(ctx, &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("simulated-", i), Labels: map[string]string{
				corev1.LabelHostname: fmt.Sprint("simulated-", i), corev1.LabelInstanceTypeStable: InstanceType, corev1.LabelTopologyZone: Zone,
			}},
			Status: corev1.NodeStatus{Capacity: size, Allocatable: size},
		}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
	}
	return nil
}

// Simulate has the nodes get ready and take pods. A second after a pod is placed it runs, and five seconds later it has ended well.
func (c *Cluster) Simulate(ctx context.Context) error {
	ports, err := freePorts(1)
	if err != nil {
		return err
	}
	address := fmt.Sprintf("%s:%d", loopback, ports[0])
	if err := os.WriteFile(c.file("stages.yaml"), stages, 0o644); err != nil {
		return err
	}
	if c.simulator, err = c.start("kwok", 0, "kwok", "--config="+c.file("stages.yaml"), "--kubeconfig="+c.kubeconfig,
		"--manage-all-nodes", "--node-lease-duration-seconds=40", "--node-ip="+loopback, "--server-address="+address); err != nil {
		return err
	}
	return c.simulator.await(ctx, answers(http.DefaultClient, "http://"+address+"/healthz"))
}
