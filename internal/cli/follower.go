package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"ebscope/internal/bench"
	"ebscope/internal/cluster"
	"ebscope/internal/cluster/runner"
	"ebscope/internal/fio/process"
	"ebscope/internal/result"
	"ebscope/internal/workload"
)

// follower turns what happens in a cluster into progress, as of a run on this machine.
type follower struct {
	progress progress
	pairs    int
	over     int // pairs that have ended
	phases   []workload.Phase
	takes    []time.Duration // how long each is expected to take
	current  int             // index of the phase that runs; -1: none does
	started  time.Time       // when it began, by the node's clock
	measured int             // phases that are over
	told     map[string]bool // notes, each of which is told once
	patience time.Duration   // for a pod to start
	timers   map[int]*time.Timer
	giveUp   func(error)

	away    time.Time      // since when the API server does not answer; zero: it does
	events  []result.Event // what only a follower knows, and a reader of the report must
	failure string         // why the run failed, in the runner's words
}

// imagePatience is how long an image may be refused: a registry that has a bad moment has answered by then.
const imagePatience = 3 * time.Minute

// stuckError says that a pod does not start, in the cluster's words.
type stuckError struct {
	pod   string
	after time.Duration
	why   string // empty: the pod does not say
}

func (e *stuckError) Error() string {
	return fmt.Sprintf("pod %s has not started in %s: %s", e.pod, clock(e.after), cmp.Or(e.why, "it does not say why"))
}

// newFollower shows on stderr what happens. A pod that waits longer than patience makes it give up.
func newFollower(record result.Run, pairs int, patience time.Duration, giveUp func(error), stderr io.Writer) (*follower, error) {
	catalog, err := record.Limits()
	if err != nil {
		return nil, err
	}
	profile := record.Profile.Compressed(record.Compress)
	f := &follower{
		progress: newProgress(stderr, record), pairs: pairs, phases: profile.Phases, current: -1, told: map[string]bool{},
		patience: patience, timers: map[int]*time.Timer{}, giveUp: giveUp,
	}
	for _, p := range profile.Phases {
		f.takes = append(f.takes, bench.Takes(catalog, profile, p))
	}
	return f, nil
}

// handle takes in one thing that happens.
func (f *follower) handle(h cluster.Happening) {
	switch h := h.(type) {
	case cluster.Line:
		switch {
		case h.Pair == 0: // stands for all
			f.line(h.Event)
		case h.Event.Kind == runner.PhaseFailed || h.Event.Kind == runner.RunFailed:
			f.note("set %d of volumes: %s", h.Pair+1, cmp.Or(h.Event.Text, "the run failed"))
		}
	case cluster.Rate:
		if h.Pair == 0 && f.current >= 0 && !h.Time.Before(f.started) {
			f.progress.PhaseAt(process.Progress{Elapsed: h.Time.Sub(f.started), IOPS: h.IOPS})
		}
	case cluster.PodChange:
		f.pod(h)
	case cluster.Event:
		// Why an image is not pulled, its pod says too.
		if h.Warning && (h.Kind != "Pod" || h.Reason != "Failed") {
			f.once("%s %s: %s: %s", h.Kind, h.Object, h.Reason, h.Message)
		}
	case cluster.PairEnd:
		f.over++
		if f.pairs > 1 {
			f.note("set %d of volumes has %s (%d of %d are over)", h.Pair.Pair+1, h.Pair.State, f.over, f.pairs)
		}
	case cluster.LinesLost:
		f.note("the log of pod %s cannot be read any more (%v); its finished phases are on the results volume", h.Pod, h.Err)
	case cluster.Connection:
		f.connection(h)
	}
}

