package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"ebscope/internal/forecast"
	"ebscope/internal/units"
)

// forecastView puts a forecast into words.
type forecastView struct{ forecast.Document }

// long prints a length of time like span, but from three days on in days.
func long(seconds float64) string {
	const hour, day = 3600, 24 * 3600
	if seconds < 3*day {
		return span(seconds)
	}
	hours := int64(math.Round(seconds / hour))
	text := fmt.Sprintf("%d days", hours/24)
	if rest := hours % 24; rest > 0 {
		text += fmt.Sprintf(" %d h", rest)
	}
	return text
}

// load says what load was stated.
func (v forecastView) load() string {
	l := v.Load
	rate := func(x float64) string { return iops(x) + " IOPS" }
	counted := ""
	if v.counted() {
		counted = fmt.Sprintf(". %s counts each as %s operations; below, operations are meant", v.Volume.Type, decimals(l.OperationsPerIO, 2))
	}
	switch l.Kind {
	case forecast.ConstantLoad:
		return fmt.Sprintf("%s of %v%s", rate(l.IOPS), units.Bytes(l.BlockSize), counted)
	case forecast.PatternLoad:
		if l.ForS == l.EveryS {
			return fmt.Sprintf("%s of %v, peak after peak without a pause%s", rate(l.IOPS), units.Bytes(l.BlockSize), counted)
		}
		return fmt.Sprintf("%s of %v for %s, every %s; %s between%s", rate(l.IOPS), units.Bytes(l.BlockSize), span(l.ForS), span(l.EveryS), rate(l.ThenIOPS), counted)
	default:
		return "the demand in " + l.Source
	}
}

// counted says that an I/O of the load is not one operation, so that one must not be taken for the other.
func (v forecastView) counted() bool { return v.Load.OperationsPerIO > 1 }

// rate prints a rate of operations, with the I/Os of the load that they are where that is not the same.
func (v forecastView) rate(operations float64) string {
	if !v.counted() {
		return iops(operations) + " IOPS"
	}
	return fmt.Sprintf("%s operations a second (%s IOPS of %v)", iops(operations), iops(operations/v.Load.OperationsPerIO), units.Bytes(v.Load.BlockSize))
}

// bursts says whether the volume has credits that can run out.
func (v forecastView) bursts() bool { return v.CreditCapacity > 0 || v.DataCreditCapacityGiB > 0 }

// baseline is what the volume gives without credits.
func (v forecastView) baseline() string {
	if v.DataCreditCapacityGiB > 0 {
		return mibps(v.BaselineThroughputMiBps) + " MiB/s"
	}
	return v.rate(v.BaselineIOPS)
}

// headline is the answer in one sentence.
func (v forecastView) headline() string {
	name := v.Volume.Text
	switch {
	case v.SecondsToEmpty != nil && *v.SecondsToEmpty == 0:
		return fmt.Sprintf("%s has no credits left and gives %s", name, v.baseline())
	case v.SecondsToEmpty != nil:
		return fmt.Sprintf("%s runs out of credits after %s and falls to %s", name, long(*v.SecondsToEmpty), v.baseline())
	case v.Course.ThrottledS > 0:
		return fmt.Sprintf("%s holds the load back: it waits for %s", name, v.heldBy())
	case v.bursts():
		return fmt.Sprintf("%s does not run out of credits", name)
	default:
		return fmt.Sprintf("%s carries the load; it has no credits that could run out", name)
	}
}

// emptyAt is where a drawing marks that the credits ran out, nil where it does not show it. It is the time in the headline.
func (v forecastView) emptyAt() *float64 {
	at := v.Course.EmptyAtS
	if at == nil || *at == 0 || v.SecondsToEmpty == nil {
		return nil
	}
	return v.SecondsToEmpty
}

// heldBy names the limits that held the load back, the longest first.
func (v forecastView) heldBy() string {
	var names []string
	held := slices.Clone(v.Course.HeldBy)
	slices.SortStableFunc(held, func(a, b forecast.HeldSeconds) int { return cmp.Compare(b.Seconds, a.Seconds) })
	for _, h := range held {
		names = append(names, word(limitWords, h.Limit))
	}
	return strings.Join(names, ", ")
}

