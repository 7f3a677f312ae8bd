package forecast

import (
	"iter"
	"time"

	"ebscope/internal/ebs"
	"ebscope/internal/model"
	"ebscope/internal/result"
	"ebscope/internal/units"
)

// Candidate is a volume that could carry a load.
type Candidate struct {
	Name        string
	Volume      ebs.Volume
	Performance ebs.Performance
}

// Question is what is asked about a volume.
type Question struct {
	Candidate
	// Instance is the instance that the volume has to itself, nil for none, and its name.
	Instance     *ebs.Instance
	InstanceName string
	// Balance is the share of the credits before History, the load that the volume had before the forecast starts.
	Balance float64
	History []Interval
	// Load is what comes, Form says it; Constant is set where it never changes.
	Load     iter.Seq[Interval]
	Form     LoadForm
	Constant *Load
	// Warn is how long before the bucket is empty an alarm should come.
	Warn         time.Duration
	Alternatives []Candidate
}

// fluid returns a candidate as it is before the history.
func (q Question) fluid(c Candidate, balance float64) model.Fluid {
	var instance *model.Instance
	if q.Instance != nil {
		instance = model.NewInstance(*q.Instance, 1)
	}
	v := model.NewVolume(c.Performance, 1, instance)
	v.SetCredits(0, balance)
	return model.NewFluid(v, 0)
}

// Start returns a candidate as it is when the forecast starts, after the history.
func (q Question) Start(c Candidate) model.Fluid {
	volume := q.fluid(c, q.Balance)
	for _, i := range q.History {
		volume.Advance(i.Length, volume.Demand(i.Load.IOPS, i.Load.Throughput))
	}
	return volume
}

// unknownHorizon is how far a constant load is followed that never empties the bucket.
const unknownHorizon = 24 * time.Hour

// Horizon is how far a constant load is worth following: twice the time until the credits run out, or a day.
func (q Question) Horizon() time.Duration {
	at, empties := TimeToEmpty(q.Start(q.Candidate), q.Performance, *q.Constant)
	if !empties || at == 0 {
		return unknownHorizon
	}
	return min(Longest, max(time.Minute, 2*at))
}

// Answer follows the volume and its alternatives through the load.
func (q Question) Answer() Document {
	all := append([]Candidate{q.Candidate}, q.Alternatives...)
	tracks, curves := make([]*Track, len(all)), make([]*Curve, len(all))
	for i, c := range all {
		curves[i] = NewCurve()
		tracks[i] = NewTrack(q.Start(c), curves[i])
	}
	for interval := range q.Load {
		for _, t := range tracks {
			t.Add(interval)
		}
	}
	volume := q.Start(q.Candidate)
	d := Document{
		Schema: Schema, Volume: Describe(q.Volume, q.Performance), Instance: q.InstanceName, Load: q.Form,
		BaselineIOPS: float64(q.Performance.Baseline), BurstIOPS: float64(q.Performance.Burst),
		BaselineThroughputMiBps: q.Performance.BaselineThroughput.MiBps(),
		CreditCapacity:          float64(q.Performance.Credits), DataCreditCapacityGiB: q.Performance.DataCredits.GiB(), StartBalancePercent: percent(volume.Balance()),
		SecondsToRefill: wholeSeconds(TimeToRefill(q.Performance)),
		Course:          tracks[0].Outcome().Describe(curves[0].Points()),
		Alarm:           Alarm{WarnS: q.Warn.Seconds()},
		Alternatives:    []Alternative{}, Warnings: q.warnings(tracks[0].Outcome()),
	}
	if block := units.Throughput(d.Load.BlockSize); block > 0 {
		d.Load.OperationsPerIO = float64(volume.Demand(1, block).Operations)
	}
	d.SecondsToEmpty = wholeSeconds(tracks[0].Outcome().EmptyAt, tracks[0].Outcome().Empty)
	if q.Constant != nil {
		d.SecondsToEmpty = wholeSeconds(TimeToEmpty(volume, q.Performance, *q.Constant))
	}
	if share, ok := AlarmThreshold(q.fluid(q.Candidate, 1), q.Performance, tracks[0].Outcome().Highest, q.Warn); ok {
		threshold := percent(share)
		d.Alarm.ThresholdPercent = &threshold
	}
	for i, c := range q.Alternatives {
		d.Alternatives = append(d.Alternatives, Alternative{c.Name, Describe(c.Volume, c.Performance), tracks[i+1].Outcome().Describe(curves[i+1].Points())})
	}
	return d
}

func (q Question) warnings(o Outcome) []result.Warning {
	warnings := []result.Warning{}
	if o.Waiting > 0 {
		warnings = append(warnings, result.Warning{Code: "open-loop",
			Text: "The load does not slow down when the volume does: what is not served waits. An application that waits for its I/O asks for less, and has less backlog."})
	}
	if q.Performance.WholeUnits {
		warnings = append(warnings, result.Warning{Code: "random",
			Text: "All I/O is taken to be random, of its mean size: on an HDD volume each then uses up whole MiB. Sequential I/O uses up less."})
	}
	if o.inferred(q.Performance) {
		warnings = append(warnings, throughputInferred)
	}
	if q.Instance != nil && q.Instance.Bursts() {
		warnings = append(warnings, result.Warning{Code: "instance-burst-inferred",
			Text: "How an instance's burst drains and refills is not documented; 30 minutes of maximum − baseline, refilled at the baseline, is the usual inference. The volume has the instance to itself here."})
	}
	return warnings
}

// throughputInferred says that the course without credits rests on an inference.
var throughputInferred = result.Warning{Code: "throughput-inferred", Text: ebs.Inferred}

// inferred says that the volume ran out of credits, and that the load asks for what it is not documented to move then.
func (o Outcome) inferred(p ebs.Performance) bool {
	return (o.Empty || o.Lowest == 0) && o.fastest > ebs.DocumentedThroughput && p.InferredThroughput()
}
