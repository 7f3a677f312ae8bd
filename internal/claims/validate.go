package claims

import (
	"errors"
	"fmt"
	"strings"

	"ebscope/internal/workload"
)

// Bounds on what a benchmark can be said to have run.
const (
	maxQueueDepth = 65_536
	maxJobs       = 65_536
)

// validate checks that the claim states something in a form that makes sense. Whether it can be true is for Judge.
func (c Claim) validate() error {
	if strings.TrimSpace(c.Name) == "" {
		return errors.New("it needs a name")
	}
	if c.Rule != nil {
		if c != (Claim{Name: c.Name, Source: c.Source, Line: c.Line, Workload: Workload{Jobs: 1}, Rule: c.Rule}) {
			return errors.New("a rule stands alone: give the result a claim of its own")
		}
		return c.Rule.validate()
	}
	if c.Result == (Result{}) {
		return errors.New("it states no result and no rule")
	}
	w := c.Workload
	switch w.Pattern {
	case "", workload.Read, workload.Write, workload.RandRead, workload.RandWrite, workload.ReadWrite, workload.RandRW:
	default:
		return fmt.Errorf("rw %q: use read, write, randread, randwrite, rw or randrw", w.Pattern)
	}
	switch {
	case w.QueueDepth < 0 || w.QueueDepth > maxQueueDepth:
		return fmt.Errorf("queue_depth: use 1 to %d", maxQueueDepth)
	case w.Jobs < 1 || w.Jobs > maxJobs:
		return fmt.Errorf("jobs: use 1 to %d", maxJobs)
	case c.Result.IOPSAfter > 0 && c.Result.FallsAfter == 0:
		return errors.New("iops_after needs falls_after")
	case c.Duration > 0 && c.Result.FallsAfter > c.Duration:
		return fmt.Errorf("falls_after %v is later than the end of the duration, %v", c.Result.FallsAfter, c.Duration)
	case c.Rest > 0 && c.Balance == nil:
		return errors.New("rest needs balance, the share of credits before it")
	}
	return nil
}

func (r Rule) validate() error {
	switch {
	case r.Type == "":
		return errors.New("the rule needs a type")
	case (r.LeastIOPS > 0) == (r.LeastSize > 0):
		return errors.New("the rule states one of least_iops and least_size")
	case r.LeastIOPS > 0 && (r.Throughput == 0 || r.IOPS > 0):
		return errors.New("least_iops is about a throughput: give throughput and no iops")
	case r.LeastSize > 0 && r.Throughput == 0 && r.IOPS == 0:
		return errors.New("least_size is about iops or throughput: give one")
	}
	return nil
}
