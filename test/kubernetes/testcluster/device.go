//go:build linux

package testcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"ebscope/internal/cluster/manifest"
	"ebscope/internal/ebs"
	"ebscope/internal/emulate"
	"ebscope/internal/model"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

const fileSystemParameter = "csi.storage.k8s.io/fstype"

// settings are what a class and a claim say about a volume.
type settings struct {
	volume     ebs.Volume
	compress   float64
	credits    float64
	fileSystem string // empty: a raw device
}

func readSettings(claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass) (settings, error) {
	size := claim.Spec.Resources.Requests[corev1.ResourceStorage]
	s := settings{volume: ebs.Volume{Type: "gp3", Size: units.Bytes(size.Value())}, compress: 1, credits: 1, fileSystem: "ext4"}
	if t := class.Parameters["type"]; t != "" {
		s.volume.Type = ebs.Type(t)
	}
	if f := class.Parameters[fileSystemParameter]; f != "" {
		s.fileSystem = f
	}
	if mode := claim.Spec.VolumeMode; mode != nil && *mode == corev1.PersistentVolumeBlock {
		s.fileSystem = ""
	}
	for _, n := range []struct {
		text string
		set  func(float64)
	}{
		{class.Parameters["iops"], func(f float64) { s.volume.IOPS = units.IOPS(f) }},
		{class.Parameters["throughput"], func(f float64) { s.volume.Throughput = units.Throughput(f) * units.MiBPerSecond }},
		{class.Annotations[manifest.EmulatedAnnotation], func(f float64) { s.compress = f }},
	} {
		if n.text == "" {
			continue
		}
		value, err := strconv.ParseFloat(n.text, 64)
		if err != nil {
			return s, fmt.Errorf("StorageClass %s: %w", class.Name, err)
		}
		n.set(value)
	}
	if text := class.Parameters[CreditsParameter]; text != "" {
		share, err := workload.ParsePercent(text)
		if err != nil {
			return s, fmt.Errorf("StorageClass %s: %s: %w", class.Name, CreditsParameter, err)
		}
		s.credits = share
	}
	return s, ebs.Embedded().Validate(s.volume)
}

// attach makes the volume of a claim and starts its clock. It returns the device, and where the volume is: a folder or a block
// device. Each volume has a host of its own, since a host's clock has to stand while a volume is formatted: two volumes do not
// share the limits of the instance.
func (p *provisioner) attach(ctx context.Context, name string, claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass) (*emulate.Device, string, error) {
	s, err := readSettings(claim, class)
	if err != nil {
		return nil, "", err
	}
	instance, err := ebs.Embedded().Instance(InstanceType)
	if err != nil {
		return nil, "", err
	}
	device, err := emulate.Attach(ctx, emulate.Config{
		Name: name, Volume: s.volume, Host: emulate.NewHost(&instance, s.compress), Compress: s.compress,
		Latency: model.DefaultLatency, Seed: 1,
	})
	if err != nil {
		return nil, "", err
	}
	path, err := prepare(ctx, device, s, filepath.Join(p.mounts, name))
	if err != nil {
		return nil, "", errors.Join(err, device.Close(context.WithoutCancel(ctx)))
	}
	return device, path, nil
}

func prepare(ctx context.Context, device *emulate.Device, s settings, dir string) (string, error) {
	path := device.Path()
	if s.fileSystem != "" {
		if err := device.Format(ctx, s.fileSystem); err != nil {
			return "", err
		}
		if err := os.Mkdir(dir, 0o755); err != nil {
			return "", err
		}
		if _, err := device.Mount(s.fileSystem, dir); err != nil {
			return "", err
		}
		path = dir
	}
	device.SetCredits(s.credits)
	return path, device.Host().Start()
}

// remove takes a volume away.
func (p *provisioner) remove(ctx context.Context, name string) error {
	p.mu.Lock()
	device := p.devices[name]
	delete(p.devices, name)
	p.mu.Unlock()
	if device == nil {
		return nil
	}
	err := errors.Join(detachHolders(device.Path(), false), device.Close(ctx))
	if dirErr := os.Remove(filepath.Join(p.mounts, name)); !errors.Is(dirErr, os.ErrNotExist) {
		err = errors.Join(err, dirErr)
	}
	return err
}
