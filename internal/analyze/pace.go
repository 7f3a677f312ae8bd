package analyze

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"ebscope/internal/result"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

// idle is the number of I/Os in flight below which the device waited for the application most of the time.
const idle = 0.5

// pace is the rate that an application keeps to, over all of its jobs, zero where it has none. fio holds reads and writes
// to it apart.
type pace struct {
	read, write units.IOPS
	text        string // as stated: "rate_iops=500,300"
}

// paceOf reads fio's rate_iops and rate: one figure for reads and writes, or one for each, "500,300".
func paceOf(r result.Reading) pace {
	stated, size := r.Workload, float64(observed(r))
	for _, option := range []struct {
		name string
		iops func(string) float64
	}{
		{"rate_iops", func(text string) float64 {
			x, _ := strconv.ParseFloat(text, 64)
			return possible(x)
		}},
		{"rate", func(text string) float64 {
			bytes, _, err := units.ParseSize(text, 1)
			if err != nil || size == 0 || stated.Options["kb_base"] == "1000" {
				return 0
			}
			return float64(bytes) / size
		}},
	} {
		text := stated.Options[option.name]
		parts := strings.Split(text, ",")
		each := make([]units.IOPS, 2)
		for i := range each {
			part := parts[0]
			if len(parts) > 1 {
				part = parts[i]
			}
			each[i] = units.IOPS(possible(option.iops(strings.TrimSpace(part)) * float64(max(1, stated.Jobs))))
		}
		if each[0] > 0 || each[1] > 0 {
			return pace{each[0], each[1], option.name + "=" + text}
		}
	}
	return pace{}
}

// total is the rate of reads and writes together, zero where one of them has none.
func (p pace) total(pattern string) units.IOPS {
	switch {
	case workload.Pattern(pattern).Mixed(), pattern == "readwrite":
		if p.read == 0 || p.write == 0 {
			return 0
		}
		return p.read + p.write
	case strings.HasSuffix(pattern, "write"):
		return p.write
	default:
		return p.read
	}
}

// paced says whether a rate is the one that the application keeps to, or its reads or writes are: where they are mixed, one
// of them holds the other.
func (r reader) paced(iops float64) bool {
	is := func(iops float64, own units.IOPS) bool { return own > 0 && math.Abs(iops/float64(own)-1) < near }
	reads, writes := r.reading.Read, r.reading.Write
	return is(iops, r.subject.phase.RateIOPS) ||
		reads != nil && is(float64(reads.IOPS), r.pace.read) || writes != nil && is(float64(writes.IOPS), r.pace.write)
}

// unhurried says that hardly any I/O was in flight, so that neither latency nor a limit set the rate; "" where more was.
func (r reader) unhurried() string {
	if n := r.inFlight / r.beside.ios; n > 0 && n < idle {
		return fmt.Sprintf("%s I/Os in flight on average (Little's law): the application set the rate, not latency", amount(n))
	}
	return ""
}
