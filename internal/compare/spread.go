package compare

import (
	"slices"

	"github.com/aclements/go-moremath/stats"

	"ebscope/internal/analyze"
	"ebscope/internal/result"
)

// SpreadSchema names the form of a SpreadDocument.
const SpreadSchema = "ebscope.spread/v1"

// SpreadDocument says how far runs of one plan lie apart: volumes that were measured side by side, or repeats.
type SpreadDocument struct {
	Schema string        `json:"schema"`
	Runs   []string      `json:"runs"` // ids
	Target result.Target `json:"target"`
	// Compress is how many times the runs were compressed, 1 where they were not.
	Compress float64  `json:"compress"`
	Spreads  []Spread `json:"spreads"`
}

// Spread is one figure of one phase over all runs that have it.
type Spread struct {
	Phase  string  `json:"phase"`
	Volume string  `json:"volume"`
	Metric string  `json:"metric"` // iops, p99 or fall
	Unit   string  `json:"unit"`   // IOPS, ms or s
	Runs   int     `json:"runs"`
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	// SpreadPercent is the difference of Max and Min as a share of the median.
	SpreadPercent float64 `json:"spread_percent"`
	// Outliers are runs that lie far from the others.
	Outliers []Outlier `json:"outliers"`
}

// Outlier is a run whose figure lies far from those of the others.
type Outlier struct {
	Run   string  `json:"run"`
	Value float64 `json:"value"`
}

// A figure is far from the others when it lies beyond Tukey's fences, and by more than volumes of one kind may differ: among
// figures that agree within a per mille, fences would find outliers where nobody sees a difference.
const (
	fence      = 1.5 // interquartile ranges
	worthALook = 0.02
	fewest     = 5 // runs that quartiles say something about
)

// SpreadOf finds how far the runs of one plan lie apart, phase by phase in their order. Phases that were not measured are left out.
func SpreadOf(documents []analyze.Document) SpreadDocument {
	all := SpreadDocument{Schema: SpreadSchema, Spreads: []Spread{}, Runs: []string{}}
	type figure struct{ phase, volume, metric, unit string }
	var order []figure
	values := map[figure][]Outlier{}
	for _, d := range documents {
		all.Runs, all.Target, all.Compress = append(all.Runs, d.Run.ID), d.Run.Target, d.Run.Compress
		for _, p := range d.Phases {
			add := func(metric, unit string, value float64) {
				f := figure{p.Name, p.Volume, metric, unit}
				if values[f] == nil {
					order = append(order, f)
				}
				values[f] = append(values[f], Outlier{d.Run.ID, value})
			}
			if p.State != string(result.Done) {
				continue
			}
			add("iops", "IOPS", p.IOPS.Mean)
			if p.Latency != nil && p.Latency.P99 != nil {
				add("p99", "ms", *p.Latency.P99)
			}
			if p.Cliff != nil {
				add("fall", "s", p.Cliff.AtSUncompressed)
			}
		}
	}
	for _, f := range order {
		s := Spread{Phase: f.phase, Volume: f.volume, Metric: f.metric, Unit: f.unit}
		s.fill(values[f])
		all.Spreads = append(all.Spreads, s)
	}
	return all
}

func (s *Spread) fill(runs []Outlier) {
	sample := stats.Sample{}
	for _, r := range runs {
		sample.Xs = append(sample.Xs, r.Value)
	}
	slices.Sort(sample.Xs)
	sample.Sorted = true
	s.Runs, s.Median, s.Outliers = len(runs), sample.Quantile(0.5), []Outlier{}
	s.Min, s.Max = sample.Xs[0], sample.Xs[len(runs)-1]
	if s.Median > 0 {
		s.SpreadPercent = 100 * (s.Max - s.Min) / s.Median
	}
	if len(runs) < fewest {
		return
	}
	lower, upper := sample.Quantile(0.25), sample.Quantile(0.75)
	allowed := max(fence*(upper-lower), worthALook*s.Median)
	for _, r := range runs {
		if r.Value < lower-allowed || r.Value > upper+allowed {
			s.Outliers = append(s.Outliers, r)
		}
	}
}
