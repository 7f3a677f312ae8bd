package fleet

import (
	"math"
	"time"

	"ebscope/internal/ebs"
	"ebscope/internal/forecast"
)

// Options say how a fleet is looked at.
type Options struct {
	Catalog *ebs.Catalog
	// Sizing of gp3 volumes, and the share that is added to an observed peak: DefaultHeadroom where it is 0.
	Sizing   Sizing
	Headroom float64
	// Region is taken where the region of a volume is not known: a cluster alone need not say it.
	Region string
}

// DefaultHeadroom is the share that is added to an observed peak.
const DefaultHeadroom = 0.2

// Scan looks at an inventory. Metrics are added a volume at a time, and only what is observed is kept of them.
type Scan struct {
	inventory Inventory
	options   Options
	observer  observer
	observed  []*Observed // by entry
	configs   []config
	advisors  map[string]*advisor
}

// config is a volume's configuration. known is false where its type is not known.
type config struct {
	volume ebs.Volume
	perf   ebs.Performance
	known  bool
}

// NewScan begins to look at an inventory.
func NewScan(inventory Inventory, options Options) *Scan {
	if options.Headroom == 0 {
		options.Headroom = DefaultHeadroom
	}
	s := &Scan{
		inventory: inventory, options: options, observer: observer{window: inventory.Snapshot.Window},
		observed: make([]*Observed, len(inventory.Entries)), configs: make([]config, len(inventory.Entries)),
		advisors: map[string]*advisor{},
	}
	for i := range inventory.Entries {
		setting, _ := inventory.Entries[i].Setting()
		if _, err := options.Catalog.VolumeType(setting.Type); err == nil {
			volume := setting.Config(options.Catalog)
			s.configs[i] = config{volume, options.Catalog.Performance(volume), true}
		}
	}
	return s
}

// Add takes the metrics of a volume. Those of a volume that is not in the inventory are left out.
func (s *Scan) Add(m Metrics) {
	i, ok := s.inventory.place[m.Volume]
	if !ok || !s.configs[i].known {
		return
	}
	o := s.observer.observe(&m, s.configs[i].perf)
	s.observed[i] = &o
}

// Observed returns what the metrics of a volume said, nil where there were none.
func (s *Scan) Observed(id VolumeID) *Observed {
	if i, ok := s.inventory.place[id]; ok {
		return s.observed[i]
	}
	return nil
}

// advisor returns the one for a region, nil where its prices are not known.
func (s *Scan) advisor(region string) *advisor {
	if region == "" {
		region = s.options.Region
	}
	if a, ok := s.advisors[region]; ok {
		return a
	}
	a := &advisor{catalog: s.options.Catalog, sizing: s.options.Sizing, headroom: s.options.Headroom}
	a.gp3, _ = a.catalog.VolumeType(ebs.GP3) // every catalog extends the embedded one, which has it
	a.prices, _ = a.catalog.Prices(region)   // where they are not known, no volume has a price
	s.advisors[region] = a
	return a
}

// row describes an entry.
func (s *Scan) row(i int) Row {
	e, c, o := &s.inventory.Entries[i], s.configs[i], s.observed[i]
	r := identity(e)
	setting, _ := e.Setting()
	r.Type, r.SizeGiB = setting.Type, setting.SizeGiB
	if limits, err := s.options.Catalog.Instance(r.InstanceType); err == nil {
		r.Instance = &InstanceLimit{float64(limits.BaselineIOPS), float64(limits.MaximumIOPS), tidy(limits.BaselineThroughput.MiBps()), tidy(limits.MaximumThroughput.MiBps())}
	}
	if c.known {
		r.BaselineIOPS, r.BurstIOPS, r.ThroughputMiBps = float64(c.perf.Baseline), float64(c.perf.Burst), tidy(c.perf.Throughput.MiBps())
		a := s.advisor(e.Region)
		if price, sold := monthly(c.volume, a.catalog, a.prices); sold {
			r.Monthly = &price
		}
		r.Recommendation = a.recommend(c.volume, r.Monthly, o)
		if c.perf.Bursts() {
			balance := &Balance{Now: 1}
			if o != nil && o.Balance != nil {
				balance = o.Balance
			}
			r.SecondsToEmptyAtBurst = whole(emptyAfter(c.perf, balance, &forecast.Load{IOPS: c.perf.Burst}))
		}
	} else {
		r.Recommendation = Recommendation{Action: Keep, Reason: "its type is not known"}
	}
	if o != nil && o.Known > 0 {
		r.observe(o, c.perf)
	}
	r.Findings = s.findings(i, &r)
	return r
}

