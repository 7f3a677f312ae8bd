package cluster

import (
	"time"

	"ebscope/internal/cluster/runner"
	"ebscope/internal/units"
)

// Happening is something that Follow tells: a Line, Rate, PodChange, Event, PairEnd, LinesLost or Connection.
type Happening interface{ happening() }

// Line is an event line of the runner. A pod that replaces another one says again which phases are finished.
type Line struct {
	Pair  int
	Pod   string
	Event runner.Event
}

// Rate is a status line of fio.
type Rate struct {
	Pair int
	Pod  string
	Time time.Time // when fio wrote it, by the node's clock: a reader that comes later hears old ones first
	IOPS units.IOPS
}

// PodChange is a new pod, or one whose state or the reason for it changed.
type PodChange struct {
	Pair     int
	Pod      PodStatus
	Replaces string // the pod of the same pair before it; only with the first change of a pod
}

// PairEnd says that the Job of a pair has ended.
type PairEnd struct {
	Pair PairStatus
}

// LinesLost says that the rest of a pod's log could not be read: the pod or its node is gone. Its marks on the results
// volume still tell which phases are finished.
type LinesLost struct {
	Pair int
	Pod  string
	Err  error
}

// Connection says that the API server does not answer, or does again.
type Connection struct {
	Err error // nil: it answers again
}

func (Line) happening()       {}
func (Rate) happening()       {}
func (PodChange) happening()  {}
func (Event) happening()      {}
func (PairEnd) happening()    {}
func (LinesLost) happening()  {}
func (Connection) happening() {}
