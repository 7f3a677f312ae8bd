// Package migration plans how the volumes of a fleet become what they should be: per volume the way, the setting, the price
// before and after, and what stands in the way. A plan is a file that people review, compare and edit; internal/migrate
// carries it out as it stands. The package reads no network and no clock, so that a snapshot gives one plan.
package migration

import (
	"time"

	"ebscope/internal/fleet"
)

// Schema names the form of a plan. Fields are added to it; those that are there keep their name, unit and meaning.
const Schema = "ebscope.migration-plan/v1"

// Action is the way in which a volume is changed.
type Action string

// The ways.
const (
	// ByClass gives the claim a VolumeAttributesClass, and lets the cluster's driver change the volume.
	ByClass Action = "vac"
	// ByAWS asks EC2 to modify the volume.
	ByAWS Action = "modify-volume"
)

// Plan is what is to be done. Names carry the unit: _gib GiB, _mib_s MiB/s, usd_month USD a month.
type Plan struct {
	Schema string `json:"schema"`
	Tool   string `json:"tool,omitempty"` // that made it
	// Taken is when the snapshot was taken that the plan is made from; MadeFrom is a hash over what was used of it.
	Taken    time.Time `json:"snapshot_taken"`
	MadeFrom string    `json:"made_from"`
	// ReverseOf is the digest of the plan that this one takes back; empty where it takes back none.
	ReverseOf string           `json:"reverse_of,omitempty"`
	Rules     Rules            `json:"rules"`
	Totals    Totals           `json:"totals"`
	Classes   []Class          `json:"volume_attributes_classes"`
	Defaults  []DefaultClass   `json:"default_storage_classes"`
	Templates []TemplateChange `json:"templates"`
	Steps     []Step           `json:"steps"`
	Notes     []string         `json:"notes,omitempty"`
}

// Rules say how a plan is carried out.
type Rules struct {
	// BatchSize is how many volumes are changed before the next are begun; all of a batch are done first.
	BatchSize int `json:"batch_size"`
	// FailureBudget is how many volumes may fail before no further one is begun: 0 stops at the first.
	FailureBudget int `json:"failure_budget"`
	// Window is when changes may be begun; nil is always.
	Window *Window `json:"maintenance_window,omitempty"`
}

// Step is the change of one volume.
type Step struct {
	Volume     fleet.VolumeID  `json:"volume_id"`
	Account    fleet.AccountID `json:"account,omitempty"`
	Region     string          `json:"region"`
	Zone       string          `json:"zone,omitempty"`
	Cluster    string          `json:"cluster,omitempty"`
	ClusterUID fleet.UID       `json:"cluster_uid,omitempty"`
	Claim      string          `json:"pvc"` // "namespace/name"; empty where no cluster has the volume
	ClaimUID   fleet.UID       `json:"pvc_uid,omitempty"`
	PV         string          `json:"pv,omitempty"`
	Batch      int             `json:"batch"` // from 1; 0 where the step is blocked
	Action     Action          `json:"action"`
	Why        string          `json:"why,omitempty"` // not by class
	From       fleet.Setting   `json:"from"`
	To         fleet.Setting   `json:"to"`
	// Class is the VolumeAttributesClass that the claim is given, FromClass the one that it had.
	Class     string `json:"volume_attributes_class,omitempty"`
	FromClass string `json:"volume_attributes_class_before,omitempty"`
	// Withdraw takes back what the claim asks for and cannot have: the volume itself was not changed.
	Withdraw bool `json:"withdraw,omitempty"`

	Before Performance `json:"performance_before"`
	After  Performance `json:"performance_after"`
	// What a month costs; nil where the prices are not known.
	MonthlyBefore *fleet.Money `json:"usd_month_before"`
	MonthlyAfter  *fleet.Money `json:"usd_month_after"`
	Difference    *fleet.Money `json:"usd_month_difference"`
	// Cheaper is a setting that costs less, and what it lacks.
	Cheaper *fleet.Choice `json:"cheaper,omitempty"`
	// SlotsUsed is how many of the 4 changes within 24 hours were used when the plan was made.
	SlotsUsed int     `json:"slots_used"`
	BlockedBy []Block `json:"blocked_by"`
}

// Performance is what a volume gives.
type Performance struct {
	BaselineIOPS    float64 `json:"baseline_iops"`
	BurstIOPS       float64 `json:"burst_iops"`
	ThroughputMiBps float64 `json:"throughput_mib_s"`
}

