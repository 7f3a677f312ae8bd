package analyze

import (
	"cmp"
	"math"
	"slices"

	"ebscope/internal/model"
	"ebscope/internal/result"
	"ebscope/internal/workload"
)

// Sweep is a curve of a sweep: its steps on one volume that differ in the number of I/Os in flight alone.
type Sweep struct {
	Name      string      `json:"name"`
	Volume    string      `json:"volume"`
	RW        string      `json:"rw"`
	BlockSize int64       `json:"block_size"`
	Jobs      int         `json:"jobs"`  // of each step; zero where it is the number of jobs that differs
	Steps     []SweepStep `json:"steps"` // those that are done, by the number in flight
	Knee      *Knee       `json:"knee"`  // null where fewer than two steps are done
}

// SweepStep is a phase as a point of a curve. Expected is what the model predicts; null where it predicts nothing.
type SweepStep struct {
	Phase    string       `json:"phase"`
	InFlight int          `json:"in_flight"` // queue depth × jobs
	IOPS     float64      `json:"iops"`
	P50      *float64     `json:"p50_ms"`
	P99      *float64     `json:"p99_ms"`
	Expected *SweepFigure `json:"expected"`
}

// SweepFigure is what the model predicts for a step.
type SweepFigure struct {
	IOPS float64 `json:"iops"`
	P50  float64 `json:"p50_ms"`
	P99  float64 `json:"p99_ms"`
}

// Knee is where a curve bends: as long as nothing holds I/Os back, n in flight make n ÷ latency IOPS. Where that meets the
// limit, more in flight only wait.
type Knee struct {
	InFlight  int         `json:"in_flight"` // the least whole number that reaches the limit
	Exact     float64     `json:"exact"`     // limit × latency
	Limit     model.Limit `json:"limit"`
	LimitIOPS float64     `json:"limit_iops"`
	// LatencyMS is the median latency of the step with the fewest in flight or, where that is held by the limit or not
	// known, of the profile's service latency: Assumed. A stall of the machine does not move a median.
	LatencyMS float64 `json:"latency_ms"`
	Assumed   bool    `json:"assumed"`
	// PlateauIOPS is the mean of the steps from the knee on; null where the sweep does not reach it.
	PlateauIOPS *float64 `json:"plateau_iops"`
}

// kneeTolerance is how far below the limit, as a share, a number in flight may stay that counts as reaching it: as far as
// fio's percentiles are rounded (its bins are 1/64 wide).
const kneeTolerance = 0.02

// sweeps adds the curves of the profile's sweeps to the document.
func (a *analysis) sweeps(ceilings [][]ceiling) {
	type curve struct {
		Sweep
		at []int // places of its steps among the phases
	}
	var curves []*curve
	for i, p := range a.profile.Phases {
		if p.Sweep == "" {
			continue
		}
		key := Sweep{Name: p.Sweep, Volume: p.Volume, RW: string(p.Pattern), BlockSize: int64(p.BlockSize)}
		if a.deepens(p) {
			key.Jobs = p.Jobs
		}
		n := slices.IndexFunc(curves, func(c *curve) bool {
			return c.Name == key.Name && c.Volume == key.Volume && c.RW == key.RW && c.BlockSize == key.BlockSize && c.Jobs == key.Jobs
		})
		if n < 0 {
			n = len(curves)
			curves = append(curves, &curve{Sweep: key})
		}
		curves[n].at = append(curves[n].at, i)
	}
	for _, c := range curves {
		slices.SortStableFunc(c.at, func(i, j int) int {
			return cmp.Compare(a.profile.Phases[i].Outstanding(), a.profile.Phases[j].Outstanding())
		})
		c.Steps = []SweepStep{}
		for _, i := range c.at {
			if p := a.document.Phases[i]; p.State == string(result.Done) && p.IOPS.Mean > 0 {
				c.Steps = append(c.Steps, stepOf(p, a.profile.Phases[i].Outstanding()))
			}
		}
		if len(c.Steps) > 1 {
			c.Knee = a.knee(c.Sweep, ceilings[c.at[0]])
		}
		a.document.Sweeps = append(a.document.Sweeps, c.Sweep)
	}
}

// deepens says whether it is the queue depth in which the steps of a phase's sweep differ.
func (a *analysis) deepens(p workload.Phase) bool {
	return slices.ContainsFunc(a.profile.Phases, func(o workload.Phase) bool {
		return o.Sweep == p.Sweep && o.Volume == p.Volume && o.QueueDepth != p.QueueDepth
	})
}

func stepOf(p Phase, inFlight int) SweepStep {
	s := SweepStep{Phase: p.Name, InFlight: inFlight, IOPS: p.IOPS.Mean}
	if p.Latency != nil {
		s.P50, s.P99 = p.Latency.P50, p.Latency.P99
	}
	if e := p.Expected; e != nil {
		s.Expected = &SweepFigure{IOPS: e.IOPSMean, P50: e.LatencyP50MS, P99: e.LatencyP99MS}
	}
	return s
}

// knee finds where a curve with at least two steps bends: below the limit that holds its last step or, where none is near,
// the one that volume and instance allow at best.
func (a *analysis) knee(c Sweep, ceilings []ceiling) *Knee {
	limit := holding(c.Steps[len(c.Steps)-1].IOPS, ceilings)
	if limit.limit == model.QueueDepth {
		limit = best(ceilings)
	}
	k := &Knee{Limit: limit.limit, LimitIOPS: limit.iops}
	if first := c.Steps[0]; first.P50 != nil && first.IOPS < (1-near)*limit.iops {
		k.LatencyMS = *first.P50
	} else {
		k.LatencyMS, k.Assumed = milliseconds(a.profile.Members(c.Volume)[0].ServiceLatency().Quantile(0.5)), true
	}
	k.Exact = limit.iops * k.LatencyMS / 1000
	k.InFlight = max(1, int(math.Ceil((1-kneeTolerance)*k.Exact)))
	sum, n := 0.0, 0
	for _, s := range c.Steps {
		if s.InFlight >= k.InFlight {
			sum, n = sum+s.IOPS, n+1
		}
	}
	if n > 0 {
		k.PlateauIOPS = known(sum / float64(n))
	}
	return k
}