// details are the sentences below the headline.
func (v forecastView) details() []string {
	var all []string
	c := v.Course
	if c.ThrottledS > 0 {
		text := fmt.Sprintf("Over %s, I/O waits for %s (%s), for %s. %s operations are delayed; at most %s wait at once",
			long(c.LengthS), long(c.ThrottledS), percent(c.ThrottledS/c.LengthS), v.heldBy(), capital(amount(c.DelayedOperations)), amount(c.PeakBacklog))
		if c.Unserved >= 1 {
			text += fmt.Sprintf(", and %s are still not served at the end", amount(c.Unserved))
		}
		all = append(all, text+".")
	}
	if at := c.InstanceBurstEndsAtS; at != nil {
		when := "after " + long(*at)
		if *at == 0 {
			when = "from the start"
		}
		all = append(all, fmt.Sprintf("The burst of %s is spent %s: the instance then passes on no more than its baseline.", v.Instance, when))
	}
	switch {
	case !v.bursts() || v.SecondsToEmpty != nil:
	case c.LowestPercent == 100:
		all = append(all, "The balance stays full.")
	default:
		all = append(all, fmt.Sprintf("The balance is %s at its lowest and %s after %s.", percent(c.LowestPercent/100), percent(c.LastPercent/100), long(c.LengthS)))
	}
	if i := slices.IndexFunc(v.Alternatives, func(a forecast.Alternative) bool { return a.Course.ThrottledS == 0 }); c.ThrottledS > 0 && i >= 0 {
		all = append(all, fmt.Sprintf("On %s nothing waits.", v.Alternatives[i].Volume.Text))
	}
	if v.bursts() {
		if s := v.SecondsToRefill; s != nil {
			all = append(all, fmt.Sprintf("An empty balance is full again after a rest of %s.", long(*s)))
		}
		all = append(all, v.alarm())
	}
	return all
}

// alarm says at which balance an alarm leaves the time that was asked for.
func (v forecastView) alarm() string {
	warn := span(v.Alarm.WarnS)
	if t := v.Alarm.ThresholdPercent; t != nil {
		return fmt.Sprintf("An alarm on BurstBalance at %s %% leaves %s at the highest load.", threshold(*t), warn)
	}
	if v.SecondsToEmpty == nil {
		return "The highest load never empties the balance, so it needs no alarm."
	}
	return fmt.Sprintf("The highest load empties even a full balance within %s, so no alarm on it leaves that much time.", warn)
}

// threshold prints a percentage rounded up to a tenth: an alarm may come a little early, not late.
func threshold(percent float64) string { return decimals(math.Ceil(percent*10-1e-6)/10, 1) }

// formula is AWS's for the time until the credits run out, where the load is constant.
func (v forecastView) formula() string {
	if v.Load.Kind != forecast.ConstantLoad || v.SecondsToEmpty == nil || *v.SecondsToEmpty == 0 || v.CreditCapacity == 0 || v.Instance != "" {
		return ""
	}
	balance := v.CreditCapacity * v.StartBalancePercent / 100
	return fmt.Sprintf("%s credits ÷ (%s − %s) = %s s", iops(balance), iops(v.BaselineIOPS + balance / *v.SecondsToEmpty), iops(v.BaselineIOPS), iops(*v.SecondsToEmpty))
}

// forecastRow is one volume in the comparison.
type forecastRow struct{ Name, Empty, Throttled, Delayed, Peak, Unserved string }

// rows compares the volume with its alternatives.
func (v forecastView) rows() []forecastRow {
	first := forecastRowOf(v.Volume.Text, v.Course)
	if v.SecondsToEmpty != nil { // the time in the headline
		first.Empty = long(*v.SecondsToEmpty)
	}
	rows := []forecastRow{first}
	for _, a := range v.Alternatives {
		rows = append(rows, forecastRowOf(a.Volume.Text, a.Course))
	}
	return rows
}

func forecastRowOf(name string, c forecast.Course) forecastRow {
	r := forecastRow{Name: name, Empty: "never", Throttled: none, Delayed: none, Peak: none, Unserved: none}
	if c.EmptyAtS != nil {
		r.Empty = long(*c.EmptyAtS)
	}
	if c.ThrottledS > 0 {
		r.Throttled, r.Delayed, r.Peak, r.Unserved = long(c.ThrottledS), amount(c.DelayedOperations), amount(c.PeakBacklog), amount(c.Unserved)
	}
	return r
}
