package analyze

import (
	"fmt"
	"math"
	"slices"
	"time"

	"ebscope/internal/model"
	"ebscope/internal/result"
	"ebscope/internal/units"
)

func warning(code, format string, args ...any) result.Warning {
	return result.Warning{Code: code, Text: fmt.Sprintf(format, args...)}
}

// judgeMean attributes a reading without a series to limits, as far as a mean can tell. A mean at or below what can be
// held for ever can itself be held. One above it lived on credits, and how it came about is told apart by the time.
func (r reader) judgeMean(p *Phase) {
	rate := r.total.iops
	if rate == 0 && p.IOPS.Mean > 0 {
		rate = p.IOPS.Mean
	}
	if rate == 0 && r.total.throughput > 0 {
		if r = r.byThroughput(); r.total.iops == 0 {
			p.Verdict, p.LimitedBy = "", []LimitShare{}
			p.Summary = fmt.Sprintf("%v on average: the size of an I/O is not known, and so no IOPS.", r.total.throughput)
			return
		}
		rate = r.total.iops
	}
	r.fillIn()
	switch {
	case rate == 0 && p.Latency != nil:
		p.Summary = "Latency alone was logged: how many I/Os there were is not known."
		return
	case rate == 0 && r.reading.Source.Document == 0 && len(r.reading.IOPS) == 0: // logs alone, none of them of a rate
		p.Verdict, p.LimitedBy = "", []LimitShare{}
		p.Summary = "No rate was logged: how many I/Os there were is not known."
		return
	case rate == 0:
		p.Verdict, p.LimitedBy = "", []LimitShare{}
		p.Summary = "No read or write completed."
		return
	}
	mean := r.rate(rate) + " on average"
	if len(r.ceilings) == 0 {
		p.Verdict, p.Summary = "", mean+": without a log of IOPS, no level can be seen."
		return
	}
	lasting := sustainable(r.ceilings)
	switch {
	case r.beyond(course{}, r.total) > 0:
		r.judgeAbove(p, rate)
	case r.paced(rate) && rate <= lasting.iops*(1+near):
		p.Verdict, p.LimitedBy = Sustained, []LimitShare{{model.QueueDepth, 1}}
		p.Summary = mean + ": no limit was reached, the application keeps to its own rate."
	case rate <= lasting.iops*(1-near) && r.unhurried() != "":
		p.Verdict, p.LimitedBy = Sustained, []LimitShare{{model.QueueDepth, 1}}
		p.Summary = fmt.Sprintf("%s, below every limit: %s.", mean, r.unhurried())
	case rate <= lasting.iops*(1-near):
		p.Verdict, p.LimitedBy = Sustained, []LimitShare{{model.QueueDepth, 1}}
		p.Summary = fmt.Sprintf("%s, below every limit: %s and latency set the rate.", mean, r.depth())
	case r.unclear(rate) != "":
		p.Verdict, p.LimitedBy = "", []LimitShare{}
		p.Summary = fmt.Sprintf("%s: %s", mean, r.unclear(rate))
	case rate <= lasting.iops*(1+near):
		p.Verdict, p.LimitedBy = Sustained, []LimitShare{{lasting.limit, 1}}
		p.Summary = fmt.Sprintf("%s, held by the %s.", mean, limitWords[lasting.limit])
	default:
		r.judgeBorrowed(p, mean, rate, lasting)
	}
}

// byThroughput returns the reader with the rate that follows from throughput, where nothing counts I/Os: in I/Os of their size, or
// of 1 MiB and against limits on throughput alone, where it is not known. Without any limit there is nothing to hold it against.
func (r reader) byThroughput() reader {
	size := r.subject.phase.BlockSize
	if size == 0 {
		if len(r.ceilings) == 0 {
			return r
		}
		size = units.MiB
		r.subject.phase.BlockSize = size
		var all []ceiling
		if r.given.Volume != nil {
			r.data = float64(size)
			all = ceilings(r.perf, r.subject.phase, r.usage, r.instance)
		} else {
			all = instanceCeilings(*r.instance, 1, size)
		}
		r.ceilings = slices.DeleteFunc(all, func(c ceiling) bool {
			return c.limit != model.VolumeThroughput && c.limit != model.VolumeBaselineThroughput && c.limit != model.InstanceThroughput
		})
	}
	r.total.iops = float64(r.total.throughput) / float64(size)
	return r
}

