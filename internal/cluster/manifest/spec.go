// Package manifest writes a benchmark as Kubernetes objects: everything that a cluster needs to run it on its own.
package manifest

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"ebscope/internal/cluster/runner"
	"ebscope/internal/ebs"
)

// Labels and annotations of what ebscope makes. Cleanup removes what carries them, and nothing else.
const (
	ManagedByLabel = "app.kubernetes.io/managed-by"
	ManagedBy      = "ebscope"
	RunLabel       = "ebscope.dev/run"    // the run's name in the cluster, see Name
	PairLabel      = "ebscope.dev/pair"   // which of several replicas, from 0
	VolumeLabel    = "ebscope.dev/volume" // the profile's name of the volume
	RoleLabel      = "ebscope.dev/role"   // RoleRunner, RoleCollector
	// EmulatedAnnotation on a StorageClass says that its volumes are emulated, and how many times their time constants are
	// divided: "60". Only such a class can be benchmarked compressed.
	EmulatedAnnotation = "ebscope.dev/emulated"
	// RunAnnotation has the id of the run in full.
	RunAnnotation = "ebscope.dev/run-id"

	RoleRunner    = "runner"
	RoleCollector = "collector"
)

// FieldManager owns the fields of what is applied.
const FieldManager = "ebscope"

// InstanceTypeLabel is the label of a node that has its EC2 instance type.
const InstanceTypeLabel = corev1.LabelInstanceTypeStable

// Provisioners of EBS volumes.
const (
	ProvisionerCSI      = "ebs.csi.aws.com"
	ProvisionerAutoMode = "ebs.csi.eks.amazonaws.com" // EKS Auto Mode
	ProvisionerInTree   = "kubernetes.io/aws-ebs"     // in-tree, migrated to CSI
)

// DefaultNamespace is where runs go. It is made where it does not exist.
const DefaultNamespace = "ebscope"

// Spec is a run as it is wanted in a cluster.
type Spec struct {
	Run             string // the run's id: 20261201T052101Z-gp2-vs-gp3-kubernetes
	Namespace       string
	CreateNamespace bool
	Provisioner     string // of the StorageClasses that are made
	Volumes         []Volume
	// ResultsClass is the StorageClass of the results volume; empty: one of the run's own, gp3 at its defaults.
	ResultsClass string

	Plan   runner.Plan
	Jobs   map[string][]byte // job files by phase name
	Record []byte            // run.json

	Image        string
	NodeSelector map[string]string
	Tolerations  []corev1.Toleration
	Requests     corev1.ResourceList
	Limits       corev1.ResourceList
	Block        bool          // volumes are raw devices
	Deadline     time.Duration // after which the Job is ended, from the profile's length
	Replicas     int           // how many times the volumes are measured side by side, each time on another node
}

// Volume is one volume under test.
type Volume struct {
	Name   string
	Config ebs.Volume
	Claim  string // an existing PersistentVolumeClaim, which is used and never deleted
	Class  string // an existing StorageClass, which is used and never deleted; empty: one is made
}
