package fleet

import "math"

// Metrics are the metrics of one volume: a value for each step of the snapshot's window, the oldest first. A series that
// the volume does not have, or that was not asked for, is nil; see Series for a value that is missing.
type Metrics struct {
	Volume VolumeID `json:"volume"`
	// The operations and bytes in each step: the statistic Sum.
	ReadOps    Series `json:"read_ops,omitempty"`
	WriteOps   Series `json:"write_ops,omitempty"`
	ReadBytes  Series `json:"read_bytes,omitempty"`
	WriteBytes Series `json:"write_bytes,omitempty"`
	// BurstBalance is in percent, the statistic Minimum. Types without credits have none.
	BurstBalance Series `json:"burst_balance,omitempty"`
	// IOPSExceeded and ThroughputExceeded are 1 where the volume was asked for more than it gives, the statistic Maximum.
	// Only volumes on Nitro instances have them.
	IOPSExceeded       Series `json:"iops_exceeded,omitempty"`
	ThroughputExceeded Series `json:"throughput_exceeded,omitempty"`
}

// Series are the values of a metric. A value that is missing is not a number, which is not the same as zero: EBS writes
// no metrics while a volume is not attached.
type Series []float64

// NewSeries returns a series whose values are all missing.
func NewSeries(points int) Series {
	s := make(Series, points)
	for i := range s {
		s[i] = math.NaN()
	}
	return s
}

// At returns the value of a step, and false where it is missing or the series does not reach so far.
func (s Series) At(i int) (float64, bool) {
	if i < 0 || i >= len(s) || math.IsNaN(s[i]) {
		return 0, false
	}
	return s[i], true
}

// all returns the series.
func (m Metrics) all() []Series {
	return []Series{m.ReadOps, m.WriteOps, m.ReadBytes, m.WriteBytes, m.BurstBalance, m.IOPSExceeded, m.ThroughputExceeded}
}
