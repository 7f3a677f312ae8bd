package compare

// Schema names the form of a Document. Fields may be added to it; none changes its name, unit or meaning.
const Schema = "ebscope.compare/v1"

// Document is a comparison.
type Document struct {
	Schema      string       `json:"schema"`
	Subjects    []Side       `json:"subjects"`    // the baseline first
	Differences []Difference `json:"differences"` // between what was run, to be read before any figure
	Rows        []Row        `json:"rows"`
	LeftOut     []LeftOut    `json:"left_out"`
	Notes       []string     `json:"notes"`
	// Regression says that a figure of Rows is past a threshold, or that a phase of the baseline to which one applies failed
	// or is missing; Regressions names each in words. Unjudged are thresholds that no figure could be held against.
	Regression  bool     `json:"regression"`
	Regressions []string `json:"regressions"`
	Unjudged    []string `json:"unjudged"`

	lost []loss
}

// Side is a subject.
type Side struct {
	Name string `json:"name"`
	Runs int    `json:"runs"` // that repeat each other
	// Target is what was driven: emulated, simulated or path; empty: results that were read from files. Compress is how many
	// times the runs were compressed; zero: not known.
	Target   string  `json:"target,omitempty"`
	Compress float64 `json:"compress,omitempty"`
}

// Difference is an option, or a circumstance, that differs between the baseline and another subject.
type Difference struct {
	Phase    string `json:"phase,omitempty"`  // empty: all of them
	Volume   string `json:"volume,omitempty"` // of the phase, where both sides ran it on one of that name
	Baseline string `json:"baseline"`
	Subject  string `json:"subject"`
	Option   string `json:"option"`
	A        string `json:"a"`
	B        string `json:"b"`
}

// Row is a figure of the baseline, A, and of another subject, B.
type Row struct {
	Phase     string  `json:"phase"`
	BPhase    string  `json:"b_phase,omitempty"` // where B names it otherwise, and it was matched by its workload
	AVolume   string  `json:"a_volume,omitempty"`
	BVolume   string  `json:"b_volume,omitempty"`
	Baseline  string  `json:"baseline"`
	Subject   string  `json:"subject"`
	Metric    Metric  `json:"metric"`
	Direction string  `json:"direction,omitempty"`  // read or write; empty: both together
	Part      string  `json:"part,omitempty"`       // steady: the last level of each; empty: the whole phase
	BlockSize int64   `json:"block_size,omitempty"` // of A
	Unit      string  `json:"unit"`                 // IOPS, MiB/s or ms
	A         float64 `json:"a"`
	B         float64 `json:"b"`
	// The confidence intervals of A and B, where runs were repeated often enough.
	ALow  *float64 `json:"a_low,omitempty"`
	AHigh *float64 `json:"a_high,omitempty"`
	BLow  *float64 `json:"b_low,omitempty"`
	BHigh *float64 `json:"b_high,omitempty"`
	// Ratio is B over A, null where A is zero, with its confidence interval, null where there is none.
	Ratio     *float64 `json:"ratio"`
	RatioLow  *float64 `json:"ratio_low"`
	RatioHigh *float64 `json:"ratio_high"`
	// PValue is how likely such a difference would be if there were none, or, with one run a side, if it were no larger than
	// the Margin that two runs of the same volume may lie apart. It is null where nothing was tested.
	PValue      *float64 `json:"p_value"`
	Significant bool     `json:"significant"` // proved at a level of 5 %
	Margin      float64  `json:"margin,omitempty"`
	N           [2]int   `json:"n"` // runs, or windows of the series, of A and B
	Method      Method   `json:"method"`
	Text        string   `json:"text"` // the method in words, or why there is none
	Regression  bool     `json:"regression"`

	fromSeries bool // and so without the first sample
}

// Metric is a figure that is compared.
type Metric string

// The metrics.
const (
	IOPS        Metric = "iops"
	Throughput  Metric = "throughput"
	LatencyMean Metric = "latency-mean"
	LatencyP50  Metric = "latency-p50"
	LatencyP95  Metric = "latency-p95"
	LatencyP99  Metric = "latency-p99"
	LatencyMax  Metric = "latency-max"
)

// HigherIsBetter says whether more of a metric is wanted.
func (m Metric) HigherIsBetter() bool { return m == IOPS || m == Throughput }

// Method is how a difference was tested.
type Method string

// The methods.
const (
	MannWhitney Method = "mann-whitney"    // of repeated runs
	Bootstrap   Method = "block-bootstrap" // of the windows of the series
	WindowRanks Method = "window-ranks"    // of a percentile: ranks in the histogram, with each window of the series as one observation
	Untested    Method = "none"
)

// Steady is the part of a phase after its last change of level.
const Steady = "steady"

// LeftOut is a phase that was not compared.
type LeftOut struct {
	Subject string `json:"subject"`
	Phase   string `json:"phase"`
	Volume  string `json:"volume,omitempty"`
	Reason  string `json:"reason"`
}
