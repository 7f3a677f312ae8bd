package alarm

import (
	"fmt"
	"math"
	"time"

	"ebscope/internal/ebs"
	"ebscope/internal/fleet"
	"ebscope/internal/forecast"
	"ebscope/internal/units"
)

// The periods of metrics. EBS writes its own every minute; EC2 those of an instance every five unless the customer pays
// for more. A period below that would find gaps.
const (
	volumePeriod   = time.Minute
	instancePeriod = 5 * time.Minute
)

// heldBackFor is how long a volume has to hold I/O back until that is told: a minute alone may be one short burst.
const heldBackFor = 5

// missing data are what they are: a volume that is not attached has no metrics, nor a stopped instance. "breaching" would
// raise an alarm about a volume that nobody uses, "ignore" would leave one standing for as long as it stays detached, and
// "notBreaching" would say that an empty bucket is full again.
const missing = "missing"

// The comparisons and statistics.
const (
	atMost  = "LessThanOrEqualToThreshold"
	atLeast = "GreaterThanOrEqualToThreshold"
	minimum = "Minimum"
	maximum = "Maximum"
)

// Credits says whether a volume of the type lives on credits, so that it is watched until it is something else.
func Credits(t ebs.Type) bool { return t == ebs.GP2 || t == ebs.ST1 || t == ebs.SC1 }

// base is what all alarms of a kind have in common.
func base(k Kind, subject string, dimensions map[string]string, actions []string) fleet.Alarm {
	return fleet.Alarm{Name: name(subject, k), Namespace: metrics[k].namespace, Metric: metrics[k].name, Dimensions: dimensions,
		MissingData: missing, Actions: actions}
}

// balance makes an alarm on a balance in percent. The latest figure is enough: a balance does not jump.
func balance(a fleet.Alarm, threshold float64, period time.Duration) fleet.Alarm {
	a.Statistic, a.Comparison, a.Threshold = minimum, atMost, threshold
	a.PeriodS, a.EvaluationPeriods, a.DatapointsToAlarm = int64(period.Seconds()), 1, 1
	return a
}

// exceeded makes an alarm on a check that is 1 in each minute in which I/O was held back.
func exceeded(a fleet.Alarm) fleet.Alarm {
	a.Statistic, a.Comparison, a.Threshold = maximum, atLeast, 1
	a.PeriodS, a.EvaluationPeriods, a.DatapointsToAlarm = int64(volumePeriod.Seconds()), heldBackFor, heldBackFor
	return a
}

// burstLoad is the most that a volume does while it has credits.
func burstLoad(perf ebs.Performance) forecast.Load {
	const small = 4 * units.KiB // no throughput limit comes first
	if perf.BurstsData() {
		return forecast.Load{IOPS: units.IOPS(perf.Throughput) / units.IOPS(perf.AccountingUnit), Throughput: perf.Throughput}
	}
	return forecast.Of(perf.Burst, small)
}

// level is a threshold and what it gives.
type level struct {
	percent           float64
	warnS, warnBurstS *float64
	because           string
}

// volumeLevel works out at which balance a volume has so much time left at its peak: the one that was observed, or the burst
// rate where none was, or it never empties the bucket. It is false where even a full bucket does not last so long.
func volumeLevel(perf ebs.Performance, observed *fleet.Observed, warn time.Duration) (level, bool) {
	burst := burstLoad(perf)
	atBurst, burstOK := fleet.AlarmThreshold(perf, burst, warn)
	load, why := burst, "its burst rate"
	if observed != nil && observed.Known > 0 {
		if _, empties := fleet.AlarmThreshold(perf, observed.Peak, 0); empties {
			load, why = observed.Peak, "its peak"
		} else {
			why = "its burst rate (its peak never uses the credits up)"
		}
	}
	exact, ok := fleet.AlarmThreshold(perf, load, warn)
	if !ok {
		return level{}, false
	}
	l := level{percent: tenth(exact), because: fmt.Sprintf("at %s of %s", why, rate(perf, load))}
	l.warnS = seconds(warn, l.percent/exact)
	if burstOK {
		l.warnBurstS = seconds(warn, l.percent/atBurst)
	}
	return l, true
}

// rate names a load by what uses the credits up.
func rate(perf ebs.Performance, load forecast.Load) string {
	if perf.BurstsData() {
		return fmt.Sprintf("%s MiB/s", units.Thousands(math.Round(load.Throughput.MiBps())))
	}
	return fmt.Sprintf("%s IOPS", units.Thousands(math.Round(float64(load.IOPS))))
}

// instanceLasts is how long an instance holds its maximum. AWS documents half an hour a day; that a balance of so much
// percent lasts so much of it is inferred.
const instanceLasts = 30 * time.Minute

// instanceLevel is the threshold for an instance at its maximum. Its balance comes once in a period, so that the alarm may
// be late by that: it is set for so much more.
func instanceLevel(warn time.Duration) (level, bool) {
	early := warn + instancePeriod
	if early > instanceLasts {
		return level{}, false
	}
	exact := 100 * early.Seconds() / instanceLasts.Seconds()
	l := level{percent: tenth(exact), because: "at the instance's maximum, inferred to last 30 min"}
	l.warnS = seconds(early, l.percent/exact)
	l.warnBurstS = l.warnS
	return l, true
}

// tenth rounds up to a tenth of a percent: a warning comes rather too early than too late.
func tenth(percent float64) float64 { return math.Ceil(percent*10-1e-6) / 10 }

func seconds(warn time.Duration, by float64) *float64 {
	s := math.Round(warn.Seconds() * by)
	return &s
}
