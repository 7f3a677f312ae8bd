package compare

import (
	"fmt"
	"strconv"
	"strings"

	"ebscope/internal/lazy"
)

// Threshold is a change of a metric that is not acceptable.
type Threshold struct {
	Phase   string // empty: any
	Metric  Metric
	Below   bool    // not acceptable below Percent, or else above it
	Percent float64 // of change, against the baseline
	text    string
}

// metricNames are the names that a threshold knows metrics by.
var metricNames = map[string]Metric{
	"iops": IOPS, "throughput": Throughput, "mean": LatencyMean, "p50": LatencyP50, "p95": LatencyP95, "p99": LatencyP99, "max": LatencyMax,
}

const example = "write it like iops<-5%,p99>+10% or randread-qd32:iops<-5%"

// SyntaxError says where a text is not a list of thresholds.
type SyntaxError struct {
	Column int // of the faulty character, from 1
	Fault  string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("column %d: %s; %s", e.Column, e.Fault, example)
}

var thresholdForm = lazy.Regexp(`^(?:(.+):)?([^:<>]*)([<>])(.*)$`)

// ParseThresholds reads thresholds such as "iops<-5%,p99>+10%", separated by commas, each of them for all phases or, with
// the name of a phase and a colon before it, for one. The error is a SyntaxError.
func ParseThresholds(text string) ([]Threshold, error) {
	var all []Threshold
	at := 1
	for part := range strings.SplitSeq(text, ",") {
		t, column, fault := parseThreshold(part)
		if fault != "" {
			return nil, &SyntaxError{at + len([]rune(part[:column])), fault}
		}
		all = append(all, t)
		at += len([]rune(part)) + 1
	}
	return all, nil
}

// parseThreshold reads one; a fault comes with its place in the text, in bytes.
func parseThreshold(part string) (t Threshold, at int, fault string) {
	blank := len(part) - len(strings.TrimLeft(part, " "))
	m := thresholdForm().FindStringSubmatchIndex(part)
	if m == nil {
		if strings.TrimSpace(part) == "" {
			return t, blank, "a threshold is missing"
		}
		return t, blank, fmt.Sprintf("%q has no < or >", strings.TrimSpace(part))
	}
	if m[2] >= 0 {
		t.Phase = strings.TrimSpace(part[m[2]:m[3]])
	}
	name := strings.TrimSpace(part[m[4]:m[5]])
	metric, known := metricNames[name]
	if !known {
		return t, max(blank, m[4]), fmt.Sprintf("%q is no metric; use iops, throughput, mean, p50, p95, p99 or max", name)
	}
	number, isPercent := strings.CutSuffix(strings.TrimSpace(part[m[8]:m[9]]), "%")
	percent, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if !isPercent || err != nil || !(percent >= -100 && percent <= 1e6) {
		return t, m[8], fmt.Sprintf("%q is no change in percent", strings.TrimSpace(part[m[8]:m[9]]))
	}
	t.Metric, t.Below, t.Percent, t.text = metric, part[m[6]] == '<', percent, strings.TrimSpace(part)
	return t, 0, ""
}

func (t Threshold) String() string { return t.text }

// about says whether a threshold is for a row.
func (t Threshold) about(r Row) bool {
	return r.Metric == t.Metric && r.Ratio != nil && (t.Phase == "" || t.Phase == r.Phase || t.Phase == r.BPhase)
}

// hair is far below what anybody measures, in percent: 950 ÷ 1,000 − 1 is a hair more than −5 % in floating point, and a change
// of just a threshold is not past it.
const hair = 1e-6

func (t Threshold) passed(r Row) bool {
	change := 100 * (*r.Ratio - 1)
	return t.Below && change < t.Percent-hair || !t.Below && change > t.Percent+hair
}

// judge holds every row against the thresholds. A difference that was tested counts only where it is proved. One that
// cannot be tested counts as it is, which is said with it: a gate that let summaries pass would never close.
func (d *Document) judge(thresholds []Threshold) {
	for _, t := range thresholds {
		judged := false
		for i := range d.Rows {
			r := &d.Rows[i]
			if !t.about(*r) {
				continue
			}
			judged = true
			if !t.passed(*r) {
				continue
			}
			if r.Method != Untested && !r.Significant {
				d.Notes = append(d.Notes, fmt.Sprintf("%s of %s is past %s, but that is not proved: it may be chance.", r.Name(), r.Where(), t))
				continue
			}
			r.Regression, d.Regression = true, true
			change := strings.Replace(fmt.Sprintf("%+.1f %%", 100*(*r.Ratio-1)), "-", "−", 1)
			text := fmt.Sprintf("%s of %s changed by %s, past %s", r.Name(), r.Where(), change, t)
			if r.Method == Untested {
				text += ", and there is nothing to test it by: it may be chance"
			}
			d.Regressions = append(d.Regressions, text)
		}
		if !judged {
			d.Unjudged = append(d.Unjudged, t.String())
		}
	}
	d.judgeLosses(thresholds)
}

// Name is the metric in words: "IOPS", "read p99", "IOPS, last level".
func (r Row) Name() string {
	words := map[Metric]string{
		IOPS: "IOPS", Throughput: "throughput", LatencyMean: "mean latency", LatencyP50: "p50", LatencyP95: "p95", LatencyP99: "p99", LatencyMax: "maximum",
	}
	name := words[r.Metric]
	if r.Direction != "" {
		name = r.Direction + " " + name
	}
	if r.Part == Steady {
		name += ", last level"
	}
	return name
}

// Where names the phase, and the subject's volume where it is not the baseline's.
func (r Row) Where() string {
	if r.AVolume == r.BVolume && r.AVolume != "" {
		return r.AVolume + " " + r.Phase
	}
	name := r.Phase
	if r.BPhase != "" {
		name = r.BPhase + " against " + r.Phase
	}
	if r.BVolume != "" && r.AVolume != "" {
		name += fmt.Sprintf(" (%s against %s)", r.BVolume, r.AVolume)
	}
	return name
}
