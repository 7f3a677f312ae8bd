package analyze

import (
	"fmt"
	"slices"
	"time"

	"ebscope/internal/result"
)

const (
	// coarse is how far the figures of a latency may contradict each other, as a share: percentiles are counted in steps.
	coarse = 0.1
	// capped is near the highest latency that fio's histogram counts, 2^34 ns: percentiles of more all stand there.
	capped = 16 * time.Second
	// crowded is how many times the stated queue depth can be in flight by Little's law before latency must be wrong. Where
	// jobs were counted wrongly, it is less.
	crowded = 10
)

// Plausible returns readings without the latencies that cannot be, with a warning in their place: such figures come of
// broken clocks and of faults in the tools that wrote them, and nothing follows from them.
func Plausible(readings []result.Reading) []result.Reading {
	all := slices.Clone(readings)
	for i := range all {
		r := &all[i]
		why := impossible(*r, r.Total.Latency)
		if why == "" {
			continue
		}
		text := "Latencies cannot be: " + why + ". They are left out"
		whole := result.Latency{Kind: "lat", Samples: r.Total.Latency.Samples, Mean: r.Total.Latency.Submitted}
		if whole.Mean > 0 && impossible(*r, whole) == "" {
			text += fmt.Sprintf("; the mean is that of lat, %s ms", amount(milliseconds(whole.Mean)))
		} else {
			whole = result.Latency{}
		}
		r.Total.Latency = whole
		for _, d := range []**result.Direction{&r.Read, &r.Write} {
			if *d != nil {
				part := **d
				part.Latency = result.Latency{}
				*d = &part
			}
		}
		r.Warnings = append(slices.Clone(r.Warnings), warning("latency-impossible", "%s.", text))
	}
	return all
}

// impossible says why a latency of all I/Os of a reading cannot be; "" where it can.
func impossible(r result.Reading, l result.Latency) string {
	ms := func(d time.Duration) string { return amount(milliseconds(d)) + " ms" }
	for i := 1; i < len(l.Percentiles); i++ {
		if a, b := l.Percentiles[i-1], l.Percentiles[i]; b.Value < a.Value {
			return fmt.Sprintf("p%g, %s, is below p%g, %s", b.Percent, ms(b.Value), a.Percent, ms(a.Value))
		}
	}
	mean := float64(l.Mean)
	stated := float64(max(0, r.Workload.QueueDepth) * max(0, r.Workload.Jobs))
	inFlight := possible(float64(r.Total.IOPS) * l.Mean.Seconds())
	length := r.Total.Runtime + r.Workload.RampTime
	most, bounded := highestMean(l)
	switch {
	case l.Mean <= 0:
		return ""
	case l.Submitted > 0 && mean > (1+coarse)*float64(l.Submitted):
		return fmt.Sprintf("on average, completion (clat) took %s, and submission and completion together (lat) %s", ms(l.Mean), ms(l.Submitted))
	case l.Max > 0 && mean > (1+coarse)*float64(l.Max):
		return fmt.Sprintf("the mean, %s, is above the highest, %s", ms(l.Mean), ms(l.Max))
	case mean < (1-coarse)*float64(l.Min):
		return fmt.Sprintf("the mean, %s, is below the lowest, %s", ms(l.Mean), ms(l.Min))
	case r.Total.Runtime > 0 && mean > (1+coarse)*float64(length)+float64(time.Second):
		return fmt.Sprintf("I/Os took %s on average in a run of %s", ms(l.Mean), duration(length.Seconds()))
	case bounded && mean > (1+coarse)*most:
		return fmt.Sprintf("the mean, %s, is above the %s that the percentiles and the highest allow", ms(l.Mean), ms(time.Duration(most)))
	case stated > 0 && inFlight > crowded*stated:
		return fmt.Sprintf("by Little's law %s I/Os were in flight, and %s are stated", amount(inFlight), amount(stated))
	}
	return ""
}

// highestMean is the mean of I/Os that all take as long as the percentile that they lie within, in nanoseconds; it is false
// where the last percentile is not known, or not above the end of fio's histogram.
func highestMean(l result.Latency) (mean float64, ok bool) {
	n := len(l.Percentiles)
	if n == 0 || l.Max <= 0 || l.Percentiles[n-1].Value >= capped {
		return 0, false
	}
	below := 0.0
	for _, p := range l.Percentiles {
		mean += (p.Percent - below) / 100 * float64(p.Value)
		below = p.Percent
	}
	return mean + (100-below)/100*float64(l.Max), true
}
