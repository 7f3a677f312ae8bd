package runner

import (
	"encoding/json"
	"strings"
	"time"
)

// EventKind says what a line of the runner tells.
type EventKind string

// The kinds of lines, in the order in which a run has them.
const (
	PodStarted   EventKind = "pod-started"   // a runner begins, or begins again in another pod
	PhaseKept    EventKind = "phase-kept"    // finished by an earlier pod
	PhaseCut     EventKind = "phase-cut"     // begun and not finished, by an earlier pod or by this one, which is asked to end
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

// eventStart begins each line that tells an event, so that other lines are passed over quickly.
const eventStart = `{"ebscope":"`

// ParseEvent reads a line of a pod's log. The second result is false where the line tells no event. What log tools put before
// a line is passed over: a time, a stream, a pod's name.
func ParseEvent(line string) (Event, bool) {
	i := strings.Index(line, eventStart)
	if i < 0 {
		return Event{}, false
	}
	var e Event
	if err := json.Unmarshal([]byte(line[i:]), &e); err != nil || e.Time.IsZero() || e.Index < 0 {
		return Event{}, false
	}
	switch e.Kind {
	case PodStarted, PhaseKept, PhaseCut, PhaseStarted, PhaseEnded, PhaseFailed, RunDone, RunFailed:
		return e, true
	}
	return Event{}, false
}
