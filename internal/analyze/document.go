// Package analyze turns the raw result of a run into findings: plateaus and the cliff between them, the limit that
// held, credits, checks against Little's law and against the model, and a verdict in words.
package analyze

import (
	"time"

	"ebscope/internal/model"
	"ebscope/internal/result"
)

// Schema names the form of a Document. Fields may be added to it; none changes its name, unit or meaning.
const Schema = "ebscope.analysis/v1"

// Document is the analysis of one run, or of results that other tools wrote. Suffixes give the units: _s seconds, _ms milliseconds, _mib_s MiB/s, _gib GiB.
// Times are those of the run as it took place; only a name that ends in _uncompressed is multiplied by the run's compress.
type Document struct {
	Schema      string           `json:"schema"`
	Run         Identity         `json:"run"`
	Volumes     []Volume         `json:"volumes"`
	Phases      []Phase          `json:"phases"`
	Checks      []Check          `json:"checks"`
	Comparisons []Comparison     `json:"comparisons"`
	Sweeps      []Sweep          `json:"sweeps,omitempty"` // curves of the profile's sweeps
	Warnings    []result.Warning `json:"warnings"`
	Notes       []result.Note    `json:"notes,omitempty"` // what was skipped of other tools' files, or read with doubt
}

// Identity says which run was analyzed.
type Identity struct {
	ID       string        `json:"id"`
	Profile  string        `json:"profile"`
	Target   result.Target `json:"target"`
	Started  time.Time     `json:"started,omitzero"` // absent where it is not known
	Compress float64       `json:"compress"`
	Complete bool          `json:"complete"` // every phase was run to its end
	// Instance is the instance type that the user gave for results of another tool.
	Instance string `json:"instance,omitempty"`
}

// Volume is a volume and what its configuration promises, uncompressed.
type Volume struct {
	Name                    string  `json:"name"`
	Type                    string  `json:"type"`
	SizeGiB                 float64 `json:"size_gib"`
	BaselineIOPS            float64 `json:"baseline_iops"`
	BurstIOPS               float64 `json:"burst_iops"`
	ThroughputMiBps         float64 `json:"throughput_mib_s"`
	BaselineThroughputMiBps float64 `json:"baseline_throughput_mib_s,omitempty"` // of HDD volumes that burst
	SecondsToEmpty          float64 `json:"seconds_to_empty,omitempty"`          // a full bucket at burst rate
	SecondsToRefill         float64 `json:"seconds_to_refill,omitempty"`
	Configuration           string  `json:"configuration"` // as people say it
}

// Phase is the finding about one phase of a run, or about one reading. What is not known of a reading, such as its queue
// depth, is zero or empty, and null in JSON.
type Phase struct {
	Name       string  `json:"name"`
	Volume     string  `json:"volume"`
	State      string  `json:"state"` // of result.State; figures are absent where it is not done
	RW         string  `json:"rw"`
	BlockSize  int64   `json:"block_size"`
	QueueDepth int     `json:"queue_depth"`
	Jobs       int     `json:"jobs"`
	DurationS  float64 `json:"duration_s"`

	IOPS            IOPS       `json:"iops"`
	ThroughputMiBps float64    `json:"throughput_mib_s"`
	Latency         *Latency   `json:"latency_ms"`
	Read            *Direction `json:"read,omitempty"` // of mixed patterns, and of what alone was done where no pattern is stated
	Write           *Direction `json:"write,omitempty"`

	Segments  []Segment        `json:"segments"`
	Cliff     *Cliff           `json:"cliff"`
	LimitedBy []LimitShare     `json:"limited_by"`
	Verdict   Verdict          `json:"verdict"`
	Burst     Cause            `json:"burst,omitempty"` // whose credits it spends, with the verdicts that speak of a burst
	Summary   string           `json:"summary"`         // the verdict as a sentence
	Credits   *Credits         `json:"credits,omitempty"`
	Expected  *Expected        `json:"expected,omitempty"`
	Warnings  []result.Warning `json:"warnings"`

	*Foreign // what only a reading has; nil for a phase of a run
}

// IOPS of a phase. Mean, Min and Max leave out the first sample, which holds the one-off burst of the rate bucket;
// FioMean is fio's own summary, with it. Where there are fewer than two samples, Mean is the summary's, and Min and Max
// are not known. What is not known is null in JSON; in FioMean it is zero.
type IOPS struct {
	Mean    float64  `json:"mean"`
	FioMean float64  `json:"fio_mean"`
	Min     *float64 `json:"min"`
	Max     *float64 `json:"max"`
}

