package cluster_test

import (
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"ebscope/internal/cluster"
)

// kubeconfig writes a kubeconfig with one context, "test", whose token is a secret.
func kubeconfig(t *testing.T, server string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config")
	text := `apiVersion: v1
kind: Config
current-context: test
contexts: [{name: test, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "` + server + `", insecure-skip-tls-verify: true}}]
users: [{name: u, user: {token: ` + secret + `}}]
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const secret = "k8s-aws-v1.c2VjcmV0"

// answering is an API server that gives one answer to everything, and the client that asks it.
func answering(t *testing.T, status metav1.Status) *cluster.Client {
	t.Helper()
	status.TypeMeta, status.Status = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, metav1.StatusFailure
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Authorization"); got != "Bearer "+secret {
			t.Errorf("authorization %q", got)
		}
		if got := r.Header.Get("User-Agent"); got != "ebscope/1.2" {
			t.Errorf("user agent %q", got)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(int(status.Code))
		json.NewEncoder(w).Encode(status)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // clients that stop asking
	server.StartTLS()
	t.Cleanup(server.Close)
	return connect(t, kubeconfig(t, server.URL))
}

func connect(t *testing.T, path string) *cluster.Client {
	t.Helper()
	c, err := cluster.Connect(cluster.Options{Kubeconfig: path, Version: "1.2"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestConnect(t *testing.T) {
	c := connect(t, kubeconfig(t, "https://127.0.0.1:1"))
	if c.Namespace != "ebscope" || c.Context != "test" || c.Config.UserAgent != "ebscope/1.2" {
		t.Errorf("client %+v", c)
	}
	t.Setenv("KUBECONFIG", kubeconfig(t, "https://127.0.0.1:1"))
	c, err := cluster.Connect(cluster.Options{Namespace: "mine"})
	if err != nil || c.Namespace != "mine" || c.Context != "test" {
		t.Errorf("client %+v, error %v", c, err)
	}
}

func TestNoCluster(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	_, err := cluster.Connect(cluster.Options{})
	var none *cluster.NoConfigError
	if !errors.As(err, &none) || !strings.Contains(err.Error(), os.Getenv("KUBECONFIG")) || !strings.Contains(err.Error(), "--kubeconfig") {
		t.Errorf("error %v, want a NoConfigError", err)
	}
	good := kubeconfig(t, "https://127.0.0.1:1")
	text, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	changed := func(old, new string) string {
		path := filepath.Join(t.TempDir(), "config")
		if err := os.WriteFile(path, []byte(strings.Replace(string(text), old, new, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct {
		o    cluster.Options
		want string
	}{
		{cluster.Options{Kubeconfig: "/nowhere"}, "kubeconfig /nowhere: there is no such file"},
		{cluster.Options{Kubeconfig: good, Context: "prod"}, `there is no context "prod"; name one with --context: test`},
		{cluster.Options{Kubeconfig: changed("current-context: test", "")}, "no context is the current one; name one with --context: test"},
		{cluster.Options{Kubeconfig: changed("current-context: test", "current-context: gone")}, "gone"},
		{cluster.Options{Kubeconfig: changed("contexts:", "contexts: [")}, "yaml"},
	} {
		_, err := cluster.Connect(c.o)
		var bad *cluster.ConfigError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), secret) {
			t.Errorf("%+v: error %v, want a ConfigError that says %q", c.o, err, c.want)
		}
	}
}

// ask makes one request and returns the error that a user is shown.
func ask(t *testing.T, c *cluster.Client) error {
	t.Helper()
	_, err := c.MissingPermissions(t.Context(), false, false)
	if err == nil {
		t.Fatal("no error")
	}
	if strings.Contains(err.Error(), secret) {
		t.Errorf("the token is in the error: %v", err)
	}
	return err
}

func TestServerIsDown(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := "https://" + listener.Addr().String()
	listener.Close()
	err = ask(t, connect(t, kubeconfig(t, address)))
	var unreachable *cluster.UnreachableError
	if !errors.As(err, &unreachable) || unreachable.Address != address || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("error %v, want that %s does not answer", err, address)
	}
}

// As behind a VPN that is off: nothing refuses the connection.
func TestNothingAnswers(t *testing.T) {
	c := connect(t, kubeconfig(t, "https://127.0.0.1:1"))
	c.Config.Dial = (&net.Dialer{Timeout: time.Nanosecond}).DialContext
	c.Kubernetes = kubernetes.NewForConfigOrDie(c.Config)
	err := ask(t, c)
	var unreachable *cluster.UnreachableError
	if !errors.As(err, &unreachable) || !strings.Contains(err.Error(), "i/o timeout") {
		t.Errorf("error %v, want an UnreachableError", err)
	}
}

func TestCertificateIsNotTrusted(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	path := kubeconfig(t, server.URL)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), "insecure-skip-tls-verify: true", "insecure-skip-tls-verify: false", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	err = ask(t, connect(t, path))
	var unreachable *cluster.UnreachableError
	if !errors.As(err, &unreachable) || !strings.Contains(err.Error(), "has a certificate that is not trusted") {
		t.Errorf("error %v, want that the certificate is not trusted", err)
	}
}

// An API server that starts or stops answers so; so does a load balancer without one behind it.
func TestServerIsNotReady(t *testing.T) {
	err := ask(t, answering(t, metav1.Status{Code: http.StatusServiceUnavailable, Reason: metav1.StatusReasonServiceUnavailable, Message: "the server is shutting down"}))
	var unreachable *cluster.UnreachableError
	if !errors.As(err, &unreachable) || !strings.Contains(err.Error(), "the server is shutting down") {
		t.Errorf("error %v, want an UnreachableError", err)
	}
}

func TestTokenHasExpired(t *testing.T) {
	err := ask(t, answering(t, metav1.Status{Code: http.StatusUnauthorized, Reason: metav1.StatusReasonUnauthorized, Message: "Unauthorized"}))
	var unauthorized *cluster.UnauthorizedError
	if !errors.As(err, &unauthorized) || unauthorized.Context != "test" || !strings.Contains(err.Error(), "log in again") {
		t.Errorf("error %v, want an UnauthorizedError", err)
	}
}

func TestForbidden(t *testing.T) {
	// As kube-apiserver 1.36 words it.
	for message, want := range map[string]cluster.ForbiddenError{
		`jobs.batch is forbidden: User "eve" cannot list resource "jobs" in API group "batch" in the namespace "ebscope"`: {Who: "eve", Verb: "list", Resource: "jobs.batch", Namespace: "ebscope"},
		`nodes is forbidden: User "system:serviceaccount:ebscope:runner" cannot list resource "nodes" in API group "" at the cluster scope: RBAC: clusterrole.rbac.authorization.k8s.io "x" not found`: {
			Who: "system:serviceaccount:ebscope:runner", Verb: "list", Resource: "nodes"},
		`pods "p" is forbidden: User "eve" cannot create resource "pods/exec" in API group "" in the namespace "ebscope"`: {Who: "eve", Verb: "create", Resource: "pods/exec", Namespace: "ebscope"},
	} {
		err := ask(t, answering(t, metav1.Status{Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden, Message: message}))
		var got *cluster.ForbiddenError
		if !errors.As(err, &got) || got.Who != want.Who || got.Verb != want.Verb || got.Resource != want.Resource || got.Namespace != want.Namespace {
			t.Errorf("%s: error %+v, want %+v", message, err, want)
		}
	}
}

// Admission says "forbidden" too, of an object that its user may make.
func TestRejectedByAdmission(t *testing.T) {
	message := `persistentvolumeclaims "x" is forbidden: exceeded quota: team, requested: requests.storage=100Gi, used: requests.storage=0, limited: requests.storage=10Gi`
	err := ask(t, answering(t, metav1.Status{Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden, Message: message}))
	var declined *cluster.DeclinedError
	if !errors.As(err, &declined) || declined.Findings[0].Code != cluster.CodeRejected || !strings.Contains(err.Error(), "exceeded quota: team") {
		t.Errorf("error %v, want a DeclinedError", err)
	}
}

// A helper that cannot get a token fails before any request is made; what it printed may be a token.
func TestCredentialHelperFails(t *testing.T) {
	path := kubeconfig(t, "https://127.0.0.1:1")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	helper := `exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: sh, args: ["-c", "echo ` + secret + `; exit 254"]}`
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), "token: "+secret, helper, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	err = ask(t, connect(t, path))
	var unauthorized *cluster.UnauthorizedError
	if !errors.As(err, &unauthorized) || !strings.Contains(err.Error(), "executable sh failed with exit code 254") {
		t.Errorf("error %v, want an UnauthorizedError", err)
	}
}

// client-go logs to standard error by itself; what matters comes back as an error.
func TestNothingIsLogged(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr := os.Stderr
	os.Stderr = w
	c := answering(t, metav1.Status{Code: http.StatusInternalServerError, Reason: metav1.StatusReasonInternalError, Message: "etcd"})
	ask(t, c)
	os.Stderr = stderr
	w.Close()
	if text, _ := io.ReadAll(r); len(text) > 0 {
		t.Errorf("on standard error: %s", text)
	}
}
