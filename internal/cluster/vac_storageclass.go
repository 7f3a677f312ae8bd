package cluster

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ebscope/internal/cluster/manifest"
	"ebscope/internal/fleet"
)

// EnsureStorageClass sees to it that there is a StorageClass that makes volumes as one says. It is not made the default; see
// SetDefaultClass. One that is there already and makes the same stays as it is, whoever made it; one of that name that makes
// others is a DeclinedError, for nothing of it could be changed.
func (c *Client) EnsureStorageClass(ctx context.Context, class fleet.StorageClass) (made bool, err error) {
	classes := c.Kubernetes.StorageV1().StorageClasses()
	there, err := classes.Get(ctx, class.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		// It is created and not applied: SetDefaultClass applies the annotation alone, and would take back all else that the
		// same manager has applied.
		there, err = classes.Create(ctx, storageClassObject(class), metav1.CreateOptions{FieldManager: MigrateManager, FieldValidation: metav1.FieldValidationStrict})
		if made = err == nil; apierrors.IsAlreadyExists(err) {
			there, err = classes.Get(ctx, class.Name, metav1.GetOptions{})
		}
	}
	if err != nil {
		return false, c.migrating(err, "make StorageClass %s", class.Name)
	}
	if wanted, found := makes(class), makes(storageClassOf(there)); wanted != found {
		return false, &DeclinedError{Action: "make StorageClass " + class.Name, Findings: []Finding{
			refuse(CodeOtherParameters, "one of that name exists and makes other volumes: it has %s, and %s is wanted. Take another name, or remove it", found, wanted),
		}}
	}
	return made, nil
}

// What a StorageClass has that says nothing of it, as the server fills it in.
const (
	usualReclaim = string(corev1.PersistentVolumeReclaimDelete)
	usualBinding = string(storagev1.VolumeBindingImmediate)
)

// makes says which volumes a class makes, and when.
func makes(c fleet.StorageClass) string {
	words := []string{"provisioner " + c.Provisioner}
	for _, key := range slices.Sorted(maps.Keys(c.Parameters)) {
		words = append(words, key+"="+c.Parameters[key])
	}
	return strings.Join(append(words, "reclaim "+cmp.Or(c.Reclaim, usualReclaim), "binding "+cmp.Or(c.Binding, usualBinding), fmt.Sprintf("expandable %v", c.Expandable)), ", ")
}

func storageClassObject(c fleet.StorageClass) *storagev1.StorageClass {
	reclaim, binding := corev1.PersistentVolumeReclaimPolicy(cmp.Or(c.Reclaim, usualReclaim)), storagev1.VolumeBindingMode(cmp.Or(c.Binding, usualBinding))
	labels := map[string]string{manifest.ManagedByLabel: manifest.ManagedBy}
	maps.Copy(labels, c.Labels)
	return &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: c.Name, Labels: labels}, Provisioner: c.Provisioner, Parameters: c.Parameters,
		ReclaimPolicy: &reclaim, VolumeBindingMode: &binding, AllowVolumeExpansion: &c.Expandable,
	}
}
