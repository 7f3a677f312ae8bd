package report

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"ebscope/internal/analyze"
	"ebscope/internal/result"
	"ebscope/internal/workload"
)

// member is a phase on one volume, with everything that is known about it.
type member struct {
	analyze.Phase
	spec                workload.Phase // zero where the profile does not have it
	err                 string
	volume              int // its place in Document.Volumes; -1 where the volume is in no list
	place               int // among what is drawn in one chart
	measured, predicted *result.Measurement
	reading             *result.Reading // nil for a run of ebscope
}

// rates is the series of IOPS, nil where none is known. In what was read from files, zeros alone are no series.
func (m member) rates() result.Series {
	if m.measured == nil || m.reading != nil && !slices.ContainsFunc(m.measured.IOPS, func(p result.Point) bool { return p.Value != 0 }) {
		return nil
	}
	return m.measured.IOPS
}

// figure prints a figure of a phase. In what was read from files, zero means that it is not known.
func (m member) figure(x float64, print func(float64) string) string {
	if x == 0 && m.reading != nil {
		return none
	}
	return print(x)
}

func (m member) done() bool { return m.State == string(result.Done) }

// colours is how many series colours the page has.
const colours = 6

// colour numbers the series colour: of the phase's volume, or of its place where the volume is not known.
func (m member) colour() int {
	if m.volume < 0 {
		return m.place % colours
	}
	return m.volume % colours
}

// outstanding is the number of I/Os in flight.
func (m member) outstanding() float64 { return float64(m.QueueDepth * m.Jobs) }

// preparation says that the phase only writes or reads the test file once.
func (m member) preparation() bool { return m.spec.Name != "" && m.spec.Duration == 0 }

// group is a phase as it was run on every volume, in the order of the volumes.
type group struct {
	Name    string
	Members []member
}

// groups returns the phases by name: the one that shows the result first, those that only prepare last.
func (r Report) groups() []group {
	var first, middle, last []group
	lead := r.leadName()
	for _, g := range r.all() {
		switch {
		case g.Name == lead:
			first = append(first, g)
		case g.Members[0].preparation():
			last = append(last, g)
		default:
			middle = append(middle, g)
		}
	}
	return append(append(first, middle...), last...)
}

// all returns the phases by name, in the document's order. Each reading stands alone.
func (r Report) all() []group {
	names := r.names()
	var groups []group
	at := map[string]int{}
	for i := range r.Document.Phases {
		m := r.member(i)
		m.Name = names[i]
		g, ok := at[m.Name]
		if !ok {
			g = len(groups)
			at[m.Name] = g
			groups = append(groups, group{Name: m.Name})
		}
		groups[g].Members = append(groups[g].Members, m)
	}
	for _, g := range groups {
		slices.SortStableFunc(g.Members, func(a, b member) int { return cmp.Compare(uint(a.volume), uint(b.volume)) })
		for i := range g.Members {
			g.Members[i].place = i
		}
	}
	return groups
}

// names returns the name of each phase of the document. Readings have each a name of their own, for it is not known what
// two of one job's name have in common.
func (r Report) names() []string {
	names := make([]string, len(r.Document.Phases))
	seen := map[string]int{}
	for i, p := range r.Document.Phases {
		names[i] = p.Name
		if i >= len(r.Readings) {
			continue
		}
		source := sourceName(r.Readings[i])
		if names[i] == "" {
			names[i] = source
		}
		if seen[names[i]] > 0 {
			names[i] += " of " + source
		}
		if seen[names[i]]++; seen[names[i]] > 1 {
			names[i] += fmt.Sprintf(" (%d)", seen[names[i]])
		}
	}
	return names
}

// leadName names the phase that shows the result: the one whose fall came latest, after it had looked well for longest;
// else the first with figures that is not just preparation.
func (r Report) leadName() string {
	name, latest := "", -1.0
	phases, _ := r.told()
	for _, m := range phases {
		if m.Cliff != nil && m.Cliff.AtS > latest {
			name, latest = m.Name, m.Cliff.AtS
		}
	}
	if name != "" {
		return name
	}
	candidates := r.all()
	for _, want := range []func(m member) bool{
		func(m member) bool { return len(m.rates()) > 1 },
		func(member) bool { return true },
	} {
		for _, g := range candidates {
			if slices.ContainsFunc(g.Members, func(m member) bool { return m.done() && !m.preparation() && want(m) }) {
				return g.Name
			}
		}
	}
	return ""
}

// members returns the phases of a name.
func (r Report) members(name string) []member {
	for _, g := range r.all() {
		if g.Name == name {
			return g.Members
		}
	}
	return nil
}

// member returns the phase of an index in the document.
func (r Report) member(index int) member {
	m := member{Phase: r.Document.Phases[index]}
	if r.Document.Run.Target == result.Simulated {
		m.Expected = nil // a simulation is its own prediction
	}
	m.volume = slices.IndexFunc(r.Document.Volumes, func(v analyze.Volume) bool { return v.Name == m.Volume })
	for i, record := range r.Run.Phases {
		if record.Name == m.Name && record.Volume == m.Volume {
			m.err, m.measured, m.predicted = record.Error, at(r.Measured, i), at(r.Predicted, i)
		}
	}
	for _, spec := range r.Run.Profile.Phases {
		if spec.Name == m.Name && spec.Volume == m.Volume {
			m.spec = spec
		}
	}
	if index < len(r.Readings) {
		reading := &r.Readings[index]
		m.reading, m.measured = reading, &reading.Measurement
		if reading.Failure != nil {
			m.err = strings.Join(reading.Failure.Text, "; ")
		}
		if m.Volume == "" {
			m.Volume = sourceName(*reading)
		}
	}
	return m
}

// guessed says whether the cause of the fall was concluded from its shape, for want of the volume.
func (m member) guessed() bool {
	return m.Foreign != nil && len(m.Candidates) > 0 && m.Cliff.Cause != analyze.UnknownCause
}

// volumeName is the name of the volume, empty where it is not known and the source stands for it.
func (m member) volumeName() string {
	if m.reading != nil && m.volume < 0 {
		return ""
	}
	return m.Volume
}

// sourceName says where a reading is from, as short as a legend needs it.
func sourceName(r result.Reading) string {
	name := path.Base(strings.ReplaceAll(r.Source.File, "\\", "/"))
	if r.Host != "" {
		name = r.Host + " " + name
	}
	return name
}

func at(all []*result.Measurement, i int) *result.Measurement {
	if i < len(all) {
		return all[i]
	}
	return nil
}
