package migrate

import (
	"ebscope/internal/fleet"
	"ebscope/internal/migration"
)

// Counts are the steps of a plan by how far they are. Steps leaves out those that are blocked.
type Counts struct {
	Steps      int `json:"steps"`
	Done       int `json:"done"`
	Already    int `json:"already"`
	UnderWay   int `json:"under_way"`
	Pending    int `json:"pending"`
	Failed     int `json:"failed"`
	Infeasible int `json:"infeasible"`
	Refused    int `json:"refused"`
	Postponed  int `json:"postponed"`
	Blocked    int `json:"blocked"`
}

// Count counts them.
func Count(plan *migration.Plan, journal *Journal) Counts {
	var c Counts
	for i := range plan.Steps {
		if len(plan.Steps[i].BlockedBy) > 0 {
			c.Blocked++
			continue
		}
		c.Steps++
		s, known := journal.State(plan.Steps[i].Volume)
		switch {
		case !known || s.Kind == NotMade:
			c.Pending++
		case s.UnderWay():
			c.UnderWay++
		default:
			c.ended(s.Outcome)
		}
	}
	return c
}

func (c *Counts) ended(o Outcome) {
	switch o {
	case Done:
		c.Done++
	case Already:
		c.Already++
	case Infeasible:
		c.Infeasible++
	case Refused:
		c.Refused++
	case Postponed:
		c.Postponed++
	default:
		c.Failed++
	}
}

// Carried says what of a plan can be taken back, and how many changes are still under way.
func Carried(plan *migration.Plan, journal *Journal) (carried map[fleet.VolumeID]migration.Carried, underWay int) {
	carried = map[fleet.VolumeID]migration.Carried{}
	for i := range plan.Steps {
		s := &plan.Steps[i]
		switch state, _ := journal.State(s.Volume); {
		case state.UnderWay():
			underWay++
		case state.Kind == Ended && state.Outcome == Done && !s.Withdraw:
			carried[s.Volume] = migration.Changed
		case state.Kind == Ended && state.Outcome == Infeasible:
			carried[s.Volume] = migration.Declined
		}
	}
	return carried, underWay
}
