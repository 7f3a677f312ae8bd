package migration

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ebscope/internal/ebs"
	"ebscope/internal/fleet"
)

// newDefault is the name of a StorageClass that a plan makes.
const newDefault = "ebscope-gp3"

// defaultClass plans the default StorageClass of a cluster, nil where it is right: one, and not gp2 nor in-tree.
func defaultClass(c *fleet.Cluster) *DefaultClass {
	var defaults []*fleet.StorageClass
	for i := range c.Classes {
		if c.Classes[i].Default {
			defaults = append(defaults, &c.Classes[i])
		}
	}
	now := c.DefaultClass()
	if now == nil {
		return nil // a cluster without a default may be meant so
	}
	kind, isEBS := now.VolumeType()
	if !isEBS || kind == ebs.GP3 && now.Provisioner != fleet.InTreeDriver && len(defaults) == 1 {
		return nil
	}
	move := DefaultClass{Cluster: c.Name, ClusterUID: c.UID, From: []string{}}
	for _, d := range defaults {
		move.From = append(move.From, d.Name)
	}
	slices.Sort(move.From)
	if best := gp3Class(c); best != nil {
		move.To = best.Name
		return &move
	}
	move.To = newDefault
	move.Create = &NewStorageClass{Provisioner: fleet.EBSDriver, Parameters: map[string]string{"type": string(ebs.GP3)},
		Reclaim: cmp.Or(now.Reclaim, "Delete"), Binding: "WaitForFirstConsumer", Expandable: true}
	if slices.ContainsFunc(c.Drivers, func(d fleet.Driver) bool { return d.Name == fleet.EKSAutoDriver }) &&
		!slices.ContainsFunc(c.Drivers, func(d fleet.Driver) bool { return d.Name == fleet.EBSDriver }) {
		move.Create.Provisioner = fleet.EKSAutoDriver
	}
	if now.Parameters["encrypted"] == "true" { // what was encrypted by default stays so
		move.Create.Parameters["encrypted"] = "true"
		if key := now.Parameters["kmsKeyId"]; key != "" {
			move.Create.Parameters["kmsKeyId"] = key
		}
	}
	return &move
}

// gp3Class is the gp3 class that is best made the default: one that is it already, then the first by name of those whose
// volumes can grow. Nil where there is none.
func gp3Class(c *fleet.Cluster) *fleet.StorageClass {
	var best *fleet.StorageClass
	rank := func(s *fleet.StorageClass) int {
		n := 0
		if s.Default {
			n += 2
		}
		if s.Expandable {
			n++
		}
		return n
	}
	for i := range c.Classes {
		s := &c.Classes[i]
		if kind, isEBS := s.VolumeType(); !isEBS || kind != ebs.GP3 || s.Provisioner == fleet.InTreeDriver {
			continue
		}
		if best == nil || rank(s) > rank(best) || rank(s) == rank(best) && s.Name < best.Name {
			best = s
		}
	}
	return best
}

// templates finds the volume templates that make gp2 volumes whatever the default class is.
func templates(c *fleet.Cluster, target string) []TemplateChange {
	classes := map[string]*fleet.StorageClass{}
	for i := range c.Classes {
		classes[c.Classes[i].Name] = &c.Classes[i]
	}
	if class := classes[target]; target == "" || class != nil && !makesGP3(class) {
		target = newDefault
		if best := gp3Class(c); best != nil {
			target = best.Name
		}
	}
	var all []TemplateChange
	for i := range c.StatefulSets {
		set := &c.StatefulSets[i]
		for _, t := range set.Templates {
			if t.Class == nil || classes[*t.Class] == nil { // the default class, which the plan sees to
				continue
			}
			if kind, isEBS := classes[*t.Class].VolumeType(); !isEBS || kind != ebs.GP2 {
				continue
			}
			all = append(all, templateChange(c, set, t, target))
		}
	}
	slices.SortFunc(all, func(a, b TemplateChange) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.StatefulSet, b.StatefulSet), cmp.Compare(a.Template, b.Template))
	})
	return all
}

func makesGP3(c *fleet.StorageClass) bool {
	kind, isEBS := c.VolumeType()
	return isEBS && kind == ebs.GP3
}

func templateChange(c *fleet.Cluster, set *fleet.StatefulSet, t fleet.Template, target string) TemplateChange {
	change := TemplateChange{Cluster: c.Name, Namespace: set.Namespace, StatefulSet: set.Name, Template: t.Name, Class: *t.Class, To: target,
		Helm: set.Annotations["meta.helm.sh/release-name"]}
	at := fmt.Sprintf("-n %s statefulset %s", quoted(set.Namespace), quoted(set.Name))
	script := []string{
		fmt.Sprintf("kubectl get %s -o json \\", at),
		fmt.Sprintf("  | jq '(.spec.volumeClaimTemplates[] | select(.metadata.name == %q)).spec.storageClassName = %q", t.Name, target),
		"      | del(.status, .metadata.uid, .metadata.resourceVersion, .metadata.creationTimestamp, .metadata.generation, .metadata.managedFields)' > new.json",
		fmt.Sprintf("kubectl delete %s --cascade=orphan", at),
		"kubectl apply -f new.json",
	}
	change.Text = fmt.Sprintf("StatefulSet %s/%s makes volumes of class %s, which are gp2, whenever it grows. Its templates cannot be changed in place: delete it without its pods, and make it anew.",
		set.Namespace, set.Name, *t.Class)
	if change.Helm != "" {
		change.Text = fmt.Sprintf("StatefulSet %s/%s makes volumes of class %s, which are gp2, whenever it grows. It belongs to Helm release %s: set its storageClass to %s in the values (often persistence.storageClass), delete the set without its pods, and upgrade the release.",
			set.Namespace, set.Name, *t.Class, change.Helm, target)
		script = []string{
			fmt.Sprintf("kubectl delete %s --cascade=orphan", at),
			fmt.Sprintf("helm upgrade %s CHART -n %s --reuse-values --set persistence.storageClass=%s", quoted(change.Helm), quoted(set.Namespace), quoted(target)),
		}
	}
	change.Patch = strings.Join(script, "\n")
	return change
}

// quoted makes a text one word of a shell.
func quoted(text string) string {
	plain := strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@=,+")
	if text != "" && plain == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
