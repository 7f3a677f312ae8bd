package analyze

import (
	"math"
	"time"

	"ebscope/internal/result"
)

// sample is the mean IOPS over a stretch of a phase.
type sample struct {
	from, to time.Duration
	iops     float64
}

func (s sample) length() float64 { return (s.to - s.from).Seconds() }

// mostIOPS is far above any storage; a sample beyond it is damaged. It also keeps sums from overflowing.
const mostIOPS = 1e12

// clean turns a measured series into samples and counts the points that cannot be: not a number, negative, absurd, or
// out of order.
func clean(series result.Series, window time.Duration) (samples []sample, dropped int) {
	var last time.Duration
	for _, p := range series {
		if !(p.Value >= 0 && p.Value <= mostIOPS) || p.End <= last {
			dropped++
			continue
		}
		from := last
		// After a gap in the log, the point speaks for its own window only.
		if window > 0 && p.End-last > 2*window {
			from = p.End - window
		}
		samples = append(samples, sample{from, p.End, p.Value})
		last = p.End
	}
	return samples, dropped
}

// statistics of samples; the mean is weighted with their length.
type statistics struct{ mean, min, max float64 }

func statisticsOf(samples []sample) statistics {
	if len(samples) == 0 {
		return statistics{}
	}
	s := statistics{min: samples[0].iops, max: samples[0].iops}
	for _, x := range samples {
		s.min, s.max = min(s.min, x.iops), max(s.max, x.iops)
	}
	// Sums leave a rest far below a millionth, which nobody wants to read.
	s.mean = math.Round(served(samples)/seconds(samples)*1e6) / 1e6
	return s
}

// served is the number of I/Os in the samples.
func served(samples []sample) float64 {
	var ios float64
	for _, s := range samples {
		ios += s.iops * s.length()
	}
	return ios
}

// seconds is the time that the samples cover.
func seconds(samples []sample) float64 {
	var total float64
	for _, s := range samples {
		total += s.length()
	}
	return total
}
