package cluster

import (
	"context"
	"slices"
	"strings"

	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"

	"ebscope/internal/cluster/manifest"
	"ebscope/internal/ebs"
	"ebscope/internal/units"
)

// driverOf is the CSI driver that serves a provisioner's volumes; empty for one that is no CSI driver's.
func driverOf(provisioner string) string {
	switch {
	case provisioner == manifest.ProvisionerInTree: // migrated since Kubernetes 1.25
		return manifest.ProvisionerCSI
	case strings.HasPrefix(provisioner, "kubernetes.io/"):
		return ""
	}
	return provisioner
}

// provisioner finds out whether the drivers that are to make EBS volumes are installed. Others need not have a CSIDriver.
func (s *survey) provisioner(ctx context.Context) ([]Finding, error) {
	var all []Finding
	for _, p := range s.provisioners() {
		if !makesEBS(p) {
			continue
		}
		name := driverOf(p)
		_, err := s.Kubernetes.StorageV1().CSIDrivers().Get(ctx, name, metav1.GetOptions{})
		err = s.failed(err, "read CSIDriver %s", name)
		if err == nil {
			continue
		}
		if !isNotFound(err) {
			return all, err
		}
		there, err := s.Kubernetes.StorageV1().CSIDrivers().List(ctx, metav1.ListOptions{})
		if err != nil {
			return all, s.failed(err, "list CSIDrivers")
		}
		all = append(all, refuse("no-provisioner", "no EBS volume can be made: the CSI driver %s is not installed (%s): %s", name, listed("the cluster has", driverNames(there.Items)), remedy(name, there.Items)))
	}
	return all, nil
}

func driverNames(drivers []storagev1.CSIDriver) []string {
	names := make([]string, len(drivers))
	for i, d := range drivers {
		names[i] = d.Name
	}
	return names
}

// remedy says what to do about a driver that is not there.
func remedy(name string, there []storagev1.CSIDriver) string {
	for _, d := range there {
		if makesEBS(d.Name) && d.Name != name {
			return "use --provisioner " + d.Name
		}
	}
	if name == manifest.ProvisionerAutoMode {
		return "EKS Auto Mode is off here; use --provisioner " + manifest.ProvisionerCSI + " and its driver"
	}
	return "install the EKS add-on aws-ebs-csi-driver, or name classes that exist by --storage-class"
}

// Where the EBS CSI driver's manifests, chart and add-on put its node pods.
const (
	driverNamespace = "kube-system"
	driverDaemonSet = "ebs-csi-node"
	driverContainer = "ebs-plugin"
)

// DriverVersion is the version of the EBS CSI driver, from the tag of its image: "v1.51.1". It is empty where that says none.
// The error is a NotFoundError where the driver is not installed, or is somewhere else.
func (c *Client) DriverVersion(ctx context.Context) (string, error) {
	set, err := c.Kubernetes.AppsV1().DaemonSets(driverNamespace).Get(ctx, driverDaemonSet, metav1.GetOptions{})
	if err != nil {
		return "", c.failed(err, "read DaemonSet %s/%s", driverNamespace, driverDaemonSet)
	}
	for _, container := range set.Spec.Template.Spec.Containers {
		if container.Name == driverContainer {
			return tag(container.Image), nil
		}
	}
	return "", nil
}

// tag is an image's, without the digest and without the build of an EKS add-on.
func tag(image string) string {
	image, _, _ = strings.Cut(image, "@")
	_, t, found := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":")
	if !found {
		return ""
	}
	t, _, _ = strings.Cut(t, "-")
	return t
}

// What versions of the driver do wrong or cannot do yet, from its changelog.
var (
	brokenThroughput = []string{"1.50.0", "1.50.1", "1.51.0"}
	largeGP3         = version.MustParseGeneric("1.50.0")
)

// Limits of gp3 until September 2025, which older drivers know.
const (
	oldGP3IOPS       units.IOPS = 16000
	oldGP3Throughput            = 1000 * units.MiBPerSecond
)

// driver finds out whether the driver's version makes the volumes that the profile describes.
func (s *survey) driver(ctx context.Context) ([]Finding, error) {
	if !slices.ContainsFunc(s.provisioners(), func(p string) bool { return driverOf(p) == manifest.ProvisionerCSI }) {
		return nil, nil
	}
	tag, err := s.DriverVersion(ctx)
	if isNotFound(err) {
		return nil, nil // installed under another name
	}
	if err != nil {
		return nil, err
	}
	v, err := version.ParseGeneric(tag)
	if err != nil {
		return nil, nil //nolint:nilerr // a tag that is no version says nothing
	}
	var all []Finding
	for _, volume := range s.Spec.Volumes {
		if volume.Claim != "" || volume.Config.Type != ebs.GP3 {
			continue
		}
		config := s.Catalog.Provisioned(volume.Config)
		if slices.Contains(brokenThroughput, v.String()) && volume.Config.Throughput != 0 {
			all = append(all, warn("driver-version", "volume %s: version %s of the EBS CSI driver gets a gp3 volume's throughput wrong: use 1.50.2, or 1.51.1 or later", volume.Name, v))
		}
		if v.LessThan(largeGP3) && (config.IOPS > oldGP3IOPS || config.Throughput > oldGP3Throughput) {
			all = append(all, warn("driver-version", "volume %s: version %s of the EBS CSI driver knows gp3 up to %v and %v only: use 1.51.1 or later", volume.Name, v, oldGP3IOPS, oldGP3Throughput))
		}
	}
	return all, nil
}
