package fleet

import (
	"math"
	"time"

	"ebscope/internal/ebs"
	"ebscope/internal/forecast"
	"ebscope/internal/model"
	"ebscope/internal/units"
)

// Observed is what the metrics of a volume say. Rates are means over a step of the window: what bursts within is not seen.
type Observed struct {
	// Points is how many steps the window has, Known how many of them have figures. A volume has none while not attached.
	Points, Known int
	// Peak is the step with the most operations, each of at most 256 KiB on SSD volumes, and P99 what 99 % of the steps
	// stay below. The throughputs are their own peak and percentile.
	Peak                          forecast.Load
	P99                           units.IOPS
	PeakThroughput, P99Throughput units.Throughput
	// Present is the mean of the latest quarter of an hour that has figures; nil where the last hour has none.
	Present *forecast.Load
	// Balance is nil where the volume has no credits, or nothing says how many.
	Balance *Balance
	// Throttled is how long the volume held I/O back: whole steps, but where the balance is modelled, the time without credits.
	Throttled time.Duration
	// Read is what was read in the whole window.
	Read units.Bytes
}

// Balance is a share of a credit bucket, 0 to 1.
type Balance struct {
	Now, Lowest float64
	// Modelled says that CloudWatch has no balance, and that it is what a bucket that was full when the window began would
	// hold after the operations that are known.
	Modelled bool
}

const (
	presentWithin = time.Hour        // figures that are older say nothing about the present
	presentOver   = 15 * time.Minute // one step alone would be chance
	// atLimit is the share of its limit from which on a volume that has no checks of its own counts as held back: CloudWatch's
	// steps and those of the bucket do not begin together.
	atLimit = 0.98
)

// observer reads the metrics of one volume after the other. It keeps its buffers.
type observer struct {
	window                 Window
	operations, throughput greatest
}

// rates are the mean rates of one step.
type rates struct {
	load  forecast.Load // operations as EBS counts them
	read  float64       // bytes in the step
	known bool
}

// rates returns the rates of a step. Each direction has an I/O size of its own.
func (o *observer) rates(m *Metrics, i int, perf ebs.Performance) rates {
	seconds := o.window.Step.Seconds()
	var r rates
	var operations, transferred float64
	for _, direction := range [...]struct{ ops, bytes Series }{{m.ReadOps, m.ReadBytes}, {m.WriteOps, m.WriteBytes}} {
		ops, known := direction.ops.At(i)
		if !known {
			continue
		}
		r.known = true
		moved, _ := direction.bytes.At(i)
		if unit := float64(perf.AccountingUnit); moved > ops*unit && ops > 0 {
			ops *= math.Ceil(moved/(ops*unit) - 1e-9)
		}
		operations += ops
		transferred += moved
	}
	r.read, _ = m.ReadBytes.At(i)
	r.load = forecast.Load{IOPS: units.IOPS(operations / seconds), Throughput: units.Throughput(transferred / seconds)}
	return r
}

// observe sums up the metrics of a volume of a performance.
func (o *observer) observe(m *Metrics, perf ebs.Performance) Observed {
	out := Observed{Points: o.window.Points}
	o.operations.reset(out.Points)
	o.throughput.reset(out.Points)
	balance, told := o.balance(m, perf)
	modelled := perf.Bursts() && !told
	fluid := fluidOf(perf, 1)
	lowest, modelledThrottle := 1.0, time.Duration(0)
	var read float64
	for i := range o.window.Points {
		r := o.rates(m, i, perf)
		if modelled {
			step := fluid.Advance(o.window.Step, fluid.Demand(r.load.IOPS, r.load.Throughput))
			lowest = min(lowest, fluid.Balance())
			if step.Dry {
				lowest = 0
				modelledThrottle += step.Throttled
			}
		}
		if !r.known {
			continue
		}
		out.Known++
		read += r.read
		o.operations.add(float64(r.load.IOPS))
		o.throughput.add(float64(r.load.Throughput))
		out.PeakThroughput = max(out.PeakThroughput, r.load.Throughput)
		if r.load.IOPS > out.Peak.IOPS {
			out.Peak = r.load
		}
		if o.throttled(m, i, perf, r) {
			out.Throttled += o.window.Step
		}
	}
	out.Read = units.Bytes(read)
	if out.Known > 0 {
		out.P99, out.P99Throughput = units.IOPS(o.operations.p99(out.Known)), units.Throughput(o.throughput.p99(out.Known))
		out.Present = o.present(m, perf)
	}
	switch {
	case told:
		out.Balance = &balance
	case modelled && out.Known > 0:
		out.Balance = &Balance{Now: fluid.Balance(), Lowest: lowest, Modelled: true}
		out.Throttled = max(out.Throttled, modelledThrottle.Round(time.Second))
	}
	return out
}

