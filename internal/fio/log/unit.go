package log

import (
	"math"
	"time"

	"ebscope/internal/fio"
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
	if h.perIO && h.backToBack(all, time.Nanosecond) {
		return time.Nanosecond, "I/Os follow each other at this distance"
	}
	h.thousandth = h.perIO && h.backToBack(all, time.Microsecond)
	return 0, ""
}

// know takes the version into account that wrote the log. Where times and latencies are of one clock, of which a latency
// is a thousandth, that is ms and µs in logs of fio 2. A later fio has latencies in ns, so that its times must be in µs,
// as changed versions write them.
func (h *head) know(version *fio.Version) {
	if version == nil || h.stated || !h.kind.latency() || h.kind == Histogram {
		return
	}
	unit := time.Microsecond
	if version.AtLeast(nanoseconds) {
		unit = time.Nanosecond
	}
	h.take(unit, "fio "+version.String())
	h.told = true
}

// Given is why a unit is what it is where Options say so.
const Given = "it was given"

// assume takes the unit that was given where nothing tells another.
func (h *head) assume(unit time.Duration) {
	if unit != 0 && h.unit == 0 && h.kind.latency() && h.kind != Histogram {
		h.take(unit, Given)
		h.told = true
	}
}

// take sets the unit, and with it that of times.
func (h *head) take(unit time.Duration, why string) {
	h.unit, h.reason = unit, why
	if unit == time.Nanosecond && h.thousandth {
		h.divisor = 1000
		h.odd = "its times are in µs, for I/Os follow each other at the distance of their latency in ns"
	}
}

// UnitName is what people call a unit of latencies.
func UnitName(unit time.Duration) string {
	switch unit {
	case time.Nanosecond:
		return "ns"
	case time.Microsecond:
		return "µs"
	default:
		return "ms"
	}
}

// nanoseconds is the first version whose logs have latencies in ns.
var nanoseconds = fio.Version{Major: 3}

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
