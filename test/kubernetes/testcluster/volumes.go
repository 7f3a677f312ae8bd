//go:build linux

package testcluster

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ebscope/internal/cluster/manifest"
	"ebscope/internal/emulate"
)

// StorageClasses of the cluster. A claim gets an emulated volume of its own size when its pod is scheduled, and the volume is
// removed with the claim. A test can make further classes with the same Provisioner and parameters.
const (
	GP2     = "emulated-gp2" // all time constants divided by Compress
	GP3     = "emulated-gp3" // the same, 3,000 IOPS and 125 MiB/s
	Results = "results"      // gp3 in real time, for what is not measured
)

// Compress is how many times the time constants of the classes GP2 and GP3 are divided.
const Compress = 60

// Provisioner is that of the classes. Their parameters are those of the EBS CSI driver (type, iops, throughput,
// csi.storage.k8s.io/fstype) and CreditsParameter; the annotation manifest.EmulatedAnnotation gives the compression. Classes of
// the EBS CSI driver itself, manifest.ProvisionerCSI, are served alike and in real time.
const Provisioner = "emulated.ebscope.dev"

// CreditsParameter of a class is the share of the burst credits that its volumes begin with: "30%".
const CreditsParameter = "credits"

// Volume is an emulated volume of the cluster.
type Volume struct {
	Name   string // of the PersistentVolume
	device *emulate.Device
}

// SetCredits sets the burst balance, from 0 to 1.
func (v *Volume) SetCredits(share float64) { v.device.SetCredits(share) }

// Credits returns the burst balance, from 0 to 1; zero where the volume has no bucket.
func (v *Volume) Credits() float64 {
	s := v.device.Stats()
	if s.CreditCapacity == 0 {
		return 0
	}
	return float64(s.Credits / s.CreditCapacity)
}

// Stats returns the volume's counters.
func (v *Volume) Stats() emulate.Stats { return v.device.Stats() }

// Volume returns the emulated volume that a claim is bound to.
func (c *Cluster) Volume(ctx context.Context, namespace, claim string) (*Volume, error) {
	if c.External() {
		return nil, errExternal
	}
	pvc, err := c.Client.CoreV1().PersistentVolumeClaims(namespace).Get(ctx, claim, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	device := c.volumes.device(pvc.Spec.VolumeName)
	if device == nil {
		return nil, fmt.Errorf("claim %s/%s is bound to %q, which is no emulated volume", namespace, claim, pvc.Spec.VolumeName)
	}
	return &Volume{Name: pvc.Spec.VolumeName, device: device}, nil
}

// startVolumes makes the StorageClasses and starts what serves their claims.
func (c *Cluster) startVolumes(ctx context.Context) error {
	wait, expand := storagev1.VolumeBindingWaitForFirstConsumer, false
	compressed := map[string]string{manifest.EmulatedAnnotation: fmt.Sprint(Compress)}
	for _, class := range []*storagev1.StorageClass{
		{ObjectMeta: metav1.ObjectMeta{Name: GP2, Annotations: compressed}, Parameters: map[string]string{"type": "gp2"}},
		{ObjectMeta: metav1.ObjectMeta{Name: GP3, Annotations: compressed}, Parameters: map[string]string{"type": "gp3"}},
		{ObjectMeta: metav1.ObjectMeta{Name: Results}, Parameters: map[string]string{"type": "gp3"}},
	} {
		remove := corev1.PersistentVolumeReclaimDelete
		class.Provisioner, class.VolumeBindingMode, class.AllowVolumeExpansion, class.ReclaimPolicy = Provisioner, &wait, &expand, &remove
		class.Parameters[fileSystemParameter] = "xfs"
		if _, err := c.Client.StorageV1().StorageClasses().Create(ctx, class, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	driver := &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: manifest.ProvisionerCSI}}
	if _, err := c.Client.StorageV1().CSIDrivers().Create(ctx, driver, metav1.CreateOptions{}); err != nil {
		return err
	}
	var err error
	c.volumes, err = startProvisioner(ctx, c.Client, c.file(mountsDir), c.Logs())
	return err
}