// throttled says whether the volume held I/O back in a step: by its own checks where it has them, else by an empty bucket,
// and where it has no bucket, by a rate at its limit.
func (o *observer) throttled(m *Metrics, i int, perf ebs.Performance, r rates) bool {
	iops, checked := m.IOPSExceeded.At(i)
	throughput, alsoChecked := m.ThroughputExceeded.At(i)
	if iops >= 1 || throughput >= 1 {
		return true
	}
	if balance, ok := m.BurstBalance.At(i); ok && balance == 0 && (perf.Bursts() || perf.BurstsData()) {
		return true
	}
	if checked || alsoChecked || perf.Bursts() || perf.BurstsData() {
		return false
	}
	return r.load.IOPS >= atLimit*perf.Baseline || r.load.Throughput >= atLimit*perf.Throughput
}

// present is the mean load of the latest steps that have figures.
func (o *observer) present(m *Metrics, perf ebs.Performance) *forecast.Load {
	wanted := max(1, int(presentOver/o.window.Step))
	oldest := max(0, o.window.Points-max(wanted, int(presentWithin/o.window.Step)))
	var sum forecast.Load
	n := 0
	for i := o.window.Points - 1; i >= oldest && n < wanted; i-- {
		if r := o.rates(m, i, perf); r.known {
			sum.IOPS += r.load.IOPS
			sum.Throughput += r.load.Throughput
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return &forecast.Load{IOPS: sum.IOPS / units.IOPS(n), Throughput: sum.Throughput / units.Throughput(n)}
}

// balance is what CloudWatch says of the credits. Where it says nothing of the latest steps, the bucket has gone on from
// the last balance with the operations that are known, none where the volume was not attached.
func (o *observer) balance(m *Metrics, perf ebs.Performance) (Balance, bool) {
	b := Balance{Lowest: 1}
	last := -1
	for i := range o.window.Points {
		if percent, ok := m.BurstBalance.At(i); ok {
			last, b.Now = i, min(percent/100, 1)
			b.Lowest = min(b.Lowest, b.Now)
		}
	}
	if last < 0 {
		return Balance{}, false
	}
	if last < o.window.Points-1 && (perf.Bursts() || perf.BurstsData()) {
		fluid := fluidOf(perf, b.Now)
		for i := last + 1; i < o.window.Points; i++ {
			load := o.rates(m, i, perf).load
			fluid.Advance(o.window.Step, fluid.Demand(load.IOPS, load.Throughput))
		}
		b.Now = fluid.Balance()
		b.Lowest = min(b.Lowest, b.Now)
	}
	return b, true
}

// fluidOf is a volume with a share of its credits, without an instance. I/O on HDD volumes is taken to be sequential: for
// what it transfers, not for whole units, because metrics do not tell which it was.
func fluidOf(perf ebs.Performance, balance float64) model.Fluid {
	perf.WholeUnits = false
	v := model.NewVolume(perf, 1, nil)
	v.SetCredits(0, balance)
	return model.NewFluid(v, 0)
}

// AlarmThreshold returns the percentage of BurstBalance at which an alarm leaves a time of warning before a volume is
// empty under a load, such as its observed peak. It is false where the load never empties the bucket, or does so sooner
// even from full. 15 % leave a 100 GiB gp2 volume 5 minutes at 3,000 IOPS: (3,000 − 300) × 300 s ÷ 5.4 million credits.
func AlarmThreshold(perf ebs.Performance, peak forecast.Load, warn time.Duration) (percent float64, ok bool) {
	if !perf.Bursts() && !perf.BurstsData() {
		return 0, false
	}
	share, ok := forecast.AlarmThreshold(fluidOf(perf, 1), perf, peak, warn)
	return 100 * share, ok
}

// emptyAfter is the time after which a volume has no credits left, and false where that is never, or not known.
func emptyAfter(perf ebs.Performance, balance *Balance, load *forecast.Load) (time.Duration, bool) {
	if balance == nil || load == nil || !perf.Bursts() && !perf.BurstsData() {
		return 0, false
	}
	if balance.Now == 0 && (perf.Bursts() && load.IOPS >= atLimit*perf.Baseline || perf.BurstsData() && load.Throughput >= atLimit*perf.BaselineThroughput) {
		return 0, true // it serves what it earns, and would be asked for more
	}
	return forecast.TimeToEmpty(fluidOf(perf, balance.Now), perf, *load)
}
