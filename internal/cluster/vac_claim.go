package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"ebscope/internal/fleet"
)

// ClaimChange is what is to become of a claim.
type ClaimChange struct {
	Namespace, Name string
	UID             fleet.UID // the claim that is meant: another of the same name is not
	// From is the VolumeAttributesClass that it asked for when the change was decided, To the one that it is to ask for.
	// Both may be empty; to none it can go back only out of a change that is Infeasible.
	From, To string
	// SizeBytes is what it is to request; 0 leaves that.
	SizeBytes int64
}

func (c ClaimChange) String() string { return c.Namespace + "/" + c.Name }

// ClaimState is a claim with what its cluster says of a change to it.
type ClaimState struct {
	fleet.Claim
	Conditions []ClaimCondition
}

// ClaimCondition is a condition of a claim: Resizing, FileSystemResizePending, ModifyingVolume, ModifyVolumeError, …
type ClaimCondition struct {
	Type, Reason, Message string
	True                  bool
	Since                 time.Time
}

// Modify statuses, as fleet.ModifyStatus has them. There may be others one day, which are neither done nor final.
const (
	ModifyPending    = string(corev1.PersistentVolumeClaimModifyVolumePending)    // such as until the class exists
	ModifyInProgress = string(corev1.PersistentVolumeClaimModifyVolumeInProgress) // it is being changed, or tried again
	ModifyInfeasible = string(corev1.PersistentVolumeClaimModifyVolumeInfeasible) // refused for good
)

// InForce says whether the driver has carried out the change to a class. That EBS has, too, only EC2 can say.
func (s ClaimState) InForce(class string) bool {
	return s.CurrentAttributesClass == class && s.AttributesClass == class && (s.Modify == nil || s.Modify.Status == "")
}

// Infeasible says whether the driver has refused for good what the claim asks for.
func (s ClaimState) Infeasible() bool {
	return s.Modify != nil && s.Modify.Status == ModifyInfeasible && s.Modify.Target == s.AttributesClass
}

// Withdrawn says whether the claim asks no more for what the driver has refused for good. csi-resizer leaves that in the
// claim's status (external-resizer v2.3.0, rolledBack).
func (s ClaimState) Withdrawn() bool {
	return s.Modify != nil && s.Modify.Status == ModifyInfeasible && s.Modify.Target != s.AttributesClass
}

// Modifying says whether csi-resizer has taken up a change and not given it up.
func (s ClaimState) Modifying() bool {
	return slices.ContainsFunc(s.Conditions, func(c ClaimCondition) bool {
		return c.Type == string(corev1.PersistentVolumeClaimVolumeModifyingVolume) && c.True
	})
}

// Reason is why a change does not come along, in the driver's words; empty where the claim says nothing.
func (s ClaimState) Reason() string {
	for _, kind := range []corev1.PersistentVolumeClaimConditionType{corev1.PersistentVolumeClaimVolumeModifyVolumeError, corev1.PersistentVolumeClaimControllerResizeError} {
		i := slices.IndexFunc(s.Conditions, func(c ClaimCondition) bool { return c.Type == string(kind) && c.True })
		if i >= 0 {
			return strings.TrimPrefix(s.Conditions[i].Reason+": "+s.Conditions[i].Message, ": ")
		}
	}
	return ""
}

// ClaimState reads a claim.
func (c *Client) ClaimState(ctx context.Context, namespace, name string) (ClaimState, error) {
	claim, err := c.Kubernetes.CoreV1().PersistentVolumeClaims(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return ClaimState{}, c.migrating(err, "read persistentvolumeclaim %s/%s", namespace, name)
	}
	return claimState(claim), nil
}

func claimState(claim *corev1.PersistentVolumeClaim) ClaimState {
	s := ClaimState{Claim: claimOf(claim)}
	for _, c := range claim.Status.Conditions {
		s.Conditions = append(s.Conditions, ClaimCondition{
			Type: string(c.Type), Reason: c.Reason, Message: strings.TrimSpace(c.Message), True: c.Status == corev1.ConditionTrue, Since: c.LastTransitionTime.UTC(),
		})
	}
	return s
}

// changeAttempts is how often a change is sent whose claim was written by others meanwhile, mostly in its status.
const changeAttempts = 5

