package cli

import (
	"ebscope/internal/ebs"
	"ebscope/internal/units"
)

// The JSON form of a catalog's entries. Fields carry their unit; what a type does not have is left out.

type volumeTypeJSON struct {
	Type           string          `json:"type"`
	Title          string          `json:"title"`
	MinSizeGiB     float64         `json:"min_size_gib"`
	MaxSizeGiB     float64         `json:"max_size_gib"`
	AccountingUnit int64           `json:"accounting_unit_bytes"`
	WholeUnits     bool            `json:"random_io_uses_whole_units"`
	PricedPerIO    bool            `json:"priced_per_io"`
	IOPS           typeIOPSJSON    `json:"iops"`
	Throughput     typeThroughJSON `json:"throughput"`
	Source         string          `json:"source"`
	Date           string          `json:"date"`
}

type typeIOPSJSON struct {
	Provisioned bool      `json:"provisioned"`
	Min         float64   `json:"min"`
	Max         float64   `json:"max"`
	PerGiB      float64   `json:"per_gib,omitempty"`
	Included    float64   `json:"included,omitempty"`
	Burst       float64   `json:"burst,omitempty"`
	Credits     float64   `json:"credits,omitempty"`
	PriceTiers  []float64 `json:"price_tiers,omitempty"`
}

type typeThroughJSON struct {
	Provisioned bool           `json:"provisioned"`
	Min         float64        `json:"min_mib_s,omitempty"`
	Max         float64        `json:"max_mib_s"`
	PerIOPS     float64        `json:"per_iops_mib_s,omitempty"`
	Included    float64        `json:"included_mib_s,omitempty"`
	BySize      []sizeStepJSON `json:"by_size,omitempty"`
	ByIOPS      []iopsLineJSON `json:"by_iops,omitempty"`
	PerTiB      *perTiBJSON    `json:"per_tib,omitempty"`
}

type sizeStepJSON struct {
	UpTo  float64 `json:"up_to_gib"`
	Limit float64 `json:"limit_mib_s"`
}

type iopsLineJSON struct {
	PerIOPS float64 `json:"per_iops_mib_s"`
	Max     float64 `json:"max_mib_s"`
}

type perTiBJSON struct {
	Baseline float64 `json:"baseline_mib_s"`
	Burst    float64 `json:"burst_mib_s"`
	Credits  float64 `json:"credits_gib"`
}

func volumeTypeDocument(t ebs.VolumeType) any {
	d := volumeTypeJSON{
		Type: string(t.Type), Title: t.Title, MinSizeGiB: t.MinSize.GiB(), MaxSizeGiB: t.MaxSize.GiB(),
		AccountingUnit: int64(t.AccountingUnit), WholeUnits: t.WholeUnits, PricedPerIO: t.PricedPerIO,
		IOPS: typeIOPSJSON{
			Provisioned: t.IOPS.Provisioned, Min: float64(t.IOPS.Min), Max: float64(t.IOPS.Max), PerGiB: float64(t.IOPS.PerGiB),
			Included: float64(t.IOPS.Included), Burst: float64(t.IOPS.Burst), Credits: float64(t.IOPS.Credits),
		},
		Throughput: typeThroughJSON{
			Provisioned: t.Throughput.Provisioned, Min: t.Throughput.Min.MiBps(), Max: t.Throughput.Max.MiBps(),
			PerIOPS: t.Throughput.PerIOPS.MiBps(), Included: t.Throughput.Included.MiBps(),
		},
		Source: t.Source, Date: t.Date,
	}
	for _, bound := range t.IOPS.PriceTiers {
		d.IOPS.PriceTiers = append(d.IOPS.PriceTiers, float64(bound))
	}
	for _, s := range t.Throughput.BySize {
		d.Throughput.BySize = append(d.Throughput.BySize, sizeStepJSON{s.UpTo.GiB(), s.Limit.MiBps()})
	}
	for _, l := range t.Throughput.ByIOPS {
		d.Throughput.ByIOPS = append(d.Throughput.ByIOPS, iopsLineJSON{l.PerIOPS.MiBps(), l.Max.MiBps()})
	}
	if hdd := t.Throughput.PerTiB; hdd.Baseline > 0 {
		d.Throughput.PerTiB = &perTiBJSON{hdd.Baseline.MiBps(), hdd.Burst.MiBps(), hdd.Credits.GiB()}
	}
	return d
}

type instanceJSON struct {
	Type           string  `json:"type"`
	BaselineIOPS   float64 `json:"baseline_iops"`
	MaximumIOPS    float64 `json:"maximum_iops"`
	BaselineMbps   float64 `json:"baseline_mbps"` // megabits a second, as AWS states them
	MaximumMbps    float64 `json:"maximum_mbps"`
	BaselineMiBps  float64 `json:"baseline_mib_s"`
	MaximumMiBps   float64 `json:"maximum_mib_s"`
	Bursts         bool    `json:"bursts"`
	Hypervisor     string  `json:"hypervisor,omitempty"`
	MaximumVolumes int     `json:"maximum_volumes,omitempty"`
	Source         string  `json:"source"`
	Date           string  `json:"date"`
}

func instanceDocument(i ebs.Instance) any {
	return instanceJSON{
		Type: i.Type, BaselineIOPS: float64(i.BaselineIOPS), MaximumIOPS: float64(i.MaximumIOPS),
		BaselineMbps:  float64(i.BaselineThroughput / units.MegabitPerSecond),
		MaximumMbps:   float64(i.MaximumThroughput / units.MegabitPerSecond),
		BaselineMiBps: i.BaselineThroughput.MiBps(), MaximumMiBps: i.MaximumThroughput.MiBps(), Bursts: i.Bursts(),
		Hypervisor: i.Hypervisor, MaximumVolumes: i.MaximumVolumes, Source: i.Source, Date: i.Date,
	}
}

type regionJSON struct {
	Region   string               `json:"region"`
	Location string               `json:"location"`
	Prices   map[string]priceJSON `json:"prices"` // a type that is missing is not sold there, or its price is not known
}

type priceJSON struct {
	PerGiB          float64        `json:"usd_month_per_gib"`
	PerIOPS         []iopsTierJSON `json:"usd_month_per_iops,omitempty"`
	PerMiBps        float64        `json:"usd_month_per_mib_s,omitempty"`
	ThroughputAbove float64        `json:"above_mib_s,omitempty"`
	PerIO           float64        `json:"usd_per_io,omitempty"`
	Source          string         `json:"source"`
	Date            string         `json:"date"`
}

type iopsTierJSON struct {
	Above float64 `json:"above_iops"`
	Price float64 `json:"usd_month"`
}

func regionDocument(r ebs.Prices) any {
	d := regionJSON{Region: r.Region, Location: r.Location, Prices: map[string]priceJSON{}}
	for name, p := range r.Volumes {
		price := priceJSON{
			PerGiB: float64(p.PerGiB), PerMiBps: float64(p.PerMiBps), ThroughputAbove: p.ThroughputAbove.MiBps(),
			PerIO: float64(p.PerIO), Source: p.Source, Date: p.Date,
		}
		for _, tier := range p.IOPS {
			price.PerIOPS = append(price.PerIOPS, iopsTierJSON{float64(tier.Above), float64(tier.PerIOPS)})
		}
		d.Prices[string(name)] = price
	}
	return d
}
