package claims

import (
	"fmt"
	"math"
	"time"

	"ebscope/internal/units"
)

// Tolerances of comparisons. Stated figures are rounded, and fio's completion latency (clat) leaves out the submission,
// 8 % of 63 ms in a measured run of 1 MiB at depth 8.
const (
	rounding   = 0.03
	submission = 0.10
	// atLimit is the share of a limit from which on the volume, and not the benchmark, holds the rate back. A benchmark then
	// keeps its whole queue outstanding.
	atLimit = 0.90
	// longestTail is how many times a percentile, from the 95th on, the mean of the slower I/Os can be. A gp2 volume that
	// falls to a tenth makes them 10 times as long.
	longestTail = 20
)

// littlesLaw holds the stated latencies against outstanding ÷ rate. At most queue depth × jobs I/Os are outstanding, so it
// bounds the mean from above; of a benchmark that waits for the volume it is the mean.
func (j *judge) littlesLaw() {
	r := j.Result
	if r.Mean.Value == 0 && r.Max.Value == 0 && len(j.percentiles()) == 0 {
		return
	}
	outstanding, rate := j.Workload.outstanding(), j.iops()
	if outstanding == 0 || rate == 0 {
		j.find(Unjudged, LittlesLaw, "The latency: state queue_depth and iops.")
		return
	}
	mean := float64(outstanding) / float64(rate)
	sum := fmt.Sprintf("%d outstanding ÷ %v = a mean of %s", outstanding, rate, ms(mean))
	switch stated := r.Mean.Value.Seconds(); {
	case stated == 0:
	case stated > mean*(1+rounding) && !r.Mean.Below:
		j.find(Impossible, LittlesLaw, "%s, not %s: that would take %s outstanding.", sum, ms(stated), number(stated*float64(rate)))
	case stated < mean*(1-submission):
		j.tooShort(sum, fmt.Sprintf("%s leave only %s of them outstanding", ms(stated), number(stated*float64(rate))))
	default:
		j.find(Possible, LittlesLaw, "%s; stated %s.", sum, j.Result.Mean)
	}
	j.distribution(sum, mean)
}

// distribution holds the percentiles against the mean, in seconds: they bound it from below, and, with a maximum or a
// sensible tail, from above.
func (j *judge) distribution(sum string, mean float64) {
	percentiles := j.percentiles()
	if len(percentiles) == 0 {
		if longest := j.Result.Max; longest.Value > 0 && longest.Value.Seconds() < mean*(1-submission) {
			j.tooShort(sum, fmt.Sprintf("a maximum of %v allows no more than that", longest))
		}
		return
	}
	least, most := bounds(percentiles, j.Result.Max.Value)
	last := percentiles[len(percentiles)-1]
	slower := 1 - last.share
	tail := (mean - most) / slower
	switch longest := j.Result.Max.Value.Seconds(); {
	case least > mean*(1+rounding):
		j.find(Impossible, LittlesLaw, "%s, but with a %s of %v alone it is at least %s.", sum, last.name, last, ms(least))
	case longest > 0 && most+slower*longest < mean*(1-submission):
		j.tooShort(sum, fmt.Sprintf("percentiles and a maximum of %s allow at most %s", ms(longest), ms(most+slower*longest)))
	case longest == 0 && last.share >= 0.95 && tail > longestTail*last.Value.Seconds():
		j.tooShort(sum, fmt.Sprintf("with a %s of %v the slowest %s %% would have to take %s on average",
			last.name, last, number(100*slower), ms(tail)))
	default:
		j.find(Possible, LittlesLaw, "%s; a %s of %v is possible.", sum, last.name, last)
	}
}

// bounds are what a mean is at least, and at most without the I/Os above the last percentile, in seconds. Of the share of
// I/Os between two percentiles each takes at least the lower one and at most the upper one, and none takes longer than the
// longest, zero where that is not known.
func bounds(percentiles []percentile, longest time.Duration) (least, most float64) {
	if longest == 0 {
		longest = math.MaxInt64
	}
	for i, p := range percentiles {
		below, above := 0.0, 1.0
		if i > 0 {
			below = percentiles[i-1].share
		}
		if i+1 < len(percentiles) {
			above = percentiles[i+1].share
		}
		if !p.Below {
			least += (above - p.share) * p.Value.Seconds()
		}
		most += (p.share - below) * min(p.Value, longest).Seconds()
	}
	return least, most
}

