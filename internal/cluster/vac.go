package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	storagev1 "k8s.io/api/storage/v1"
	storagev1beta1 "k8s.io/api/storage/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"ebscope/internal/cluster/manifest"
	"ebscope/internal/fleet"
)

// MigrateManager owns the fields that a migration applies. It is not the one of runs, manifest.FieldManager: what one applies
// without a field gives that field up, and a claim of a run has fields that no migration knows.
const MigrateManager = "ebscope-migrate"

// MigrateRole is the file with the permissions that changing claims and classes needs.
const MigrateRole = "docs/kubernetes/migrate-role.yaml"

// Codes of findings about what a migration would change.
const (
	CodeOtherParameters = "other-parameters" // a class of that name has others
	CodeMoved           = "moved"            // somebody else changed it since it was read
	CodeNoAttributesAPI = "no-attributes-api"
)

// EnsureAttributesClass sees to it that there is a VolumeAttributesClass with a driver and parameters, which cannot be changed
// afterwards. One that is there already and is the same stays as it is, whoever made it; one of that name that is not the same
// is a DeclinedError. made says whether it was not there before.
func (c *Client) EnsureAttributesClass(ctx context.Context, class fleet.AttributesClass) (made bool, err error) {
	action := "make VolumeAttributesClass " + class.Name
	version, err := c.AttributesAPI(ctx)
	if err != nil {
		return false, err
	}
	if version == "" {
		return false, &DeclinedError{Action: action, Findings: []Finding{refuse(CodeNoAttributesAPI, "the cluster has no VolumeAttributesClass: it needs Kubernetes 1.34, or 1.31 with the feature gate and the API %s/%s switched on; EC2's ModifyVolume does the same", storagev1.GroupName, attributesBeta)}}
	}
	there, err := c.AttributesClass(ctx, class.Name)
	if isNotFound(err) {
		there, err = c.applyAttributesClass(ctx, version, class)
		if apierrors.IsConflict(err) || apierrors.IsInvalid(err) { // somebody made one in between
			there, err = c.AttributesClass(ctx, class.Name)
		} else {
			made = err == nil
		}
		err = c.migrating(err, "%s", action)
	}
	if err != nil {
		return false, err
	}
	if text := difference(class, there); text != "" {
		return false, &DeclinedError{Action: action, Findings: []Finding{refuse(CodeOtherParameters, "one of that name exists with another setting: %s. A class cannot be changed; take another name, or delete it where no claim uses it", text)}}
	}
	return made, nil
}

// AttributesClass returns a VolumeAttributesClass. The error is a NotFoundError where there is none, or no such kind.
func (c *Client) AttributesClass(ctx context.Context, name string) (fleet.AttributesClass, error) {
	version, err := c.AttributesAPI(ctx)
	if err != nil {
		return fleet.AttributesClass{}, err
	}
	action := "read VolumeAttributesClass " + name
	switch version {
	case attributesV1:
		class, err := c.Kubernetes.StorageV1().VolumeAttributesClasses().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return fleet.AttributesClass{}, c.migrating(err, "%s", action)
		}
		return attributesClassOf(class, class.DriverName, class.Parameters), nil
	case attributesBeta:
		class, err := c.Kubernetes.StorageV1beta1().VolumeAttributesClasses().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return fleet.AttributesClass{}, c.migrating(err, "%s", action)
		}
		return attributesClassOf(class, class.DriverName, class.Parameters), nil
	}
	return fleet.AttributesClass{}, &NotFoundError{Action: action, Object: "the kind VolumeAttributesClass"}
}

// AttributesClassObject is a VolumeAttributesClass as it is applied in a version of the API, "v1" or "v1beta1".
func AttributesClassObject(version string, class fleet.AttributesClass) map[string]any {
	labels := map[string]string{manifest.ManagedByLabel: manifest.ManagedBy}
	maps.Copy(labels, class.Labels)
	return map[string]any{
		"apiVersion": storagev1.GroupName + "/" + version, "kind": "VolumeAttributesClass",
		"metadata":   map[string]any{"name": class.Name, "labels": labels},
		"driverName": class.Driver, "parameters": class.Parameters,
	}
}

func (c *Client) applyAttributesClass(ctx context.Context, version string, class fleet.AttributesClass) (fleet.AttributesClass, error) {
	text, err := json.Marshal(AttributesClassObject(version, class))
	if err != nil {
		return fleet.AttributesClass{}, fmt.Errorf("VolumeAttributesClass %s: %w", class.Name, err)
	}
	if version == attributesBeta {
		var made *storagev1beta1.VolumeAttributesClass
		if made, err = c.Kubernetes.StorageV1beta1().VolumeAttributesClasses().Patch(ctx, class.Name, types.ApplyPatchType, text, applied(false)); err != nil {
			return fleet.AttributesClass{}, err
		}
		return attributesClassOf(made, made.DriverName, made.Parameters), nil
	}
	made, err := c.Kubernetes.StorageV1().VolumeAttributesClasses().Patch(ctx, class.Name, types.ApplyPatchType, text, applied(false))
	if err != nil {
		return fleet.AttributesClass{}, err
	}
	return attributesClassOf(made, made.DriverName, made.Parameters), nil
}

// applied are the options of a patch on the server. force takes a field over from whoever owned it.
func applied(force bool) metav1.PatchOptions {
	o := metav1.PatchOptions{FieldManager: MigrateManager, FieldValidation: metav1.FieldValidationStrict}
	if force {
		o.Force = &force
	}
	return o
}

// difference says in what two classes differ; empty where they are the same.
func difference(wanted, there fleet.AttributesClass) string {
	if wanted.Driver == there.Driver && maps.Equal(wanted.Parameters, there.Parameters) {
		return ""
	}
	return fmt.Sprintf("it is %s, and %s is wanted", setting(there), setting(wanted))
}

func setting(c fleet.AttributesClass) string {
	words := make([]string, 0, len(c.Parameters))
	for _, key := range slices.Sorted(maps.Keys(c.Parameters)) {
		words = append(words, key+"="+c.Parameters[key])
	}
	return strings.Join(append([]string{"driver " + c.Driver}, words...), " ")
}

// migrating turns an error of client-go into one of this package's that names the Role of a migration.
func (c *Client) migrating(err error, format string, args ...any) error {
	failed := c.failed(err, format, args...)
	if forbidden, ok := failed.(*ForbiddenError); ok { //nolint:errorlint // failed has just made it
		forbidden.Role = MigrateRole
	}
	return failed
}
