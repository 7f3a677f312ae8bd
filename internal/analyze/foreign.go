package analyze

import (
	"encoding/json"

	"ebscope/internal/result"
)

// Foreign is what the document says of a reading beyond what it says of a phase of a run.
type Foreign struct {
	Source result.Source `json:"source"`
	Tool   string        `json:"tool"`
	Host   string        `json:"host,omitempty"`
	Group  int           `json:"group"` // jobs of one group ran side by side, groups one after another
	Engine string        `json:"engine,omitempty"`
	// Failed is set where the tool reported an error. Nothing is concluded from such a reading.
	Failed *Failed `json:"failed"`
	// RuntimeS is how long it ran; null where that is not known.
	RuntimeS *float64 `json:"runtime_s"`
	// Outstanding is the mean number of I/Os in flight that latency and IOPS imply (Little's law); null where either is
	// not known. It stands in for a queue depth that nobody stated.
	Outstanding *float64 `json:"outstanding"`
	// AllowedIOPS is the most that the volume and the instance that were given allow; absent where neither was.
	AllowedIOPS *float64 `json:"allowed_iops,omitempty"`
	// Members are the devices of a RAID that took part, whose limits add up.
	Members []string   `json:"members,omitempty"`
	Trim    *Direction `json:"trim,omitempty"`
	Sync    *Direction `json:"sync,omitempty"`
	// WarmUp is set where IOPS rose for good: figures of the whole reading mix both.
	WarmUp *WarmUp `json:"warm_up,omitempty"`
	// Stalls are stretches of a second or more below half of the level around them.
	Stalls []Stall `json:"stalls,omitempty"`
	// Modes are the groups that latencies fall into, where there are two or more.
	Modes []Mode `json:"modes,omitempty"`
	// Changes are all changes from one level to another, in order.
	Changes []Change `json:"changes"`
	// ThroughputChanges are those of throughput, where it alone was logged and the size of an I/O is not known.
	ThroughputChanges []ThroughputChange `json:"throughput_changes,omitempty"`
	// Candidates are volumes and instances that would explain the levels, the likeliest first; none where the volume is given.
	Candidates []Candidate `json:"candidates"`
	// Advice is what to do next, in a sentence or two.
	Advice string `json:"advice"`
}

// Failed is an error that a tool reported.
type Failed struct {
	Code int      `json:"code"` // of the operating system or the engine; zero where none was given
	Text []string `json:"text"`
}

// WarmUp is the time before IOPS rose to the level that they kept.
type WarmUp struct {
	UntilS     float64 `json:"until_s"`
	IOPS       float64 `json:"iops"`        // until then, on average
	SteadyIOPS float64 `json:"steady_iops"` // from then on
}

// Mode is a group of latencies.
type Mode struct {
	AtMS  float64 `json:"at_ms"` // its most frequent latency
	Share float64 `json:"share"` // of all I/Os, 0 to 1
}

// Change is one level giving way to another.
type Change struct {
	AtS        float64 `json:"at_s"`
	BeforeIOPS float64 `json:"before_iops"`
	AfterIOPS  float64 `json:"after_iops"`
}

// Candidate is a configuration that would explain the levels of a reading.
type Candidate struct {
	Configuration string `json:"configuration"` // as people say it
	Type          string `json:"type"`          // of the volume, or of the instance
	Cause         Cause  `json:"cause,omitempty"`
	Text          string `json:"text"` // the arithmetic in words
	// Fit is how well it explains the levels and their times, 0 to 1. It orders candidates and is no probability.
	Fit float64 `json:"fit"`
}

// MarshalJSON writes null for what is not known.
func (p Phase) MarshalJSON() ([]byte, error) {
	type plain Phase // without this method
	type known struct {
		plain
		RW              *string  `json:"rw"`
		BlockSize       *int64   `json:"block_size"`
		QueueDepth      *int     `json:"queue_depth"`
		Jobs            *int     `json:"jobs"`
		IOPS            *IOPS    `json:"iops"`
		ThroughputMiBps *float64 `json:"throughput_mib_s"`
	}
	return json.Marshal(known{
		plain: plain(p), RW: unlessZero(p.RW), BlockSize: unlessZero(p.BlockSize), QueueDepth: unlessZero(p.QueueDepth),
		Jobs: unlessZero(p.Jobs), IOPS: unlessZero(p.IOPS), ThroughputMiBps: unlessZero(p.ThroughputMiBps),
	})
}

// MarshalJSON writes null for what is not known.
func (d Direction) MarshalJSON() ([]byte, error) {
	type plain Direction // without this method
	return json.Marshal(struct {
		plain
		IOPS            *IOPS    `json:"iops"`
		ThroughputMiBps *float64 `json:"throughput_mib_s"`
	}{plain(d), unlessZero(d.IOPS), unlessZero(d.ThroughputMiBps)})
}

// MarshalJSON writes null for what is not known.
func (i IOPS) MarshalJSON() ([]byte, error) {
	type plain IOPS // without this method
	return json.Marshal(struct {
		plain
		FioMean *float64 `json:"fio_mean"`
	}{plain(i), unlessZero(i.FioMean)})
}

// MarshalJSON writes null for what is not known.
func (l Latency) MarshalJSON() ([]byte, error) {
	type plain Latency // without this method
	return json.Marshal(struct {
		plain
		Mean *float64 `json:"mean"`
		Max  *float64 `json:"max"`
	}{plain(l), unlessZero(l.Mean), unlessZero(l.Max)})
}

func unlessZero[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}
