package fleet

import (
	"fmt"
	"math"

	"ebscope/internal/cost"
	"ebscope/internal/ebs"
	"ebscope/internal/units"
)

// Sizing says what a gp3 volume is given.
type Sizing string

// The ways to size a gp3 volume. Without metrics the second is the first.
const (
	Parity  Sizing = "parity"   // what the gp2 volume has without credits, and its throughput
	ForPeak Sizing = "observed" // the observed peak and some headroom
)

// Action is what a recommendation says to do.
type Action string

// The actions.
const (
	Modify Action = "modify"
	Keep   Action = "none"
)

// Recommendation is what a volume should be. Where the action is none, Reason says why, and the setting is the one that was
// looked at: a gp3 volume at parity that would be dearer, for instance; it is nil where none was.
type Recommendation struct {
	Action Action `json:"action"`
	Reason string `json:"reason"`
	Basis  Sizing `json:"basis,omitempty"`
	*Choice
	// Cheaper is a choice that costs less than the recommended setting, and what it lacks; nil where there is none.
	Cheaper *Choice `json:"cheaper,omitempty"`
}

// Choice is a setting with its price. Difference is to the present price; below zero it saves. Both are nil where the
// prices are not known.
type Choice struct {
	Setting
	Monthly    *Money `json:"usd_month"`
	Difference *Money `json:"usd_month_difference"`
	Text       string `json:"text,omitempty"`
}

// Steps to which an observed need is rounded up, so that many volumes share few settings, each of which takes a
// VolumeAttributesClass of its own.
const (
	iopsStep       = 100
	throughputStep = 5 // MiB/s
)

// advisor recommends for the volumes of one region.
type advisor struct {
	catalog  *ebs.Catalog
	prices   ebs.Prices
	gp3      ebs.VolumeType
	sizing   Sizing
	headroom float64
}

// enough says whether the metrics cover enough of the window for a volume to be sized by them.
func (o *Observed) enough() bool { return o != nil && o.Known > 0 && 2*o.Known >= o.Points }

func (a advisor) choice(v ebs.Volume, now Money) (*Choice, bool) {
	price, sold := monthly(v, a.catalog, a.prices)
	difference := price - now
	return &Choice{Setting: settingOf(v), Monthly: &price, Difference: &difference}, sold
}

func settingOf(v ebs.Volume) Setting {
	return Setting{Type: v.Type, SizeGiB: int64(v.Size / units.GiB), IOPS: int64(v.IOPS), ThroughputMiBps: int64(math.Round(v.Throughput.MiBps()))}
}

// forPeak is a gp3 volume for an observed peak with headroom, as far as one of the size can have it.
func (a advisor) forPeak(size units.Bytes, o *Observed) ebs.Volume {
	v := a.included(size)
	up := func(x, step float64) float64 { return math.Ceil(x*(1+a.headroom)/step-1e-9) * step }
	most := min(a.gp3.IOPS.Max, max(a.gp3.IOPS.Included, a.gp3.IOPS.PerGiB*units.IOPS(size.GiB())))
	throughput := units.Throughput(up(o.PeakThroughput.MiBps(), throughputStep)) * units.MiBPerSecond
	v.Throughput = min(max(v.Throughput, throughput), a.gp3.Throughput.Max, a.gp3.Throughput.PerIOPS*units.Throughput(most))
	needed := units.IOPS(math.Ceil(float64(v.Throughput / a.gp3.Throughput.PerIOPS)))
	v.IOPS = min(max(v.IOPS, units.IOPS(up(float64(o.Peak.IOPS), iopsStep)), needed), most)
	return v
}

// included is a gp3 volume with what comes with every size.
func (a advisor) included(size units.Bytes) ebs.Volume {
	return ebs.Volume{Type: ebs.GP3, Size: size, IOPS: a.gp3.IOPS.Included, Throughput: a.gp3.Throughput.Included}
}

// recommend says what a volume should be; now is its price, nil where that is not known.
func (a advisor) recommend(v ebs.Volume, now *Money, o *Observed) Recommendation {
	switch {
	case v.Type == ebs.GP2 && now != nil:
		return a.leaveGP2(v, *now, o)
	case v.Type == ebs.GP2:
		equal := settingOf(cost.Successor(a.catalog, v))
		return Recommendation{Action: Modify, Basis: Parity, Choice: &Choice{Setting: equal},
			Reason: fmt.Sprintf("%s has at least what gp2 gives without credits, and its throughput; what it costs where the volume is, is not known", equal)}
	case v.Type == ebs.GP3 && now != nil:
		return a.trimGP3(v, *now, o)
	case v.Type == ebs.GP3:
		return Recommendation{Action: Keep, Reason: "gp3; what it costs where it is, is not known"}
	default:
		return Recommendation{Action: Keep, Reason: fmt.Sprintf("not gp2, but %s", v.Type)}
	}
}

