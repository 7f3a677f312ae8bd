package fleet

// Code names a kind of finding. Codes keep their meaning.
type Code string

// The findings about a volume.
const (
	GP2AtRisk       Code = "gp2-at-risk"                      // it ran out of credits, is about to, or came near it
	Unattached      Code = "unattached"                       // paid for and not used
	OverProvisioned Code = "gp3-over-provisioned"             // more IOPS or throughput than it uses
	BelowGP2        Code = "gp3-default-throughput-below-gp2" // from 171 GiB on, gp2 gives 250 MiB/s, gp3 by default 125
	SnapshotCold    Code = "snapshot-cold"                    // blocks have yet to be fetched from its snapshot
	AboveInstance   Code = "limit-above-instance"             // it is paid for more than its instance passes on
	Modifying       Code = "modifying"                        // a change is under way
	Optimizing      Code = "optimizing"                       // likewise; its new limits may not be in force yet
	MissingMetrics  Code = "missing-metrics"                  // nothing is known of its demand
	InTreePV        Code = "in-tree-pv"                       // no VolumeAttributesClass can change it
	NotInAccount    Code = "not-in-account"                   // a cluster has it, and no account that was read
	UnknownType     Code = "unknown-type"                     // the catalog has no such type
)

// The findings about a cluster.
const (
	GP2DefaultClass    Code = "gp2-default-class"
	InTreeDefaultClass Code = "in-tree-default-class"
	TwoDefaultClasses  Code = "two-default-classes"
	NoDefaultClass     Code = "no-default-class"
	TemplateGP2        Code = "statefulset-template-gp2" // it will make gp2 volumes again
)

// Level says how much a finding matters.
type Level string

// The levels.
const (
	Risk    Level = "risk"    // it hurts, or will
	Warning Level = "warning" // it may hurt, or wastes money
	Note    Level = "note"    // good to know
)

// Finding is something about a volume.
type Finding struct {
	Code  Code   `json:"code"`
	Level Level  `json:"level"`
	Text  string `json:"text"` // one sentence or two for people
}

// ClusterFinding is something about a cluster.
type ClusterFinding struct {
	Finding
	Cluster   string `json:"cluster"`
	Kind      string `json:"kind,omitempty"` // of the object that it is about
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
}
