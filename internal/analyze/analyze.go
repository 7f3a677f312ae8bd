package analyze

import (
	"reflect"

	"ebscope/internal/ebs"
	"ebscope/internal/result"
	"ebscope/internal/simulate"
	"ebscope/internal/workload"
)

// Run analyzes a run against the limits of a catalog. measured and predicted have an entry for each phase of the run's profile, in its order; a
// measurement that is nil, or missing, leaves its phase without figures, and a missing prediction leaves it without
// expectations. The run must be valid, as result.Load returns it; measured figures may be anything: what cannot be is
// left out with a warning, and every number of the document is finite.
func Run(catalog *ebs.Catalog, run result.Run, measured []*result.Measurement, predicted []simulate.Phase) Document {
	a := analysis{
		catalog:  catalog,
		run:      run,
		profile:  run.Profile.Compressed(run.Compress),
		instance: instanceOf(catalog, run.Profile),
		document: Document{
			Schema: Schema,
			Run: Identity{
				ID: run.ID, Profile: run.Profile.Name, Target: run.Target, Started: run.Started,
				Compress: run.Compress, Complete: true,
			},
			Volumes: []Volume{}, Phases: []Phase{}, Checks: []Check{}, Comparisons: []Comparison{}, Warnings: []result.Warning{},
		},
	}
	for _, v := range run.Profile.Volumes {
		a.document.Volumes = append(a.document.Volumes, describe(catalog, v))
	}
	for _, s := range run.Profile.Stripes {
		a.document.Volumes = append(a.document.Volumes, describeStripe(catalog, run.Profile, s))
	}
	limits := make([][]ceiling, len(run.Phases))
	for i, record := range run.Phases {
		var m *result.Measurement
		if i < len(measured) && record.State == result.Done {
			m = measured[i]
		}
		var expected *simulate.Phase
		if i < len(predicted) {
			expected = &predicted[i]
		}
		s := a.subject(i, a.shareOfInstance(i, measured, predicted))
		limits[i] = s.ceilings
		a.phase(s, i, m, expected)
		latest := &a.document.Phases[i]
		latest.Warnings = append(latest.Warnings, a.unplanned(i, s, predicted)...)
		a.document.Run.Complete = a.document.Run.Complete && record.State == result.Done
	}
	a.compare()
	a.sweeps(limits)
	a.document.Warnings = append(a.document.Warnings, runWarnings(catalog, run, a.instance)...)
	rounded(reflect.ValueOf(&a.document))
	return a.document
}

// analysis is the document as far as it is made, and what it is made from.
type analysis struct {
	catalog  *ebs.Catalog
	run      result.Run
	profile  workload.Profile // compressed
	instance *ebs.Instance    // nil where the profile names none
	document Document
}

func instanceOf(catalog *ebs.Catalog, p workload.Profile) *ebs.Instance {
	if p.Instance == "" {
		return nil
	}
	instance, err := catalog.Instance(p.Instance)
	if err != nil {
		return nil // a valid profile names one of the catalog
	}
	return &instance
}

func describe(catalog *ebs.Catalog, v workload.Volume) Volume {
	d := Volume{
		Name: v.Name, Type: string(v.Config.Type), SizeGiB: v.Config.Size.GiB(),
		Configuration: catalog.Provisioned(v.Config).String(),
	}
	d.promise(catalog.Performance(v.Config))
	return d
}

// compare adds the ratio of each volume to a reference in the phases that both have: the first gp3 volume, or else the
// first of all.
func (a *analysis) compare() {
	volumes := a.run.Profile.Volumes
	reference := volumes[0].Name
	for _, v := range volumes {
		if v.Config.Type == ebs.GP3 {
			reference = v.Name
			break
		}
	}
	base := map[string]Phase{}
	for _, p := range a.document.Phases {
		if p.Volume == reference {
			base[p.Name] = p
		}
	}
	for _, p := range a.document.Phases {
		b, ok := base[p.Name]
		if !ok || p.Volume == reference {
			continue
		}
		add := func(metric string, x, y float64) {
			if x > 0 && y > 0 {
				a.document.Comparisons = append(a.document.Comparisons,
					Comparison{Phase: p.Name, Metric: metric, A: p.Volume, B: reference, Ratio: x / y})
			}
		}
		add("iops", p.IOPS.Mean, b.IOPS.Mean)
		add("throughput", p.ThroughputMiBps, b.ThroughputMiBps)
		if p.Latency == nil || b.Latency == nil {
			continue
		}
		add("latency-mean", p.Latency.Mean, b.Latency.Mean)
		if p.Latency.P99 != nil && b.Latency.P99 != nil {
			add("latency-p99", *p.Latency.P99, *b.Latency.P99)
		}
	}
}
