// Package claims judges stated results: which of them cannot be, and why. It measures nothing. It holds a statement
// against Little's law, the documented limits, credits, ratios and prices, and shows the arithmetic.
package claims

import (
	"time"

	"ebscope/internal/ebs"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

// Claim is a stated result, or a stated rule about a volume type. What is not stated is zero or nil, and limits what
// can be judged.
type Claim struct {
	Name   string
	Source string // where it is stated
	Line   int    // in the file that it was read from

	// Volume is the configuration that the result is about. Its Type or its Size may be missing.
	Volume   ebs.Volume
	Instance string // EC2 instance type
	Region   string // for the price
	Workload Workload
	// Balance is the share of burst credits at the start, 0 to 1, before Rest, an idle time in which the volume earns.
	Balance *float64
	Rest    time.Duration
	// Duration is how long the stated rates were held. Zero: not stated.
	Duration time.Duration
	Result   Result
	Rule     *Rule
}

// Workload is what a benchmark ran: it keeps QueueDepth × Jobs I/Os outstanding.
type Workload struct {
	Pattern    workload.Pattern
	BlockSize  units.Bytes
	QueueDepth int
	Jobs       int
}

// outstanding is the number of I/Os in flight, zero where the depth is not stated.
func (w Workload) outstanding() int { return w.QueueDepth * w.Jobs }

// Result holds the stated figures.
type Result struct {
	// IOPS and Throughput are means over the duration, or up to the fall where one is stated.
	IOPS       units.IOPS
	Throughput units.Throughput
	Mean       Latency
	P50        Latency
	P95        Latency
	P99        Latency
	Max        Latency
	FallsAfter time.Duration // after this time under the load the rate drops
	IOPSAfter  units.IOPS    // what is left then
	Monthly    *Money
}

// Latency is a stated latency; zero where none is.
type Latency struct {
	Value time.Duration
	// Below says that the statement was an upper bound: "<2ms".
	Below bool
}

// Money is a stated monthly cost. Rounding is half of the last digit that was stated.
type Money struct {
	Value, Rounding units.USD
}

// Rule is a statement of what a type takes: "on gp3, 1,000 MiB/s need at least 16,000 IOPS". One of LeastIOPS and
// LeastSize is set; IOPS and Throughput are what they are needed for.
type Rule struct {
	Type       ebs.Type
	IOPS       units.IOPS
	Throughput units.Throughput
	LeastIOPS  units.IOPS
	LeastSize  units.Bytes
}
