package cluster

import (
	"context"
	"slices"
	"strings"

	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ebscope/internal/fleet"
)

// The versions of VolumeAttributesClass, as fleet.Cluster has them.
const (
	attributesV1   = "v1"
	attributesBeta = "v1beta1"
)

// AttributesAPI returns the newest version of VolumeAttributesClass that the server has, "v1" or "v1beta1"; empty where it
// has none. The beta has to be switched on.
func (c *Client) AttributesAPI(ctx context.Context) (string, error) {
	for _, version := range []string{attributesV1, attributesBeta} {
		served, err := heeding(ctx, func() (*metav1.APIResourceList, error) {
			return c.Kubernetes.Discovery().ServerResourcesForGroupVersion(storagev1.GroupName + "/" + version)
		})
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return "", c.failed(err, "ask for the kinds of %s/%s", storagev1.GroupName, version)
		}
		if slices.ContainsFunc(served.APIResources, func(a metav1.APIResource) bool { return a.Name == "volumeattributesclasses" }) {
			return version, nil
		}
	}
	return "", nil
}

// heeding lets a request that takes no context end with one.
func heeding[T any](ctx context.Context, ask func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	given := make(chan answer, 1)
	go func() {
		value, err := ask()
		given <- answer{value, err}
	}()
	select {
	case a := <-given:
		return a.value, a.err
	case <-ctx.Done():
		return *new(T), ctx.Err()
	}
}

func (r *reading) version(ctx context.Context) {
	info, err := heeding(ctx, r.client.Kubernetes.Discovery().ServerVersion)
	if err != nil {
		r.miss("get /version", "", r.client.failed(err, "ask for the server's version"))
		return
	}
	r.cluster.Server = info.GitVersion
}

// drivers finds the drivers that make EBS volumes.
func (r *reading) drivers(ctx context.Context) {
	names := read(ctx, r, "csidrivers.storage.k8s.io", "", source[*storagev1.CSIDriverList, storagev1.CSIDriver, string]{
		list:  r.client.Kubernetes.StorageV1().CSIDrivers().List,
		items: func(l *storagev1.CSIDriverList) []storagev1.CSIDriver { return l.Items },
		keep: func(d *storagev1.CSIDriver) (string, bool) {
			return d.Name, d.Name == fleet.EBSDriver || d.Name == fleet.EKSAutoDriver
		},
	})
	for _, name := range names {
		d := fleet.Driver{Name: name}
		if name == fleet.EBSDriver { // the parts of EKS Auto Mode's are not in the cluster
			r.parted(ctx, &d)
		}
		r.cluster.Drivers = append(r.cluster.Drivers, d)
	}
}

// The Deployment of the EBS CSI driver with the resizer, which carries out changes of claims.
const (
	controllerDeployment = "ebs-csi-controller"
	resizerContainer     = "csi-resizer"
	gatesFlag            = "--feature-gates"
)

// parted looks at the parts of the EBS CSI driver. Where they are not where its manifests put them, their versions stay
// unknown, and nothing is missing that could be had.
func (r *reading) parted(ctx context.Context, d *fleet.Driver) {
	version, err := r.client.DriverVersion(ctx)
	if err != nil && !isNotFound(err) {
		r.miss("get daemonsets.apps "+driverDaemonSet, driverNamespace, err)
	}
	d.Version = version
	deployment, err := r.client.Kubernetes.AppsV1().Deployments(driverNamespace).Get(ctx, controllerDeployment, metav1.GetOptions{})
	if err != nil {
		if err = r.client.failed(err, "read Deployment %s/%s", driverNamespace, controllerDeployment); !isNotFound(err) {
			r.miss("get deployments.apps "+controllerDeployment, driverNamespace, err)
		}
		return
	}
	for _, container := range deployment.Spec.Template.Spec.Containers {
		if container.Name == resizerContainer {
			d.Resizer, d.Gates = tag(container.Image), gates(container.Args)
		}
	}
}

// gates reads the feature gates of a program's arguments: "--feature-gates=VolumeAttributesClass=true,…", in one word or two.
func gates(args []string) map[string]string {
	var found map[string]string
	for i, arg := range args {
		name, list, joined := strings.Cut(arg, "=")
		if name != gatesFlag {
			continue
		}
		if !joined && i+1 < len(args) {
			list = args[i+1]
		}
		for gate := range strings.SplitSeq(list, ",") {
			if key, value, ok := strings.Cut(gate, "="); ok {
				if found == nil {
					found = map[string]string{}
				}
				found[strings.TrimSpace(key)] = strings.TrimSpace(value)
			}
		}
	}
	return found
}
