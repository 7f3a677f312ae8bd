package manifest

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
)

// Permission is one verb on one kind of object, and why ebscope needs it.
type Permission struct {
	Group    string // API group; empty: core
	Resource string // with its subresource: "pods/exec"
	Name     string // of the only object it is needed for; empty: of all
	Verb     string
	Why      string
	Need     Need
}

// Need says for which runs a permission is needed.
type Need string

// The needs.
const (
	Always      Need = "every run"
	ToMakeClass Need = "runs that make a StorageClass, which is all without --storage-class or --pvc" // the results volume's included
	// ToMakeNamespace is needed only where the namespace does not exist yet.
	ToMakeNamespace Need = "runs whose namespace does not exist yet"
	// ForChecks is needed for a check before the run, which is left out without it.
	ForChecks Need = "checks that are left out without it"
)

// Permissions returns what ebscope needs for bench, status, attach, collect and cleanup: in the namespace of its runs, and in
// the cluster. Objects are applied on the server, which is a patch, and a create too where the object does not exist yet.
func Permissions() (namespaced, clusterWide []Permission) {
	return slices.Clone(namespacedPermissions), slices.Clone(clusterPermissions)
}

var namespacedPermissions = []Permission{
	{"", "configmaps", "", "get", "whether one of that name is there, and whose it is", Always},
	{"", "configmaps", "", "list", "finds the runs of a namespace and their records, from which attach, status and collect start", Always},
	{"", "configmaps", "", "create", "script, plan and job files", Always},
	{"", "configmaps", "", "patch", "the same, applied again", Always},
	{"", "configmaps", "", "delete", "cleanup", Always},

	{"", "persistentvolumeclaims", "", "get", "size, class and volume of a claim; an existing one before it is used", Always},
	{"", "persistentvolumeclaims", "", "list", "the volumes of a run, and whether all are gone", Always},
	{"", "persistentvolumeclaims", "", "watch", "waits until they are bound, and until they are gone", Always},
	{"", "persistentvolumeclaims", "", "create", "volumes under test, results volume", Always},
	{"", "persistentvolumeclaims", "", "patch", "the same, applied again", Always},
	{"", "persistentvolumeclaims", "", "delete", "cleanup", Always},

	{"", "pods", "", "get", "node, image digest and state of a pod", Always},
	{"", "pods", "", "list", "the pods of a run", Always},
	{"", "pods", "", "watch", "progress: scheduled, running, evicted, done", Always},
	{"", "pods", "", "create", "the collector, which reads the results volume", Always},
	{"", "pods", "", "patch", "the same, applied again", Always},
	{"", "pods", "", "delete", "removes the collector; cleanup", Always},
	{"", "pods/log", "", "get", "progress: the runner's lines", Always},
	{"", "pods/exec", "", "create", "streams the results out of the collector", Always},
	{"", "pods/exec", "", "get", "the same over WebSocket, whose handshake is a GET", Always},

	{"", "events", "", "list", "the cluster's own reason where a pod or claim is stuck; kept with the results", Always},
	{"", "events", "", "watch", "the same while a run is followed", Always},

	{"batch", "jobs", "", "get", "state of a run", Always},
	{"batch", "jobs", "", "list", "the Jobs of a run", Always},
	{"batch", "jobs", "", "watch", "waits until they are done", Always},
	{"batch", "jobs", "", "create", "runs the benchmark", Always},
	{"batch", "jobs", "", "patch", "the same, applied again", Always},
	{"batch", "jobs", "", "delete", "stops a run; cleanup", Always},

	{"policy", "poddisruptionbudgets", "", "get", "whether one of that name is the run's own, before it is applied", Always},
	{"policy", "poddisruptionbudgets", "", "list", "cleanup finds them", Always},
	{"policy", "poddisruptionbudgets", "", "create", "no drain evicts a pod in the middle of a measurement", Always},
	{"policy", "poddisruptionbudgets", "", "patch", "the same, applied again", Always},
	{"policy", "poddisruptionbudgets", "", "delete", "cleanup", Always},

	{"", "limitranges", "", "list", "refuses what the namespace would not admit before anything is made", ForChecks},
	{"", "resourcequotas", "", "list", "the same for quotas", ForChecks},
}

var clusterPermissions = []Permission{
	{"", "namespaces", "", "get", "whether the namespace exists and which Pod Security level it enforces", Always},
	{"", "namespaces", "", "create", "makes the namespace", ToMakeNamespace},
	{"", "namespaces", "", "patch", "the same, applied again", ToMakeNamespace},

	{"storage.k8s.io", "storageclasses", "", "get", "parameters of a class, for the report and for the checks", Always},
	{"storage.k8s.io", "storageclasses", "", "list", "cleanup finds them; names the classes there are where one is missing", Always},
	{"storage.k8s.io", "storageclasses", "", "create", "a class for each volume type under test", ToMakeClass},
	{"storage.k8s.io", "storageclasses", "", "patch", "the same, applied again", ToMakeClass},
	{"storage.k8s.io", "storageclasses", "", "delete", "cleanup", ToMakeClass},

	{"", "persistentvolumes", "", "get", "volume id and zone of a claim's volume", Always},
	{"", "persistentvolumes", "", "list", "which volumes a claim leaves behind", Always},
	{"", "persistentvolumes", "", "watch", "cleanup waits until they are gone", Always},

	{"", "nodes", "", "get", "instance type, zone and kernel of the node that measured", Always},
	{"", "nodes", "", "list", "whether a node fits the run", Always},

	{"storage.k8s.io", "csidrivers", "", "get", "whether the provisioner is installed", ForChecks},
	{"storage.k8s.io", "csidrivers", "", "list", "names the drivers there are where one is missing", ForChecks},
	{"storage.k8s.io", "csinodes", "", "list", "how many volumes a node takes", ForChecks},
	{"storage.k8s.io", "volumeattachments", "", "list", "how many of them are taken", ForChecks},
	{"apps", "daemonsets", "ebs-csi-node", "get", "version of the EBS CSI driver, from its image", ForChecks},
	{"karpenter.sh", "nodepools", "", "list", "whether a NodePool fits the run and lets its nodes live long enough", ForChecks},
}

// Rules returns Permissions as the rules of a Role and of a ClusterRole: one rule for each kind of object. To make namespaces
// is not among them, since a Role exists in a namespace that is there already.
func Rules() (namespaced, clusterWide []rbacv1.PolicyRule) {
	return rules(namespacedPermissions), rules(slices.DeleteFunc(slices.Clone(clusterPermissions), func(p Permission) bool {
		return p.Need == ToMakeNamespace
	}))
}

func rules(permissions []Permission) []rbacv1.PolicyRule {
	var all []rbacv1.PolicyRule
	for i, p := range permissions {
		if i > 0 && p.sameKind(permissions[i-1]) {
			last := &all[len(all)-1]
			last.Verbs = append(last.Verbs, p.Verb)
			continue
		}
		rule := rbacv1.PolicyRule{APIGroups: []string{p.Group}, Resources: []string{p.Resource}, Verbs: []string{p.Verb}}
		if p.Name != "" {
			rule.ResourceNames = []string{p.Name}
		}
		all = append(all, rule)
	}
	return all
}

func (p Permission) sameKind(o Permission) bool {
	return p.Group == o.Group && p.Resource == o.Resource && p.Name == o.Name
}
