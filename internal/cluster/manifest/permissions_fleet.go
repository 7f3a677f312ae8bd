package manifest

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
)

// ScanPermissions returns what a scan needs, all of it in the cluster. It changes nothing.
func ScanPermissions() []Permission { return slices.Clone(scanPermissions) }

// MigratePermissions returns what a migration needs, all of it in the cluster: what a scan reads, and the changes.
func MigratePermissions() []Permission {
	all := ScanPermissions()
	for _, p := range migratePermissions {
		// The verbs on one kind of object stay together, as one rule has them.
		i := len(all)
		for i > 0 && !all[i-1].sameKind(p) {
			i--
		}
		if i == 0 {
			i = len(all)
		}
		all = slices.Insert(all, i, p)
	}
	return all
}

var scanPermissions = []Permission{
	{"", "namespaces", "kube-system", "get", "its UID, which tells clusters apart", Always},
	{"", "persistentvolumeclaims", "", "list", "who claims a volume, of which size and class", Always},
	{"", "persistentvolumes", "", "list", "which EBS volume is behind a claim", Always},
	{"", "pods", "", "list", "which pods use a claim, and on which node", Always},
	{"", "nodes", "", "list", "the EC2 instance of a node", Always},
	{"storage.k8s.io", "storageclasses", "", "list", "the default class, and of which type its volumes are", Always},
	{"storage.k8s.io", "volumeattributesclasses", "", "list", "what claims have been changed to, or can be", Always},
	{"storage.k8s.io", "csidrivers", "", "list", "which EBS CSI driver there is", Always},
	{"apps", "statefulsets", "", "list", "volume templates, which make the next volumes", Always},
	{"apps", "daemonsets", "ebs-csi-node", "get", "version of the EBS CSI driver, from its image", Always},
	{"apps", "deployments", "ebs-csi-controller", "get", "version and feature gates of csi-resizer, which changes volumes", Always},
}

var migratePermissions = []Permission{
	{"", "persistentvolumeclaims", "", "get", "what a claim asks for before it is changed, and how the change comes along", Always},
	{"", "persistentvolumeclaims", "", "patch", "lets a claim ask for another VolumeAttributesClass and size", Always},
	{"storage.k8s.io", "storageclasses", "", "get", "whether a gp3 class of that name is there, and the same", Always},
	{"storage.k8s.io", "storageclasses", "", "create", "a gp3 class for the default, where there is none", Always},
	{"storage.k8s.io", "storageclasses", "", "patch", "moves the mark of the default class, and nothing else", Always},
	{"storage.k8s.io", "volumeattributesclasses", "", "get", "whether a class of that name is there, and the same", Always},
	{"storage.k8s.io", "volumeattributesclasses", "", "create", "a class for each setting that volumes are moved to", Always},
	{"storage.k8s.io", "volumeattributesclasses", "", "patch", "the same: it is applied on the server", Always},
}

// ScanRules returns ScanPermissions as the rules of a ClusterRole.
func ScanRules() []rbacv1.PolicyRule { return rules(ScanPermissions()) }

// MigrateRules returns MigratePermissions as the rules of a ClusterRole.
func MigrateRules() []rbacv1.PolicyRule { return rules(MigratePermissions()) }
