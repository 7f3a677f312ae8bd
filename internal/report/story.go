package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"ebscope/internal/analyze"
	"ebscope/internal/cost"
	"ebscope/internal/ebs"
	"ebscope/internal/result"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

// lead returns the phase that shows the result on the volume that shows it, and on one to hold it against: another
// volume that did not fall. Either is nil where there is none.
func (r Report) lead() (shown, rival *member) {
	members := r.members(r.leadName())
	for i := range members {
		m := &members[i]
		switch {
		case !m.done():
		case m.Cliff != nil && (shown == nil || m.Cliff.AtS > shown.Cliff.AtS):
			shown = m
		case m.Cliff == nil && rival == nil:
			rival = m
		}
	}
	return shown, rival
}

// headline says the result in one sentence, unless the report has been given a title.
func (r Report) headline() string {
	if r.Title != "" {
		return oneLine(r.Title)
	}
	n := len(r.Readings)
	if n < 2 {
		return r.finding()
	}
	failed, text := 0, r.finding()
	for _, p := range r.Document.Phases {
		if p.State == string(result.Failed) {
			failed++
		}
	}
	switch {
	case failed == n:
		return fmt.Sprintf("%d results: all failed", n)
	case failed > 0:
		text += fmt.Sprintf("; %d of %d failed", failed, n)
	}
	return fmt.Sprintf("%d results: %s", n, text)
}

// levels says of readings without a fall on how many of them that rests: without a series, no level can be seen.
func levels(phases []member) string {
	seen, stalled, above := 0, 0, 0
	for _, m := range phases {
		switch {
		case m.above() != none:
			above++
		case len(m.rates()) > 1 && (m.Verdict != "" || len(m.Segments) > 0): // of a volume that nobody knows, there is no verdict
			seen++
		}
		if len(m.stalls()) > 0 {
			stalled++
		}
	}
	text := "No fall: every level holds to the end"
	switch unseen := len(phases) - above - seen; {
	case above == len(phases):
		return "All are above what the volume can do"
	case unseen > 0 && seen == 0:
		text = "Without a log of IOPS, no level and no fall can be seen"
	case unseen > 0:
		text = fmt.Sprintf("No fall in %d of %d; no level can be seen in the others, for want of a log of IOPS", seen, len(phases))
	case stalled > 0 && len(phases) == 1:
		text = "No lasting fall, but IOPS stalled " + phases[0].stalled()
	case stalled > 0:
		text = fmt.Sprintf("No lasting fall, but IOPS stalled in %d of %d", stalled, len(phases))
	}
	if above > 0 {
		text += fmt.Sprintf("; %d of %d are above what the volume can do", above, len(phases))
	}
	return text
}

