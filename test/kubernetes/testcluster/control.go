//go:build linux

package testcluster

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

const loopback = "127.0.0.1"

// stopTime is what a part of the cluster gets to end by itself.
const stopTime = 10 * time.Second

// startControlPlane starts everything that needs no rights on the machine.
func (c *Cluster) startControlPlane(ctx context.Context) error {
	ports, err := freePorts(3)
	if err != nil {
		return err
	}
	c.etcdURL, c.apiPort = fmt.Sprintf("http://%s:%d", loopback, ports[0]), ports[2]
	peers := fmt.Sprintf("http://%s:%d", loopback, ports[1])
	if c.etcd, err = c.start("etcd", 0, "etcd", "--data-dir="+filepath.Join(c.dir, "etcd"), "--unsafe-no-fsync",
		"--listen-client-urls="+c.etcdURL, "--advertise-client-urls="+c.etcdURL, "--listen-peer-urls="+peers,
		"--initial-advertise-peer-urls="+peers, "--initial-cluster=default="+peers); err != nil {
		return err
	}
	if err := c.etcd.await(ctx, answers(http.DefaultClient, c.etcdURL+"/health")); err != nil {
		return err
	}
	if err := c.writeCredentials(); err != nil {
		return err
	}
	if err := c.StartAPIServer(ctx); err != nil {
		return err
	}
	if c.kubeconfig, err = c.writeKubeconfig(administrator, c.tokens[administrator]); err != nil {
		return err
	}
	shared := append([]string{"--kubeconfig=" + c.kubeconfig, "--leader-elect=false", "--secure-port=0"}, c.flags...)
	if c.controllers, err = c.start("kube-controller-manager", 0, "kube-controller-manager", append([]string{
		"--service-account-private-key-file=" + c.file("sa.key"), "--root-ca-file=" + c.Config.CAFile}, shared...)...); err != nil {
		return err
	}
	c.scheduler, err = c.start("kube-scheduler", 0, "kube-scheduler", shared...)
	return err
}

// StartAPIServer starts the API server, again on the same port and with the same objects, and waits until it is ready. After an
// outage, controllers and kubelets notice up to half a minute later, as in any cluster.
func (c *Cluster) StartAPIServer(ctx context.Context) (err error) {
	if c.External() {
		return errExternal
	}
	if err := os.WriteFile(c.file("audit.yaml"), []byte(auditPolicy), 0o644); err != nil {
		return err
	}
	c.api, err = c.start("kube-apiserver", 0, "kube-apiserver", "--etcd-servers="+c.etcdURL,
		"--bind-address="+loopback, "--advertise-address="+loopback, "--secure-port="+strconv.Itoa(c.apiPort),
		"--cert-dir="+filepath.Join(c.dir, "certs"), "--token-auth-file="+c.file("tokens.csv"), "--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-signing-key-file="+c.file("sa.key"),
		"--service-account-key-file="+c.file("sa.pub"), "--service-cluster-ip-range=10.96.0.0/24",
		"--kubelet-preferred-address-types=InternalIP", "--audit-policy-file="+c.file("audit.yaml"), "--audit-log-path="+c.auditLog())
	if err != nil {
		return err
	}
	// The server writes its certificate when it first starts.
	return c.api.await(ctx, func(ctx context.Context) error {
		if c.Client == nil {
			client, err := kubernetes.NewForConfig(c.Config)
			if err != nil {
				return err
			}
			c.Client = client
		}
		return c.Client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
	})
}

// StopAPIServer ends the API server at once, as a crash would.
func (c *Cluster) StopAPIServer() error {
	if c.External() {
		return errExternal
	}
	c.api.kill()
	return nil
}

// writeCredentials makes the users' tokens and the key that signs those of ServiceAccounts.
func (c *Cluster) writeCredentials() error {
	c.tokens = map[string]string{administrator: rand.Text(), Developer: rand.Text()}
	lines := fmt.Sprintf("%s,%s,1,system:masters\n%s,%s,2\n", c.tokens[administrator], administrator, c.tokens[Developer], Developer)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return err
	}
	for name, data := range map[string][]byte{
		"tokens.csv": []byte(lines),
		"sa.key":     pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}),
		"sa.pub":     pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}),
	} {
		if err := os.WriteFile(c.file(name), data, 0o600); err != nil {
			return err
		}
	}
	c.Config = &rest.Config{
		Host: fmt.Sprintf("https://%s:%d", loopback, c.apiPort), BearerToken: c.tokens[administrator],
		TLSClientConfig: rest.TLSClientConfig{CAFile: filepath.Join(c.dir, "certs", "apiserver.crt")},
		QPS:             100, Burst: 200,
	}
	return nil
}

// freePorts returns ports that nothing listens on.
func freePorts(n int) (ports []int, err error) {
	for range n {
		l, err := net.Listen("tcp", loopback+":0")
		if err != nil {
			return nil, err
		}
		// All are held until all are found, so that none is found twice.
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

// start starts a program of the cluster.
func (c *Cluster) start(name string, flags uintptr, program string, args ...string) (*process, error) {
	path := program
	if !strings.Contains(program, "/") {
		path = c.programs[program]
	}
	return startProcess(name, c.Logs(), flags, path, args...)
}

func (c *Cluster) file(name string) string { return filepath.Join(c.dir, name) }
