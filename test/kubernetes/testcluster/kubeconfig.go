//go:build linux

package testcluster

import (
	"context"
	"fmt"
	"path/filepath"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// Developer is a user who may do nothing until a test binds a role to it.
const Developer = "developer"

const administrator = "admin"

// AdminKubeconfig returns the kubeconfig file of a user who may do anything.
func (c *Cluster) AdminKubeconfig() string { return c.kubeconfig }

// DeveloperKubeconfig returns the kubeconfig file of the user Developer.
func (c *Cluster) DeveloperKubeconfig() (string, error) {
	if c.External() {
		return "", errExternal
	}
	return c.writeKubeconfig(Developer, c.tokens[Developer])
}

// ServiceAccountKubeconfig returns the kubeconfig file of a ServiceAccount, which it makes where it does not exist. The
// namespace must exist. The account may do nothing until a test binds a role to it.
func (c *Cluster) ServiceAccountKubeconfig(ctx context.Context, namespace, name string) (string, error) {
	accounts := c.Client.CoreV1().ServiceAccounts(namespace)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := accounts.Create(ctx, account, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return "", err
	}
	token, err := accounts.CreateToken(ctx, name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return c.writeKubeconfig(namespace+"-"+name, token.Status.Token)
}

// writeKubeconfig writes the file of a user of this cluster.
func (c *Cluster) writeKubeconfig(user, token string) (string, error) {
	config := api.NewConfig()
	config.Clusters["test"] = &api.Cluster{Server: c.Config.Host, CertificateAuthority: c.Config.CAFile, CertificateAuthorityData: c.Config.CAData}
	config.AuthInfos[user] = &api.AuthInfo{Token: token}
	config.Contexts["test"] = &api.Context{Cluster: "test", AuthInfo: user}
	config.CurrentContext = "test"
	file := filepath.Join(c.dir, user+".kubeconfig")
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		return "", fmt.Errorf("writing %s: %w", file, err)
	}
	return file, nil
}
