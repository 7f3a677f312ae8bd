package forecast

import (
	"math"
	"time"

	"ebscope/internal/ebs"
	"ebscope/internal/model"
	"ebscope/internal/result"
	"ebscope/internal/units"
)

// Schema names the form of Document. Fields are added to it; those that are there keep their name, unit and meaning.
const Schema = "ebscope.forecast/v1"

// Document is a forecast for one volume, as it is printed in JSON. Names carry the unit: _s seconds, _percent percent,
// _gib GiB, _mib_s MiB/s. Operations are counted as EBS does, in units of 256 KiB on SSD volumes.
type Document struct {
	Schema   string   `json:"schema"`
	Volume   Volume   `json:"volume"`
	Instance string   `json:"instance,omitempty"`
	Load     LoadForm `json:"load"`
	// BaselineIOPS is held for ever, BurstIOPS while credits last; equal where the type does not burst.
	BaselineIOPS float64 `json:"baseline_iops"`
	BurstIOPS    float64 `json:"burst_iops"`
	// BaselineThroughputMiBps likewise; Volume has the throughput while credits last.
	BaselineThroughputMiBps float64 `json:"baseline_throughput_mib_s"`
	// CreditCapacity is in operations, DataCreditCapacityGiB that of an HDD volume; zero where there is none.
	CreditCapacity        float64 `json:"credit_capacity"`
	DataCreditCapacityGiB float64 `json:"data_credit_capacity_gib,omitempty"`
	StartBalancePercent   float64 `json:"start_balance_percent"`
	// SecondsToEmpty is when the credits first run out, null where they never do. Under a constant load it is AWS's
	// formula, in whole seconds.
	SecondsToEmpty *float64 `json:"seconds_to_empty"`
	// SecondsToRefill is how long an empty bucket takes to fill at rest, null where there is none.
	SecondsToRefill *float64         `json:"seconds_to_refill"`
	Alarm           Alarm            `json:"alarm"`
	Course          Course           `json:"course"`
	Alternatives    []Alternative    `json:"alternatives"`
	Warnings        []result.Warning `json:"warnings"`
}

// LoadForm says what load was stated.
type LoadForm struct {
	Kind      LoadKind `json:"kind"`
	IOPS      float64  `json:"iops,omitempty"` // of a constant load, or of the peak of a pattern
	BlockSize int64    `json:"block_size,omitempty"`
	EveryS    float64  `json:"every_s,omitempty"`
	ForS      float64  `json:"for_s,omitempty"`
	ThenIOPS  float64  `json:"then_iops,omitempty"`
	// OperationsPerIO is how many operations the volume counts each I/O as, where all have one size.
	OperationsPerIO float64 `json:"operations_per_io,omitempty"`
	Source          string  `json:"source,omitempty"` // where a series was read
}

// LoadKind is a way to state a load.
type LoadKind string

// The kinds.
const (
	ConstantLoad LoadKind = "constant"
	PatternLoad  LoadKind = "pattern"
	SeriesLoad   LoadKind = "series"
)

// Volume is a configuration.
type Volume struct {
	Type            string  `json:"type"`
	SizeGiB         float64 `json:"size_gib"`
	IOPS            float64 `json:"iops"`
	ThroughputMiBps float64 `json:"throughput_mib_s"`
	Text            string  `json:"text"`
}

// Alarm is an alarm on BurstBalance that warns a time before the bucket is empty. ThresholdPercent is null where the load
// never empties the bucket, or empties even a full one sooner.
type Alarm struct {
	WarnS            float64  `json:"warn_s"`
	ThresholdPercent *float64 `json:"threshold_percent"`
}

// Course is what becomes of a volume; see Outcome.
type Course struct {
	LengthS  float64  `json:"length_s"`
	EmptyAtS *float64 `json:"empty_at_s"`
	// InstanceBurstEndsAtS is when I/O first waits because the instance's burst has ended; left out where it never does.
	InstanceBurstEndsAtS *float64      `json:"instance_burst_ends_at_s,omitempty"`
	ThrottledS           float64       `json:"throttled_s"`
	HeldBy               []HeldSeconds `json:"held_by"`
	AskedOperations      float64       `json:"asked_operations"`
	DelayedOperations    float64       `json:"delayed_operations"`
	PeakBacklog          float64       `json:"peak_backlog_operations"`
	Unserved             float64       `json:"unserved_operations"`
	LowestPercent        float64       `json:"lowest_balance_percent"`
	LastPercent          float64       `json:"last_balance_percent"`
	Points               []CoursePoint `json:"points,omitempty"`
}

// HeldSeconds is how long a limit held I/O back.
type HeldSeconds struct {
	Limit   model.Limit `json:"limit"`
	Seconds float64     `json:"seconds"`
}

// CoursePoint is a window that ends at EndS: mean rates in operations a second, the balance at its end.
type CoursePoint struct {
	EndS           float64 `json:"end_s"`
	AskedIOPS      float64 `json:"asked_iops"`
	ServedIOPS     float64 `json:"served_iops"`
	BalancePercent float64 `json:"balance_percent"`
}

// Alternative is what another volume would have made of the same load.
type Alternative struct {
	Name   string `json:"name"`
	Volume Volume `json:"volume"`
	Course Course `json:"course"`
}

// Describe returns a configuration in the form of a document.
func Describe(v ebs.Volume, perf ebs.Performance) Volume {
	return Volume{Type: string(v.Type), SizeGiB: v.Size.GiB(), IOPS: float64(perf.Baseline), ThroughputMiBps: perf.Throughput.MiBps(), Text: v.String()}
}

// Describe returns an outcome in the form of a document; points may be nil.
func (o Outcome) Describe(points []Point) Course {
	c := Course{
		LengthS: o.Length.Seconds(), ThrottledS: seconds(o.Throttled), HeldBy: []HeldSeconds{},
		AskedOperations: whole(o.Asked), DelayedOperations: whole(o.Delayed), PeakBacklog: whole(o.Peak), Unserved: whole(o.Waiting),
		LowestPercent: percent(o.Lowest), LastPercent: percent(o.Last),
	}
	if o.Empty {
		at := seconds(o.EmptyAt)
		c.EmptyAtS = &at
	}
	if o.BurstSpent {
		at := seconds(o.BurstSpentAt)
		c.InstanceBurstEndsAtS = &at
	}
	for _, h := range o.HeldBy {
		c.HeldBy = append(c.HeldBy, HeldSeconds{h.Limit, seconds(h.For)})
	}
	for _, p := range points {
		c.Points = append(c.Points, CoursePoint{seconds(p.End), rate(p.Asked), rate(p.Served), percent(p.Balance)})
	}
	return c
}

// wholeSeconds returns a time, null where it is unknown, in whole seconds, as AWS's tables do.
func wholeSeconds(d time.Duration, known bool) *float64 {
	if !known {
		return nil
	}
	s := math.Round(d.Seconds())
	return &s
}

func seconds(d time.Duration) float64 { return d.Round(time.Millisecond).Seconds() }

func whole(n units.Ops) float64 { return math.Round(float64(n)) }

func percent(share float64) float64 { return math.Round(share*1e6) / 1e4 }

func rate(r units.IOPS) float64 { return math.Round(float64(r)*100) / 100 }