// Latency in milliseconds. What is not known is null in JSON; in Mean and Max it is zero.
type Latency struct {
	Kind string   `json:"kind"` // lat, or clat: without submission
	Mean float64  `json:"mean"`
	P50  *float64 `json:"p50"`
	P95  *float64 `json:"p95"`
	P99  *float64 `json:"p99"`
	Max  float64  `json:"max"`
}

// Direction is the share of reads or of writes in a mixed phase. The series counts both together, so Mean, Min and Max
// of its IOPS are those of the whole phase, multiplied by the direction's share of all I/Os. Without a series, Mean is
// the direction's own in the summary, which is over its own time: reads may end before writes.
type Direction struct {
	IOPS            IOPS     `json:"iops"`
	ThroughputMiBps float64  `json:"throughput_mib_s"`
	Latency         *Latency `json:"latency_ms"`
}

// Segment is a stretch in which IOPS hold one level.
type Segment struct {
	FromS    float64 `json:"from_s"`
	ToS      float64 `json:"to_s"`
	IOPSMean float64 `json:"iops_mean"`
	IOPSMin  float64 `json:"iops_min"`
	IOPSMax  float64 `json:"iops_max"`
}

// Cause says why IOPS fell.
type Cause string

// The causes of a cliff.
const (
	GP2Credits    Cause = "gp2-credits"
	HDDCredits    Cause = "hdd-credits"
	InstanceBurst Cause = "instance-burst"
	UnknownCause  Cause = "unknown"
)

// Cliff is a lasting fall from one level to another. BeforeIOPS and AfterIOPS are means in which
// samples far from the level count as near it, so that a short stall does not show in them.
type Cliff struct {
	AtS             float64 `json:"at_s"`
	AtSUncompressed float64 `json:"at_s_uncompressed"`
	BeforeIOPS      float64 `json:"before_iops"`
	AfterIOPS       float64 `json:"after_iops"`
	DropPercent     float64 `json:"drop_percent"`
	Cause           Cause   `json:"cause"`
}

// LimitShare is the share of the phase's time, 0 to 1, for which a limit held.
type LimitShare struct {
	Limit model.Limit `json:"limit"`
	Share float64     `json:"share"`
}

// Verdict sums a phase up in a word; it is empty where the phase is not done, or has too few samples to show a level.
type Verdict string

// The verdicts. BurstThenBaseline has no cliff where credits ran out in the first sample or two, or in the last. BurstOnly: the phase ended while it still spent credits, so its level says nothing about the long run.
const (
	Sustained         Verdict = "sustained"
	BurstOnly         Verdict = "burst-only"
	BurstThenBaseline Verdict = "burst-then-baseline"
	Unstable          Verdict = "unstable"
)

// Credits of a gp2 volume in operations, as compressed as the run. Start and End are null where they are not known;
// InferredStart is what the cliff's instant implies, null where there is no cliff.
type Credits struct {
	Capacity      float64  `json:"capacity"`
	Start         *float64 `json:"start"`
	End           *float64 `json:"end"`
	InferredStart *float64 `json:"inferred_start"`
}

// Expected is what the model predicts for the phase, to stand beside what was measured.
type Expected struct {
	IOPSMean        float64  `json:"iops_mean"`     // without the first sample
	IOPSFioMean     float64  `json:"iops_fio_mean"` // with it
	ThroughputMiBps float64  `json:"throughput_mib_s"`
	LatencyMeanMS   float64  `json:"latency_mean_ms"`
	LatencyP50MS    float64  `json:"latency_p50_ms"`
	LatencyP95MS    float64  `json:"latency_p95_ms"`
	LatencyP99MS    float64  `json:"latency_p99_ms"`
	CliffAtS        *float64 `json:"cliff_at_s"`
}

// Check is a figure that must follow from others.
type Check struct {
	Code     string  `json:"code"` // "littles-law": mean latency in ms = outstanding I/Os ÷ IOPS; "series-total": mean of the series against the summary
	Phase    string  `json:"phase"`
	Volume   string  `json:"volume"`
	Expected float64 `json:"expected"`
	Measured float64 `json:"measured"`
	OK       bool    `json:"ok"`
	Text     string  `json:"text"` // what was compared
	// Source is where the reading was found that a check is about; nil for a phase of a run.
	Source *result.Source `json:"source,omitempty"`
}

// Comparison is the ratio of two volumes in one phase, A over B.
type Comparison struct {
	Phase  string  `json:"phase"`
	Metric string  `json:"metric"` // iops, throughput, latency-mean, latency-p99
	A      string  `json:"a"`
	B      string  `json:"b"`
	Ratio  float64 `json:"ratio"`
}
