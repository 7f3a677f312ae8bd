package ebs

import (
	"errors"
	"fmt"

	"ebscope/internal/units"
)

// formNames say what the parts of the YAML form are to a user.
var formNames = map[string]string{
	"strictDocument": "a catalog", "typeForm": "a volume type", "instanceForm": "an instance type", "regionForm": "a region",
	"priceForm": "a price", "sizeForm": "a size range", "iopsForm": "iops", "throughputForm": "throughput", "stepForm": "a step of by_size",
	"lineForm": "a line of by_iops", "perTiBForm": "per_tib", "number": "a number", "rates": "a price or a list of prices",
	"size": "a size", "throughput": "a throughput", "date": "a date",
}

type typeForm struct {
	Title          string         `yaml:"title"`
	Size           sizeForm       `yaml:"size"`
	AccountingUnit size           `yaml:"accounting_unit"`
	WholeUnits     bool           `yaml:"whole_units"`
	PricedPerIO    bool           `yaml:"priced_per_io"`
	IOPS           iopsForm       `yaml:"iops"`
	Throughput     throughputForm `yaml:"throughput"`
	Source         string         `yaml:"source"`
	Date           date           `yaml:"date"`
}

type sizeForm struct {
	Min size `yaml:"min"`
	Max size `yaml:"max"`
}

type iopsForm struct {
	Provisioned bool     `yaml:"provisioned"`
	Included    number   `yaml:"included"`
	Min         number   `yaml:"min"`
	Max         number   `yaml:"max"`
	PerGiB      number   `yaml:"per_gib"`
	Burst       number   `yaml:"burst"`
	Credits     number   `yaml:"credits"`
	PriceTiers  []number `yaml:"price_tiers"`
}

type throughputForm struct {
	Provisioned bool       `yaml:"provisioned"`
	Included    throughput `yaml:"included"`
	Min         throughput `yaml:"min"`
	Max         throughput `yaml:"max"`
	PerIOPS     throughput `yaml:"per_iops"`
	BySize      []stepForm `yaml:"by_size"`
	ByIOPS      []lineForm `yaml:"by_iops"`
	PerTiB      perTiBForm `yaml:"per_tib"`
}

type stepForm struct {
	UpTo  size       `yaml:"up_to"`
	Limit throughput `yaml:"limit"`
}

type lineForm struct {
	PerIOPS throughput `yaml:"per_iops"`
	Max     throughput `yaml:"max"`
}

type perTiBForm struct {
	Baseline throughput `yaml:"baseline"`
	Burst    throughput `yaml:"burst"`
	Credits  size       `yaml:"credits"`
}

func (f typeForm) volumeType(name Type) VolumeType {
	t := VolumeType{
		Type: name, Title: f.Title, MinSize: units.Bytes(f.Size.Min), MaxSize: units.Bytes(f.Size.Max),
		AccountingUnit: units.Bytes(f.AccountingUnit), WholeUnits: f.WholeUnits, PricedPerIO: f.PricedPerIO,
		IOPS: IOPSLimits{
			Provisioned: f.IOPS.Provisioned, Included: units.IOPS(f.IOPS.Included), Min: units.IOPS(f.IOPS.Min), Max: units.IOPS(f.IOPS.Max),
			PerGiB: units.IOPS(f.IOPS.PerGiB), Burst: units.IOPS(f.IOPS.Burst), Credits: units.Ops(f.IOPS.Credits),
		},
		Throughput: ThroughputLimits{
			Provisioned: f.Throughput.Provisioned, Included: units.Throughput(f.Throughput.Included),
			Min: units.Throughput(f.Throughput.Min), Max: units.Throughput(f.Throughput.Max), PerIOPS: units.Throughput(f.Throughput.PerIOPS),
			PerTiB: PerTiB{
				Baseline: units.Throughput(f.Throughput.PerTiB.Baseline), Burst: units.Throughput(f.Throughput.PerTiB.Burst),
				Credits: units.Bytes(f.Throughput.PerTiB.Credits),
			},
		},
		Source: f.Source, Date: string(f.Date),
	}
	for _, bound := range f.IOPS.PriceTiers {
		t.IOPS.PriceTiers = append(t.IOPS.PriceTiers, units.IOPS(bound))
	}
	for _, step := range f.Throughput.BySize {
		t.Throughput.BySize = append(t.Throughput.BySize, SizeStep{units.Bytes(step.UpTo), units.Throughput(step.Limit)})
	}
	for _, line := range f.Throughput.ByIOPS {
		t.Throughput.ByIOPS = append(t.Throughput.ByIOPS, IOPSLine{units.Throughput(line.PerIOPS), units.Throughput(line.Max)})
	}
	return t
}

// check finds limits that contradict each other.
func (t VolumeType) check() error {
	switch {
	case t.MinSize > t.MaxSize:
		return fmt.Errorf("size: min %v is above max %v", t.MinSize, t.MaxSize)
	case t.IOPS.Min > t.IOPS.Max:
		return fmt.Errorf("iops: min %v is above max %v", t.IOPS.Min, t.IOPS.Max)
	case t.Throughput.Min > t.Throughput.Max:
		return fmt.Errorf("throughput: min %v is above max %v", t.Throughput.Min, t.Throughput.Max)
	case t.IOPS.Included > t.IOPS.Max || t.Throughput.Included > t.Throughput.Max:
		return errors.New("included is above max")
	case (t.IOPS.Burst > 0) != (t.IOPS.Credits > 0):
		return errors.New("iops: burst and credits go together")
	case t.Throughput.PerTiB.Baseline > t.Throughput.PerTiB.Burst:
		return errors.New("throughput: per_tib: baseline is above burst")
	}
	for i, step := range t.Throughput.BySize {
		if step.UpTo == 0 || step.Limit == 0 {
			return errors.New("throughput: by_size: each step has up_to and limit")
		}
		if i > 0 && step.UpTo <= t.Throughput.BySize[i-1].UpTo {
			return fmt.Errorf("throughput: by_size: up_to %v comes after %v; sort the steps by size", step.UpTo, t.Throughput.BySize[i-1].UpTo)
		}
	}
	for _, line := range t.Throughput.ByIOPS {
		if line.PerIOPS == 0 || line.Max == 0 {
			return errors.New("throughput: by_iops: each line has per_iops and max")
		}
	}
	return nil
}

