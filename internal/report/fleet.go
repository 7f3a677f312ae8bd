package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ebscope/internal/fleet"
	"ebscope/internal/units"
)

// fleetView puts what was found about a fleet into words.
type fleetView struct{ fleet.Document }

// money prints an amount in USD with whole cents and thousands: "$1,140.00".
func money(m fleet.Money) string {
	sign, cents := "", int64(m)
	if m < 0 {
		sign, cents = "−", -cents
	}
	const perCent = 1_000_000 // units of Money
	cents = (cents + perCent/2) / perCent
	return fmt.Sprintf("%s$%s.%02d", sign, units.Thousands(float64(cents/100)), cents%100)
}

func optionalMoney(m *fleet.Money) string {
	if m == nil {
		return none
	}
	return money(*m)
}

// counted prints a number with its noun: "1 volume", "2,000 volumes".
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return units.Thousands(float64(n)) + " " + noun + "s"
}

// headline is the answer in one sentence.
func (v fleetView) headline() string {
	t := v.Totals
	if t.Volumes == 0 {
		return "No volumes were found"
	}
	text := fmt.Sprintf("%s of %s at risk of falling to baseline", capital(atRisk(t.AtRisk)), counted(t.Volumes, "volume"))
	switch {
	case t.Saving > 0:
		text += fmt.Sprintf("; changing %s saves %s of %s a month", counted(t.Modify, "volume"), money(t.Saving), money(t.Monthly))
	case t.Priced > 0:
		text += fmt.Sprintf("; all cost %s a month, and no change would save any of it", money(t.Monthly))
	}
	return text
}

func atRisk(n int) string {
	switch n {
	case 0:
		return "none"
	case 1:
		return "one"
	default:
		return units.Thousands(float64(n))
	}
}

// source says what was looked at.
func (v fleetView) source() string {
	parts := []string{}
	for _, c := range v.Clusters {
		parts = append(parts, fmt.Sprintf("cluster %s (Kubernetes %s, %s)", c.Name, cmp.Or(c.Server, "of unknown version"), counted(c.Claims, "claim")))
	}
	metrics := "no metrics"
	if v.WindowS > 0 {
		metrics = "metrics of " + long(v.WindowS)
	}
	parts = append(parts, metrics, "read "+when(v.Taken, "2006-01-02 15:04 UTC"))
	return strings.Join(parts, " · ")
}

// fleetRow is one volume in a table.
type fleetRow struct {
	ID, Claim, Place, Now, Balance, Empty, Peak, PeakThroughput, Throttled, Monthly, Saves, Text string
	Codes                                                                                        []string
	Risk                                                                                         bool
}

func fleetRowOf(r *fleet.Row) fleetRow {
	row := fleetRow{
		ID: clean(string(r.ID)), Claim: clean(claimName(r)), Place: clean(strings.Join(nonEmpty(r.Cluster, r.Region), " · ")),
		Now: volumeWords(r), Balance: none, Empty: none, Peak: none, Throttled: none, Monthly: optionalMoney(r.Monthly), Saves: none,
		Text: advice(r.Recommendation), Risk: r.Has(fleet.GP2AtRisk),
	}
	if b := r.Balance; b != nil {
		row.Balance = percent(b.NowPercent / 100)
	}
	if r.SecondsToEmpty != nil {
		row.Empty = coarse(*r.SecondsToEmpty)
	} else if r.Demand != nil && r.BurstIOPS > r.BaselineIOPS {
		row.Empty = "never"
	}
	if d := r.Demand; d != nil {
		row.Peak, row.PeakThroughput = iops(d.PeakIOPS)+" IOPS", mibps(d.PeakThroughputMiBps)+" MiB/s"
	}
	if r.ThrottledS != nil && *r.ThrottledS > 0 {
		row.Throttled = coarse(*r.ThrottledS)
	}
	if c := r.Recommendation.Choice; c != nil && c.Difference != nil {
		row.Saves = money(-*c.Difference)
	}
	for _, f := range r.Findings {
		if code := string(f.Code); !slices.Contains(row.Codes, code) {
			row.Codes = append(row.Codes, code)
		}
	}
	return row
}

// advice says in a few words what to do.
func advice(r fleet.Recommendation) string {
	switch c := r.Choice; {
	case c == nil:
		return clean("stay: " + r.Reason)
	case r.Action == fleet.Modify:
		return clean("change to " + c.String())
	default:
		return "stay: gp3 would be dearer"
	}
}

// claimName is the claim as kubectl names it with its namespace, empty where there is none.
func claimName(r *fleet.Row) string {
	if r.Claim == "" {
		return ""
	}
	return r.Namespace + "/" + r.Claim
}

