package analyze

import (
	"math"
	"slices"
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
// out of order. A sample reaches back to the one before it, as fio's averages do, however late its window was closed.
func clean(series result.Series) (samples []sample, dropped int) {
	var last time.Duration
	for _, p := range series {
		if !(p.Value >= 0 && p.Value <= mostIOPS) || p.End <= last {
			dropped++
			continue
		}
		samples = append(samples, sample{last, p.End, p.Value})
		last = p.End
	}
	return samples, dropped
}

// during leaves out the samples that lie for the most part after the end of a phase, when fio only waits for what is
// in flight. A duration of zero has no end.
func during(samples []sample, duration time.Duration) []sample {
	if duration == 0 {
		return samples
	}
	for i, s := range samples {
		if (s.from+s.to)/2 > duration {
			return samples[:i]
		}
	}
	return samples
}

// joined makes the first sample of a predicted series as long as the measured one, which fio closes late when windows
// are short: both are left out of the mean, and must leave out the same stretch.
func joined(series result.Series, end time.Duration) result.Series {
	if len(series) == 0 || end <= series[0].End {
		return series
	}
	var last time.Duration
	var ios float64
	for i, p := range series {
		if p.End > end {
			// The sample that is cut holds its level on both sides.
			ios += p.Value * (end - last).Seconds()
			first := result.Point{End: end, Value: ios / end.Seconds()}
			return append(result.Series{first}, series[i:]...)
		}
		ios += p.Value * (p.End - last).Seconds()
		last = p.End
	}
	return series
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

// typicalOf is the mean, with samples far from the median brought near: a stall, and the I/Os that come in together
// when it ends, leave it alone. Two I/Os more or less are never far.
func typicalOf(samples []sample, quantum float64) float64 {
	middle := median(samples, func(s sample) float64 { return s.iops })
	deviation := median(samples, func(s sample) float64 { return math.Abs(s.iops - middle) })
	// 1.48 median deviations are one standard deviation of normal noise.
	far := max(3*1.48*deviation, 2*quantum)
	near := slices.Clone(samples)
	for i := range near {
		near[i].iops = min(max(near[i].iops, middle-far), middle+far)
	}
	return statisticsOf(near).mean
}

func median(samples []sample, of func(sample) float64) float64 {
	values := make([]float64, len(samples))
	for i, s := range samples {
		values[i] = of(s)
	}
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
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
