package analyze

import (
	"fmt"
	"time"

	"ebscope/internal/result"
	"ebscope/internal/simulate"
	"ebscope/internal/units"
)

// A volume that earns and spends credits by the clock on the wall must rest as long as its profile plans. What starts pods
// and programs takes some time for each phase, and the clocks of marks tell whole seconds.
const (
	startUp  = 3 * time.Second // for each phase in between
	longRest = 1.1             // times the planned one
)

// unplanned returns warnings that a phase's burst credits were not those that the profile plans: an earlier attempt had
// spent some, or the volume had rested longer, because a pod was lost or a run was resumed. Emulated volumes of this
// program's own go on where they stopped, and what is simulated has nothing in its way.
func (a *analysis) unplanned(i int, s subject, predicted []simulate.Phase) []result.Warning {
	switch a.run.Target {
	case result.Path, result.Device, result.Kubernetes, result.KubernetesEmulated:
	default:
		return nil
	}
	record := a.run.Phases[i]
	if !s.perf.Bursts() || record.Started == nil || i >= len(predicted) {
		return nil
	}
	if record.Cuts > 0 {
		return []result.Warning{{Code: "restarted", Text: fmt.Sprintf(
			"An earlier attempt at this phase was cut (%s) after it had spent burst credits, and the volume rested until the next: the phase began with another balance than the model expects, and its fall comes at another time. Run it again on a full bucket for the plan's figures.",
			count(record.Cuts, "time"))}}
	}
	before := a.before(i)
	if before < 0 || a.run.Phases[before].Ended == nil {
		return nil
	}
	planned := predicted[i].Start - predicted[before].End
	rested := record.Started.Sub(*a.run.Phases[before].Ended)
	if float64(rested) <= longRest*float64(planned)+float64(i-before)*float64(startUp) || full(predicted[i], s) {
		return nil
	}
	earned := units.Ops(float64(s.perf.Baseline) * (rested - planned).Seconds())
	return []result.Warning{{Code: "rested-longer", Text: fmt.Sprintf(
		"%s rested for %s before this phase, %s longer than planned, and earned up to %s credits more than the model expects.",
		s.phase.Volume, s.time(rested.Seconds()), s.time((rested - planned).Seconds()), amount(float64(earned)))}}
}

// before is the index of the phase before the given one on its volume, -1 where it is the first.
func (a *analysis) before(i int) int {
	for before := i - 1; before >= 0; before-- {
		if a.run.Phases[before].Volume == a.run.Phases[i].Volume {
			return before
		}
	}
	return -1
}

// full says whether a phase was to begin with all credits, which no rest can add to.
func full(p simulate.Phase, s subject) bool {
	return p.Credits != nil && float64(p.Credits.Start) >= 0.999*float64(s.perf.Credits)/s.compress
}
