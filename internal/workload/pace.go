package workload

import (
	"fmt"
	"math"
	"time"

	"ebscope/internal/units"
)

// maxThinkTime keeps a typing mistake from a phase that does nothing.
const maxThinkTime = time.Hour

// validatePace checks the application's own pace: think time and rate.
func (p Phase) validatePace() error {
	if p.ThinkTime < 0 || p.ThinkTime > maxThinkTime || p.ThinkTime%time.Microsecond != 0 {
		return fmt.Errorf("think_time %v: use 0 to %v, in whole microseconds", p.ThinkTime, maxThinkTime)
	}
	if p.ThinkTime > 0 && p.QueueDepth != 1 {
		return fmt.Errorf("think_time with queue_depth %d: a job that thinks after each I/O has one in flight; use queue_depth 1, and jobs for more", p.QueueDepth)
	}
	if p.RateIOPS == 0 {
		return nil
	}
	if !(p.RateIOPS >= 1 && p.RateIOPS <= 1e9) || p.RateIOPS != units.IOPS(math.Trunc(float64(p.RateIOPS))) {
		return fmt.Errorf("rate_iops %v: use a whole number from 1", float64(p.RateIOPS))
	}
	if rate := int64(p.RateIOPS); rate%int64(p.Jobs) != 0 {
		return fmt.Errorf("rate_iops %d over %d jobs: each job has the same share; use a multiple of %[2]d", rate, p.Jobs)
	}
	if read, write := p.JobRates(); p.Pattern.Mixed() && (read == 0 || write == 0) {
		return fmt.Errorf("rate_iops %v with read_percent %d leaves a job less than one read or write a second; use a higher rate", p.RateIOPS, p.ReadPercent)
	}
	return nil
}

// JobRates shares RateIOPS out: the reads and the writes a second of each job, in whole numbers as fio takes them. For a
// pattern that does not mix both are the job's share.
func (p Phase) JobRates() (read, write int) {
	rate := int(p.RateIOPS) / p.Jobs
	if !p.Pattern.Mixed() {
		return rate, rate
	}
	read = int(math.Round(float64(rate*p.ReadPercent) / 100))
	return read, rate - read
}
