// Package result is the form that every run has, whether it was measured, emulated, simulated or imported: what was
// run, where, and what came out. Its other half is the run directory that holds it on disk.
package result

import (
	"time"

	"ebscope/internal/units"
)

// Measurement is what one phase gave.
type Measurement struct {
	Source string // what produced it, such as "fio-3.33"
	// Total sums reads and writes. Read and Write are set where the phase did both, and of what it did where no pattern
	// tells which that was.
	Total       Direction
	Read, Write *Direction
	// Window is the averaging time of the series.
	Window time.Duration
	// IOPS is the rate over the phase, reads and writes together, a point for each window.
	IOPS Series
	// Latency is the mean latency of each window in milliseconds, empty where it was not logged.
	Latency Series
	// ReadSeries and WriteSeries are the parts of both, where the phase read and wrote and its logs tell them apart.
	ReadSeries, WriteSeries DirectionSeries
	Warnings                []Warning
}

// DirectionSeries is the rate, and the mean latency in milliseconds, of one direction.
type DirectionSeries struct{ IOPS, Latency Series }

// Direction is the summary of reads, of writes or of both.
type Direction struct {
	IOs        int64
	Bytes      units.Bytes
	Runtime    time.Duration
	IOPS       units.IOPS // I/Os over the whole runtime, the first window included
	Throughput units.Throughput
	Latency    Latency
}

// Latency is the distribution of completion times.
type Latency struct {
	// Kind is "lat" (submission to completion) or "clat" (without submission).
	Kind           string
	Samples        int64
	Mean, Min, Max time.Duration
	// Submitted is the mean from submission to completion, where Kind is "clat" and that was measured as well; zero: not known.
	Submitted time.Duration `json:",omitzero"`
	// Bins is the histogram in ascending order, empty where only percentiles are known.
	Bins []Bin
	// Percentiles are in ascending order.
	Percentiles []Percentile
}

// Bin is the number of I/Os whose latency was about At.
type Bin struct {
	At    time.Duration
	Count int64
}

// Percentile is the latency within which Percent of all I/Os completed.
type Percentile struct {
	Percent float64 // 0 to 100
	Value   time.Duration
}

// Percentile returns the latency at the given percentage, and false where it is not known.
func (l Latency) Percentile(percent float64) (time.Duration, bool) {
	for _, p := range l.Percentiles {
		if p.Percent == percent {
			return p.Value, true
		}
	}
	return 0, false
}

// Series is a quantity over a phase, in ascending time.
type Series []Point

// Point is the mean over one window that ends at End, counted from the start of the phase.
type Point struct {
	End   time.Duration
	Value float64
	// Min and Max are the extremes within the window, of single I/Os or of shorter windows. Both are zero where only the
	// mean is known.
	Min float64 `json:",omitzero"`
	Max float64 `json:",omitzero"`
}

// PercentilesMissing is the code of the warning that percentiles of all I/Os are not known, which logs may still tell.
const PercentilesMissing = "percentiles-missing"

// Warning is a doubt about data, kept with it so that it reaches the reports.
type Warning struct {
	Code string `json:"code"`
	Text string `json:"text"`
}
