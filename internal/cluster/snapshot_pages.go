package cluster

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// restarts is how often a list is begun anew whose place the server has forgotten.
const restarts = 3

// source is a list of one kind of object: how a page is had, what is on it, and what is kept of an object.
type source[L metav1.ListInterface, O, T any] struct {
	list  func(context.Context, metav1.ListOptions) (L, error)
	items func(L) []O
	keep  func(*O) (T, bool)
	field string // field selector
}

// all reads a list by pages. The server forgets its place in a list after five minutes or so: it then names another to go on
// from, at which the list is no longer as of one moment, or has none, and the list begins anew.
func (s source[L, O, T]) all(ctx context.Context, heard func(int)) ([]T, error) {
	var kept []T
	o := metav1.ListOptions{Limit: pageSize, FieldSelector: s.field}
	for begun := 0; ; {
		page, err := s.list(ctx, o)
		if apierrors.IsResourceExpired(err) && o.Continue != "" && begun < restarts {
			if o.Continue = continued(err); o.Continue == "" {
				kept = nil
			}
			begun++
			continue
		}
		if err != nil {
			return kept, err
		}
		objects := s.items(page)
		for i := range objects {
			if t, ok := s.keep(&objects[i]); ok {
				kept = append(kept, t)
			}
		}
		heard(len(objects))
		if o.Continue = page.GetContinue(); o.Continue == "" {
			return kept, nil
		}
	}
}

// continued is the place that an expired list can go on from; empty where there is none.
func continued(err error) string {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return status.Status().Continue
	}
	return ""
}

// read reads a kind, in a namespace or, where that is empty, everywhere, and notes what is missing.
func read[L metav1.ListInterface, O, T any](ctx context.Context, r *reading, resource, namespace string, s source[L, O, T]) []T {
	kept, err := s.all(ctx, r.heard)
	if err == nil || len(kept) > 0 {
		r.mu.Lock()
		r.kinds++
		r.mu.Unlock()
	}
	if err != nil {
		r.miss("list "+resource, namespace, r.client.failed(err, "list %s", resource))
	}
	return kept
}