// finding says what was found in one sentence.
func (r Report) finding() string {
	shown, rival := r.lead()
	if shown != nil {
		return r.fall(*shown, rival)
	}
	phases, done := r.told()
	first := func(v analyze.Verdict) *member {
		if i := slices.IndexFunc(phases, func(m member) bool { return m.Verdict == v }); i >= 0 {
			return &phases[i]
		}
		return nil
	}
	switch {
	case done == 0 && len(r.Readings) == 1:
		m := r.member(0)
		m.Name = r.names()[0]
		return m.about() + " failed"
	case done == 0:
		return fmt.Sprintf("No result: none of the %d phases has finished", len(r.Document.Phases))
	case len(phases) == 0:
		return fmt.Sprintf("No result: of %d phases, only those that lay out the test files have finished", len(r.Document.Phases))
	}
	for _, m := range phases {
		switch fell := m.Foreign != nil && len(m.ThroughputChanges) > 0; {
		case fell && m.Verdict == analyze.BurstThenBaseline:
			return m.about() + ": throughput falls from burst to baseline"
		case fell && m.Verdict == analyze.Unstable:
			return m.about() + ": throughput falls for no known cause"
		}
	}
	if m := first(analyze.BurstThenBaseline); m != nil {
		if m.Burst == analyze.InstanceBurst {
			return fmt.Sprintf("%s spends the burst of its %s instance at the very start of %s, then holds the instance's baseline", m.Volume, r.Run.Profile.Instance, m.Name)
		}
		return fmt.Sprintf("%s spends its burst credits at the very start of %s, then holds its baseline", m.Volume, m.Name)
	}
	if m := first(analyze.BurstOnly); m != nil {
		credits := "burst credits"
		if m.Burst == analyze.InstanceBurst {
			credits = "the burst of its " + r.Run.Profile.Instance + " instance"
		}
		return fmt.Sprintf("%s ran on %s to the end: this run is too short to see it fall", m.Volume, credits)
	}
	if m := first(analyze.Unstable); m != nil {
		if m.Name == m.Volume {
			return fmt.Sprintf("No lasting fall, but %s is unstable", m.Name)
		}
		return fmt.Sprintf("No lasting fall, but %s is unstable on %s", m.Name, m.Volume) + r.unfinished(done)
	}
	if m := first(""); m != nil && len(r.Readings) == 1 && m.Summary != "" {
		return m.about() + ": " + strings.TrimSuffix(m.Summary, ".")
	}
	if m := first(""); m != nil && r.Readings == nil && m.Summary != "" && (m.above() != none || len(m.rates()) > 1) {
		return m.about() + ": " + strings.TrimSuffix(m.Summary, ".")
	}
	if m := first(""); m != nil && r.Readings == nil {
		return fmt.Sprintf("No fall was seen, but %s on %s has too few samples to show one", m.Name, m.Volume)
	}
	if r.Readings != nil {
		return levels(phases)
	}
	if left := r.unfinished(done); left != "" {
		return "No fall in what was measured" + left
	}
	return "No fall: every volume holds its level to the end"
}

// unfinished says how much of a run is done, and which of its volumes were not measured; "" where all of it is.
func (r Report) unfinished(done int) string {
	if r.Readings != nil || done == len(r.Document.Phases) {
		return ""
	}
	var left []string
	measured := map[string]bool{}
	for i, p := range r.Document.Phases {
		layout := r.member(i).spec.Layout()
		measured[p.Volume] = measured[p.Volume] || p.State == string(result.Done) && !layout
		if !slices.Contains(left, p.Volume) {
			left = append(left, p.Volume)
		}
	}
	left = slices.DeleteFunc(left, func(volume string) bool { return measured[volume] })
	text := fmt.Sprintf("; %d of %d phases are done", done, len(r.Document.Phases))
	switch n := len(left); n {
	case 0:
		return text
	case 1:
		return text + "; " + left[0] + " was not measured"
	default:
		return text + "; " + strings.Join(left[:n-1], ", ") + " and " + left[n-1] + " were not measured"
	}
}

// told returns the finished phases that the headline may speak of, all but layouts, and how many have finished.
func (r Report) told() (phases []member, done int) {
	names := r.names()
	for i, p := range r.Document.Phases {
		if p.State != string(result.Done) {
			continue
		}
		done++
		if m := r.member(i); !m.spec.Layout() {
			m.Name = names[i]
			phases = append(phases, m)
		}
	}
	return phases, done
}

func (r Report) fall(shown member, rival *member) string {
	c := *shown.Cliff
	level := fmt.Sprintf("holds %s IOPS", iops(c.BeforeIOPS))
	if rival != nil {
		switch ratio := c.BeforeIOPS / rival.IOPS.Mean; {
		case math.Abs(ratio-1) <= 0.05:
			level = "runs level with " + rival.Volume
		case ratio > 1:
			level = "is ahead of " + rival.Volume
		}
	}
	return fmt.Sprintf("%s %s for %s, then falls %s%s", shown.Volume, level, span(c.AtSUncompressed), fallWords(c), r.within(shown))
}

