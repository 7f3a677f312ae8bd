// Package calibrate derives the service latency of volumes from runs: what an I/O takes while no limit holds it back. Its
// profiles, by volume type, direction and block size, are what emulated and simulated volumes take theirs from.
package calibrate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"

	"ebscope/internal/analyze"
	"ebscope/internal/ebs"
	"ebscope/internal/model"
	"ebscope/internal/result"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

// Run is a run with its findings. Measured has an entry for each of its phases, nil where there is no measurement.
type Run struct {
	Profile  workload.Profile
	Document analyze.Document
	Measured []*result.Measurement
}

// Entry is the service latency of one kind of I/O on volumes of one type.
type Entry struct {
	Type  ebs.Type
	Write bool
	Size  units.Bytes // of an I/O; zero: of any
	Curve model.Latency
	// IOs and Phases are what the curve rests on, zero where it was not derived from runs.
	IOs    int64
	Phases int
	// Within is half the width of the mean's 95 % confidence interval, as a share of the mean: by Student's t over the means
	// of the phases or, of a single one, of tenths of its series. NaN where it is not known.
	Within float64
}

// Profile is a service-latency profile.
type Profile []Entry

// unthrottled is the share of a phase's time in which no limit may have held.
const unthrottled = 0.95

// Derive returns the profile that runs show. skipped names the phases that show none, each with the reason. It fails where
// none shows any.
func Derive(runs []Run) (profile Profile, skipped []string, err error) {
	type kind struct {
		of    ebs.Type
		write bool
		size  units.Bytes
	}
	found := map[kind][]*result.Measurement{}
	for _, run := range runs {
		for i, spec := range run.Profile.Phases {
			if spec.Duration == 0 || i >= len(run.Document.Phases) {
				continue
			}
			volume, single := run.Profile.Volume(spec.Volume)
			reason := unfit(spec, run.Document.Phases[i], at(run.Measured, i))
			if !single {
				reason = "it ran on a stripe, not on one volume"
			}
			if reason != "" {
				skipped = append(skipped, fmt.Sprintf("%s on %s: %s", spec.Name, spec.Volume, reason))
				continue
			}
			k := kind{volume.Config.Type, spec.Pattern.WritesOnly(), spec.BlockSize}
			found[k] = append(found[k], run.Measured[i])
		}
	}
	for k, phases := range found {
		e := Entry{Type: k.of, Write: k.write, Size: k.size, Phases: len(phases), Within: within(phases)}
		var all []result.Latency
		for _, m := range phases {
			all = append(all, m.Total.Latency)
		}
		merged := result.Merged(all)
		e.IOs, e.Curve = merged.Samples, curve(merged)
		profile = append(profile, e)
	}
	if len(profile) == 0 {
		return nil, skipped, errors.New("no phase ran without being held by a limit; run one with a queue depth of 1, such as randread-qd1 of the profile quick")
	}
	slices.SortFunc(profile, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(direction(a.Write), direction(b.Write)), cmp.Compare(a.Size, b.Size))
	})
	return profile, skipped, nil
}

// unfit says why a phase does not show the service latency, empty where it does.
func unfit(spec workload.Phase, p analyze.Phase, m *result.Measurement) string {
	switch {
	case m == nil:
		return "it is not done"
	case spec.Pattern.Mixed():
		return "it mixes reads and writes"
	case len(m.Total.Latency.Bins) == 0:
		return "it has no histogram of latencies"
	case p.Cliff != nil || len(p.LimitedBy) == 0 || p.LimitedBy[0].Limit != model.QueueDepth || p.LimitedBy[0].Share < unthrottled:
		return "a limit held it back, so that its latency is that of waiting"
	default:
		return ""
	}
}

func at(all []*result.Measurement, i int) *result.Measurement {
	if i < len(all) {
		return all[i]
	}
	return nil
}

// shares are the points of a derived curve.
var shares = []float64{0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999, 1}

// curve is a histogram as a quantile curve of the same mean. Straight lines between few points, and the width of bins,
// would move the mean by a percent or two.
func curve(l result.Latency) model.Latency {
	var c model.Latency
	for _, share := range shares {
		within := max(1, result.Rank(l.Bins, share))
		if n := len(c); n > 0 {
			within = max(within, c[n-1].Within)
		}
		c = append(c, model.LatencyPoint{Share: share, Within: within})
	}
	return c.WithMean(l.Mean)
}

// tenths is how many means a single phase's series is cut into.
const tenths = 10

// within is the relative half width of the 95 % confidence interval of the mean latency.
func within(phases []*result.Measurement) float64 {
	var means []float64
	for _, m := range phases {
		means = append(means, float64(m.Total.Latency.Mean))
	}
	if len(phases) == 1 {
		means = nil
		series := phases[0].Latency
		for part := range slices.Chunk(series, max(1, (len(series)+tenths-1)/tenths)) {
			var sum float64
			for _, p := range part {
				sum += p.Value
			}
			means = append(means, sum/float64(len(part)))
		}
	}
	if len(means) < 2 {
		return math.NaN()
	}
	mean, low, high := stats.MeanCI(means, 0.95)
	return (high - low) / 2 / mean
}

// Apply gives the volumes of a workload's profile their service latency, by type. It returns the names of those of whose
// type the profile says nothing; they keep what they have.
func (p Profile) Apply(to workload.Profile) (workload.Profile, []string) {
	var unknown []string
	to.Volumes = slices.Clone(to.Volumes)
	for i, v := range to.Volumes {
		if service := p.Service(v.Config.Type); service != nil {
			to.Volumes[i].Kinds = service
		} else {
			unknown = append(unknown, v.Name)
		}
	}
	return to, unknown
}

// Service is what the profile says of a volume type, nil where it says nothing.
func (p Profile) Service(of ebs.Type) (service model.Service) {
	for _, e := range p {
		if e.Type == of {
			service = append(service, model.ServiceKind{Write: e.Write, Size: e.Size, Latency: e.Curve})
		}
	}
	return service
}

func direction(write bool) string {
	if write {
		return "write"
	}
	return "read"
}
