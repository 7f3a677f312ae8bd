// Package runner is what runs a benchmark inside of a pod: a POSIX shell script, the plan that it works off, the lines by
// which it tells how far it has come, and the marks that it leaves beside the results.
//
// A pod may be lost at any time. The script therefore does each phase in a folder of its own, which gets its final name only
// when everything in it is complete and on the disk; another pod goes on from there. What is below phases/:
//
//	03-gp2-randread-qd32          finished; with mark.json
//	03-gp2-randread-qd32.running  on its way, or left by a pod that was lost; with started.json
//	03-gp2-randread-qd32.cut1     an attempt that was cut, kept; with mark.json if the pod had time for it
//	03-gp2-randread-qd32.failed   fio failed; with mark.json
//
// The script's exit codes, by which a Job decides whether another pod is of use:
//
//	0    done: every phase is finished, and the test files are removed
//	42   failed: the last event is phase-failed or run-failed and says why; another pod would not get further
//	143  ended by SIGTERM, as by an eviction: another pod goes on at the phase that was cut
//	137  killed, by the kernel for want of memory or because fio did not end in time after SIGTERM: another pod may go on
//	2, 126, 127  the image has no POSIX shell, or the script was not mounted
package runner

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"ebscope/internal/lazy"
	"ebscope/internal/units"
)

// Where the runner finds and puts things in its container. The script takes other places from EBSCOPE_CONFIG,
// EBSCOPE_RESULTS and EBSCOPE_WORK.
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
	Rest time.Duration // idle time before it, in whole milliseconds
	// Takes is how long it is expected to run, in whole milliseconds, for a reader's progress bar.
	Takes time.Duration
	// File is the test file or device, which has to hold Size bytes before fio may start, unless the phase is its layout.
	File   string
	Size   units.Bytes
	Layout bool
	// Remove says that File is removed when the run is over, unless it is a device.
	Remove bool
}

// The plan file is made for a shell's read: a line for each phase below a first line that says how many there are. Fields
// are set apart by one tab, and none is empty. A number has at most maxDigits digits, so that every shell reckons it right.
//
//	ebscope-plan  1         PHASES
//	NAME          REST(ms)  TAKES(ms)  LAYOUT(0|1)  REMOVE(0|1)  SIZE(bytes)  FILE
const (
	planHead  = "ebscope-plan\t1"
	fields    = 7
	maxDigits = 15
)

// A name is a folder's, and ends in none of the ways by which attempts are told apart.
var (
	nameForm    = lazy.Regexp(`^[A-Za-z0-9_][A-Za-z0-9._-]*$`)
	attemptForm = lazy.Regexp(`(` + regexp.QuoteMeta(RunningSuffix) + `|` + regexp.QuoteMeta(FailedSuffix) + `|` + regexp.QuoteMeta(CutSuffix) + `\d*)$`)
)

// Text writes the plan as the script reads it, PlanFile.
func (p Plan) Text() ([]byte, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\t%d\n", planHead, len(p.Phases))
	seen := map[string]bool{}
	for _, phase := range p.Phases {
		if err := phase.check(); err != nil {
			return nil, fmt.Errorf("plan of the run: phase %q: %w", phase.Name, err)
		}
		if seen[phase.Name] {
			return nil, fmt.Errorf("plan of the run: there are two phases %q", phase.Name)
		}
		seen[phase.Name] = true
		fmt.Fprintf(&b, "%s\t%d\t%d\t%d\t%d\t%d\t%s\n", phase.Name, phase.Rest.Milliseconds(), phase.Takes.Milliseconds(),
			bit(phase.Layout), bit(phase.Remove), phase.Size, phase.File)
	}
	return []byte(b.String()), nil
}

func (p Phase) check() error {
	switch {
	case !nameForm().MatchString(p.Name) || attemptForm().MatchString(p.Name):
		return errors.New("this is no name of a folder for its results")
	case !strings.HasPrefix(p.File, "/") || strings.ContainsFunc(p.File, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return fmt.Errorf("test file %q: an absolute path without control characters is needed", p.File)
	case p.Size <= 0 || p.Size >= units.Bytes(math.Pow10(maxDigits)):
		return fmt.Errorf("%d bytes are no size of a test file", p.Size)
	case p.Rest < 0 || p.Takes < 0:
		return errors.New("a time is negative")
	}
	return nil
}

func bit(set bool) int {
	if set {
		return 1
	}
	return 0
}

// ParsePlan reads what Text has written.
func ParsePlan(text []byte) (Plan, error) {
	lines := strings.Split(string(text), "\n")
	count, ok := strings.CutPrefix(lines[0], planHead+"\t")
	if !ok || count != strconv.Itoa(len(lines)-2) || lines[len(lines)-1] != "" {
		return Plan{}, errors.New("the run's plan is damaged: it does not begin as a plan, or lines are missing")
	}
	var p Plan
	for i, line := range lines[1 : len(lines)-1] {
		phase, err := parsePhase(line)
		if err != nil {
			return Plan{}, fmt.Errorf("the run's plan is damaged: line %d: %w", i+2, err)
		}
		p.Phases = append(p.Phases, phase)
	}
	return p, nil
}

func parsePhase(line string) (Phase, error) {
	all := strings.Split(line, "\t")
	if len(all) != fields {
		return Phase{}, fmt.Errorf("it has %d fields of %d", len(all), fields)
	}
	var numbers [fields - 2]int64
	for i := range numbers {
		n, err := strconv.ParseUint(all[i+1], 10, 63)
		if err != nil || len(all[i+1]) > maxDigits || strconv.FormatUint(n, 10) != all[i+1] {
			return Phase{}, fmt.Errorf("%q is no number that a plan can have", all[i+1])
		}
		numbers[i] = int64(n)
	}
	const longest = int64(math.MaxInt64 / time.Millisecond)
	if numbers[0] > longest || numbers[1] > longest || numbers[2] > 1 || numbers[3] > 1 {
		return Phase{}, fmt.Errorf("a number of %q is too large", line)
	}
	p := Phase{
		Name: all[0], Rest: time.Duration(numbers[0]) * time.Millisecond, Takes: time.Duration(numbers[1]) * time.Millisecond,
		Layout: numbers[2] == 1, Remove: numbers[3] == 1, Size: units.Bytes(numbers[4]), File: all[6],
	}
	return p, p.check()
}
