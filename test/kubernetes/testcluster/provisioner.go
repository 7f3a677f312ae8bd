//go:build linux

package testcluster

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"ebscope/internal/cluster/manifest"
	"ebscope/internal/emulate"
)

// Annotations by which the cluster's controllers and a provisioner speak with each other.
const (
	selectedNodeAnnotation  = "volume.kubernetes.io/selected-node"
	provisionedByAnnotation = "pv.kubernetes.io/provisioned-by"
)

// provisioner makes emulated volumes for claims and removes them after their claims, as a CSI driver would.
type provisioner struct {
	client kubernetes.Interface
	mounts string
	log    *log.Logger
	cancel context.CancelFunc
	done   chan struct{}

	mu      sync.Mutex
	devices map[string]*emulate.Device // by PersistentVolume
}

// startProvisioner serves claims until stop is called, even when ctx, that of the start, is over. Volumes are mounted below the folder mounts.
func startProvisioner(ctx context.Context, client kubernetes.Interface, mounts, logs string) (*provisioner, error) {
	file, err := os.Create(filepath.Join(logs, "provisioner.log"))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p := &provisioner{client: client, mounts: mounts, log: log.New(file, "", log.LstdFlags), cancel: cancel,
		done: make(chan struct{}), devices: map[string]*emulate.Device{}}
	go func() {
		defer close(p.done)
		defer file.Close()
		var last string
		for {
			// An API server that is away comes back: whatever failed is tried again, and told once.
			if err := p.look(ctx); err != nil && ctx.Err() == nil && err.Error() != last {
				last = err.Error()
				p.log.Print(last)
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(500 * time.Millisecond):
			}
		}
	}()
	return p, nil
}

func (p *provisioner) stop() {
	if p != nil {
		p.cancel()
		<-p.done
	}
}

// close removes all volumes that are left.
func (p *provisioner) close(ctx context.Context) error {
	if p == nil {
		return nil
	}
	var errs []error
	for name := range p.devices {
		errs = append(errs, p.remove(ctx, name))
	}
	return errors.Join(errs...)
}

func (p *provisioner) device(name string) *emulate.Device {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.devices[name]
}

// look serves every claim that waits and every volume that has been released.
func (p *provisioner) look(ctx context.Context) error {
	list, err := p.client.StorageV1().StorageClasses().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	classes := map[string]*storagev1.StorageClass{}
	for i := range list.Items {
		if class := &list.Items[i]; class.Provisioner == Provisioner || class.Provisioner == manifest.ProvisionerCSI {
			classes[class.Name] = class
		}
	}
	claims, err := p.client.CoreV1().PersistentVolumeClaims("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	volumes, err := p.client.CoreV1().PersistentVolumes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	var errs []error
	for i := range claims.Items {
		claim := &claims.Items[i]
		if claim.Spec.StorageClassName == nil || claim.Status.Phase != corev1.ClaimPending || claim.Spec.VolumeName != "" || claim.DeletionTimestamp != nil {
			continue
		}
		class := classes[*claim.Spec.StorageClassName]
		if class == nil || waits(class) && claim.Annotations[selectedNodeAnnotation] == "" || p.device(volumeName(claim)) != nil {
			continue
		}
		if err := p.provision(ctx, claim, class); err != nil {
			errs = append(errs, fmt.Errorf("claim %s/%s: %w", claim.Namespace, claim.Name, err), p.tell(ctx, claim, err))
		}
	}
	for i := range volumes.Items {
		pv := &volumes.Items[i]
		if p.device(pv.Name) == nil || pv.Status.Phase != corev1.VolumeReleased || pv.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimDelete {
			continue
		}
		errs = append(errs, p.reclaim(ctx, pv.Name))
	}
	return errors.Join(errs...)
}

func waits(class *storagev1.StorageClass) bool {
	return class.VolumeBindingMode != nil && *class.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer
}

func volumeName(claim *corev1.PersistentVolumeClaim) string { return "pvc-" + string(claim.UID) }

// provision makes a volume and its object for a claim.
func (p *provisioner) provision(ctx context.Context, claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass) error {
	name := volumeName(claim)
	device, path, err := p.attach(ctx, name, claim, class)
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.devices[name] = device
	p.mu.Unlock()
	host := claim.Annotations[selectedNodeAnnotation]
	if host == "" {
		host = NodeName(0) // of a class that does not wait for a pod
	}
	if _, err = p.client.CoreV1().PersistentVolumes().Create(ctx, volumeObject(name, path, host, claim, class), metav1.CreateOptions{}); err != nil {
		return errors.Join(err, p.remove(context.WithoutCancel(ctx), name))
	}
	p.log.Printf("made %s for claim %s/%s at %s", name, claim.Namespace, claim.Name, path)
	return nil
}

func volumeObject(name, path, host string, claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass) *corev1.PersistentVolume {
	pv := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{provisionedByAnnotation: class.Provisioner}},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:               corev1.ResourceList{corev1.ResourceStorage: claim.Spec.Resources.Requests[corev1.ResourceStorage]},
			PersistentVolumeSource: corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: path}},
			AccessModes:            claim.Spec.AccessModes,
			VolumeMode:             claim.Spec.VolumeMode,
			StorageClassName:       class.Name,
			ClaimRef: &corev1.ObjectReference{APIVersion: "v1", Kind: "PersistentVolumeClaim",
				Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID},
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{
					{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{host}},
					{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{Zone}},
				},
			}}}},
		},
	}
	if class.ReclaimPolicy != nil {
		pv.Spec.PersistentVolumeReclaimPolicy = *class.ReclaimPolicy
	}
	return pv
}

// reclaim removes a released volume and its object. The object goes last, as with a CSI driver: who waits for it knows then
// that the volume is gone.
func (p *provisioner) reclaim(ctx context.Context, name string) error {
	if err := p.remove(ctx, name); err != nil {
		return fmt.Errorf("removing %s: %w", name, err)
	}
	p.log.Printf("removed %s", name)
	err := p.client.CoreV1().PersistentVolumes().Delete(ctx, name, metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// tell gives the reason to whoever looks at the claim, once.
func (p *provisioner) tell(ctx context.Context, claim *corev1.PersistentVolumeClaim, reason error) error {
	now := metav1.Now()
	_, err := p.client.CoreV1().Events(claim.Namespace).Create(ctx, &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: claim.Name + ".provisioning-failed"},
		InvolvedObject: corev1.ObjectReference{APIVersion: "v1", Kind: "PersistentVolumeClaim",
			Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID},
		Type: corev1.EventTypeWarning, Reason: "ProvisioningFailed", Message: reason.Error(),
		Source: corev1.EventSource{Component: Provisioner}, FirstTimestamp: now, LastTimestamp: now, Count: 1,
	}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