// fillIn completes a summary that states neither its length nor its number of I/Os, as CrystalDiskMark's: it ran for as long as
// it was told to.
func (r *reader) fillIn() {
	if r.total.runtime == 0 {
		r.total.runtime = max(0, r.reading.Workload.Duration)
	}
	if r.total.ios == 0 {
		r.total.ios = int64(min(r.total.iops*r.total.runtime.Seconds(), math.MaxInt32))
	}
}

// judgeBorrowed judges a mean that is more than can be held for ever.
func (r reader) judgeBorrowed(p *Phase, mean string, rate float64, lasting ceiling) {
	most := highest(r.ceilings)
	runtime := r.total.runtime.Seconds()
	full := r.fullLasts(most, lasting)
	// At the highest rate until a full bucket is empty, and at the lasting one from then on.
	mixed := (most*full + lasting.iops*(runtime-full)) / runtime
	p.Burst = creditsOf(lasting)
	held := most
	for _, c := range r.ceilings {
		if c.bursting && c.iops == most {
			p.LimitedBy = []LimitShare{{c.limit, 1}}
		}
	}
	switch {
	case p.Burst == UnknownCause: // a short run with the rate bucket's one-off burst in it
		p.Burst, p.Verdict = "", ""
		p.Summary = fmt.Sprintf("%s, more than the %s that are held for ever: the first second's full rate bucket is in it.", mean, r.rate(lasting.iops))
	case runtime > full && apartBy(rate, mixed) <= near:
		p.Verdict = BurstThenBaseline
		share := full / runtime
		p.LimitedBy = []LimitShare{{p.LimitedBy[0].Limit, share}, {lasting.limit, 1 - share}}
		p.Summary = fmt.Sprintf("%s, a mix: at %s a full bucket is empty after %s, and %s remain for the other %s.",
			mean, r.rate(held), r.time(full), r.rate(lasting.iops), r.time(runtime-full))
	case apartBy(rate, most) <= near:
		p.Verdict = BurstOnly
		p.Summary = r.borrowed(rate)
	default:
		p.Verdict, p.LimitedBy = "", []LimitShare{}
		p.Summary = fmt.Sprintf("%s, more than the %s that are held for ever: it lived on burst credits. Whether they ran out, a mean cannot say.",
			mean, r.rate(lasting.iops))
	}
}

// fullLasts is for how many seconds full credits last at a rate above the lasting one.
func (r reader) fullLasts(rate float64, lasting ceiling) float64 {
	switch creditsOf(lasting) {
	case GP2Credits:
		return float64(r.perf.Credits) / (rate*r.operations - float64(r.perf.Baseline))
	case HDDCredits:
		return float64(r.perf.DataCredits) / (rate*r.data - float64(r.perf.BaselineThroughput))
	case InstanceBurst:
		return r.instanceBurst(lasting.limit) / (rate/lasting.iops - 1)
	default:
		return math.Inf(1)
	}
}

// short is the runtime below which the one-off burst of a full rate bucket, a second's worth of I/O, shows in a mean.
const short = 20 * time.Second

