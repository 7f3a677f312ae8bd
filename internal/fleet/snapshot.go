// Package fleet says of many volumes at once which are at risk, what each should be, and what that costs. It works on a
// Snapshot: what was read of AWS accounts and of clusters, whole or in part. It reads no network and no clock, so that a
// saved snapshot gives the same answers on any machine.
package fleet

import (
	"time"

	"ebscope/internal/ebs"
	"ebscope/internal/units"
)

// VolumeID names an EBS volume, vol-….
type VolumeID string

// InstanceID names an EC2 instance, i-….
type InstanceID string

// AccountID names an AWS account by its 12 digits.
type AccountID string

// UID names a Kubernetes object; two objects of one name have two.
type UID string

// Snapshot is what was read, without the metrics of the volumes: those come one volume at a time, because together they
// do not fit into memory; see Metrics, Writer and Reader.
type Snapshot struct {
	Tool  string    // that took it, with its version
	Taken time.Time // when reading began
	// Window is the time that the metrics cover; zero where none were asked for.
	Window   Window
	Regions  []Region
	Clusters []Cluster
	// Missing is what should have been read and could not be.
	Missing []Missing
}

// Window is an evenly divided stretch of time.
type Window struct {
	Start  time.Time     `json:"start"`
	Step   time.Duration `json:"step_ns"`
	Points int           `json:"points"`
}

// Length is the length of the whole window.
func (w Window) Length() time.Duration { return w.Step * time.Duration(w.Points) }

// Region is what an account has in one region.
type Region struct {
	Account       AccountID      `json:"account"`
	Name          string         `json:"region"` // such as "ap-northeast-2"
	Volumes       []Volume       `json:"-"`
	Instances     []Instance     `json:"-"`
	Modifications []Modification `json:"-"` // all that EC2 still tells, not only the latest
	Alarms        []Alarm        `json:"-"`
}

// Volume is an EBS volume as EC2 describes it.
type Volume struct {
	ID   VolumeID `json:"id"`
	Zone string   `json:"zone"`
	Setting
	State     string `json:"state"` // "in-use", "available", "creating", "deleting", "deleted", "error"
	Encrypted bool   `json:"encrypted,omitempty"`
	KeyID     string `json:"kms_key_id,omitempty"`
	// MultiAttach says that it may be attached to several instances at once.
	MultiAttach bool   `json:"multi_attach,omitempty"`
	SnapshotID  string `json:"snapshot_id,omitempty"` // that it was made from
	// FastRestored says that it was made by fast snapshot restore, so that no block has yet to be fetched.
	FastRestored bool `json:"fast_restored,omitempty"`
	// InitializationMiBps is the rate at which EBS fetches the snapshot's blocks of its own accord; 0 where it does not.
	InitializationMiBps int64             `json:"initialization_mib_s,omitempty"`
	Created             time.Time         `json:"created"`
	Attachments         []Attachment      `json:"attachments,omitempty"`
	Tags                map[string]string `json:"tags,omitempty"`
}

// Setting is what a volume can be changed in. IOPS and throughput are as EC2 states them: for gp2 the baseline and 0.
type Setting struct {
	Type            ebs.Type `json:"type"`
	SizeGiB         int64    `json:"size_gib"`
	IOPS            int64    `json:"iops,omitempty"`
	ThroughputMiBps int64    `json:"throughput_mib_s,omitempty"`
}

// Config returns the setting as a customer states it: what the type does not let one set is left out.
func (s Setting) Config(catalog *ebs.Catalog) ebs.Volume {
	v := ebs.Volume{Type: s.Type, Size: units.Bytes(s.SizeGiB) * units.GiB}
	t, err := catalog.VolumeType(s.Type)
	if err != nil {
		return v
	}
	if t.IOPS.Provisioned {
		v.IOPS = units.IOPS(s.IOPS)
	}
	if t.Throughput.Provisioned {
		v.Throughput = units.Throughput(s.ThroughputMiBps) * units.MiBPerSecond
	}
	return v
}

// Attachment is a volume's tie to an instance.
type Attachment struct {
	Instance            InstanceID `json:"instance"`
	Device              string     `json:"device,omitempty"`
	State               string     `json:"state"` // "attached", "attaching", "detaching", "busy"
	Since               time.Time  `json:"since,omitzero"`
	DeleteOnTermination bool       `json:"delete_on_termination,omitempty"`
}

// Instance is an EC2 instance.
type Instance struct {
	ID    InstanceID        `json:"id"`
	Type  string            `json:"type"`  // such as "m5.xlarge"
	State string            `json:"state"` // "running", "stopped", …
	Zone  string            `json:"zone,omitempty"`
	Tags  map[string]string `json:"tags,omitempty"`
}

// Modification is a change of a volume, under way or done.
type Modification struct {
	Volume   VolumeID  `json:"volume"`
	State    string    `json:"state"` // "modifying", "optimizing", "completed", "failed"
	Message  string    `json:"message,omitempty"`
	Progress int64     `json:"progress_percent"`
	Start    time.Time `json:"start"`
	End      time.Time `json:"end,omitzero"`
	Original Setting   `json:"original"`
	Target   Setting   `json:"target"`
}

// Alarm is a CloudWatch alarm on one metric.
type Alarm struct {
	Name              string            `json:"name"`
	ARN               string            `json:"arn,omitempty"`
	Namespace         string            `json:"namespace"`
	Metric            string            `json:"metric"`
	Dimensions        map[string]string `json:"dimensions,omitempty"`
	Statistic         string            `json:"statistic,omitempty"`
	Comparison        string            `json:"comparison"`
	Threshold         float64           `json:"threshold"` // in the metric's own unit
	PeriodS           int64             `json:"period_s"`
	EvaluationPeriods int64             `json:"evaluation_periods"`
	DatapointsToAlarm int64             `json:"datapoints_to_alarm,omitempty"`
	MissingData       string            `json:"missing_data,omitempty"`
	Actions           []string          `json:"actions,omitempty"`
	// What people add to an alarm: ebscope sets none of it, and keeps it.
	OKActions     []string          `json:"ok_actions,omitempty"`
	NoDataActions []string          `json:"insufficient_data_actions,omitempty"`
	Description   string            `json:"description,omitempty"`
	Silenced      bool              `json:"silenced,omitempty"` // it calls none of its actions
	State         string            `json:"state,omitempty"`
	Tags          map[string]string `json:"tags,omitempty"`
}

// Missing is something that could not be read. Of Account and Region, or Cluster, those are set that it lies in.
type Missing struct {
	Account   AccountID     `json:"account,omitempty"`
	Region    string        `json:"region,omitempty"`
	Cluster   string        `json:"cluster,omitempty"`   // its name
	Operation string        `json:"operation"`           // what was asked for: "ec2:DescribeVolumes", "list persistentvolumeclaims"
	Reason    MissingReason `json:"reason"`              // in one word
	Text      string        `json:"text"`                // for people: what was answered, and what to do
	Volumes   []VolumeID    `json:"volumes,omitempty"`   // where it is missing for some volumes only
	Namespace string        `json:"namespace,omitempty"` // where it is missing for one namespace only
}

// MissingReason says why something could not be read.
type MissingReason string

// The reasons.
const (
	Denied      MissingReason = "denied"      // no permission
	Disabled    MissingReason = "disabled"    // the region is not enabled for the account, or the API not served
	Throttled   MissingReason = "throttled"   // too many requests, even after waiting
	Unreachable MissingReason = "unreachable" // nobody answers
	Interrupted MissingReason = "interrupted" // reading was ended early
	Failed      MissingReason = "failed"      // anything else
)
