package forecast

import (
	"cmp"
	"iter"
	"slices"

	"ebscope/internal/ebs"
	"ebscope/internal/model"
	"ebscope/internal/result"
)

// Member is a volume of a fleet and what becomes of it.
type Member struct {
	ID          string
	Volume      ebs.Volume
	Performance ebs.Performance
	Track       *Track
}

// Fleet follows many volumes through a series in which their lines may be mixed; it keeps a state for each volume, and no
// demand. configure says what a volume is, when its first interval is known; the volumes come in the order of that.
func Fleet(samples iter.Seq2[Sample, error], configure func(Sample) (Candidate, model.Fluid, error)) ([]Member, error) {
	var members []Member
	place := map[string]int{}
	for s, err := range samples {
		if err != nil {
			return nil, err
		}
		i, known := place[s.Volume]
		if !known {
			c, volume, err := configure(s)
			if err != nil {
				return nil, &LineError{s.Line, err}
			}
			i = len(members)
			place[s.Volume] = i
			members = append(members, Member{s.Volume, c.Volume, c.Performance, NewTrack(volume, nil)})
		}
		members[i].Track.Add(s.Interval)
	}
	return members, nil
}

// FleetSchema names the form of FleetDocument.
const FleetSchema = "ebscope.forecast-fleet/v1"

// FleetDocument is a forecast for many volumes, as it is printed in JSON.
type FleetDocument struct {
	Schema   string           `json:"schema"`
	Volumes  []FleetOutcome   `json:"volumes"`
	Warnings []result.Warning `json:"warnings"`
}

// FleetOutcome is the forecast for one volume of a fleet; the fields are those of Document.
type FleetOutcome struct {
	ID              string   `json:"volume_id"`
	Volume          Volume   `json:"volume"`
	BaselineIOPS    float64  `json:"baseline_iops"`
	BurstIOPS       float64  `json:"burst_iops"`
	SecondsToEmpty  *float64 `json:"seconds_to_empty"`
	SecondsToRefill *float64 `json:"seconds_to_refill"`
	Course          Course   `json:"course"`
}

// DescribeFleet returns the outcomes of a fleet in the form of a document.
func DescribeFleet(members []Member) FleetDocument {
	d := FleetDocument{Schema: FleetSchema, Volumes: make([]FleetOutcome, len(members)), Warnings: []result.Warning{}}
	for i, m := range members {
		o := m.Track.Outcome()
		d.Volumes[i] = FleetOutcome{
			ID: m.ID, Volume: Describe(m.Volume, m.Performance),
			BaselineIOPS: float64(m.Performance.Baseline), BurstIOPS: float64(m.Performance.Burst),
			SecondsToEmpty: wholeSeconds(o.EmptyAt, o.Empty), SecondsToRefill: wholeSeconds(TimeToRefill(m.Performance)),
			Course: o.Describe(nil),
		}
		if o.inferred(m.Performance) && len(d.Warnings) == 0 {
			d.Warnings = append(d.Warnings, throughputInferred)
		}
	}
	return d
}

// Worst returns the volumes of a fleet that are held back, the longest first.
func Worst(volumes []FleetOutcome) []FleetOutcome {
	worst := slices.DeleteFunc(slices.Clone(volumes), func(v FleetOutcome) bool { return v.Course.ThrottledS == 0 })
	slices.SortStableFunc(worst, func(a, b FleetOutcome) int { return cmp.Compare(b.Course.ThrottledS, a.Course.ThrottledS) })
	return worst
}
