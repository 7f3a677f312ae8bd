package cluster

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"ebscope/internal/lazy"
)

// UnreachableError says that the API server gave no answer, or none that it would not take back a minute later.
type UnreachableError struct {
	Action  string // what was to be done: "list pods in namespace ebscope"
	Address string // of the API server
	Err     error
}

func (e *UnreachableError) Error() string {
	server := "the API server"
	if e.Address != "" {
		server += " at " + e.Address
	}
	if untrusted := (*tls.CertificateVerificationError)(nil); errors.As(e.Err, &untrusted) {
		return fmt.Sprintf("cannot %s: %s has a certificate that is not trusted: %v; check the kubeconfig's certificate authority, and whether a proxy is in between", e.Action, server, e.Err)
	}
	return fmt.Sprintf("cannot %s: %s does not answer: %v; check the network, the VPN and whether the kubeconfig's server is still the right one", e.Action, server, e.Err)
}
func (e *UnreachableError) Unwrap() error { return e.Err }

// UnauthorizedError says that the server does not know who asks: a token that is missing or has expired, or a
// credential helper that failed.
type UnauthorizedError struct {
	Action  string
	Context string // of the kubeconfig
	Why     string // never holds the credential
}

func (e *UnauthorizedError) Error() string {
	who := "the credentials"
	if e.Context != "" {
		who += " of context " + e.Context
	}
	return fmt.Sprintf("cannot %s: %s were not accepted (%s): log in again (on EKS, `aws sts get-caller-identity` must work) and try again", e.Action, who, e.Why)
}

// ForbiddenError says that who asks is known and may not do it.
type ForbiddenError struct {
	Action    string
	Who       string
	Verb      string
	Resource  string // with its group: "jobs.batch", "pods/exec"
	Namespace string // empty: in the whole cluster
	Role      string // file with the Role that has the permission; empty: that of runs
}

func (e *ForbiddenError) Error() string {
	where := "in the cluster"
	if e.Namespace != "" {
		where = "in namespace " + e.Namespace
	}
	return fmt.Sprintf("cannot %s: %s may not %s %s %s; have an administrator bind the Role in %s",
		e.Action, e.Who, e.Verb, e.Resource, where, cmp.Or(e.Role, "docs/kubernetes/role.yaml"))
}

// NotFoundError says that something does not exist.
type NotFoundError struct {
	Action string
	Object string // as kubectl names it: `jobs.batch "x"`
}

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("cannot %s: %s not found", e.Action, e.Object)
}

// DeclinedError says that a run cannot be had here, or would harm what is not its own. Nothing was changed because of it.
type DeclinedError struct {
	Action   string
	Findings []Finding
}

func (e *DeclinedError) Error() string {
	if len(e.Findings) == 1 {
		return "cannot " + e.Action + ": " + e.Findings[0].Text
	}
	var s strings.Builder
	fmt.Fprintf(&s, "cannot %s, for %d reasons:", e.Action, len(e.Findings))
	for _, f := range e.Findings {
		s.WriteString("\n  - " + f.Text)
	}
	return s.String()
}

// failed turns an error of client-go into one of this package's. The action completes "cannot …" and names the object:
// "read pod ebscope/x". What this package has no type for is wrapped, a cancellation among it.
func (c *Client) failed(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	action := fmt.Sprintf(format, args...)
	var (
		status    apierrors.APIStatus
		transport *url.Error
		network   *net.OpError
	)
	switch {
	// A connection that times out says of itself that it is a context's deadline, too.
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded) && !errors.As(err, &network):
		return fmt.Errorf("cannot %s: %w", action, err)
	case errors.As(err, &status):
		return c.refused(err, status, action)
	case errors.As(err, &transport):
		// Its own text repeats the URL of the request.
		if why, ok := noCredential(transport.Err); ok {
			return &UnauthorizedError{Action: action, Context: c.Context, Why: why}
		}
		return &UnreachableError{Action: action, Address: c.address(), Err: transport.Err}
	}
	return fmt.Errorf("cannot %s: %w", action, err)
}

// refused turns an answer of the server into an error.
func (c *Client) refused(err error, status apierrors.APIStatus, action string) error {
	message := status.Status().Message
	switch {
	case apierrors.IsUnauthorized(err):
		return &UnauthorizedError{Action: action, Context: c.Context, Why: "the server says Unauthorized: expired, or never known here"}
	case apierrors.IsForbidden(err):
		if parts := forbiddenForm().FindStringSubmatch(message); parts != nil {
			resource := parts[3]
			if parts[4] != "" {
				resource = qualified(parts[4], resource)
			}
			return &ForbiddenError{Action: action, Who: parts[1], Verb: parts[2], Resource: resource, Namespace: parts[5]}
		}
		// Not a missing permission: quota, LimitRange, Pod Security and webhooks answer "forbidden" too.
		return &DeclinedError{Action: action, Findings: []Finding{{Code: CodeRejected, Severity: Refuse, Text: "the cluster's admission says: " + message}}}
	case apierrors.IsNotFound(err):
		return &NotFoundError{Action: action, Object: missingObject(status)}
	case temporary(err):
		return &UnreachableError{Action: action, Address: c.address(), Err: errors.New(message)}
	}
	return fmt.Errorf("cannot %s: %w", action, err)
}

// temporary says whether the server's answer says nothing about the request: the same one may succeed a moment later.
func temporary(err error) bool {
	return apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) || apierrors.IsTooManyRequests(err) ||
		apierrors.IsServiceUnavailable(err) || apierrors.IsInternalError(err) || apierrors.IsUnexpectedServerError(err)
}

// forbiddenForm is what the server's authorizer says: who, verb, resource, group, namespace.
var forbiddenForm = lazy.Regexp(`User "([^"]*)" cannot (\S+) resource "([^"]*)"(?: in API group "([^"]*)")?(?:.* in the namespace "([^"]*)")?`)

// qualified puts a group behind a resource as kubectl writes it, before the subresource: "jobs.batch/status".
func qualified(group, resource string) string {
	name, sub, found := strings.Cut(resource, "/")
	if group != "" {
		name += "." + group
	}
	if found {
		name += "/" + sub
	}
	return name
}

func missingObject(status apierrors.APIStatus) string {
	d := status.Status().Details
	if d == nil || d.Kind == "" {
		return status.Status().Message // the whole kind is unknown
	}
	if d.Name == "" {
		return qualified(d.Group, d.Kind)
	}
	return fmt.Sprintf("%s %q", qualified(d.Group, d.Kind), d.Name)
}

// noCredential says whether a request was never sent because no credential could be had, and why. A helper's own output
// is left out: it may hold the token.
func noCredential(err error) (string, bool) {
	const prefix = "getting credentials: "
	_, why, found := strings.Cut(err.Error(), prefix)
	if !found {
		return "", false
	}
	why, _, _ = strings.Cut(why, "decoding stdout")
	why, _, _ = strings.Cut(why, "\n")
	return "getting a credential failed: " + strings.TrimRight(why, ": "), true
}