// observe describes what the metrics said.
func (r *Row) observe(o *Observed, perf ebs.Performance) {
	r.Demand = &Demand{
		PeakIOPS: tidy(float64(o.Peak.IOPS)), P99IOPS: tidy(float64(o.P99)),
		PeakThroughputMiBps: tidy(o.PeakThroughput.MiBps()), P99ThroughputMiBps: tidy(o.P99Throughput.MiBps()),
		KnownPercent: tidy(100 * float64(o.Known) / float64(o.Points)),
	}
	if o.Present != nil {
		iops, throughput := tidy(float64(o.Present.IOPS)), tidy(o.Present.Throughput.MiBps())
		r.Demand.PresentIOPS, r.Demand.PresentThroughputMiBps = &iops, &throughput
	}
	if b := o.Balance; b != nil {
		r.Balance = &BalanceRow{tidy(100 * b.Now), tidy(100 * b.Lowest), measured}
		if b.Modelled {
			r.Balance.Source = modelled
		}
	}
	r.SecondsToEmpty = whole(emptyAfter(perf, o.Balance, o.Present))
	r.SecondsToEmptyAtPeak = whole(emptyAfter(perf, o.Balance, &o.Peak))
	throttled := o.Throttled.Seconds()
	r.ThrottledS = &throttled
}

// identity says what a volume is and whose.
func identity(e *Entry) Row {
	r := Row{ID: e.ID, Account: e.Account, Region: e.Region, Pods: []string{}, Findings: []Finding{}}
	r.InstanceID, r.InstanceType = e.instance()
	if v := e.Volume; v != nil {
		r.Zone, r.State, r.Tags = v.Zone, v.State, v.Tags
	}
	r.Cluster, r.Namespace, r.Claim, r.PV = e.Tagged.Cluster, e.Tagged.Namespace, e.Tagged.Claim, e.Tagged.PV
	if len(e.Uses) == 0 {
		return r
	}
	u := e.use()
	if r.Zone == "" {
		r.Zone = zoneOf(u.PV, u.Node)
	}
	r.Cluster, r.PV, r.StorageClass = u.Cluster.Name, u.PV.Name, u.PV.Class
	r.Namespace, r.Claim, r.ClaimUID = u.PV.ClaimNamespace, u.PV.ClaimName, u.PV.ClaimUID
	if u.Claim != nil {
		r.Namespace, r.Claim, r.ClaimUID = u.Claim.Namespace, u.Claim.Name, u.Claim.UID
	}
	for _, p := range u.Pods {
		r.Pods = append(r.Pods, p.Name)
	}
	if u.Set != nil {
		r.StatefulSet = u.Set.Name
	}
	for _, other := range e.Uses {
		if other.PV != u.PV {
			r.OtherClaims = append(r.OtherClaims, other.Cluster.Name+"/"+other.PV.ClaimNamespace+"/"+other.PV.ClaimName)
		}
	}
	return r
}

// tidy rounds a figure for print: a millionth is far below what metrics say.
func tidy(x float64) float64 { return math.Round(x*1e6) / 1e6 }

// whole returns a time in whole seconds, nil where it is not known.
func whole(d time.Duration, known bool) *float64 {
	if !known {
		return nil
	}
	s := math.Round(d.Seconds())
	return &s
}