// mean holds a stated mean against the stated percentiles and the maximum. That takes neither depth nor rate.
func (j *judge) mean() {
	mean, longest, percentiles := j.Result.Mean, j.Result.Max, j.percentiles()
	if mean.Value == 0 {
		return
	}
	stated := mean.Value.Seconds()
	least, most := bounds(percentiles, longest.Value)
	if least > stated*(1+rounding) {
		last := percentiles[len(percentiles)-1]
		j.find(Impossible, Arithmetic, "With a %s of %v the mean is at least %s, not %v.", last.name, last, ms(least), mean)
	}
	slower := 1.0
	if len(percentiles) > 0 {
		slower -= percentiles[len(percentiles)-1].share
	}
	if most += slower * longest.Value.Seconds(); longest.Value > 0 && !mean.Below && stated > most*(1+submission) {
		j.find(Impossible, Arithmetic, "With a maximum of %v the mean is at most %s, not %v.", longest, ms(most), mean)
	}
}

// tooShort reports latencies that are too short for a full queue. Where the volume is at a limit the queue is full.
func (j *judge) tooShort(sum, but string) {
	if limit := j.reached(); limit != "" {
		j.find(Impossible, LittlesLaw, "%s, but %s. At %s the queue is full.", sum, but, limit)
		return
	}
	j.find(Implies, LittlesLaw, "%s, but %s: the queue was not full, and the benchmark, not the volume, set the rate.", sum, but)
}

// reached names the limit of the volume or the instance that the stated rates are at, or nothing.
func (j *judge) reached() string {
	for _, b := range j.buckets() {
		for _, level := range []float64{b.sustained, b.burst} {
			if b.stated > atLimit*level && b.stated < level*(1+rounding) {
				return fmt.Sprintf("%s of the %s", b.print(level), b.owner)
			}
		}
	}
	return ""
}

// percentile is a stated latency at a share of the I/Os.
type percentile struct {
	Latency
	name  string
	share float64
}

// percentiles lists the stated ones in rising order.
func (j *judge) percentiles() []percentile {
	var stated []percentile
	for _, p := range []percentile{
		{j.Result.P50, "p50", 0.50}, {j.Result.P95, "p95", 0.95}, {j.Result.P99, "p99", 0.99},
	} {
		if p.Value > 0 {
			stated = append(stated, p)
		}
	}
	return stated
}

// arithmetic holds stated figures against each other: percentiles rise, and throughput is rate × block size.
func (j *judge) arithmetic() {
	ladder := j.percentiles()
	if m := j.Result.Max; m.Value > 0 {
		ladder = append(ladder, percentile{m, "maximum", 1})
	}
	for i := 1; i < len(ladder); i++ {
		if a, b := ladder[i-1], ladder[i]; a.Value > b.Value && !a.Below {
			j.find(Impossible, Arithmetic, "A %s of %v cannot be above the %s, %v.", a.name, a, b.name, b)
		}
	}
	r, block := j.Result, j.Workload.BlockSize
	if r.IOPS == 0 || r.Throughput == 0 || block == 0 {
		return
	}
	product := units.Throughput(float64(r.IOPS) * float64(block))
	if math.Abs(float64(r.Throughput/product)-1) > rounding {
		j.find(Impossible, Arithmetic, "%v of %v are %v, not %v.", r.IOPS, block, product, r.Throughput)
		return
	}
	j.find(Possible, Arithmetic, "%v of %v are %v.", r.IOPS, block, product)
}

// String prints the latency as it was stated: "12.9 ms", "less than 2 ms".
func (l Latency) String() string {
	if l.Below {
		return "less than " + ms(l.Value.Seconds())
	}
	return ms(l.Value.Seconds())
}

// ms prints a time in seconds as milliseconds with three significant digits.
func ms(seconds float64) string { return number(seconds*float64(time.Second/time.Millisecond)) + " ms" }
