// Package runner is what runs a benchmark inside of a pod: a POSIX shell script, the plan that it works off, the lines by
// which it tells how far it has come, and the marks that it leaves beside the results.
package runner

import (
	"time"

	"ebscope/internal/units"
)

// Where the runner finds and puts things in its container.
const (
	ConfigDir  = "/ebscope" // script, plan, record and job files, from the ConfigMap
	ResultsDir = "/results" // laid out like a run directory: phases/…, pods/…
	VolumesDir = "/volumes" // the volumes under test by name: VolumesDir/gp2 is a mount point
	DevicesDir = "/devices" // the same as raw devices: DevicesDir/gp2 is a block device
	WorkDir    = "/work"    // scratch space of the pod
)

// Keys of the ConfigMap, which are also the file names in ConfigDir. Job files are named after their phase: "03-gp2-randread-qd32.fio".
const (
	ScriptFile = "run.sh"
	PlanFile   = "plan"
	RecordFile = "run.json" // the run as it was planned; attach and collect start from it
	JobSuffix  = ".fio"
)

// Plan is what the runner is to do, in order.
type Plan struct {
	Phases []Phase
}

// Phase is one run of fio.
type Phase struct {
	Name string        // of its folder below phases/: "03-gp2-randread-qd32"
	Rest time.Duration // idle time before it
	// Takes is how long it is expected to run, for a reader's progress bar.
	Takes time.Duration
	// File is the test file or device, which has to hold Size bytes before fio may start, unless the phase is its layout.
	File   string
	Size   units.Bytes
	Layout bool
	// Remove says that File is removed when the run is done.
	Remove bool
}