// connection notes when the API server could not be asked: nothing of the run depends on it, but what is said of pods.
func (f *follower) connection(c cluster.Connection) {
	if c.Err != nil {
		f.note("%v; the run goes on meanwhile", c.Err)
		f.away = time.Now()
		return
	}
	f.note("the API server answers again")
	f.events = append(f.events, result.Event{At: f.away.UTC(), Code: "api-server-away", Text: fmt.Sprintf(
		"the API server did not answer from %s to %s UTC; the run went on meanwhile", f.away.UTC().Format(time.TimeOnly), time.Now().UTC().Format(time.TimeOnly))})
}

// line follows the runner's own words.
func (f *follower) line(e runner.Event) {
	i := e.Index - 1
	known := i >= 0 && i < len(f.phases)
	switch e.Kind {
	case runner.PodStarted:
		f.note("pod %s runs on node %s", e.Pod, e.Node)
	case runner.PhaseCut:
		if known {
			f.note("%s was cut and is measured anew", phaseTitle(f.phases[i]))
		}
		f.current = -1
	case runner.PhaseKept:
		f.measured++
	case runner.PhaseStarted:
		if known {
			f.current, f.started = i, e.Time
			f.progress.PhaseStarted(e.Index, len(f.phases), f.phases[i], f.takes[i], f.remaining(i))
		}
	case runner.PhaseEnded:
		f.measured++
		if f.current >= 0 {
			f.progress.PhaseEnded(nil, nil)
		}
		f.current = -1
	case runner.PhaseFailed, runner.RunFailed:
		if f.current >= 0 {
			f.progress.PhaseEnded(nil, errors.New(e.Text))
		}
		f.note("%s", cmp.Or(e.Text, "the run failed"))
		f.failure, f.current = e.Text, -1
	}
}

// pod tells what becomes of pods: why one waits, and when one is lost.
func (f *follower) pod(c cluster.PodChange) {
	p := c.Pod
	if c.Replaces != "" {
		f.note("pod %s takes the place of %s", p.Name, c.Replaces)
	}
	if t := f.timers[c.Pair]; t != nil {
		t.Stop()
	}
	switch p.State {
	case cluster.PodPending:
		f.await(c.Pair, p)
	case cluster.PodEvicted, cluster.PodLost, cluster.PodDeleted, cluster.PodFailed:
		f.once("pod %s", strings.TrimRight(fmt.Sprintf("%s is %s: %s %s", p.Name, p.State, p.Reason, p.Message), ": "))
		f.current = -1
	}
}

// await tells what a pod waits for, and gives up after a while.
func (f *follower) await(pair int, p cluster.PodStatus) {
	patience := f.patience
	why := strings.Trim(p.Reason+": "+p.Message, ": ")
	switch p.Reason {
	case "", "ContainerCreating": // in the ordinary course of things, too
	case "ImagePullBackOff", "ErrImagePull", "InvalidImageName", "ErrImageNeverPull": // the first two take turns
		patience = min(patience, imagePatience)
		f.onceAbout("pod "+p.Name+" has no image", "pod %s waits: %s", p.Name, why)
	default:
		f.once("pod %s waits: %s", p.Name, why)
	}
	f.timers[pair] = time.AfterFunc(time.Until(p.Created.Add(patience)), func() { f.giveUp(&stuckError{p.Name, patience, why}) })
}

// stop ends what would give up.
func (f *follower) stop() {
	for _, t := range f.timers {
		t.Stop()
	}
	f.progress.close()
}

// once tells what has not been told before; onceAbout tells of a matter once, whatever the words.
func (f *follower) once(format string, args ...any) {
	f.onceAbout(fmt.Sprintf(format, args...), format, args...)
}

func (f *follower) onceAbout(matter, format string, args ...any) {
	if !f.told[matter] {
		f.told[matter] = true
		f.note(format, args...)
	}
}

func (f *follower) note(format string, args ...any) {
	f.progress.note(visible(fmt.Sprintf(format, args...)))
}

// remaining is how long the phases from an index on take.
func (f *follower) remaining(from int) (sum time.Duration) {
	for i := from; i < len(f.phases); i++ {
		sum += f.takes[i] + f.phases[i].Rest + bench.StartUp
	}
	return sum
}
