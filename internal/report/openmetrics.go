package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
)

// OpenMetrics writes the figures of finished phases in the OpenMetrics text format 1.0. Every sample carries the run, the
// target and the compression, so that an emulated figure is known as one wherever it ends up.
func OpenMetrics(w io.Writer, reports ...Report) error {
	var m metricsText
	seen := map[string]bool{}
	for _, r := range reports {
		id := r.Document.Run.ID
		if id != "" && seen[id] {
			return fmt.Errorf("run %s is given twice, and OpenMetrics has a place for each figure once; give it once", id)
		}
		seen[id] = true
		m.run(r)
	}
	var b bytes.Buffer
	for _, f := range m.families {
		if len(f.samples) == 0 {
			continue
		}
		fmt.Fprintf(&b, "# TYPE %s %s\n", f.name, f.kind)
		if f.unit != "" {
			fmt.Fprintf(&b, "# UNIT %s %s\n", f.name, f.unit)
		}
		fmt.Fprintf(&b, "# HELP %s %s\n", f.name, f.help)
		for _, s := range f.samples {
			b.WriteString(s)
		}
	}
	b.WriteString("# EOF\n")
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write the metrics: %w", err)
	}
	return nil
}

// metricsText collects samples by family: the format wants those of a family together.
type metricsText struct{ families []*family }

type family struct {
	name, kind, unit, help string
	samples                []string
}

// label is a name and a value of a sample.
type label struct{ name, value string }

// family returns the family of a name, which it makes where it is new.
func (m *metricsText) family(name, kind, unit, help string) *family {
	for _, f := range m.families {
		if f.name == name {
			return f
		}
	}
	f := &family{name: name, kind: kind, unit: unit, help: help}
	m.families = append(m.families, f)
	return f
}

// add adds a sample; suffix is what its name has beyond the family's. What is no number is left out.
func (f *family) add(suffix string, value float64, labels ...label) {
	if known(value) == nil {
		return
	}
	parts := make([]string, len(labels))
	for i, l := range labels {
		parts[i] = fmt.Sprintf(`%s="%s"`, l.name, metricsEscaper.Replace(clean(strings.ToValidUTF8(l.value, "\uFFFD"))))
	}
	f.samples = append(f.samples, fmt.Sprintf("%s%s{%s} %s\n", f.name, suffix, strings.Join(parts, ","), number(value)))
}

var metricsEscaper = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

func (m *metricsText) run(r Report) {
	p := r.Parameters()
	run := []label{{"run", p.Run}, {"target", string(p.Target)}, {"compress", number(p.Compress)}}
	info := slices.Concat(run, []label{{"profile", p.Profile}, {"tool", p.Tool}, {"command", p.Command},
		{"measured_with", p.MeasuredWith}, {"measured_by", p.MeasuredBy}, {"labels", strings.Join(p.Labels, ", ")}})
	m.family("ebscope_run", "info", "", "What the figures were made from and with.").add("_info", 1, info...)
	if p.Started != nil {
		m.family("ebscope_run_started_timestamp_seconds", "gauge", "seconds", "When the run started, in Unix time.").add("", float64(p.Started.Unix()), run...)
	}
	for _, g := range r.groups() {
		for _, member := range g.Members {
			if !member.done() {
				continue
			}
			labels := slices.Concat(run, []label{{"phase", g.Name}, {"volume", member.volumeName()}})
			if member.reading != nil {
				labels = append(labels, label{"source", fmt.Sprintf("%s:%d:%d", member.reading.Source.File, member.reading.Source.Line, member.reading.Source.Document)}, label{"job", member.reading.Job})
			}
			m.phase(member, labels)
		}
	}
}

// phase adds the figures of a phase. In what was read from files, zero means that one is not known.
func (m *metricsText) phase(p member, labels []label) {
	unknown := func(x float64) bool { return x == 0 && p.reading != nil }
	with := func(more ...label) []label { return slices.Concat(labels, more) }
	stated := []label{{"pattern", p.RW}, {"block_size", fmt.Sprint(p.BlockSize)}, {"queue_depth", fmt.Sprint(p.QueueDepth)}, {"jobs", fmt.Sprint(p.Jobs)}, {"verdict", string(p.Verdict)}}
	if p.reading != nil {
		stated = slices.DeleteFunc(stated, func(l label) bool { return l.value == "" || l.value == "0" })
	}
	m.family("ebscope_phase", "info", "", "What a phase did and how it is judged.").add("_info", 1, with(stated...)...)
	rate := m.family("ebscope_iops", "gauge", "", "I/Os a second, without the first sample of the series.")
	for _, v := range []struct {
		name  string
		value *float64
	}{{"mean", &p.IOPS.Mean}, {"min", p.IOPS.Min}, {"max", p.IOPS.Max}} {
		if v.value != nil && !unknown(p.IOPS.Mean) {
			rate.add("", *v.value, with(label{"statistic", v.name})...)
		}
	}
	if !unknown(p.ThroughputMiBps) {
		m.family("ebscope_throughput_bytes_per_second", "gauge", "bytes_per_second", "Bytes a second over the phase.").
			add("", p.ThroughputMiBps*(1<<20), labels...)
	}
	if l := p.Latency; l != nil {
		const thousand = 1000
		if !unknown(l.Mean) {
			m.family("ebscope_latency_mean_seconds", "gauge", "seconds", "Mean latency.").add("", l.Mean/thousand, with(label{"kind", l.Kind})...)
		}
		if !unknown(l.Max) {
			m.family("ebscope_latency_max_seconds", "gauge", "seconds", "Highest latency.").add("", l.Max/thousand, with(label{"kind", l.Kind})...)
		}
		for _, q := range []struct {
			quantile string
			value    *float64
		}{{"0.5", l.P50}, {"0.95", l.P95}, {"0.99", l.P99}} {
			if q.value != nil {
				m.family("ebscope_latency_seconds", "summary", "seconds", "Latency by quantile.").
					add("", *q.value/thousand, with(label{"kind", l.Kind}, label{"quantile", q.quantile})...)
			}
		}
	}
	if c := p.Cliff; c != nil {
		cause := label{"cause", string(c.Cause)}
		if p.guessed() {
			cause.name = "likely_cause"
		}
		m.family("ebscope_fall_seconds", "gauge", "seconds", "When the rate fell, in seconds of the run's own time.").add("", c.AtS, with(cause)...)
		m.family("ebscope_fall_uncompressed_seconds", "gauge", "seconds", "When the rate fell, in seconds of the volume's own time.").add("", c.AtSUncompressed, with(cause)...)
		level := m.family("ebscope_fall_iops", "gauge", "", "I/Os a second before and after the fall.")
		level.add("", c.BeforeIOPS, with(cause, label{"side", "before"})...)
		level.add("", c.AfterIOPS, with(cause, label{"side", "after"})...)
	}
	if p.Credits != nil {
		credits := m.family("ebscope_credits", "gauge", "", "Burst credits in operations, as compressed as the run.")
		for _, v := range []struct {
			at    string
			value *float64
		}{{"start", p.Credits.Start}, {"end", p.Credits.End}, {"inferred_start", p.Credits.InferredStart}} {
			if v.value != nil {
				credits.add("", *v.value, with(label{"at", v.at})...)
			}
		}
	}
}
