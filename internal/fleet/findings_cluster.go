package fleet

import (
	"fmt"
	"strings"

	"ebscope/internal/ebs"
)

// clusterFindings looks at the classes of a cluster, and at what will make volumes by them.
func clusterFindings(c *Cluster) []ClusterFinding {
	var found []ClusterFinding
	add := func(code Code, kind, namespace, name, format string, arguments ...any) {
		found = append(found, ClusterFinding{Finding{code, Warning, fmt.Sprintf(format, arguments...)}, c.Name, kind, namespace, name})
	}
	var defaults []string
	for _, class := range c.Classes {
		if class.Default {
			defaults = append(defaults, class.Name)
		}
	}
	effective := c.DefaultClass()
	switch {
	case len(defaults) > 1:
		add(TwoDefaultClasses, "StorageClass", "", effective.Name, "The classes %s are all marked as the default; claims without a class get the newest, %s.", strings.Join(defaults, ", "), effective.Name)
	case len(c.Classes) > 0 && effective == nil:
		add(NoDefaultClass, "", "", "", "No class is marked as the default: claims that name none stay pending.")
	}
	if effective != nil {
		kind, ours := effective.VolumeType()
		if ours && kind == ebs.GP2 {
			add(GP2DefaultClass, "StorageClass", "", effective.Name, "The default class %s makes gp2 volumes: every new claim without a class is one.", effective.Name)
		}
		if effective.Provisioner == InTreeDriver {
			add(InTreeDefaultClass, "StorageClass", "", effective.Name, "The default class %s is of the in-tree driver %s; what it makes takes no gp3 settings.", effective.Name, InTreeDriver)
		}
	}
	classes := index(c.Classes, func(x *StorageClass) string { return x.Name })
	for _, set := range c.StatefulSets {
		for _, t := range set.Templates {
			class, how := effective, "the default class"
			if t.Class != nil {
				class, how = classes[*t.Class], "the class"
			}
			if class == nil {
				continue
			}
			if kind, ours := class.VolumeType(); ours && kind == ebs.GP2 {
				add(TemplateGP2, "StatefulSet", set.Namespace, set.Name, "The volume template %s of StatefulSet %s/%s has %s %s: every new replica brings a gp2 volume.", t.Name, set.Namespace, set.Name, how, class.Name)
			}
		}
	}
	return found
}