// advice says what to do and what it costs, a sentence or two for each gp2 volume.
func (r Report) advice() []string {
	prices, ok := r.prices()
	if !ok {
		return nil
	}
	var advice []string
	for _, v := range r.Run.Profile.Volumes {
		if v.Config.Type != ebs.GP2 {
			continue
		}
		gp3 := cost.Successor(r.Catalog, v.Config)
		before, sold := cost.Monthly(v.Config, prices)
		after, sells := cost.Monthly(gp3, prices)
		if !sold || !sells {
			continue
		}
		why := "needs no credits"
		held, capped := r.held(gp3.IOPS)
		if perf := r.Catalog.Performance(v.Config); perf.Bursts() && held > perf.Baseline {
			why = fmt.Sprintf("holds %v without credits", held)
		}
		text := fmt.Sprintf("Move %s to gp3: %v of it with %v and %v %s and costs %v a month in %s, %s.",
			v.Name, gp3.Size, gp3.IOPS, gp3.Throughput, why, after, prices.Location, difference(after, before))
		if base := r.Catalog.Provisioned(ebs.Volume{Type: ebs.GP3, Size: gp3.Size}); base != gp3 {
			least, _ := cost.Monthly(base, prices)
			text += fmt.Sprintf(" That keeps all that %s delivers for ever; where %v and %v are enough, it costs %v.",
				v.Name, base.IOPS, base.Throughput, least)
		}
		if capped {
			text += fmt.Sprintf(" The instance is the limit then: %s holds no more than %v for all its volumes.", r.Run.Profile.Instance, held)
		}
		advice = append(advice, text)
	}
	return advice
}

// difference compares two monthly prices: "$2.28 (20 %) less than the $11.40 of gp2".
func difference(after, before units.USD) string {
	saving := before - after
	word := "less"
	if saving < 0 {
		word, saving = "more", -saving
	}
	if saving < 0.005 {
		return fmt.Sprintf("as much as gp2 at %v", before)
	}
	return fmt.Sprintf("%v (%s) %s than the %v of gp2", saving, percent(float64(saving/before)), word, before)
}

// reason is a step of the explanation, with its arithmetic.
type reason struct {
	Text     string
	Formulas []string
}

// reasons explains the result: where the fall comes from, and what it does to latency.
func (r Report) reasons() []reason {
	shown, rival := r.lead()
	if shown == nil || shown.volume < 0 || shown.Cliff.Cause != analyze.GP2Credits {
		return nil
	}
	v := r.Document.Volumes[shown.volume]
	c := *shown.Cliff
	credits := r.startingCredits(*shown)
	spent := c.BeforeIOPS * r.operationsPerIO(*shown)
	if math.Abs(spent/v.BurstIOPS-1) < 0.01 {
		spent = v.BurstIOPS // the limit that held, without the noise of measuring it
	}
	seconds := credits / (spent - v.BaselineIOPS)
	reasons := []reason{
		{
			fmt.Sprintf("A gp2 volume of %s GiB earns %s I/O credits a second and may spend %s a second while it has any. "+
				"It began this phase with %s and lost the difference every second. %s: %s. Then only what it earns is left.",
				units.Thousands(v.SizeGiB), iops(v.BaselineIOPS), iops(v.BurstIOPS), amount(credits), capital(r.obtained()), span(c.AtSUncompressed)),
			[]string{fmt.Sprintf("%s ÷ (%s − %s) = %s s = %s",
				amount(credits), iops(spent), iops(v.BaselineIOPS), units.Thousands(seconds), span(math.Round(seconds)))},
		},
		{
			fmt.Sprintf("Latency follows from Little's law, mean latency = I/Os in flight ÷ rate. %s were in flight, before the fall and after. "+
				"The device did not get slower; I/Os wait for credits.", units.Thousands(shown.outstanding())),
			[]string{"before: " + littlesLaw(*shown, c.BeforeIOPS), "after: " + littlesLaw(*shown, c.AfterIOPS)},
		},
	}
	if v.SecondsToRefill > 0 {
		reasons[0].Text += fmt.Sprintf(" An empty bucket takes %s of rest to fill.", span(v.SecondsToRefill))
	}
	if rival != nil && rival.volume >= 0 && r.Document.Volumes[rival.volume].Type == string(ebs.GP3) {
		reasons = append(reasons, reason{Text: fmt.Sprintf("gp3 has no credits: the %s IOPS of %s are provisioned, so they hold for as long as they are asked for.",
			iops(r.Document.Volumes[rival.volume].BaselineIOPS), rival.Volume)})
	}
	return reasons
}