// doubts are the warnings about a reading that a phase of a run has not.
func (r reader) doubts(p Phase) []result.Warning {
	var all []result.Warning
	warn := func(code, format string, args ...any) { all = append(all, warning(code, format, args...)) }
	stated := r.reading.Workload
	r.fillIn()
	if most := highest(r.ceilings); r.total.iops > most && r.beyond(course{}, r.total) == 0 && r.total.runtime > 0 && r.total.runtime < short && p.WarmUp == nil {
		warn("rate-bucket", "The mean is above the limit of %s because a run of %s has the first second's full rate bucket in it, a second's worth of I/O on top. Run for a minute at least.",
			r.rate(most), r.time(r.total.runtime.Seconds()))
	}
	if r.beside.others() {
		warn("side-by-side", "%d jobs ran side by side. Limits hold for all together, %s IOPS; this job had %.0f %% of them, and is held against that part.",
			r.beside.jobs, amount(r.total.iops/r.beside.ios), 100*r.beside.ios)
	}
	if len(r.members) > 0 {
		held := "limits of one volume do not hold for it; --volume TYPE:SIZE, of one of them, adds up theirs"
		if r.given.Volume != nil {
			held = "the limits of so many volumes are added up"
		}
		warn("raid", "The I/O went to a RAID of %d devices (%s): %s.", len(r.members), list(r.members, 6), held)
	}
	switch sizeless := r.given.Volume != nil && r.subject.phase.BlockSize == 0; {
	case sizeless && r.total.iops == 0 && r.total.throughput > 0:
		warn("block-size-unknown", "The size of an I/O is not known, so only limits on throughput are held against the figures.")
	case sizeless:
		warn("block-size-unknown", "The size of an I/O is not known, so only limits on IOPS are held against the figures, and each I/O counts as one.")
	}
	if stated.QueueDepth == 0 && r.inFlight > 0 {
		about := "about " + amount(r.inFlight) + " I/Os"
		if r.inFlight < 1 {
			about = "less than one I/O"
		}
		mean, kind := fromSubmission(r.reading.Total.Latency)
		warn("queue-depth-derived", "No queue depth is stated; Little's law gives %s outstanding (%s IOPS × %s ms%s).",
			about, amount(r.total.iops), amount(milliseconds(mean)), kindWords(kind))
	}
	if l := r.reading.Total.Latency; float64(l.Submitted) > (1+submission)*float64(l.Mean) {
		warn("without-submission", "Latencies are those of completion (clat), %s ms on average, which leave out the time that submission took; with it (lat), the mean is %s ms.",
			amount(milliseconds(l.Mean)), amount(milliseconds(l.Submitted)))
	}
	if stated.Direct != nil && !*stated.Direct {
		warn("not-direct", "The I/O went through the page cache (direct=0): figures are those of memory and of the volume together.")
	}
	if len(p.Modes) > 1 {
		warn("bimodal", "Latencies fall into %d groups: %s.", len(p.Modes), modeWords(p.Modes))
	}
	if s := r.reading.SteadyState; s != nil && !s.Attained {
		warn("no-steady-state", "fio's own steady state (%s) was not reached.", s.Criterion)
	}
	r.plan(warn)
	return all
}

// submission is the share of a latency that submission must take to be worth a word.
const submission = 0.1

// kindWords names the kind of a latency, "" where it is not known.
func kindWords(kind string) string {
	if kind == "" {
		return ""
	}
	return " of " + kind
}

// plan warns where a move to gp3 with its defaults would be a loss.
func (r reader) plan(warn func(code, format string, args ...any)) {
	if r.given.Volume == nil || r.given.Volume.Type != "gp2" {
		return
	}
	gp3, err := r.catalog.VolumeType("gp3")
	if err != nil {
		return
	}
	measured, own := r.total.throughput, r.perf.Throughput
	if included := gp3.Throughput.Included; measured > included*(1+near) && measured <= own*(1+near) {
		low := math.Ceil(measured.MiBps()/50) * 50
		propose := fmt.Sprintf("%.0f", low)
		if most := math.Ceil(own.MiBps()); most > low {
			propose = fmt.Sprintf("%.0f to %.0f", low, most)
		}
		warn("gp3-default-throughput", "gp3 comes with %v, less than the %v measured here: on a move from gp2, provision %s MiB/s.", included, measured, propose)
	}
}
