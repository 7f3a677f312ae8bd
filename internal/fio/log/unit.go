package log

import (
	"math"
	"time"
)

// latencyUnit tells the unit of latencies from the lines, 0 where that is not beyond doubt, and why.
func (h *head) latencyUnit(all []fields) (time.Duration, string) {
	if h.stated {
		return time.Nanosecond, "the lines state it"
	}
	if h.peak >= 0 || h.columns > 5 || h.columns == 5 && h.prioritized(all) {
		return time.Nanosecond, "a priority column is of fio 3"
	}
	if h.perIO && !h.possible(all, time.Microsecond) {
		return time.Nanosecond, "in µs, I/Os would have begun before the job"
	}
	if !h.perIO && !h.possible(all, 10*time.Microsecond) && !h.possible(all[len(all)/2:], time.Microsecond) {
		return time.Nanosecond, "in µs, most I/Os would have begun before the job"
	}
	if h.perIO {
		for _, unit := range []time.Duration{time.Microsecond, time.Nanosecond} {
			if h.backToBack(all, unit) {
				return unit, "I/Os follow each other at this distance"
			}
		}
	}
	return 0, ""
}

// prioritized says whether the fifth column is a priority rather than an offset.
func (h *head) prioritized(all []fields) bool {
	for _, f := range all {
		if f.column[4] > 1 {
			return false
		}
	}
	return true
}

// possible says whether each I/O can have begun since the job's start, if latencies are in this unit.
func (h *head) possible(all []fields, unit time.Duration) bool {
	if h.origin != 0 {
		return true
	}
	for _, f := range all {
		if float64(f.column[1])*float64(unit) > float64(f.column[0]+1)*float64(time.Millisecond) {
			return false
		}
	}
	return true
}

// backToBack says whether the time between lines is the latency of the second in nearly all cases, as with one I/O in
// flight. Latencies of less than two ms do not show it.
func (h *head) backToBack(all []fields, unit time.Duration) bool {
	const enough = 20
	matches, pairs := 0, 0
	for i := 1; i < len(all); i++ {
		latency := float64(all[i].column[1]) * float64(unit) / float64(time.Millisecond)
		if latency < 2 {
			continue
		}
		pairs++
		apart := (float64(all[i].column[0]) - float64(all[i-1].column[0])) / float64(h.divisor)
		if math.Abs(apart-latency) <= 1.5 {
			matches++
		}
	}
	return pairs >= enough && pairs >= len(all)/2 && matches >= 4*pairs/5
}
