package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"ebscope/internal/compare"
)

// unproved stands where no difference is proved.
const unproved = "~"

// comparisonView puts a comparison into words.
type comparisonView struct{ compare.Document }

// subjectLetter names a subject: A is the baseline.
func subjectLetter(i int) string {
	const letters = 26
	if i >= letters {
		return subjectLetter(i/letters-1) + subjectLetter(i%letters)
	}
	return string(rune('A' + i))
}

func subjectName(s compare.Side) string {
	if s.Runs > 1 {
		return fmt.Sprintf("%s, %d runs", s.Name, s.Runs)
	}
	return s.Name
}

// subjectLabel says what kind of result a subject is: "simulated · compressed 60×". It is empty where that is not known.
func subjectLabel(s compare.Side) string {
	var words []string
	if s.Target != "" {
		words = append(words, s.Target)
	}
	if s.Compress > 1 {
		words = append(words, "compressed "+factor(s.Compress)+"×")
	}
	return strings.Join(words, " · ")
}

// subjectTitle is a subject's name with its label.
func subjectTitle(s compare.Side) string {
	if l := subjectLabel(s); l != "" {
		return subjectName(s) + " (" + l + ")"
	}
	return subjectName(s)
}

// differences are what differs between the baseline and the others, in words; what differs in several phases alike is told once.
func (v comparisonView) differences() (texts []string) {
	type key struct{ subject, option, a, b string }
	var keys []key
	phases := map[key][]string{}
	for _, x := range v.Differences {
		k := key{x.Subject, x.Option, x.A, x.B}
		if _, seen := phases[k]; !seen {
			keys = append(keys, k)
			phases[k] = nil
		}
		if where := strings.TrimSpace(x.Volume + " " + x.Phase); where != "" && !slices.Contains(phases[k], where) {
			phases[k] = append(phases[k], where)
		}
	}
	for _, k := range keys {
		i := slices.IndexFunc(v.Subjects, func(s compare.Side) bool { return s.Name == k.subject })
		text := fmt.Sprintf("%s: A %s, %s %s", k.option, k.a, subjectLetter(i), k.b)
		switch where := phases[k]; {
		case len(where) > manyCases:
			text += fmt.Sprintf(" (%s and %d other phases)", where[0], len(where)-1)
		case len(where) > 0:
			text += " (" + strings.Join(where, ", ") + ")"
		}
		texts = append(texts, text)
	}
	return texts
}

func (v comparisonView) rows(s compare.Side) (rows []compare.Row) {
	for _, r := range v.Rows {
		if r.Subject == s.Name {
			rows = append(rows, r)
		}
	}
	return rows
}

// told are the rows that a person reads: of IOPS and throughput that say the same, people speak of MiB/s where blocks are
// large, and of the maximum of a single run there is nothing to say.
func told(rows []compare.Row) []compare.Row {
	echoes := func(a, b compare.Row) bool {
		return a.Phase == b.Phase && a.AVolume == b.AVolume && a.BVolume == b.BVolume && a.Direction == b.Direction && a.Part == b.Part &&
			a.Ratio != nil && b.Ratio != nil && math.Abs(*a.Ratio / *b.Ratio - 1) < 0.001
	}
	return slices.DeleteFunc(slices.Clone(rows), func(r compare.Row) bool {
		other := compare.IOPS
		switch {
		case r.Metric == compare.LatencyMax:
			return r.Method == compare.Untested && !r.Regression
		case r.Metric == compare.Throughput && r.BlockSize < largeBlock:
		case r.Metric == compare.IOPS && r.BlockSize >= largeBlock:
			other = compare.Throughput
		default:
			return false
		}
		return slices.ContainsFunc(rows, func(o compare.Row) bool { return o.Metric == other && echoes(r, o) })
	})
}

func unitSuffix(r compare.Row) string {
	if r.Metric == compare.IOPS {
		return ""
	}
	return ", " + r.Unit
}

