package cluster

import (
	"cmp"
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Where names the cluster for a message: the context of the kubeconfig, or the address.
func (c *Client) Where() string { return cmp.Or(c.Context, c.address(), "the cluster") }

// NamespaceExists says whether the namespace of runs is there. Where that may not be seen it is taken to be: only somebody
// who may see namespaces could make one.
func (c *Client) NamespaceExists(ctx context.Context) (bool, error) {
	_, err := c.Kubernetes.CoreV1().Namespaces().Get(ctx, c.Namespace, metav1.GetOptions{})
	switch {
	case err == nil, apierrors.IsForbidden(err):
		return true, nil
	case apierrors.IsNotFound(err):
		return false, nil
	}
	return false, c.failed(err, "read namespace %s", c.Namespace)
}