func volumeWords(r *fleet.Row) string {
	return fmt.Sprintf("%s %s GiB", cmp.Or(clean(string(r.Type)), "?"), units.Thousands(float64(r.SizeGiB)))
}

func nonEmpty(texts ...string) []string {
	return slices.DeleteFunc(texts, func(s string) bool { return s == "" })
}

// coarse prints a length of time with its largest unit that has at least two of it: "33 min", "5 h", "12 days".
func coarse(seconds float64) string {
	for _, unit := range []struct {
		seconds float64
		name    string
	}{{24 * 3600, "days"}, {3600, "h"}, {60, "min"}} {
		if seconds >= 2*unit.seconds {
			return units.Thousands(float64(int64(seconds/unit.seconds))) + " " + unit.name
		}
	}
	return units.Thousands(seconds) + " s"
}

// findingGroup are the volumes about which one thing was found.
type findingGroup struct {
	Code, Title string
	Level       fleet.Level
	Count       int
	Cases       []findingCase // the first few
}

type findingCase struct{ Name, Text string }

var codeWords = map[fleet.Code]string{
	fleet.GP2AtRisk:          "gp2 at risk",
	fleet.Unattached:         "Attached to nothing",
	fleet.OverProvisioned:    "gp3 with more than it uses",
	fleet.BelowGP2:           "gp3's default throughput is below gp2's",
	fleet.SnapshotCold:       "Not yet fetched from its snapshot",
	fleet.AboveInstance:      "Limit above that of the instance",
	fleet.Modifying:          "Being changed",
	fleet.Optimizing:         "Change not complete",
	fleet.MissingMetrics:     "Metrics missing",
	fleet.InTreePV:           "In-tree PersistentVolume",
	fleet.NotInAccount:       "Not in an account that was read",
	fleet.UnknownType:        "Type not known",
	fleet.GP2DefaultClass:    "Default class makes gp2",
	fleet.InTreeDefaultClass: "Default class is in-tree",
	fleet.TwoDefaultClasses:  "More than one default class",
	fleet.NoDefaultClass:     "No default class",
	fleet.TemplateGP2:        "Volume template makes gp2",
}

var levelOrder = map[fleet.Level]int{fleet.Risk: 0, fleet.Warning: 1, fleet.Note: 2}

// groups gathers what was found by its code, the worst first, with at most so many cases each.
func (v fleetView) groups(most int) []findingGroup {
	places := map[fleet.Code]int{}
	var groups []findingGroup
	add := func(f fleet.Finding, name string) {
		i, ok := places[f.Code]
		if !ok {
			i = len(groups)
			places[f.Code] = i
			groups = append(groups, findingGroup{Code: string(f.Code), Title: word(codeWords, f.Code), Level: f.Level})
		}
		g := &groups[i]
		g.Count++
		if levelOrder[f.Level] < levelOrder[g.Level] {
			g.Level = f.Level
		}
		if len(g.Cases) < most {
			g.Cases = append(g.Cases, findingCase{clean(name), clean(f.Text)})
		}
	}
	for _, f := range v.Findings {
		add(f.Finding, "cluster "+f.Cluster)
	}
	for i := range v.Volumes {
		r := &v.Volumes[i]
		for _, f := range r.Findings {
			add(f, strings.Join(nonEmpty(string(r.ID), claimName(r)), " · "))
		}
	}
	slices.SortStableFunc(groups, func(a, b findingGroup) int { return cmp.Compare(levelOrder[a.Level], levelOrder[b.Level]) })
	return groups
}

// beside lists the volumes that would be dearer, with the cheaper choice of each.
func (v fleetView) beside(most int) (sentences []string, more int) {
	for i := range v.Volumes {
		r := &v.Volumes[i]
		c := r.Recommendation
		if c.Choice == nil || c.Difference == nil || *c.Difference <= 0 {
			continue
		}
		if len(sentences) == most {
			more++
			continue
		}
		text := fmt.Sprintf("%s (%s): %s.", r.ID, volumeWords(r), c.Reason)
		if x := c.Cheaper; x != nil {
			text += fmt.Sprintf(" Cheaper: %s at %s, %s less than now; it %s.", x.Setting, money(*x.Monthly), money(-*x.Difference), x.Text)
		}
		sentences = append(sentences, clean(text))
	}
	return sentences, more
}

// missing says what could not be read.
func (v fleetView) missing() []string {
	var all []string
	for _, m := range v.Missing {
		where := strings.Join(nonEmpty(string(m.Account), m.Region, m.Cluster, m.Namespace), ", ")
		text := m.Operation
		if where != "" {
			text += " of " + where
		}
		if len(m.Volumes) > 0 {
			text += " for " + counted(len(m.Volumes), "volume")
		}
		all = append(all, clean(fmt.Sprintf("%s: %s. %s", text, m.Reason, m.Text)))
	}
	return all
}