func (a advisor) leaveGP2(v ebs.Volume, now Money, o *Observed) Recommendation {
	r := Recommendation{Action: Modify, Basis: Parity}
	target := cost.Successor(a.catalog, v)
	if a.sizing == ForPeak && o.enough() {
		target, r.Basis = a.forPeak(v.Size, o), ForPeak
	}
	var sold bool
	if r.Choice, sold = a.choice(target, now); !sold {
		return Recommendation{Action: Keep, Reason: "gp3 is not sold there, or its price is not known"}
	}
	r.Cheaper = a.cheaper(v, *r.Choice, now, o)
	basis := "with at least what gp2 gives without credits, and its throughput"
	if r.Basis == ForPeak {
		basis = fmt.Sprintf("with the observed peak and %.0f %% of headroom", 100*a.headroom)
	}
	switch d := *r.Difference; {
	case d >= halfACent:
		r.Action, r.Reason = Keep, fmt.Sprintf("%s, %s, would be dearer by %v a month", r.Setting, basis, d.USD())
	case d > -halfACent:
		r.Reason = fmt.Sprintf("%s, %s, costs the same", r.Setting, basis)
	default:
		r.Reason = fmt.Sprintf("%s, %s, saves %v a month", r.Setting, basis, (-d).USD())
	}
	return r
}

// cheaper is the choice beside a recommended one: sized by the observed peak where it is known, else with what comes with
// every gp3 volume. It is nil where that costs no less than the recommended one and than staying.
func (a advisor) cheaper(v ebs.Volume, beside Choice, now Money, o *Observed) *Choice {
	candidates := []ebs.Volume{a.included(v.Size)}
	if o.enough() {
		candidates = []ebs.Volume{a.forPeak(v.Size, o), candidates[0]}
	}
	perf := a.catalog.Performance(v)
	for _, candidate := range candidates {
		c, sold := a.choice(candidate, now)
		if !sold || *c.Difference >= 0 || *beside.Monthly-*c.Monthly < cent {
			continue
		}
		if o.enough() && (candidate.IOPS < o.Peak.IOPS || candidate.Throughput < o.PeakThroughput) {
			if *beside.Difference <= 0 {
				continue // the recommended one is no loss, and this one would be too small
			}
			c.Text = fmt.Sprintf("gives less than the observed peak of %v and %v", o.Peak.IOPS, o.PeakThroughput)
			return c
		}
		switch less := candidate.Throughput < perf.Throughput; {
		case o.enough() && less:
			c.Text = fmt.Sprintf("gives %v where gp2 gives %v, and the observed peak is %v", candidate.Throughput, perf.Throughput, o.PeakThroughput)
		case o.enough():
			c.Text = fmt.Sprintf("the observed peak is %v and %v", o.Peak.IOPS, o.PeakThroughput)
		case less && perf.Baseline <= candidate.IOPS:
			c.Text = fmt.Sprintf("gives %v where gp2 gives %v; no metrics say whether that is used", candidate.Throughput, perf.Throughput)
		default:
			c.Text = fmt.Sprintf("gives %v and %v where gp2 gives %v and %v; no metrics say whether that is used",
				candidate.IOPS, candidate.Throughput, perf.Baseline, perf.Throughput)
		}
		return c
	}
	return nil
}

// trimGP3 finds what a gp3 volume is given and does not use.
func (a advisor) trimGP3(v ebs.Volume, now Money, o *Observed) Recommendation {
	v = a.catalog.Provisioned(v)
	least := a.included(v.Size)
	if v.IOPS <= least.IOPS && v.Throughput <= least.Throughput {
		return Recommendation{Action: Keep, Reason: "gp3 with what comes with every volume"}
	}
	if !o.enough() {
		return Recommendation{Action: Keep, Reason: "gp3 with more than comes with every volume; the metrics do not cover enough to say whether it is used"}
	}
	need := a.forPeak(v.Size, o)
	need.IOPS, need.Throughput = min(need.IOPS, v.IOPS), min(need.Throughput, v.Throughput)
	c, sold := a.choice(need, now)
	if !sold || -*c.Difference < cent {
		return Recommendation{Action: Keep, Reason: fmt.Sprintf("gp3 for its observed peak of %v and %v", o.Peak.IOPS, o.PeakThroughput)}
	}
	return Recommendation{Action: Modify, Basis: ForPeak, Choice: c,
		Reason: fmt.Sprintf("its observed peak is %v and %v; %s, with %.0f %% of headroom, saves %v a month",
			o.Peak.IOPS, o.PeakThroughput, c.Setting, 100*a.headroom, (-*c.Difference).USD())}
}

// String prints a setting as people say it: "gp3 100 GiB, 3,000 IOPS, 125 MiB/s".
func (s Setting) String() string {
	return ebs.Volume{Type: s.Type, Size: units.Bytes(s.SizeGiB) * units.GiB, IOPS: units.IOPS(s.IOPS),
		Throughput: units.Throughput(s.ThroughputMiBps) * units.MiBPerSecond}.String()
}
