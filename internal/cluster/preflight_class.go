package cluster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ebscope/internal/cluster/manifest"
	"ebscope/internal/ebs"
	"ebscope/internal/units"
)

// className is the existing class of a volume: named, or its claim's. It is empty where the run makes one, or the claim
// has none.
func (s *survey) className(v manifest.Volume) string {
	if v.Claim == "" {
		return v.Class
	}
	if c := s.claims[v.Claim]; c != nil && c.Spec.StorageClassName != nil {
		return *c.Spec.StorageClassName
	}
	return ""
}

// inspectClasses looks at the StorageClasses that exist already: what they make should be what the profile says.
func (s *survey) inspectClasses(ctx context.Context) ([]Finding, error) {
	var all []Finding
	add := func(found []Finding, err error) error {
		all = append(all, found...)
		return err
	}
	if s.Spec.ResultsClass != "" {
		if err := add(s.class(ctx, s.Spec.ResultsClass)); err != nil {
			return all, err
		}
	}
	for _, v := range s.Spec.Volumes {
		name := s.className(v)
		if name == "" {
			continue
		}
		found, err := s.class(ctx, name)
		if v.Claim != "" {
			found = nil // a claim outlives its class
		}
		if err := add(found, err); err != nil {
			return all, err
		}
		if class := s.classes[name]; class != nil {
			all = append(all, s.differs(v, class)...)
		}
	}
	for _, class := range s.usedClasses() {
		all = append(all, habits(class)...)
	}
	return all, nil
}

// habits finds what a class does with the volumes that it makes, other than the run's own classes.
func habits(class *storagev1.StorageClass) (found []Finding) {
	if !makesEBS(class.Provisioner) {
		return nil
	}
	if m := class.VolumeBindingMode; m == nil || *m == storagev1.VolumeBindingImmediate {
		found = append(found, warn("immediate", "StorageClass %s makes volumes before their pod has a node (volumeBindingMode Immediate), so that two may be in different zones and the pod nowhere: "+
			"use a class with WaitForFirstConsumer", class.Name))
	}
	if p := class.ReclaimPolicy; p != nil && *p == corev1.PersistentVolumeReclaimRetain {
		found = append(found, warn("retain", "StorageClass %s keeps volumes whose claims are gone (reclaimPolicy Retain), and they go on to cost money: delete them yourself after the cleanup, or use a class with Delete", class.Name))
	}
	return found
}

// class reads a class once.
func (s *survey) class(ctx context.Context, name string) ([]Finding, error) {
	if s.classes[name] != nil {
		return nil, nil
	}
	api := s.Kubernetes.StorageV1().StorageClasses()
	class, err := api.Get(ctx, name, metav1.GetOptions{})
	err = s.failed(err, "read StorageClass %s", name)
	if err == nil {
		s.classes[name] = class
		return nil, nil
	}
	if !isNotFound(err) {
		return nil, err
	}
	there, err := api.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, s.failed(err, "list StorageClasses")
	}
	names := make([]string, len(there.Items))
	for i, c := range there.Items {
		names[i] = c.Name
	}
	return []Finding{refuse("no-class", "there is no StorageClass %s; %s", name, listed("the cluster has", names))}, nil
}

func listed(what string, names []string) string {
	if len(names) == 0 {
		return what + " none"
	}
	slices.Sort(names)
	return what + " " + strings.Join(names, ", ")
}