// ChangeClaim lets a claim ask for another VolumeAttributesClass and size, both in one patch, and returns it as it then is. A
// claim that asks for them already stays as it is, so that a change whose answer was lost can be sent again. One that asks for
// something else than the change was decided upon is a DeclinedError, and nothing is sent.
func (c *Client) ChangeClaim(ctx context.Context, change ClaimChange) (ClaimState, error) {
	claims := c.Kubernetes.CoreV1().PersistentVolumeClaims(change.Namespace)
	for attempt := 1; ; attempt++ {
		claim, err := claims.Get(ctx, change.Name, metav1.GetOptions{})
		if err != nil {
			return ClaimState{}, c.migrating(err, "change persistentvolumeclaim %s", change)
		}
		state := claimState(claim)
		if change.made(state) {
			return state, nil
		}
		if moved := change.moved(state); moved != "" {
			return state, &DeclinedError{Action: "change persistentvolumeclaim " + change.String(), Findings: []Finding{refuse(CodeMoved, "%s. Plan anew", moved)}}
		}
		text, err := change.patch(claim)
		if err != nil {
			return state, fmt.Errorf("change persistentvolumeclaim %s: %w", change, err)
		}
		// What was decided upon was read above, and its version is in the patch: force takes over no field that changed since.
		after, err := claims.Patch(ctx, change.Name, types.ApplyPatchType, text, applied(true))
		if apierrors.IsConflict(err) && attempt < changeAttempts {
			continue
		}
		if apierrors.IsInvalid(err) {
			return state, &DeclinedError{Action: "change persistentvolumeclaim " + change.String(), Findings: []Finding{refuse(CodeRejected, "the cluster does not accept it: %v", err)}}
		}
		if err != nil {
			return state, c.migrating(err, "change persistentvolumeclaim %s", change)
		}
		return claimState(after), nil
	}
}

// made says whether a claim asks for what it is to.
func (c ClaimChange) made(s ClaimState) bool {
	return s.UID == c.UID && s.AttributesClass == c.To && (c.SizeBytes == 0 || s.RequestedBytes == c.SizeBytes)
}

// moved says what speaks against the change; empty where nothing does.
func (c ClaimChange) moved(s ClaimState) string {
	switch {
	case s.UID != c.UID:
		return fmt.Sprintf("it is another claim of that name (UID %s, not %s)", s.UID, c.UID)
	case s.Deleting:
		return "it is being deleted"
	case s.AttributesClass != c.From && s.AttributesClass != c.To:
		return fmt.Sprintf("it asks for %s, and asked for %s when the change was decided", named(s.AttributesClass), named(c.From))
	case c.SizeBytes != 0 && s.RequestedBytes > c.SizeBytes:
		return fmt.Sprintf("it requests %v, and cannot shrink to %v", quantity(s.RequestedBytes), quantity(c.SizeBytes))
	}
	return ""
}

func named(class string) string {
	if class == "" {
		return "no VolumeAttributesClass"
	}
	return "VolumeAttributesClass " + class
}

func quantity(bytes int64) string { return resource.NewQuantity(bytes, resource.BinarySI).String() }

// patch is the change as it is sent. A size that MigrateManager owns has to be in it: left out it would be given up, and a
// claim without a size is none.
func (c ClaimChange) patch(claim *corev1.PersistentVolumeClaim) ([]byte, error) {
	spec := map[string]any{}
	if c.To != "" {
		spec["volumeAttributesClassName"] = c.To
	}
	size := c.SizeBytes
	if size == 0 && ownsSize(claim) {
		size = claim.Spec.Resources.Requests.Storage().Value()
	}
	if size != 0 {
		spec["resources"] = map[string]any{"requests": map[string]any{string(corev1.ResourceStorage): quantity(size)}}
	}
	return json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "PersistentVolumeClaim", "spec": spec,
		"metadata": map[string]any{"name": claim.Name, "namespace": claim.Namespace, "uid": claim.UID, "resourceVersion": claim.ResourceVersion},
	})
}

func ownsSize(claim *corev1.PersistentVolumeClaim) bool {
	return slices.ContainsFunc(claim.ManagedFields, func(m metav1.ManagedFieldsEntry) bool {
		return m.Manager == MigrateManager && m.FieldsV1 != nil && strings.Contains(m.FieldsV1.GetRawString(), `"f:requests"`)
	})
}
