package report

import (
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"ebscope/internal/analyze"
	"ebscope/internal/model"
	"ebscope/internal/result"
	"ebscope/internal/units"
)

var limitWords = map[model.Limit]string{
	model.VolumeBurstIOPS:          "burst IOPS",
	model.VolumeBaselineIOPS:       "baseline IOPS",
	model.VolumeIOPS:               "provisioned IOPS",
	model.VolumeThroughput:         "volume throughput",
	model.VolumeBaselineThroughput: "baseline throughput",
	model.InstanceIOPS:             "instance IOPS",
	model.InstanceThroughput:       "instance throughput",
	model.QueueDepth:               "queue depth",
}

var verdictWords = map[analyze.Verdict]string{
	analyze.Sustained:         "sustained",
	analyze.BurstOnly:         "burst only",
	analyze.BurstThenBaseline: "burst, then baseline",
	analyze.Unstable:          "unstable",
}

var causeWords = map[analyze.Cause]string{
	analyze.GP2Credits:    "burst credits spent",
	analyze.HDDCredits:    "throughput credits spent",
	analyze.InstanceBurst: "instance burst spent",
	analyze.UnknownCause:  "cause unknown",
}

// cause says why the rate fell. Where the volume is not known, it is what would explain it.
func (m member) cause() string {
	text := word(causeWords, m.Cliff.Cause)
	if m.guessed() {
		return "it fits " + text
	}
	return text
}

var stateWords = map[result.State]string{
	result.Pending: "not run yet",
	result.Running: "not finished",
	result.Failed:  "failed",
	result.Cut:     "cut off",
}

var patternWords = map[string]string{
	"read": "sequential read", "write": "sequential write", "rw": "sequential read and write",
	"randread": "random read", "randwrite": "random write", "randrw": "random read and write",
}

var targetWords = map[result.Target]string{
	result.Emulated:           "Emulated volumes: EBS limits enforced on this machine, real fio. Not measured on AWS.",
	result.Simulated:          "Simulated in virtual time: computed from the model, nothing was measured.",
	result.Path:               "Measured on directories of this machine.",
	result.Device:             "Measured on raw block devices of this machine.",
	result.Kubernetes:         "Measured on PersistentVolumeClaims, by a pod of the cluster.",
	result.KubernetesEmulated: "Emulated volumes behind PersistentVolumeClaims: EBS limits enforced on the node, real fio in a pod. Not measured on AWS.",
	result.Imported:           "Read from files that were written elsewhere. What they do not say is not known.",
}

// word translates a code, and keeps one that it does not know.
func word[K ~string](words map[K]string, code K) string {
	if w, ok := words[code]; ok {
		return w
	}
	return string(code)
}

// obtained says in a word how the figures came about.
func (r Report) obtained() string {
	switch target := r.Document.Run.Target; target {
	case result.Simulated, result.Emulated:
		return string(target)
	case result.KubernetesEmulated:
		return string(result.Emulated)
	default:
		return "measured"
	}
}

// labels are the words that a reader must see before any figure.
func (r Report) labels() []string {
	labels := []string{string(r.Document.Run.Target)}
	if labels[0] == "" {
		labels[0] = "read from files"
	}
	if r.compress() != 1 {
		labels = append(labels, "compressed "+factor(r.compress())+"×")
	}
	if !r.Document.Run.Complete && r.Readings == nil {
		done := 0
		for _, p := range r.Document.Phases {
			if p.State == string(result.Done) {
				done++
			}
		}
		labels = append(labels, fmt.Sprintf("unfinished: %d of %d phases done", done, len(r.Document.Phases)))
	}
	return labels
}

// notice says what the labels mean.
func (r Report) notice() string {
	text := targetWords[r.Document.Run.Target]
	if k := r.compress(); k != 1 {
		text += fmt.Sprintf(" Compressed %s×: durations, rests, credits and bucket depths are divided by %[1]s; rates and latencies are not. "+
			"Times below are the volume's own: %s of it took 1 s.", factor(k), span(k))
	}
	return strings.TrimSpace(text)
}

// title says what a phase does, as far as it is known: "Random read, 4 KiB, queue depth 32".
func (m member) title() string {
	text := word(patternWords, m.RW)
	if text == "" {
		text = "pattern unknown"
	}
	if m.BlockSize > 0 {
		text += fmt.Sprintf(", %v", units.Bytes(m.BlockSize))
	}
	if m.QueueDepth > 0 {
		text += fmt.Sprintf(", queue depth %d", m.QueueDepth)
	}
	if m.Jobs > 1 {
		text += fmt.Sprintf(", %d jobs", m.Jobs)
	}
	if m.spec.ReadPercent > 0 {
		text += fmt.Sprintf(", %d %% reads", m.spec.ReadPercent)
	}
	return capital(text)
}

// about names the phase and its volume, once where they are the same.
func (m member) about() string {
	if m.Volume == m.Name {
		return m.Name
	}
	return m.Volume + " " + m.Name
}

// heading says what was done in a phase, with its name: "Random read, 4 KiB, queue depth 32 (randread-qd32)".
func (g group) heading() string { return fmt.Sprintf("%s (%s)", g.Members[0].title(), g.Name) }

// sentence is the verdict on the phase, or why there is none.
func (m member) sentence() string {
	if m.done() {
		if m.Summary != "" {
			return m.Summary
		}
		return capital(word(verdictWords, m.Verdict)) + "."
	}
	text := capital(word(stateWords, result.State(m.State)))
	if m.err != "" {
		return text + ": " + m.err
	}
	return text + "."
}

// limits names what held the phase back: "burst IOPS 74 %, baseline IOPS 26 %", or "queue depth" where it was one alone.
func (m member) limits() string {
	if !m.done() || len(m.LimitedBy) == 0 {
		return none
	}
	if len(m.LimitedBy) == 1 && m.LimitedBy[0].Share > 0.995 {
		return word(limitWords, m.LimitedBy[0].Limit)
	}
	parts := make([]string, len(m.LimitedBy))
	for i, l := range m.LimitedBy {
		parts[i] = word(limitWords, l.Limit) + " " + percent(l.Share)
	}
	return strings.Join(parts, ", ")
}

// fallWords says how deep a fall is: "to a tenth", or "by 37 %".
func fallWords(c analyze.Cliff) string {
	names := map[int]string{2: "half", 3: "a third", 4: "a quarter", 5: "a fifth", 6: "a sixth", 7: "a seventh", 8: "an eighth", 9: "a ninth", 10: "a tenth", 20: "a twentieth"}
	if c.AfterIOPS > 0 {
		ratio := c.BeforeIOPS / c.AfterIOPS
		n := int(math.Round(ratio))
		if name, ok := names[n]; ok && math.Abs(ratio/float64(n)-1) < 0.04 {
			return "to " + name
		}
	}
	return "by " + percent(c.DropPercent/100)
}

// within says how fast the fall was, as far as the series can tell: no finer than its windows, in the volume's time.
func (r Report) within(m member) string {
	if m.measured == nil || m.measured.Window <= 0 {
		return ""
	}
	seconds := m.measured.Window.Seconds() * r.compress()
	if seconds <= 1 {
		return " within a second"
	}
	return " within " + span(math.Ceil(seconds))
}

func capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return text
	}
	return string(unicode.ToUpper(first)) + text[size:]
}
