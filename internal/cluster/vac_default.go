package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// SetDefaultClass makes a StorageClass the only default one, and returns the names of those that were before.
//
// No request changes two classes at once. The new default is marked before the mark is taken from the others: with two
// defaults a claim gets the newer class, and with none it would be left without a class if this ended halfway. Where a step
// fails, those before it are taken back. Done again, it goes on from wherever it was left.
func (c *Client) SetDefaultClass(ctx context.Context, name string) (was []string, err error) {
	action := "make StorageClass " + name + " the default"
	classes, err := c.Kubernetes.StorageV1().StorageClasses().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, c.migrating(err, "list StorageClasses")
	}
	slices.SortFunc(classes.Items, func(a, b storagev1.StorageClass) int { return cmp.Compare(a.Name, b.Name) })
	wanted := slices.IndexFunc(classes.Items, func(s storagev1.StorageClass) bool { return s.Name == name })
	if wanted < 0 {
		return nil, &NotFoundError{Action: action, Object: fmt.Sprintf("storageclass.storage.k8s.io %q", name)}
	}
	var steps []defaultMark
	for i := range classes.Items {
		class := &classes.Items[i]
		if isDefault(class) {
			was = append(was, class.Name)
		}
		if i != wanted && isDefault(class) {
			steps = append(steps, defaultMark{class, false})
		}
	}
	if !isDefault(&classes.Items[wanted]) {
		steps = slices.Insert(steps, 0, defaultMark{&classes.Items[wanted], true})
	}
	for i, step := range steps {
		if err := c.mark(ctx, step); err != nil {
			err = c.migrating(err, "%s: StorageClass %s was not changed", action, step.class.Name)
			return was, errors.Join(err, c.takeBack(ctx, steps[:i], was))
		}
	}
	return was, c.onlyDefault(ctx, name)
}

// defaultMark is a class that is to be a default one, or not to be.
type defaultMark struct {
	class *storagev1.StorageClass
	on    bool
}

// mark sets the annotations of a class, if it is still as it was read.
func (c *Client) mark(ctx context.Context, m defaultMark) error {
	values := map[string]string{defaultClass: fmt.Sprint(m.on)}
	if _, old := m.class.Annotations[defaultClassBeta]; old {
		values[defaultClassBeta] = fmt.Sprint(m.on)
	}
	text, err := json.Marshal(map[string]any{
		"apiVersion": storagev1.SchemeGroupVersion.String(), "kind": "StorageClass",
		"metadata": map[string]any{"name": m.class.Name, "uid": m.class.UID, "resourceVersion": m.class.ResourceVersion, "annotations": values},
	})
	if err != nil {
		return err
	}
	after, err := c.Kubernetes.StorageV1().StorageClasses().Patch(ctx, m.class.Name, types.ApplyPatchType, text, applied(true))
	if err == nil {
		m.class.ResourceVersion = after.ResourceVersion
	}
	return err
}

// takeBack undoes steps, the last one first, also where the user has ended the command, and says so where the default classes
// are then not those that there were: an answer may have been lost.
func (c *Client) takeBack(ctx context.Context, steps []defaultMark, was []string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), parting)
	defer cancel()
	var all []error
	for _, step := range slices.Backward(steps) {
		if err := c.mark(ctx, defaultMark{step.class, !step.on}); err != nil {
			all = append(all, c.migrating(err, "take back the change of StorageClass %s", step.class.Name))
		}
	}
	now, err := c.defaults(ctx)
	switch {
	case err != nil:
		all = append(all, err)
	case !slices.Equal(now, was):
		all = append(all, fmt.Errorf("%s, and %s: do it again, or look at `kubectl get storageclass`", listed("the default classes were", was), listed("are now", now)))
	}
	return errors.Join(all...)
}

// defaults returns the default classes, in the order of their names.
func (c *Client) defaults(ctx context.Context) (names []string, err error) {
	classes, err := c.Kubernetes.StorageV1().StorageClasses().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, c.migrating(err, "list StorageClasses")
	}
	for i := range classes.Items {
		if isDefault(&classes.Items[i]) {
			names = append(names, classes.Items[i].Name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// onlyDefault says which classes are marked, where that is not one class alone.
func (c *Client) onlyDefault(ctx context.Context, name string) error {
	marked, err := c.defaults(ctx)
	if err != nil {
		return err
	}
	if len(marked) == 1 && marked[0] == name {
		return nil
	}
	return &DeclinedError{Action: "make StorageClass " + name + " the only default", Findings: []Finding{
		refuse(CodeMoved, "somebody else has changed classes meanwhile: %s. Try again", listed("marked as default", marked)),
	}}
}
