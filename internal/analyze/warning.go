package analyze

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"ebscope/internal/ebs"
	"ebscope/internal/model"
	"ebscope/internal/result"
	"ebscope/internal/workload"
)

const (
	// fewSamples is the number below which a change of level can hide.
	fewSamples = 10
	// differs is how far a figure may lie from the model's before a warning says so, as a share.
	differs = 0.05
)

// runWarnings are those that concern the run as a whole.
func runWarnings(catalog *ebs.Catalog, run result.Run, instance *ebs.Instance) []result.Warning {
	var all []result.Warning
	warn := func(code, format string, args ...any) {
		all = append(all, result.Warning{Code: code, Text: fmt.Sprintf(format, args...)})
	}
	switch run.Target {
	case result.Emulated, result.KubernetesEmulated:
		warn("emulated", "The volumes were emulated: real I/O, limits enforced by the model. Nothing was measured on AWS.")
	case result.Simulated:
		warn("simulated", "No I/O was run: the model predicted every figure.")
	}
	if run.Compress != 1 {
		k := strconv.FormatFloat(run.Compress, 'f', -1, 64)
		warn("compressed", "Every time was divided by %s: durations, rests, the test file, credits and the depth of the rate buckets. Rates and latencies were not.", k)
	}
	for _, v := range run.Profile.Volumes {
		if r := v.Restored; r != nil {
			warn("restored", "Volume %s is restored from a snapshot: what is touched first is fetched at %v, %v later. Both are assumptions: EBS documents neither.",
				v.Name, r.Throughput, r.Latency)
		}
	}
	undone := 0
	for _, p := range run.Phases {
		if p.State != result.Done {
			undone++
		}
	}
	if undone > 0 {
		warn("incomplete", "%d of %d phases did not run to their end.", undone, len(run.Phases))
	}
	for _, e := range run.Events {
		if w := (result.Warning{Code: e.Code, Text: e.Text}); !slices.Contains(all, w) { // a run may be resumed more than once
			all = append(all, w)
		}
	}
	if instance == nil {
		return all
	}
	tooClose := func(what string, perf ebs.Performance) {
		if instance.BaselineIOPS < ebs.InstanceRoom*perf.Burst {
			warn("instance-too-close", "The baseline of %s, %v, is less than %v times the %v of %s: the instance may show where the volume is meant.",
				instance.Type, instance.BaselineIOPS, ebs.InstanceRoom, perf.Burst, what)
		}
		if instance.BaselineThroughput < perf.Throughput {
			warn("instance-too-close", "The baseline of %s, %.0f MiB/s, is less than the %v of %s: the instance holds it once its burst is spent.",
				instance.Type, instance.BaselineThroughput.MiBps(), perf.Throughput, what)
		}
	}
	for _, v := range run.Profile.Volumes {
		tooClose("volume "+v.Name, catalog.Performance(v.Config))
	}
	for _, s := range run.Profile.Stripes {
		tooClose("stripe "+s.Name, performanceOf(catalog, run.Profile, workload.Phase{Volume: s.Name, BlockSize: s.ChunkSize}))
	}
	return all
}

// warnings are the doubts about a phase that was measured.
func (s subject) warnings(p Phase, c course, total totals, samples, dropped int) []result.Warning {
	var all []result.Warning
	warn := func(code, format string, args ...any) {
		all = append(all, result.Warning{Code: code, Text: fmt.Sprintf(format, args...)})
	}
	if dropped > 0 {
		warn("bad-samples", "Left out: %s that cannot be (not a number, negative or out of order).", count(dropped, "sample"))
	}
	switch {
	case samples == 0:
		warn("no-series", "There is no IOPS series: levels and a fall cannot be seen, the mean is the summary's, and the lowest and the highest rate are not known.")
	case samples == 1:
		warn("few-samples", "The phase has a single sample: the mean is the summary's, and the lowest and the highest rate are not known.")
	case len(c.rest) < fewSamples:
		warn("few-samples", "The phase has only %d samples: a change of level may go unseen.", samples)
	}
	if len(c.rest) > 0 {
		warn("first-sample-excluded", "The first sample, %s over %s, is left out of mean, minimum and maximum: it can hold the one-off burst of a full rate bucket.",
			s.rate(c.first.iops), duration(c.first.length()))
	}
	if low, high := p.IOPS.Min, p.IOPS.Max; s.restored && low != nil && *low < (1-apart)**high {
		warn("first-touch", "Blocks came from the snapshot when they were first touched: samples lie between %s and %s. Figures of the phase mix that with what the volume holds afterwards.",
			s.number(*low), s.rate(*high))
	}
	if rate := s.beyond(c, total); rate > 0 {
		warn("above-limit", "%s is more than volume and instance allow: a cache, or blocks that were never written, served the I/O.", s.rate(rate))
	}
	if p.Verdict == BurstOnly {
		warn("burst-only", "The burst was not spent: the phase is too short to show what the volume holds for ever.")
	}
	if off := offLevel(c); (p.Verdict == Sustained || p.Verdict == BurstOnly) && off > 0 {
		warn("unsteady", "IOPS left their level for %.1f %% of the time.", 100*off)
	}
	if e := p.Expected; e != nil {
		if off := apartBy(p.IOPS.FioMean, e.IOPSFioMean); off > differs {
			warn("differs-from-model", "%s were measured, the model expects %s: %.0f %% apart.", s.rate(p.IOPS.FioMean), s.rate(e.IOPSFioMean), 100*off)
		}
		switch {
		case p.Cliff != nil && e.CliffAtS == nil:
			warn("differs-from-model", "A fall was measured at %s, the model expects none.", s.time(p.Cliff.AtS))
		case p.Cliff == nil && e.CliffAtS != nil && p.Verdict != BurstThenBaseline:
			warn("differs-from-model", "No fall was measured, the model expects one at %s.", s.time(*e.CliffAtS))
		case p.Cliff != nil && apartBy(p.Cliff.AtS, *e.CliffAtS) > differs:
			warn("differs-from-model", "The fall was measured at %s, the model expects it at %s.", s.time(p.Cliff.AtS), s.time(*e.CliffAtS))
		}
	}
	return all
}

// beyond returns the highest rate that cannot be, zero where there is none: that of a level or, without a series, of
// the whole phase, in which more was served than the limits admit in the time, with the depth of the rate buckets and
// the I/Os that were in flight when it began on top.
func (s subject) beyond(c course, total totals) (most float64) {
	depth := model.RateDepth.Seconds() / s.compress
	allowed := func(seconds float64) float64 {
		return highest(s.ceilings)*((1+near)*seconds+depth) + max(float64(s.phase.Outstanding()), s.inFlight)
	}
	if len(c.levels) == 0 && float64(total.ios) > allowed(total.runtime.Seconds()) {
		return total.iops
	}
	for _, l := range c.levels {
		if served(l.samples) > allowed(seconds(l.samples)) {
			most = max(most, l.mean)
		}
	}
	return most
}

// apartBy is the difference of two figures as a share of the expected one; zero where nothing is expected.
func apartBy(measured, expected float64) float64 {
	if expected == 0 {
		return 0
	}
	return math.Abs(measured/expected - 1)
}
