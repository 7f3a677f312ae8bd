package fleet

import (
	"time"

	"ebscope/internal/ebs"
	"ebscope/internal/result"
)

// ScanSchema names the form of Document. Fields are added to it; those that are there keep their name, unit and meaning.
const ScanSchema = "ebscope.scan/v1"

// Document is what was found about a fleet, as it is printed in JSON. Names carry the unit: _s seconds, _gib GiB, _mib_s
// MiB/s, _percent percent, usd_month USD a month. Money is exact, so that rows add up to totals.
type Document struct {
	Schema   string           `json:"schema"`
	Tool     string           `json:"tool,omitempty"` // that took the snapshot
	Taken    time.Time        `json:"taken"`
	WindowS  float64          `json:"window_s"` // that the metrics cover, 0 where there are none
	Volumes  []Row            `json:"volumes"`
	Totals   Totals           `json:"totals"`
	Clusters []ClusterSummary `json:"clusters"`
	// Findings are those of clusters; a volume has its own.
	Findings []ClusterFinding `json:"findings"`
	Missing  []Missing        `json:"missing"`
	Warnings []result.Warning `json:"warnings"`
}

// Row is a volume. Texts are empty, and pointers null, where a thing is not there or not known.
type Row struct {
	ID           VolumeID   `json:"volume_id"`
	Account      AccountID  `json:"account"`
	Region       string     `json:"region"`
	Zone         string     `json:"zone"`
	Cluster      string     `json:"cluster"`
	Claim        string     `json:"pvc"`
	ClaimUID     UID        `json:"pvc_uid"`
	Namespace    string     `json:"namespace"`
	PV           string     `json:"pv"`
	StorageClass string     `json:"storage_class"`
	StatefulSet  string     `json:"stateful_set"`
	Pods         []string   `json:"pods"`
	OtherClaims  []string   `json:"other_claims,omitempty"` // "cluster/namespace/name", where several have the volume
	State        string     `json:"state"`
	InstanceID   InstanceID `json:"instance_id"`
	InstanceType string     `json:"instance_type"`

	Type            ebs.Type `json:"type"`
	SizeGiB         int64    `json:"size_gib"`
	BaselineIOPS    float64  `json:"baseline_iops"` // 0 where the type is not known
	BurstIOPS       float64  `json:"burst_iops"`
	ThroughputMiBps float64  `json:"throughput_mib_s"`
	// Instance is what the instance passes on to all its volumes together.
	Instance *InstanceLimit `json:"instance_limit"`

	Demand  *Demand     `json:"demand"`
	Balance *BalanceRow `json:"burst_balance"`
	// SecondsToEmpty is when the credits run out under the present demand, SecondsToEmptyAtPeak under the highest that
	// was seen. Null where that is never, or not known. SecondsToEmptyAtBurst needs no metrics: it is for the burst rate, from
	// the present balance or, where that is not known, from a full bucket; null where the volume has none.
	SecondsToEmpty        *float64 `json:"seconds_to_empty"`
	SecondsToEmptyAtPeak  *float64 `json:"seconds_to_empty_at_peak"`
	SecondsToEmptyAtBurst *float64 `json:"seconds_to_empty_at_burst"`
	ThrottledS            *float64 `json:"throttled_s"` // in the window

	Monthly        *Money            `json:"usd_month"`
	Recommendation Recommendation    `json:"recommendation"`
	Findings       []Finding         `json:"findings"`
	Tags           map[string]string `json:"tags,omitempty"`
}

// InstanceLimit is an instance type's limit: what it holds for ever, and its maximum.
type InstanceLimit struct {
	BaselineIOPS            float64 `json:"baseline_iops"`
	MaximumIOPS             float64 `json:"maximum_iops"`
	BaselineThroughputMiBps float64 `json:"baseline_throughput_mib_s"`
	MaximumThroughputMiBps  float64 `json:"maximum_throughput_mib_s"`
}

// Demand is what was asked of a volume in the window; see Observed.
type Demand struct {
	PeakIOPS               float64  `json:"peak_iops"`
	P99IOPS                float64  `json:"p99_iops"`
	PeakThroughputMiBps    float64  `json:"peak_throughput_mib_s"`
	P99ThroughputMiBps     float64  `json:"p99_throughput_mib_s"`
	PresentIOPS            *float64 `json:"present_iops"`
	PresentThroughputMiBps *float64 `json:"present_throughput_mib_s"`
	KnownPercent           float64  `json:"known_percent"` // of the steps of the window
}

// BalanceRow is a burst balance.
type BalanceRow struct {
	NowPercent    float64 `json:"now_percent"`
	LowestPercent float64 `json:"lowest_percent"`
	Source        string  `json:"source"` // "measured", or "modelled" from the operations
}

// The sources of a balance.
const (
	measured = "measured"
	modelled = "modelled"
)

// Totals sum up the rows.
type Totals struct {
	Volumes int    `json:"volumes"`
	SizeGiB int64  `json:"size_gib"`
	Monthly Money  `json:"usd_month"` // of the volumes with a known price
	Priced  int    `json:"priced_volumes"`
	After   Money  `json:"usd_month_after"` // once all recommendations are followed
	Saving  Money  `json:"usd_month_saving"`
	Modify  int    `json:"volumes_to_modify"`
	AtRisk  int    `json:"volumes_at_risk"`
	ByType  []Part `json:"by_type"`
}

// Part is the share of a type in the totals.
type Part struct {
	Type    ebs.Type `json:"type"`
	Volumes int      `json:"volumes"`
	SizeGiB int64    `json:"size_gib"`
	Monthly Money    `json:"usd_month"`
}

// ClusterSummary says what was read of a cluster.
type ClusterSummary struct {
	UID     UID    `json:"uid"`
	Name    string `json:"name"`
	Server  string `json:"server_version"`
	Claims  int    `json:"claims"`
	Volumes int    `json:"volumes"` // that are EBS volumes
}
