package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"ebscope/internal/cluster/manifest"
)

// PartlyAppliedError says that some objects of a run have been applied and one has not. Applying again goes on, and
// cleanup removes what is there. After any other error of Apply nothing is there but perhaps the namespace, and what a
// cleanup found by the run's name would be another's.
type PartlyAppliedError struct {
	Applied []string // "persistentvolumeclaim ebscope/x", in order
	Err     error    // about the one that failed
}

func (e *PartlyAppliedError) Error() string {
	return fmt.Sprintf("%v (applied before it: %s)", e.Err, strings.Join(e.Applied, ", "))
}
func (e *PartlyAppliedError) Unwrap() error { return e.Err }

const applyAction = "apply the run's objects"

// Apply applies objects on the server, in order. Applied again, they change nothing. Before the first it looks at all: an
// object of the same name that is not the run's is never touched, and declines the whole. A namespace that exists stays
// as it is.
//
// Of two runs of one name, the one that makes the ConfigMap has it. The other gets a DeclinedError and has applied nothing
// but perhaps the namespace, so that it has nothing to remove: what carries the run's labels is the first one's.
func (c *Client) Apply(ctx context.Context, objects []manifest.Object) error {
	wanted, err := c.notForeign(ctx, objects)
	if err != nil {
		return err
	}
	var applied []string
	claimed := false
	for _, o := range wanted {
		if config, ok := o.(*corev1.ConfigMap); ok {
			if claimed, err = c.claim(ctx, config); err == nil && !claimed {
				return &DeclinedError{Action: applyAction, Findings: []Finding{taken(o)}}
			}
		} else {
			err = c.apply(ctx, o)
		}
		if err != nil {
			if claimed {
				return &PartlyAppliedError{Applied: applied, Err: err}
			}
			return err
		}
		applied = append(applied, title(o))
	}
	return nil
}

// notForeign returns the objects that are to be applied, or declines them all.
func (c *Client) notForeign(ctx context.Context, objects []manifest.Object) (wanted []manifest.Object, err error) {
	var foreign []Finding
	for _, o := range objects {
		api, err := c.apiOf(o)
		if err != nil {
			return nil, err
		}
		there, err := api.get(ctx, o.GetName())
		switch {
		case apierrors.IsNotFound(err):
			wanted = append(wanted, o)
		case err != nil:
			return nil, c.failed(err, "read %s", title(o))
		case isNamespace(o): // shared by runs, and perhaps by others
		case there.GetLabels()[manifest.RunLabel] != o.GetLabels()[manifest.RunLabel]:
			foreign = append(foreign, refuse(CodeForeign, "%s exists already and is not this run's: it belongs to %s. Remove it or rename it, or use another namespace", title(o), owner(there)))
		case ofAnother(there, o):
			foreign = append(foreign, taken(o))
		default:
			wanted = append(wanted, o)
		}
	}
	if len(foreign) > 0 {
		return nil, &DeclinedError{Action: applyAction, Findings: foreign}
	}
	return wanted, nil
}

// claim makes the ConfigMap of a run, and says whether it is this run's: of several of that name, one can make it. The
// record in it tells them apart.
func (c *Client) claim(ctx context.Context, config *corev1.ConfigMap) (ours bool, err error) {
	configs := c.Kubernetes.CoreV1().ConfigMaps(config.Namespace)
	_, err = configs.Create(ctx, config, metav1.CreateOptions{FieldManager: manifest.FieldManager, FieldValidation: metav1.FieldValidationStrict})
	if err == nil {
		return true, nil
	}
	// It may be there from an earlier attempt, or have been made though the answer was lost.
	there, readErr := configs.Get(ctx, config.Name, metav1.GetOptions{})
	if readErr == nil || apierrors.IsAlreadyExists(err) {
		return readErr == nil && !ofAnother(there, config), nil
	}
	return false, c.failed(err, "make %s", title(config))
}

// ofAnother says whether an object is a ConfigMap that holds something else than the run's.
func ofAnother(there, wanted metav1.Object) bool {
	config, ok := wanted.(*corev1.ConfigMap)
	if !ok {
		return false
	}
	found, ok := there.(*corev1.ConfigMap)
	return !ok || !maps.Equal(found.Data, config.Data)
}

