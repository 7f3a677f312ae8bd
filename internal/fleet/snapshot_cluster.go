package fleet

import "time"

// Cluster is what was read of a Kubernetes cluster.
type Cluster struct {
	// UID is that of the namespace kube-system, which tells clusters apart; Name is what its user calls it.
	UID  UID    `json:"uid"`
	Name string `json:"name"`
	// Server is the API server's version, such as "v1.36.3".
	Server string `json:"server_version"`
	// AttributesAPI is the newest served version of VolumeAttributesClass: "v1", "v1beta1", or empty where there is none.
	AttributesAPI string   `json:"attributes_api,omitempty"`
	Drivers       []Driver `json:"drivers,omitempty"`

	Claims            []Claim            `json:"-"`
	Volumes           []PersistentVolume `json:"-"`
	Classes           []StorageClass     `json:"-"`
	AttributesClasses []AttributesClass  `json:"-"`
	Pods              []Pod              `json:"-"`
	StatefulSets      []StatefulSet      `json:"-"`
	Nodes             []Node             `json:"-"`
}

// The drivers that make EBS volumes.
const (
	EBSDriver     = "ebs.csi.aws.com"
	EKSAutoDriver = "ebs.csi.eks.amazonaws.com" // of EKS Auto Mode; its parts run where nobody sees them
	InTreeDriver  = "kubernetes.io/aws-ebs"
)

// Driver is a CSI driver in a cluster. Versions are empty where they could not be told.
type Driver struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"` // such as "v1.64.0"
	// Resizer is the version of csi-resizer beside it, Gates the feature gates that the resizer is given.
	Resizer string            `json:"resizer,omitempty"`
	Gates   map[string]string `json:"resizer_gates,omitempty"`
}

// Claim is a PersistentVolumeClaim.
type Claim struct {
	UID             UID    `json:"uid"`
	Namespace       string `json:"namespace"`
	Name            string `json:"name"`
	ResourceVersion string `json:"resource_version,omitempty"`
	// Class is nil where the claim asks for the default class, and empty where it asks for none.
	Class          *string `json:"class,omitempty"`
	Volume         string  `json:"volume,omitempty"` // name of the PersistentVolume
	Phase          string  `json:"phase,omitempty"`
	RequestedBytes int64   `json:"requested_bytes,omitempty"`
	CapacityBytes  int64   `json:"capacity_bytes,omitempty"`
	// AttributesClass is the one that is asked for, CurrentAttributesClass the one in force.
	AttributesClass        string            `json:"attributes_class,omitempty"`
	CurrentAttributesClass string            `json:"current_attributes_class,omitempty"`
	Modify                 *ModifyStatus     `json:"modify_status,omitempty"`
	AccessModes            []string          `json:"access_modes,omitempty"`
	Deleting               bool              `json:"deleting,omitempty"`
	Labels                 map[string]string `json:"labels,omitempty"`
	Annotations            map[string]string `json:"annotations,omitempty"`
}

// ModifyStatus is how far a claim's change to another VolumeAttributesClass is.
type ModifyStatus struct {
	Target string `json:"target"`
	Status string `json:"status"` // "Pending", "InProgress", "Infeasible"
}

// PersistentVolume is a PersistentVolume that is, or may be, an EBS volume.
type PersistentVolume struct {
	UID  UID    `json:"uid"`
	Name string `json:"name"`
	// Driver and Handle are those of spec.csi. A volume without, of awsElasticBlockStore, has InTree: its volumeID, such
	// as "aws://ap-northeast-2a/vol-0123456789abcdef0".
	Driver string `json:"driver,omitempty"`
	Handle string `json:"handle,omitempty"`
	InTree string `json:"in_tree,omitempty"`
	// ClaimUID, ClaimNamespace and ClaimName are of spec.claimRef.
	ClaimUID       UID    `json:"claim_uid,omitempty"`
	ClaimNamespace string `json:"claim_namespace,omitempty"`
	ClaimName      string `json:"claim_name,omitempty"`
	Class          string `json:"class,omitempty"`
	// AttributesClass is the VolumeAttributesClass in force.
	AttributesClass string            `json:"attributes_class,omitempty"`
	Phase           string            `json:"phase,omitempty"`
	Reclaim         string            `json:"reclaim,omitempty"` // "Delete" or "Retain"
	CapacityBytes   int64             `json:"capacity_bytes,omitempty"`
	Labels          map[string]string `json:"labels,omitempty"`
	Annotations     map[string]string `json:"annotations,omitempty"`
}

// StorageClass is a StorageClass.
type StorageClass struct {
	UID             UID    `json:"uid"`
	Name            string `json:"name"`
	ResourceVersion string `json:"resource_version,omitempty"`
	Provisioner     string `json:"provisioner"`
	// Default says that it is annotated as the default class, in the present form or the beta one.
	Default     bool              `json:"default,omitempty"`
	Created     time.Time         `json:"created,omitzero"`
	Parameters  map[string]string `json:"parameters,omitempty"`
	Reclaim     string            `json:"reclaim,omitempty"`
	Binding     string            `json:"binding,omitempty"`
	Expandable  bool              `json:"expandable,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// AttributesClass is a VolumeAttributesClass.
type AttributesClass struct {
	UID        UID               `json:"uid"`
	Name       string            `json:"name"`
	Driver     string            `json:"driver"`
	Parameters map[string]string `json:"parameters,omitempty"`
	Labels     map[string]string `json:"labels,omitempty"`
}

// Pod is a pod with claims: who uses a volume, and where.
type Pod struct {
	UID       UID      `json:"uid"`
	Namespace string   `json:"namespace"`
	Name      string   `json:"name"`
	Node      string   `json:"node,omitempty"`
	Phase     string   `json:"phase,omitempty"`
	Claims    []string `json:"claims"` // names, in the pod's namespace
}

// StatefulSet is a StatefulSet with volume templates: the claims that it will make.
type StatefulSet struct {
	UID       UID               `json:"uid"`
	Namespace string            `json:"namespace"`
	Name      string            `json:"name"`
	Replicas  int64             `json:"replicas"`
	Templates []Template        `json:"templates"`
	Labels    map[string]string `json:"labels,omitempty"`
	// Annotations say, among others, which Helm release it belongs to.
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Template is a volume template. The claims are named after it, the set and a number: data-mysql-0.
type Template struct {
	Name           string  `json:"name"`
	Class          *string `json:"class,omitempty"` // as in Claim
	RequestedBytes int64   `json:"requested_bytes,omitempty"`
}

// Node is a node.
type Node struct {
	UID      UID        `json:"uid"`
	Name     string     `json:"name"`
	Instance InstanceID `json:"instance,omitempty"` // of its providerID; empty outside AWS
	Type     string     `json:"type,omitempty"`     // label node.kubernetes.io/instance-type
	Zone     string     `json:"zone,omitempty"`     // label topology.kubernetes.io/zone
}