// startingCredits returns the uncompressed balance at the start of the phase: the known one, else a full bucket.
func (r Report) startingCredits(m member) float64 {
	v := r.Document.Volumes[m.volume]
	if m.Credits != nil && m.Credits.Start != nil {
		return *m.Credits.Start * r.compress()
	}
	return v.SecondsToEmpty * (v.BurstIOPS - v.BaselineIOPS)
}

func littlesLaw(m member, rate float64) string {
	return fmt.Sprintf("%s ÷ %s = %s ms", units.Thousands(m.outstanding()), iops(rate), figure(1000*m.outstanding()/rate))
}

// operationsPerIO is how many operations the volume counts an I/O of the phase as.
func (r Report) operationsPerIO(m member) float64 {
	v, ok := r.Run.Profile.Volume(m.Volume)
	if !ok {
		return 1
	}
	return r.Catalog.Performance(v.Config).Operations(units.Bytes(m.BlockSize), !workload.Pattern(m.RW).Random())
}

// keyFacts are the few figures that the result comes down to.
func (r Report) keyFacts() []fact {
	shown, _ := r.lead()
	if shown == nil {
		return nil
	}
	c := *shown.Cliff
	facts := []fact{
		{"Until the fall", span(c.AtSUncompressed)},
		{"IOPS of " + shown.Volume, iops(c.BeforeIOPS) + " → " + iops(c.AfterIOPS)},
	}
	if f := latencyFact(*shown); shown.outstanding() > 0 {
		facts = append(facts, f)
	}
	p, priced := r.prices()
	if v, ok := r.Run.Profile.Volume(shown.Volume); ok && priced && v.Config.Type == ebs.GP2 {
		before, sold := cost.Monthly(v.Config, p)
		after, sells := cost.Monthly(cost.Successor(r.Catalog, v.Config), p)
		if sold && sells {
			facts = append(facts, fact{"A month, gp2 → gp3", before.String() + " → " + after.String()})
		}
	}
	return facts
}

// latencyFact gives the mean latency before and after the fall, from the windows of either level. Where latency was not
// logged, Little's law gives it.
func latencyFact(m member) fact {
	if m.measured != nil {
		var before, after result.Series
		for _, p := range m.measured.Latency {
			switch end := p.End.Seconds(); {
			case end <= m.Cliff.AtS:
				before = append(before, p)
			case end-m.measured.Window.Seconds() >= m.Cliff.AtS:
				after = append(after, p)
			}
		}
		if len(before) > 0 && len(after) > 0 {
			return fact{"Mean latency", figure(mean(before)) + " → " + figure(mean(after)) + " ms"}
		}
	}
	return fact{"Mean latency, by Little's law",
		figure(1000*m.outstanding()/m.Cliff.BeforeIOPS) + " → " + figure(1000*m.outstanding()/m.Cliff.AfterIOPS) + " ms"}
}

func mean(s result.Series) float64 {
	sum := 0.0
	for _, p := range s {
		sum += p.Value
	}
	return sum / float64(len(s))
}

var metricWords = map[string]string{"iops": "IOPS", "throughput": "throughput", "latency-mean": "mean latency", "latency-p99": "p99 latency"}

// ratios says how the volumes compare in a phase: "gp2 against gp3: IOPS 0.77×, mean latency 1.31×", a line for each pair.
func (r Report) ratios(phase string) []string {
	var pairs []string
	parts := map[string][]string{}
	for _, c := range r.Document.Comparisons {
		if c.Phase != phase {
			continue
		}
		pair := c.A + " against " + c.B
		if parts[pair] == nil {
			pairs = append(pairs, pair)
		}
		parts[pair] = append(parts[pair], fmt.Sprintf("%s %.2f×", word(metricWords, c.Metric), c.Ratio))
	}
	for i, pair := range pairs {
		pairs[i] = pair + ": " + strings.Join(parts[pair], ", ")
	}
	return pairs
}
