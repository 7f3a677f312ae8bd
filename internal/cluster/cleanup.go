package cluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"ebscope/internal/cluster/manifest"
)

// CleanupOptions say what is to be removed.
type CleanupOptions struct {
	Run string // its name in the cluster; empty: all runs of the namespace
	// Patience is how long to wait until pods, claims and volumes are gone: a volume is detached and deleted by others.
	Patience time.Duration
	// Namespace says that the namespace goes too, if ebscope made it and nothing else is in it.
	Namespace bool
}

// Object names an object of the cluster.
type Object struct {
	Kind      string
	Namespace string // empty: it belongs to the cluster
	Name      string
}

func (o Object) String() string {
	if o.Namespace == "" {
		return o.Kind + " " + o.Name
	}
	return o.Kind + " " + o.Namespace + "/" + o.Name
}

// Remainder is an object that is still there.
type Remainder struct {
	Object
	Reason string // why, and what to do about it
}

// Cleaned is what a cleanup did.
type Cleaned struct {
	Removed []Object    // what is gone now, volumes that went with their claims among it
	Left    []Remainder // what could not be removed, or not in time
	Kept    []Remainder // what stays because it is not ours
}

// Cleanup deletes what carries the labels of a run, or of all runs of the namespace, and waits until pods, claims and the
// volumes behind them are gone. Claims and classes that were there before carry no label and stay. What cannot be removed
// is no error: it is named with the reason. An error says that it is not known what there is.
func (c *Client) Cleanup(ctx context.Context, o CleanupOptions) (Cleaned, error) {
	s := sweep{client: c, options: o}
	selector, err := runs(o.Run)
	if err != nil {
		return Cleaned{}, err
	}
	s.selector = selector.String()
	if err := s.survey(ctx); err != nil {
		return Cleaned{}, err
	}
	waiting, cancel := context.WithTimeout(ctx, o.Patience)
	defer cancel()
	// A Job goes before its pods, or it would make others; the ConfigMap goes last, since a run is found by it.
	for _, kind := range []kind{jobKind, podKind, budgetKind, claimKind} {
		s.delete(ctx, kind)
	}
	s.waitForObjects(waiting)
	s.waitForVolumes(waiting)
	s.delete(ctx, classKind)
	if len(s.left) == s.retained {
		s.delete(ctx, configKind)
	} else {
		s.leave(configKind, "it names the run until the rest is gone: run cleanup again")
	}
	if err := ctx.Err(); err != nil {
		return s.cleaned(), context.Cause(ctx)
	}
	if o.Namespace {
		s.removeNamespace(waiting)
	}
	return s.cleaned(), nil
}

// runs selects what belongs to a run, or to any.
func runs(run string) (labels.Selector, error) {
	if run != "" {
		return runSelector(run), nil
	}
	any, err := labels.NewRequirement(manifest.RunLabel, selection.Exists, nil)
	if err != nil {
		return nil, fmt.Errorf("select the objects of all runs: %w", err)
	}
	return labels.SelectorFromSet(labels.Set{manifest.ManagedByLabel: manifest.ManagedBy}).Add(*any), nil
}

// sweep is one cleanup.
type sweep struct {
	client   *Client
	options  CleanupOptions
	selector string

	runs     map[string]bool // names of those that are here
	found    map[kind][]metav1.Object
	volumes  map[string]Object // PersistentVolumes of the claims, and the claim of each
	removed  []Object
	left     map[Object]string
	retained int // of those left, the volumes that nobody but a person will remove
	kept     map[Object]string
}

// survey finds what there is before anything is touched.
func (s *sweep) survey(ctx context.Context) error {
	s.found, s.left, s.kept = map[kind][]metav1.Object{}, map[Object]string{}, map[Object]string{}
	s.runs = map[string]bool{}
	if s.options.Run != "" {
		s.runs[s.options.Run] = true
	}
	for _, kind := range kinds {
		objects, err := kind.list(ctx, s.client, s.selector)
		if err != nil {
			return s.client.failed(err, "list the %ss of runs", kind.name)
		}
		for _, o := range objects {
			// Classes belong to the cluster, runs to a namespace: only those of runs that are here.
			if kind != classKind {
				s.runs[o.GetLabels()[manifest.RunLabel]] = true
			}
			if s.ours(o) {
				s.found[kind] = append(s.found[kind], o)
			}
		}
	}
	return s.findVolumes(ctx)
}