func valueOf(r compare.Row, x float64) string {
	switch r.Metric {
	case compare.IOPS:
		return iops(x)
	case compare.Throughput:
		return mibps(x)
	default:
		return figure(x)
	}
}

// changeOf is the change of B against A with its confidence interval, where there is proof of one.
func changeOf(r compare.Row) string {
	if !r.Significant || r.Ratio == nil {
		return unproved
	}
	text := signed(100 * (*r.Ratio - 1))
	if r.RatioLow == nil || r.RatioHigh == nil {
		return text
	}
	// A ratio reaches further up than down: half of the whole, as ±, would put the lower bound of a proved rise below zero.
	bound := func(ratio float64) string { return strings.TrimSuffix(signed(100*(ratio-1)), " %") }
	return fmt.Sprintf("%s (%s to %s)", text, bound(*r.RatioLow), bound(*r.RatioHigh))
}

func pValue(r compare.Row) string {
	const least = 0.001
	switch {
	case r.PValue == nil:
		return none
	case *r.PValue < least:
		return "<0.001"
	default:
		return strconv.FormatFloat(*r.PValue, 'f', 3, 64)
	}
}

// summaryOf sums the rows up.
func summaryOf(rows []compare.Row) string {
	if len(rows) == 0 {
		return "Nothing can be compared."
	}
	rows = told(rows)
	worse, better := 0, 0
	for _, r := range rows {
		switch {
		case !r.Significant || r.Ratio == nil:
		case (*r.Ratio > 1) == r.Metric.HigherIsBetter():
			better++
		default:
			worse++
		}
	}
	if worse+better == 0 {
		return fmt.Sprintf("No difference is proved; figures compared: %d.", len(rows))
	}
	return fmt.Sprintf("Proved worse: %d of %d figures; proved better: %d; no difference proved (~): %d.",
		worse, len(rows), better, len(rows)-worse-better)
}

// notes are what a reader must know to read the figures.
func (v comparisonView) notes() []string {
	notes := slices.Clone(v.Notes)
	for _, text := range v.Unjudged {
		notes = append(notes, fmt.Sprintf("The threshold %s could not be judged: there is no such figure.", text))
	}
	for _, l := range v.LeftOut {
		notes = append(notes, fmt.Sprintf("Not compared: %s of %s: %s.", strings.TrimSpace(l.Volume+" "+l.Phase), l.Subject, l.Reason))
	}
	if len(v.Rows) > 0 {
		notes = append(notes, "~ means that no difference is proved at a level of 5 %; a change stands with its 95 % confidence interval.")
	}
	return append(notes, v.methods()...)
}

// methods says how differences were tested.
func (v comparisonView) methods() (texts []string) {
	used := map[compare.Method]bool{}
	for _, r := range v.Rows {
		if r.Metric != compare.LatencyMax { // of which one run tells nothing
			used[r.Method] = true
		}
	}
	for _, m := range []struct {
		method compare.Method
		text   string
	}{
		{compare.MannWhitney, "Repeated runs: medians, tested by the Mann-Whitney U test."},
		{compare.Bootstrap, "One run a side: rates and mean latencies are tested by a moving-block bootstrap of the series without its first sample, " +
			"prewhitened, so that slow noise proves nothing. A series shows nothing of what differs between two runs of the same volume, so a difference must be larger " +
			"than 3 % (5 % of a latency) to count. bench --repeat 4 does without that assumption."},
		{compare.WindowRanks, "One run a side: percentiles are tested by their ranks in the histogram, as if all I/Os of a window were on one side of it, the widest interval there can be."},
		{compare.Untested, "Figures without p are not tested, for want of a series; repeat the runs (bench --repeat 4) or log them (write_iops_log, write_lat_log, log_avg_msec)."},
	} {
		if used[m.method] {
			texts = append(texts, m.text)
		}
	}
	return texts
}