// differs finds where a class makes another volume than the profile describes: the report would hold figures against the
// wrong limits.
func (s *survey) differs(v manifest.Volume, class *storagev1.StorageClass) []Finding {
	if class.Annotations[manifest.EmulatedAnnotation] != "" {
		return nil // whoever made the emulation chose its parameters
	}
	if !makesEBS(class.Provisioner) {
		return []Finding{warn("not-ebs", "volume %s: StorageClass %s has the provisioner %s, which makes no EBS volumes: figures will be held against the limits of %v",
			v.Name, class.Name, class.Provisioner, v.Config)}
	}
	if c := s.claims[v.Claim]; c != nil && c.Status.CurrentVolumeAttributesClassName != nil {
		return nil // it has been changed since its class made it
	}
	wanted := s.Catalog.Provisioned(v.Config)
	made, err := madeBy(class, v.Config.Size)
	if err != nil {
		return []Finding{warn("class-parameters", "volume %s: StorageClass %s: %v", v.Name, class.Name, err)}
	}
	if made = s.Catalog.Provisioned(made); made == wanted {
		return nil
	}
	return []Finding{warn("class-parameters", "volume %s: StorageClass %s makes %v, and the profile says %v: use another class, or change the profile's volume", v.Name, class.Name, made, wanted)}
}

func makesEBS(provisioner string) bool {
	return provisioner == manifest.ProvisionerCSI || provisioner == manifest.ProvisionerAutoMode || provisioner == manifest.ProvisionerInTree
}

// madeBy is the volume that a class of EBS makes, https://github.com/kubernetes-sigs/aws-ebs-csi-driver/blob/master/docs/parameters.md:
// keys in any case, IOPS absolute or for each GiB, throughput in MiB/s.
func madeBy(class *storagev1.StorageClass, size units.Bytes) (ebs.Volume, error) {
	v := ebs.Volume{Type: ebs.GP3, Size: size}
	if class.Provisioner == manifest.ProvisionerInTree {
		v.Type = ebs.GP2
	}
	for key, value := range class.Parameters {
		key = strings.ToLower(key)
		switch key {
		case "type":
			v.Type = ebs.Type(value)
			continue
		case "iops", "iopspergb", "throughput":
		default:
			continue
		}
		number, err := strconv.Atoi(value)
		if err != nil {
			return v, fmt.Errorf("its parameter %s is %q, which is no whole number", key, value)
		}
		switch key {
		case "iops":
			v.IOPS = units.IOPS(number)
		case "iopspergb":
			v.IOPS = units.IOPS(float64(number) * size.GiB())
		case "throughput":
			v.Throughput = units.Throughput(number) * units.MiBPerSecond
		}
	}
	return v, nil
}

// compression finds volumes whose time constants are not those of the run: a real bucket cannot be made smaller.
func (s *survey) compression(context.Context) ([]Finding, error) {
	var all []Finding
	for _, v := range s.Spec.Volumes {
		name := s.className(v)
		if v.Claim != "" && s.claims[v.Claim] == nil || v.Claim == "" && name != "" && s.classes[name] == nil {
			continue // what it names does not exist, which has been said
		}
		said, where := "", "a class that the run makes"
		if v.Claim != "" {
			where = "claim " + v.Claim
		}
		if class := s.classes[name]; class != nil {
			said, where = class.Annotations[manifest.EmulatedAnnotation], "StorageClass "+class.Name
		}
		if said == "" && s.Compress == 1 {
			continue
		}
		if k, err := strconv.ParseFloat(said, 64); err == nil && k == s.Compress {
			continue
		}
		if said == "" {
			all = append(all, refuse("not-compressed", "volume %s comes from %s, and a run compressed %v times needs an emulated one that is compressed too "+
				"(a class with the annotation %s: %q): leave --compress out", v.Name, where, s.Compress, manifest.EmulatedAnnotation, strconv.FormatFloat(s.Compress, 'f', -1, 64)))
			continue
		}
		all = append(all, refuse("not-compressed", "volume %s comes from %s, whose volumes are emulated and compressed %s times, and the run %v times: use --compress %s",
			v.Name, where, said, s.Compress, said))
	}
	return all, nil
}

// provisioners are those of all classes in use, the run's own among them.
func (s *survey) provisioners() []string {
	all := map[string]bool{}
	for _, c := range s.classes {
		all[c.Provisioner] = true
	}
	for _, o := range s.Objects {
		if c, ok := o.(*storagev1.StorageClass); ok {
			all[c.Provisioner] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}