// taken is what stands against a run whose name another has.
func taken(o manifest.Object) Finding {
	return refuse(CodeForeign, "%s: a run of that name was begun a moment ago, by another: try again", title(o))
}

func isNamespace(o manifest.Object) bool {
	_, ok := o.(*corev1.Namespace)
	return ok
}

// owner says whose an object is, as far as it tells.
func owner(o metav1.Object) string {
	if run := o.GetLabels()[manifest.RunLabel]; run != "" {
		return "the run " + run
	}
	for _, r := range o.GetOwnerReferences() {
		return r.Kind + " " + r.Name
	}
	if by := o.GetLabels()[manifest.ManagedByLabel]; by != "" {
		return by
	}
	for _, f := range o.GetManagedFields() {
		return "whoever made it with " + f.Manager
	}
	return "somebody else"
}

// apply applies one object. Fields that somebody else has taken over meanwhile are left to them.
func (c *Client) apply(ctx context.Context, o manifest.Object) error {
	api, err := c.apiOf(o)
	if err != nil {
		return err
	}
	text, err := configuration(o)
	if err != nil {
		return fmt.Errorf("%s: %w", title(o), err)
	}
	err = api.apply(ctx, o.GetName(), text, metav1.PatchOptions{FieldManager: manifest.FieldManager, FieldValidation: metav1.FieldValidationStrict})
	if apierrors.IsConflict(err) {
		return &DeclinedError{Action: "apply " + title(o), Findings: []Finding{refuse(CodeConflict, "somebody else has changed it since: %v. Remove it and try again", err)}}
	}
	return c.failed(err, "apply %s", title(o))
}

// configuration is an object as it is sent: without the status and the creation time, which are not the run's to say.
func configuration(o manifest.Object) ([]byte, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return nil, err
	}
	delete(fields, "status")
	if meta, ok := fields["metadata"].(map[string]any); ok {
		delete(meta, "creationTimestamp")
	}
	return json.Marshal(fields)
}

// title names an object: "job.batch ebscope/x".
func title(o manifest.Object) string {
	kind := o.GetObjectKind().GroupVersionKind()
	return qualified(kind.Group, strings.ToLower(kind.Kind)) + " " + strings.TrimPrefix(o.GetNamespace()+"/"+o.GetName(), "/")
}

// api reads and applies objects of one kind.
type api struct {
	get   func(ctx context.Context, name string) (metav1.Object, error)
	apply func(ctx context.Context, name string, text []byte, o metav1.PatchOptions) error
}

// apiOf finds the API for an object of a kind that a run may have.
func (c *Client) apiOf(o manifest.Object) (api, error) {
	k, namespace := c.Kubernetes, o.GetNamespace()
	switch o.(type) {
	case *corev1.Namespace:
		return typed[*corev1.Namespace](k.CoreV1().Namespaces()), nil
	case *storagev1.StorageClass:
		return typed[*storagev1.StorageClass](k.StorageV1().StorageClasses()), nil
	case *corev1.PersistentVolumeClaim:
		return typed[*corev1.PersistentVolumeClaim](k.CoreV1().PersistentVolumeClaims(namespace)), nil
	case *corev1.ConfigMap:
		return typed[*corev1.ConfigMap](k.CoreV1().ConfigMaps(namespace)), nil
	case *corev1.Pod:
		return typed[*corev1.Pod](k.CoreV1().Pods(namespace)), nil
	case *batchv1.Job:
		return typed[*batchv1.Job](k.BatchV1().Jobs(namespace)), nil
	case *policyv1.PodDisruptionBudget:
		return typed[*policyv1.PodDisruptionBudget](k.PolicyV1().PodDisruptionBudgets(namespace)), nil
	}
	return api{}, fmt.Errorf("%s: a run has no objects of this kind", title(o))
}

func typed[T metav1.Object](of interface {
	Get(ctx context.Context, name string, o metav1.GetOptions) (T, error)
	Patch(ctx context.Context, name string, pt types.PatchType, data []byte, o metav1.PatchOptions, subresources ...string) (T, error)
}) api {
	return api{
		get: func(ctx context.Context, name string) (metav1.Object, error) {
			return of.Get(ctx, name, metav1.GetOptions{})
		},
		apply: func(ctx context.Context, name string, text []byte, o metav1.PatchOptions) error {
			_, err := of.Patch(ctx, name, types.ApplyPatchType, text, o)
			return err
		},
	}
}
