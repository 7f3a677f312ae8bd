package model

import (
	"errors"
	"fmt"
	"time"
)

// Latency is the distribution of an EBS volume's service latency: what an I/O takes when no bucket holds it back.
// It is given by points of its quantile curve in ascending order, from a Share of 0 to one of 1, and is linear
// between them. It differs by year, type and instance, so a run calibrates it; it is never a constant of EBS.
type Latency []LatencyPoint

// LatencyPoint says that a Share of all I/Os, 0 to 1, is served within Within.
type LatencyPoint struct {
	Share  float64       `json:"share"`
	Within time.Duration `json:"within_ns"`
}

// DefaultLatency has the mean (0.564 ms), p50, p95 and p99 of 4 KiB random reads at depth 1 on gp3, below every limit.
// Source: measured, docs/model.md. The ends of the curve are set so that the mean comes out.
var DefaultLatency = Latency{
	{0, 449 * time.Microsecond},
	{0.5, 569 * time.Microsecond},
	{0.95, 627 * time.Microsecond},
	{0.99, 872 * time.Microsecond},
	{1, 1200 * time.Microsecond},
}

// NamedLatency returns a curve by name, that of an instance type and a volume type, and false where there is none.
// Only a mean was measured on c5.large, at depth 1 under Windows (docs/model.md); those curves have the shape of the default.
func NamedLatency(name string) (Latency, bool) {
	switch name {
	case "m5.xlarge-gp3":
		return DefaultLatency, true
	case "c5.large-gp2":
		return DefaultLatency.WithMean(320 * time.Microsecond), true
	case "c5.large-gp3":
		return DefaultLatency.WithMean(920 * time.Microsecond), true
	default:
		return nil, false
	}
}

// LatencyNames lists the names that NamedLatency knows.
func LatencyNames() []string { return []string{"c5.large-gp2", "c5.large-gp3", "m5.xlarge-gp3"} }

// WithMean stretches the curve so that it has the given mean.
func (l Latency) WithMean(mean time.Duration) Latency {
	stretched := make(Latency, len(l))
	for i, p := range l {
		stretched[i] = LatencyPoint{p.Share, time.Duration(float64(p.Within) * float64(mean) / float64(l.Mean()))}
	}
	return stretched
}

// Quantile returns the latency within which a share u of all I/Os is served. A u below 0 counts as 0, above 1 as 1.
// Drawing u evenly from 0 to 1 samples the distribution.
func (l Latency) Quantile(u float64) time.Duration {
	for i, p := range l[1:] {
		if u < p.Share {
			low := l[i]
			part := max(0, u-low.Share) / (p.Share - low.Share)
			return low.Within + time.Duration(part*float64(p.Within-low.Within))
		}
	}
	return l[len(l)-1].Within
}

// Mean returns the mean latency, the area under the quantile curve.
func (l Latency) Mean() time.Duration {
	var area float64
	for i, p := range l[1:] {
		area += (p.Share - l[i].Share) * float64(l[i].Within+p.Within) / 2
	}
	return time.Duration(area)
}

// Validate says what is wrong with a curve that Quantile could not read.
func (l Latency) Validate() error {
	if len(l) < 2 || l[0].Share != 0 || l[len(l)-1].Share != 1 {
		return errors.New("a latency curve runs from a share of 0 to one of 1")
	}
	if l[0].Within <= 0 {
		return fmt.Errorf("a latency curve starts at %v; a latency is above zero", l[0].Within)
	}
	for i, p := range l[1:] {
		if !(p.Share > l[i].Share) || p.Within < l[i].Within {
			return fmt.Errorf("point %d of the latency curve, %v within %v, does not lie above the one before it", i+2, p.Share, p.Within)
		}
	}
	return nil
}
