// Package alarm warns before credits run out: it says which CloudWatch alarms a fleet should have, what has to change for
// that, and makes the changes. An alarm follows its volume: it goes when the volume has become gp3, or is gone. Alarms
// that are not its own it never touches.
package alarm

import (
	"time"

	"ebscope/internal/cloud"
	"ebscope/internal/fleet"
	"ebscope/internal/result"
)

// Schema names the form of a saved plan.
const Schema = "ebscope.alarm-plan/v1"

// Kind is what an alarm is for.
type Kind string

// The kinds. A volume or an instance has at most one of each.
const (
	// BurstBalance warns before the credits of a gp2, st1 or sc1 volume run out.
	BurstBalance Kind = "burst-balance"
	// IOPSExceeded and ThroughputExceeded tell that such a volume holds I/O back.
	IOPSExceeded       Kind = "iops-exceeded"
	ThroughputExceeded Kind = "throughput-exceeded"
	// IOBalance and ByteBalance warn before an instance falls to its baseline.
	IOBalance   Kind = "io-balance"
	ByteBalance Kind = "byte-balance"
)

// Kinds are all there are.
var Kinds = []Kind{BurstBalance, IOPSExceeded, ThroughputExceeded, IOBalance, ByteBalance}

// metrics are those that the kinds look at.
var metrics = map[Kind]struct{ namespace, name string }{
	BurstBalance:       {"AWS/EBS", "BurstBalance"},
	IOPSExceeded:       {"AWS/EBS", "VolumeIOPSExceededCheck"},
	ThroughputExceeded: {"AWS/EBS", "VolumeThroughputExceededCheck"},
	IOBalance:          {"AWS/EC2", "EBSIOBalance%"},
	ByteBalance:        {"AWS/EC2", "EBSByteBalance%"},
}

// The dimensions of metrics.
const (
	volumeDimension   = "VolumeId"
	instanceDimension = "InstanceId"
)

// name is the same for the same volume or instance, so that an alarm is found again, and a policy can be bound to it.
func name(subject string, k Kind) string { return cloud.AlarmPrefix + subject + "-" + string(k) }

// kindOf tells what kind of alarm one is, and on what; false where ebscope would not have made it.
func kindOf(a *fleet.Alarm) (k Kind, subject string, ok bool) {
	for _, k := range Kinds {
		if metrics[k].namespace != a.Namespace || metrics[k].name != a.Metric {
			continue
		}
		subject := a.Dimensions[volumeDimension]
		if k == IOBalance || k == ByteBalance {
			subject = a.Dimensions[instanceDimension]
		}
		return k, subject, subject != "" && a.Name == name(subject, k)
	}
	return "", "", false
}

// Plan is the alarms that a fleet should have, and what has to change for that. As a file it is to be read, compared
// with another, and applied as it stands.
type Plan struct {
	Schema string    `json:"schema"`
	Tool   string    `json:"tool,omitempty"`
	Taken  time.Time `json:"taken"`  // when the fleet was read
	WarnS  float64   `json:"warn_s"` // the time of warning that was asked for
	// Alarms are all that there should be, in the order of account, region and name.
	Alarms []Wanted  `json:"alarms"`
	Delete []Removal `json:"delete"`
	// Without are volumes and instances that get no alarm that they should have.
	Without  []Without        `json:"without"`
	Warnings []result.Warning `json:"warnings"`
	Missing  []fleet.Missing  `json:"missing"`
}

// Action is what has to be done about an alarm.
type Action string

// The actions.
const (
	Create Action = "create"
	Update Action = "update"
	Keep   Action = "keep" // it is as it should be
)

// Wanted is an alarm that there should be.
type Wanted struct {
	Action  Action          `json:"action"`
	Account fleet.AccountID `json:"account"`
	Region  string          `json:"region"`
	Kind    Kind            `json:"kind"`
	Subject string          `json:"subject"` // the id of the volume or instance
	Because string          `json:"because"` // for people: what the threshold comes from
	// WarningS is the time from the threshold to the fall under the load that Because names, WarningAtBurstS at the
	// highest rate that there is. Null where an alarm tells rather than warns.
	WarningS        *float64    `json:"warning_s"`
	WarningAtBurstS *float64    `json:"warning_at_burst_s"`
	Alarm           fleet.Alarm `json:"alarm"`
	// Was is the alarm as it is now, where it is updated.
	Was *fleet.Alarm `json:"was,omitempty"`
}

// Removal is an alarm that there should no longer be.
type Removal struct {
	Account fleet.AccountID `json:"account"`
	Region  string          `json:"region"`
	Kind    Kind            `json:"kind"`
	Subject string          `json:"subject"`
	Name    string          `json:"name"`
	Because string          `json:"because"`
}

// Without is an alarm that should be there and cannot.
type Without struct {
	Account fleet.AccountID `json:"account"`
	Region  string          `json:"region"`
	Subject string          `json:"subject"`
	Kind    Kind            `json:"kind"`
	Because string          `json:"because"`
}

// Changes returns how many alarms are to be made, updated and deleted, and how many stay as they are.
func (p *Plan) Changes() (create, update, remove, keep int) {
	for i := range p.Alarms {
		switch p.Alarms[i].Action {
		case Create:
			create++
		case Update:
			update++
		case Keep:
			keep++
		}
	}
	return create, update, len(p.Delete), keep
}
