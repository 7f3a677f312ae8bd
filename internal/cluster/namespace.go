package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"ebscope/internal/cluster/manifest"
)

// removeNamespace deletes the namespace if ebscope made it and nothing is in it. Where it cannot be seen whether something
// is, it stays.
func (s *sweep) removeNamespace(ctx context.Context) {
	name := s.client.Namespace
	object := Object{Kind: "Namespace", Name: name}
	namespaces := s.client.Kubernetes.CoreV1().Namespaces()
	n, err := namespaces.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return
	}
	if err != nil {
		s.left[object] = s.client.failed(err, "read %v", object).Error()
		return
	}
	if n.Labels[manifest.ManagedByLabel] != manifest.ManagedBy {
		s.kept[object] = "it was not made by ebscope"
		return
	}
	inside, err := s.client.inhabitants(ctx, name)
	switch {
	case err != nil:
		s.kept[object] = fmt.Sprintf("it is not known whether something else is in it (%v): `kubectl delete namespace %s` removes it with all that is in it", err, name)
		return
	case len(inside) > 0:
		s.kept[object] = "other things are in it: " + strings.Join(inside, ", ")
		return
	}
	err = namespaces.Delete(ctx, name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &n.UID}})
	if err != nil && !apierrors.IsNotFound(err) {
		s.left[object] = s.client.failed(err, "delete %v", object).Error()
		return
	}
	for {
		n, err = namespaces.Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			s.removed = append(s.removed, object)
			return
		}
		select { // a namespace may be read without leave to watch all of them
		case <-ctx.Done():
			s.left[object] = emptying(n)
			return
		case <-time.After(time.Second):
		}
	}
}

// emptying says what holds up a namespace that is being deleted.
func emptying(n *corev1.Namespace) string {
	if n != nil {
		for _, c := range n.Status.Conditions {
			if c.Status == corev1.ConditionTrue {
				return "it is being deleted: " + c.Message
			}
		}
	}
	return "it is being deleted, and was not gone in time"
}

// maxNamed is how many objects are named, of those that keep a namespace.
const maxNamed = 5

// inhabitants names what is in a namespace beside what every namespace has, at most maxNamed. The error says what could not
// be seen.
func (c *Client) inhabitants(ctx context.Context, namespace string) (named []string, err error) {
	if c.Dynamic == nil {
		return nil, errors.New("there is no connection that lists all kinds of objects")
	}
	resources, err := discovery.ServerPreferredNamespacedResources(c.Kubernetes.Discovery())
	if err != nil {
		return nil, c.failed(err, "find out which kinds of objects there are")
	}
	if len(resources) == 0 {
		return nil, errors.New("the server names no kinds of objects")
	}
	for _, group := range resources {
		version, err := schema.ParseGroupVersion(group.GroupVersion)
		if err != nil {
			return nil, fmt.Errorf("read the kinds of objects: %w", err)
		}
		if version.Group == "metrics.k8s.io" {
			continue // figures about pods, not objects
		}
		for _, r := range group.APIResources {
			if r.Kind == "Event" || !slices.Contains(r.Verbs, "list") {
				continue
			}
			list, err := c.Dynamic.Resource(version.WithResource(r.Name)).Namespace(namespace).List(ctx, metav1.ListOptions{Limit: maxNamed * 2})
			if err != nil {
				return nil, c.failed(err, "list %s in namespace %s", r.Name, namespace)
			}
			for _, o := range list.Items {
				if !everywhere(r.Kind, o.GetName()) && len(named) < maxNamed {
					named = append(named, r.Kind+" "+o.GetName())
				}
			}
		}
		if len(named) >= maxNamed {
			return named, nil
		}
	}
	return named, nil
}

// everywhere says whether every namespace has such an object.
func everywhere(kind, name string) bool {
	return kind == "ConfigMap" && name == "kube-root-ca.crt" || kind == "ServiceAccount" && name == "default"
}