// Dearer says whether the volume costs more afterwards.
func (s *Step) Dearer() bool { return s.Difference != nil && *s.Difference > 0 }

// Name is how messages call the step.
func (s *Step) Name() string {
	if s.Claim == "" {
		return string(s.Volume)
	}
	return string(s.Volume) + " (" + s.Claim + ")"
}

// Block is something that keeps a volume from being changed.
type Block struct {
	Code  BlockCode `json:"code"`
	Text  string    `json:"text"`
	Until time.Time `json:"until,omitzero"` // when it ends by itself, where that is known
}

// BlockCode names a kind of block. Codes keep their meaning.
type BlockCode string

// The blocks.
const (
	NotInAccount  BlockCode = "not-in-account"
	MultiAttach   BlockCode = "multi-attach"
	WrongState    BlockCode = "state"
	UnderChange   BlockCode = "modifying"
	NoSlot        BlockCode = "no-slot"
	OptedOut      BlockCode = "opted-out"
	NotOptedIn    BlockCode = "not-opted-in"
	ClaimChanging BlockCode = "pvc-changing"
	ClassConflict BlockCode = "class-conflict"
	NotSold       BlockCode = "not-sold"
)

// Class is a VolumeAttributesClass that the plan needs in a cluster.
type Class struct {
	Cluster    string            `json:"cluster"`
	ClusterUID fleet.UID         `json:"cluster_uid"`
	Name       string            `json:"name"`
	Driver     string            `json:"driver"`
	Parameters map[string]string `json:"parameters"`
	Exists     bool              `json:"exists"` // when the plan was made
}

// DefaultClass makes one StorageClass the default of a cluster, and takes that from all others.
type DefaultClass struct {
	Cluster    string    `json:"cluster"`
	ClusterUID fleet.UID `json:"cluster_uid"`
	From       []string  `json:"from"` // that are the default now
	To         string    `json:"to"`
	// Create is set where the class is not there yet.
	Create *NewStorageClass `json:"create,omitempty"`
}

// NewStorageClass is a StorageClass to be made.
type NewStorageClass struct {
	Provisioner string            `json:"provisioner"`
	Parameters  map[string]string `json:"parameters"`
	Reclaim     string            `json:"reclaim"`
	Binding     string            `json:"binding"`
	Expandable  bool              `json:"expandable"`
}

// TemplateChange is a volume template that will make gp2 volumes again. Nobody but its owner can change it: a plan only
// says how.
type TemplateChange struct {
	Cluster     string `json:"cluster"`
	Namespace   string `json:"namespace"`
	StatefulSet string `json:"stateful_set"`
	Template    string `json:"template"`
	Class       string `json:"storage_class"` // empty: the default class
	To          string `json:"to_storage_class"`
	Helm        string `json:"helm_release,omitempty"`
	Text        string `json:"text"`
	Patch       string `json:"patch,omitempty"` // commands, a line each
}

// Totals sum up the steps. Prices are of the steps that are not blocked and whose prices are known.
type Totals struct {
	Volumes       int         `json:"volumes"`
	Ready         int         `json:"ready"`
	Blocked       int         `json:"blocked"`
	ByClass       int         `json:"by_vac"`
	ByAWS         int         `json:"by_modify_volume"`
	Batches       int         `json:"batches"`
	Unpriced      int         `json:"unpriced"`
	MonthlyBefore fleet.Money `json:"usd_month_before"`
	MonthlyAfter  fleet.Money `json:"usd_month_after"`
	Difference    fleet.Money `json:"usd_month_difference"`
	Dearer        int         `json:"dearer"`
	DearerBy      fleet.Money `json:"usd_month_dearer"`
}

func totalsOf(steps []Step) Totals {
	t := Totals{Volumes: len(steps)}
	for i := range steps {
		s := &steps[i]
		if len(s.BlockedBy) > 0 {
			t.Blocked++
			continue
		}
		t.Ready++
		t.Batches = max(t.Batches, s.Batch)
		if s.Action == ByClass {
			t.ByClass++
		} else {
			t.ByAWS++
		}
		if s.MonthlyBefore == nil || s.MonthlyAfter == nil {
			t.Unpriced++
			continue
		}
		t.MonthlyBefore += *s.MonthlyBefore
		t.MonthlyAfter += *s.MonthlyAfter
		if s.Dearer() {
			t.Dearer++
			t.DearerBy += *s.Difference
		}
	}
	t.Difference = t.MonthlyAfter - t.MonthlyBefore
	return t
}
