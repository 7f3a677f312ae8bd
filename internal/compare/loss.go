package compare

import (
	"fmt"
	"strings"
)

// loss is a phase of the baseline that has figures there and none in another subject.
type loss struct {
	phase Phase
	// text says what became of it; ambiguous says that the subject has it, but more than once.
	text      string
	ambiguous bool
}

// lost returns what a subject lost of the baseline.
func lost(baseline, other Subject, pairs []pair) (all []loss) {
	phases, _ := fit(baseline, nil)
	for _, p := range phases {
		if held(p, pairs) {
			continue
		}
		l := loss{phase: p}
		fate := "missing"
		for _, q := range other.Phases {
			switch {
			case q.Name != p.Name:
			case strings.HasPrefix(q.Unfit, failed):
				fate = "failed"
			case q.Unfit != "" || len(q.Runs) == 0:
				fate = "no result"
			case q.Volume == p.Volume:
				l.ambiguous = true
			}
		}
		l.text = fmt.Sprintf("%s: %s in %s", strings.TrimSpace(p.Volume+" "+p.Name), fate, other.Name)
		all = append(all, l)
	}
	return all
}

func held(p Phase, pairs []pair) bool {
	for _, pair := range pairs {
		if pair.a.Name == p.Name && pair.a.Volume == p.Volume {
			return true
		}
	}
	return false
}

// judgeLosses makes a regression of each loss to which a threshold applies: without a figure, nothing shows that the
// threshold is kept.
func (d *Document) judgeLosses(thresholds []Threshold) {
	for _, l := range d.lost {
		for _, t := range thresholds {
			if t.Phase != "" && t.Phase != l.phase.Name {
				continue
			}
			if l.ambiguous {
				d.Unjudged = append(d.Unjudged, t.String()+" on "+l.phase.Name)
				continue
			}
			d.Regression = true
			d.Regressions = append(d.Regressions, l.text)
			break
		}
	}
}
