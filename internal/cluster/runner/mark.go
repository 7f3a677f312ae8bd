package runner

import "time"

// Mark is what the runner leaves in the folder of a phase when fio has ended, as MarkFile, and when it starts, as StartFile
// (without what is known only at the end).
type Mark struct {
	Started time.Time `json:"started"` // by the node's clock, to the second
	Ended   time.Time `json:"ended"`
	Exit    int       `json:"exit"` // of fio
	Pod     string    `json:"pod"`
	Node    string    `json:"node"`
}

// PodRecord is what the runner knows of the pod that it runs in, kept as pods/<name>.json beside the results.
type PodRecord struct {
	Pod        string    `json:"pod"`
	UID        string    `json:"uid"`
	Node       string    `json:"node"`
	Started    time.Time `json:"started"`
	FioVersion string    `json:"fio_version"` // "3.33"
	Kernel     string    `json:"kernel"`
	CPUs       int       `json:"cpus"` // that the pod may use
}

// Names of the records beside the results, and of the folders of attempts that are no finished phase.
const (
	MarkFile  = "mark.json"
	StartFile = "started.json"
	PodsDir   = "pods"
	DoneFile  = "done" // there once the whole run is done

	RunningSuffix = ".running" // phases/NN-id.running is on its way, or was left by a pod that was lost
	CutSuffix     = ".cut"     // phases/NN-id.cut1 is a first attempt that was cut, set aside
	FailedSuffix  = ".failed"  // phases/NN-id.failed is what fio left when it failed
)

// Exit codes of the script that its Job tells apart; the package documentation has all of them.
const (
	ExitDone   = 0
	ExitFailed = 42  // no other pod is tried
	ExitAsked  = 143 // ended by SIGTERM
)