// delete deletes the objects of a kind as they were found: what has taken their place since is not touched.
func (s *sweep) delete(ctx context.Context, kind kind) {
	background := metav1.DeletePropagationBackground
	for _, o := range s.found[kind] {
		uid := o.GetUID()
		err := kind.delete(ctx, s.client, o.GetName(), metav1.DeleteOptions{
			PropagationPolicy: &background, Preconditions: &metav1.Preconditions{UID: &uid},
		})
		object := kind.object(o)
		switch {
		case err == nil, apierrors.IsNotFound(err), apierrors.IsConflict(err):
			if !kind.waits {
				s.removed = append(s.removed, object)
			}
		default:
			s.left[object] = s.client.failed(err, "delete %v", object).Error()
		}
	}
}

func (s *sweep) leave(kind kind, reason string) {
	for _, o := range s.found[kind] {
		s.left[kind.object(o)] = reason
	}
}

// waitForObjects waits until Jobs, pods and claims are gone, and notes which are.
func (s *sweep) waitForObjects(ctx context.Context) {
	for _, kind := range kinds {
		if !kind.waits || len(s.found[kind]) == 0 {
			continue
		}
		there := map[string]metav1.Object{}
		err := kind.until(ctx, s.client, s.selector, func(objects []any) bool {
			there = map[string]metav1.Object{}
			waits := false
			for _, o := range objects {
				if object, ok := o.(metav1.Object); ok && s.ours(object) {
					there[object.GetName()] = object
					_, refused := s.left[kind.object(object)]
					waits = waits || !refused
				}
			}
			return !waits
		})
		for _, o := range s.found[kind] {
			object := kind.object(o)
			_, stays := there[o.GetName()]
			_, told := s.left[object]
			switch {
			case told, stays:
			case err != nil && ctx.Err() == nil:
				s.left[object] = "it is not known whether it is gone: " + err.Error()
			default:
				s.removed = append(s.removed, object)
			}
		}
		for _, o := range there {
			if _, told := s.left[kind.object(o)]; !told {
				s.left[kind.object(o)] = remains(o)
			}
		}
	}
}

// ours says whether an object belongs to a run that is cleaned up.
func (s *sweep) ours(o metav1.Object) bool {
	l := o.GetLabels()
	return l[manifest.ManagedByLabel] == manifest.ManagedBy && s.runs[l[manifest.RunLabel]]
}

// remains says why an object is still there, from what it says of itself.
func remains(o metav1.Object) string {
	if p, ok := o.(*corev1.Pod); ok && p.Spec.NodeName != "" {
		return fmt.Sprintf("it has not ended on node %s in time: if that node is gone, `kubectl delete pod -n %s %s --force`", p.Spec.NodeName, p.Namespace, p.Name)
	}
	finalizers := o.GetFinalizers()
	switch {
	case slices.Contains(finalizers, "kubernetes.io/pvc-protection"):
		return fmt.Sprintf("a pod still uses it: see `kubectl describe pvc -n %s %s`", o.GetNamespace(), o.GetName())
	case len(finalizers) > 0:
		return fmt.Sprintf("it was not released in time by the finalizers %v", finalizers)
	}
	return "it was not gone in time: run cleanup again"
}

func (s *sweep) cleaned() Cleaned {
	return Cleaned{Removed: s.removed, Left: remainders(s.left), Kept: remainders(s.kept)}
}

func remainders(of map[Object]string) []Remainder {
	all := make([]Remainder, 0, len(of))
	for o, reason := range of {
		all = append(all, Remainder{o, reason})
	}
	slices.SortFunc(all, func(a, b Remainder) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return all
}
