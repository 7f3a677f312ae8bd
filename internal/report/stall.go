package report

import (
	"fmt"
	"slices"
	"strings"

	"ebscope/internal/analyze"
	"ebscope/internal/result"
)

// stretch is a stall in a drawing, in seconds of the volumes' own time.
type stretch struct {
	From float64 `json:"from"`
	To   float64 `json:"to"`
}

// stalls are those of a phase, none where it is not done.
func (m member) stalls() []analyze.Stall {
	if m.Foreign == nil || !m.done() {
		return nil
	}
	return m.Stalls
}

// stalled says when IOPS stalled: "2 times, for 21 s in all: 5 min to 5 min 20 s at 0 IOPS, 7 min 29 s to 7 min 30 s at 100 IOPS".
func (m member) stalled() string {
	const most = 3
	all := m.stalls()
	if len(all) == 0 {
		return none
	}
	seconds := 0.0
	var each []string
	for i, s := range all {
		seconds += s.ToS - s.FromS
		if i < most {
			each = append(each, fmt.Sprintf("%s to %s at %s IOPS", span(s.FromS), span(s.ToS), iops(s.IOPS)))
		}
	}
	if more := len(all) - most; more > 0 {
		each = append(each, fmt.Sprintf("%d more", more))
	}
	times := fmt.Sprintf("%d times, for %s in all", len(all), span(seconds))
	if len(all) == 1 {
		times = "once, for " + span(seconds)
	}
	return times + ": " + strings.Join(each, ", ")
}

// allowed is the most that volume and instance allow, nil where that is not known.
func (m member) allowed() *float64 {
	if m.Foreign == nil {
		return nil
	}
	return m.AllowedIOPS
}

// above says what a rate is above that it cannot be above: "the 3,000 IOPS that volume and instance allow".
func (m member) above() string {
	has := func(code string) bool {
		return slices.ContainsFunc(m.Warnings, func(w result.Warning) bool { return w.Code == code })
	}
	switch {
	case !m.done():
		return none
	case has("above-limit") && m.allowed() != nil:
		return fmt.Sprintf("the %s IOPS that volume and instance allow", iops(*m.allowed()))
	case has("above-limit"):
		return "what volume and instance allow"
	case has("above-any-volume"):
		return "what any EBS volume can do"
	default:
		return none
	}
}

// advice is what to do next, empty where nothing is known of it.
func (m member) advice() string {
	if m.Foreign == nil {
		return ""
	}
	return m.Advice
}

// concluded is the verdict, and what to do next.
func (m member) concluded() string { return strings.TrimSpace(m.sentence() + " " + m.advice()) }

// noteworthy adds to a drawing of the rate, or of another quantity, where it stalled, and what it is above.
func (c *chart) noteworthy(m member, compress, scale float64, rate bool) {
	for _, s := range m.stalls() {
		c.Stalls = append(c.Stalls, stretch{s.FromS * compress, s.ToS * compress})
	}
	if rate && m.above() != none && m.allowed() != nil {
		c.Bounds = append(c.Bounds, *m.allowed()*scale)
	}
}
