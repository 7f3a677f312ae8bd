package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ebscope/internal/cluster/manifest"
)

// Missing is a permission that whoever asks does not have.
type Missing struct {
	manifest.Permission
	Namespace string // empty: in the whole cluster
}

func (m Missing) String() string {
	s := m.Verb + " " + qualified(m.Group, m.Resource)
	if m.Name != "" {
		s += " " + m.Name
	}
	if m.Namespace != "" {
		return s + " in namespace " + m.Namespace
	}
	return s + " in the cluster"
}

// reviewsAtOnce keeps some sixty questions from taking as many round trips.
const reviewsAtOnce = 16

// MissingPermissions asks the server for each permission that a run needs, and returns those that are missing.
// newNamespace says that the namespace does not exist, newClasses that StorageClasses are to be made.
func (c *Client) MissingPermissions(ctx context.Context, newNamespace, newClasses bool) ([]Missing, error) {
	wanted := neededPermissions(c.Namespace, newNamespace, newClasses)
	allowed := make([]bool, len(wanted))
	asking, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var answers sync.WaitGroup
	slots := make(chan struct{}, reviewsAtOnce)
	for i := range wanted {
		slots <- struct{}{}
		answers.Go(func() {
			defer func() { <-slots }()
			ok, err := c.may(asking, wanted[i])
			if err != nil {
				stop(err) // the first is enough: the others would fail alike
			}
			allowed[i] = ok
		})
	}
	answers.Wait()
	if err := context.Cause(asking); err != nil {
		return nil, err
	}
	var missing []Missing
	for i, ok := range allowed {
		if !ok {
			missing = append(missing, wanted[i])
		}
	}
	return missing, nil
}

func neededPermissions(namespace string, newNamespace, newClasses bool) (all []Missing) {
	namespaced, clusterWide := manifest.Permissions()
	add := func(permissions []manifest.Permission, namespace string) {
		for _, p := range permissions {
			if p.Need == manifest.ToMakeNamespace && !newNamespace || p.Need == manifest.ToMakeClass && !newClasses {
				continue
			}
			all = append(all, Missing{p, namespace})
		}
	}
	add(namespaced, namespace)
	add(clusterWide, "")
	return all
}

func (c *Client) may(ctx context.Context, m Missing) (bool, error) {
	resource, sub, _ := strings.Cut(m.Resource, "/")
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: m.Namespace, Verb: m.Verb, Group: m.Group, Resource: resource, Subresource: sub, Name: m.Name,
		}}}
	answer, err := c.Kubernetes.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return false, c.failed(err, "ask whether this user may %s", m)
	}
	return answer.Status.Allowed, nil
}

// permissions finds what the run needs and does not have, and what only a check needs.
func (s *survey) permissions(ctx context.Context) ([]Finding, error) {
	newNamespace := s.namespace == nil && s.Spec.CreateNamespace && !s.namespaceHidden
	missing, err := s.MissingPermissions(ctx, newNamespace, s.makesClasses())
	if err != nil {
		return nil, err
	}
	s.missing = missing
	var all []Finding
	for _, m := range missing {
		if m.Need == manifest.ForChecks {
			all = append(all, warn("permission", "this user may not %s, so a check is left out (%s): look yourself, or have the Role in docs/kubernetes/role.yaml bound", m, m.Why))
			continue
		}
		all = append(all, refuse("permission", "this user may not %s (%s): have an administrator bind the Role in docs/kubernetes/role.yaml", m, m.Why))
	}
	return all, nil
}

// unseen turns a missing permission into a warning that a check was left out, once for each permission.
func (s *survey) unseen(check string, err error) (Finding, bool) {
	var forbidden *ForbiddenError
	if !errors.As(err, &forbidden) {
		return Finding{}, false
	}
	return warn("unchecked", "not checked: %s (%s may not %s %s)", check, forbidden.Who, forbidden.Verb, forbidden.Resource), true
}

// told says whether permissions has named what a forbidden request lacked.
func (s *survey) told(err error) bool {
	var forbidden *ForbiddenError
	return errors.As(err, &forbidden) && slices.ContainsFunc(s.missing, func(m Missing) bool {
		return m.Verb == forbidden.Verb && qualified(m.Group, m.Resource) == forbidden.Resource
	})
}

func refuse(code, format string, args ...any) Finding {
	return Finding{Code: code, Severity: Refuse, Text: fmt.Sprintf(format, args...)}
}

func warn(code, format string, args ...any) Finding {
	return Finding{Code: code, Severity: Warn, Text: fmt.Sprintf(format, args...)}
}
