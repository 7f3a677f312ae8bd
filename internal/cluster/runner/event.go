package runner

import "time"

// EventKind says what a line of the runner tells.
type EventKind string

// The kinds of lines, in the order in which a run has them.
const (
	PodStarted   EventKind = "pod-started"   // a runner begins, or begins again in another pod
	PhaseKept    EventKind = "phase-kept"    // finished by an earlier pod
	PhaseCut     EventKind = "phase-cut"     // begun by an earlier pod and not finished: it is run anew
	PhaseStarted EventKind = "phase-started" // fio starts
	PhaseEnded   EventKind = "phase-ended"   // its results are complete and on the results volume
	PhaseFailed  EventKind = "phase-failed"  // fio failed; the run ends
	RunDone      EventKind = "run-done"
	RunFailed    EventKind = "run-failed" // the runner cannot go on; Text says why
)

// Event is one machine-readable line of the runner's log.
type Event struct {
	Kind  EventKind `json:"ebscope"`
	Time  time.Time `json:"time"`            // by the node's clock, to the second
	Phase string    `json:"phase,omitempty"` // Phase.Name
	Index int       `json:"index,omitempty"` // of the phase, from 1
	Pod   string    `json:"pod,omitempty"`
	Node  string    `json:"node,omitempty"`
	Exit  int       `json:"exit,omitempty"` // of fio
	Text  string    `json:"text,omitempty"`
}

// Mark is what the runner leaves in the folder of a finished phase, as mark.json.
type Mark struct {
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"`
	Exit    int       `json:"exit"`
	Pod     string    `json:"pod"`
	Node    string    `json:"node"`
}

// PodRecord is what the runner knows of the pod that it runs in, kept as pods/<name>.json beside the results.
type PodRecord struct {
	Pod        string    `json:"pod"`
	Node       string    `json:"node"`
	Started    time.Time `json:"started"`
	FioVersion string    `json:"fio_version"`
	Kernel     string    `json:"kernel"`
	CPUs       int       `json:"cpus"`
}

// Names of the records beside the results.
const (
	MarkFile  = "mark.json"
	PodsDir   = "pods"
	CutSuffix = ".cut" // phases/NN-id.cut1 is what a pod left that was lost in the middle
)

// Exit codes of the script. The Job's failure policy tells them apart: after ExitFailed no other pod is tried.
const (
	ExitDone   = 0
	ExitFailed = 42
)