type instanceForm struct {
	BaselineIOPS   number `yaml:"baseline_iops"`
	MaximumIOPS    number `yaml:"maximum_iops"`
	BaselineMbps   number `yaml:"baseline_mbps"`
	MaximumMbps    number `yaml:"maximum_mbps"`
	Hypervisor     string `yaml:"hypervisor,omitempty"`
	MaximumVolumes number `yaml:"maximum_volumes,omitempty"`
	Source         string `yaml:"source,omitempty"`
	Date           date   `yaml:"date,omitempty"`
}

func formOfInstance(i Instance) instanceForm {
	return instanceForm{
		BaselineIOPS: number(i.BaselineIOPS), MaximumIOPS: number(i.MaximumIOPS),
		BaselineMbps: number(i.BaselineThroughput / units.MegabitPerSecond), MaximumMbps: number(i.MaximumThroughput / units.MegabitPerSecond),
		Hypervisor: i.Hypervisor, MaximumVolumes: number(i.MaximumVolumes), Source: i.Source, Date: date(i.Date),
	}
}

func (f instanceForm) instance(name string) Instance {
	return Instance{
		Type: name, BaselineIOPS: units.IOPS(f.BaselineIOPS), MaximumIOPS: units.IOPS(f.MaximumIOPS),
		BaselineThroughput: units.Throughput(f.BaselineMbps) * units.MegabitPerSecond,
		MaximumThroughput:  units.Throughput(f.MaximumMbps) * units.MegabitPerSecond,
		Hypervisor:         f.Hypervisor, MaximumVolumes: int(f.MaximumVolumes), Source: f.Source, Date: string(f.Date),
	}
}

func (f instanceForm) check() error {
	switch {
	case f.BaselineIOPS == 0 || f.MaximumIOPS == 0 || f.BaselineMbps == 0 || f.MaximumMbps == 0:
		return errors.New("needs baseline_iops, maximum_iops, baseline_mbps and maximum_mbps")
	case f.BaselineIOPS > f.MaximumIOPS || f.BaselineMbps > f.MaximumMbps:
		return errors.New("a baseline is above its maximum")
	default:
		return nil
	}
}

type regionForm struct {
	Location string               `yaml:"location,omitempty"`
	Prices   map[string]priceForm `yaml:"prices"`
}

type priceForm struct {
	PerGiB   number `yaml:"gib_month"`
	PerIOPS  rates  `yaml:"iops_month,omitempty,flow"`
	PerMiBps number `yaml:"mibps_month,omitempty"`
	PerIO    number `yaml:"per_io,omitempty"`
	Source   string `yaml:"source,omitempty"`
	Date     date   `yaml:"date,omitempty"`
}

func formOfPrice(p Price) priceForm {
	f := priceForm{PerGiB: number(p.PerGiB), PerMiBps: number(p.PerMiBps), PerIO: number(p.PerIO), Source: p.Source, Date: date(p.Date)}
	for _, tier := range p.IOPS {
		f.PerIOPS = append(f.PerIOPS, number(tier.PerIOPS))
	}
	return f
}

// price needs a form that check has found whole.
func (f priceForm) price(t VolumeType) Price {
	p := Price{PerGiB: units.USD(f.PerGiB), PerIO: units.USD(f.PerIO), Source: f.Source, Date: string(f.Date)}
	if t.IOPS.Provisioned {
		rates := make([]units.USD, len(f.PerIOPS))
		for i, rate := range f.PerIOPS {
			rates[i] = units.USD(rate)
		}
		p.IOPS = tiers(t, rates)
	}
	if t.Throughput.Provisioned {
		p.PerMiBps, p.ThroughputAbove = units.USD(f.PerMiBps), t.Throughput.Included
	}
	return p
}

// check says whether a price has what a volume of its type is charged for, and nothing else.
func (f priceForm) check(t VolumeType) error {
	tiers := 0
	if t.IOPS.Provisioned {
		tiers = 1 + len(t.IOPS.PriceTiers)
	}
	switch {
	case f.PerGiB == 0:
		return errors.New("needs gib_month")
	case len(f.PerIOPS) != tiers && tiers == 0:
		return errors.New("iops_month: IOPS are not charged")
	case len(f.PerIOPS) != tiers && tiers > 1:
		return fmt.Errorf("iops_month: needs a list of %d prices, one for each tier", tiers)
	case len(f.PerIOPS) != tiers:
		return errors.New("needs one price as iops_month")
	case t.Throughput.Provisioned && f.PerMiBps == 0:
		return errors.New("needs mibps_month")
	case !t.Throughput.Provisioned && f.PerMiBps != 0:
		return errors.New("mibps_month: throughput is not charged")
	case t.PricedPerIO && f.PerIO == 0:
		return errors.New("needs per_io")
	case !t.PricedPerIO && f.PerIO != 0:
		return errors.New("per_io: I/O is not charged")
	default:
		return nil
	}
}
