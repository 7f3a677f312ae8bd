package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ebscope/internal/analyze"
	"ebscope/internal/cost"
	"ebscope/internal/result"
	"ebscope/internal/units"
)

// cell is a figure, what the model expects it to be, and a remark on it.
type cell struct{ Text, Expected, Note string }

// row is a line of a phase's table, a cell for each volume. Words says that the cells hold words, not a number.
type row struct {
	Label string
	Words bool
	Cells []cell
}

// rows returns everything that is known about a phase in numbers. A volume on which the phase is not done has none.
func (r Report) rows(g group) []row {
	var rows []row
	line := func(label string, words bool, of func(m member) cell) {
		line := row{Label: label, Words: words}
		known := false
		for _, m := range g.Members {
			c := cell{Text: none}
			if m.done() {
				c = of(m)
			}
			known = known || c.Text != none
			line.Cells = append(line.Cells, c)
		}
		if known {
			rows = append(rows, line)
		}
	}
	add := func(label string, of func(m member) cell) { line(label, false, of) }
	say := func(label string, of func(m member) cell) { line(label, true, of) }
	add("IOPS, mean", func(m member) cell {
		return cell{Text: m.figure(m.IOPS.Mean, iops), Expected: expected(m, func(e analyze.Expected) float64 { return e.IOPSMean }, iops)}
	})
	add("IOPS, lowest", func(m member) cell { return cell{Text: optional(m.IOPS.Min, iops)} })
	add("IOPS, highest", func(m member) cell { return cell{Text: optional(m.IOPS.Max, iops)} })
	add("IOPS, fio's mean", func(m member) cell {
		if m.reading != nil && !strings.HasPrefix(m.reading.Tool, "fio") {
			return cell{Text: none} // without a summary of fio's there is no mean of fio's
		}
		return cell{Text: m.figure(m.IOPS.FioMean, iops), Expected: expected(m, func(e analyze.Expected) float64 { return e.IOPSFioMean }, iops)}
	})
	add("MiB/s, whole phase", func(m member) cell {
		return cell{Text: m.figure(m.ThroughputMiBps, mibps), Expected: expected(m, func(e analyze.Expected) float64 { return e.ThroughputMiBps }, mibps)}
	})
	latency := func(label string, of func(l analyze.Latency) *float64, model func(e analyze.Expected) float64) {
		add(label+", ms", func(m member) cell {
			if m.Latency == nil {
				return cell{Text: none}
			}
			c := cell{Text: optional(of(*m.Latency), func(x float64) string { return m.figure(x, figure) })}
			if model != nil {
				c.Expected = expected(m, model, figure)
			}
			return c
		})
	}
	latency("Mean latency", func(l analyze.Latency) *float64 { return &l.Mean }, func(e analyze.Expected) float64 { return e.LatencyMeanMS })
	latency("p50", func(l analyze.Latency) *float64 { return l.P50 }, func(e analyze.Expected) float64 { return e.LatencyP50MS })
	latency("p95", func(l analyze.Latency) *float64 { return l.P95 }, func(e analyze.Expected) float64 { return e.LatencyP95MS })
	latency("p99", func(l analyze.Latency) *float64 { return l.P99 }, func(e analyze.Expected) float64 { return e.LatencyP99MS })
	latency("Maximum", func(l analyze.Latency) *float64 { return &l.Max }, nil)
	say("Reads", func(m member) cell { return direction(m.Read) })
	say("Writes", func(m member) cell { return direction(m.Write) })
	say("Fall", func(m member) cell {
		if m.Cliff == nil {
			return cell{Text: none}
		}
		c := cell{Text: fmt.Sprintf("%s: %s → %s IOPS", span(m.Cliff.AtSUncompressed), iops(m.Cliff.BeforeIOPS), iops(m.Cliff.AfterIOPS))}
		if m.Expected != nil && m.Expected.CliffAtS != nil {
			c.Note = "expected at " + span(*m.Expected.CliffAtS*r.compress())
		}
		return c
	})
	say("Stalled", func(m member) cell { return cell{Text: m.stalled()} })
	say("Above", func(m member) cell { return cell{Text: m.above()} })
	say("Limited by", func(m member) cell { return cell{Text: m.limits()} })
	say("Verdict", func(m member) cell {
		if m.Verdict == "" {
			return cell{Text: none}
		}
		return cell{Text: word(verdictWords, m.Verdict)}
	})
	say("Credits, start → end", func(m member) cell {
		if m.Credits == nil || m.Credits.Start == nil && m.Credits.End == nil {
			return cell{Text: none}
		}
		return cell{Text: r.credits(m.Credits.Start) + " → " + r.credits(m.Credits.End)}
	})
	say("Credits inferred from the fall", func(m member) cell {
		if m.Credits == nil {
			return cell{Text: none}
		}
		return cell{Text: r.credits(m.Credits.InferredStart)}
	})
	return rows
}

// credits prints a balance of the run as the uncompressed volume would hold it.
func (r Report) credits(balance *float64) string {
	if balance == nil {
		return none
	}
	return amount(*balance * r.compress())
}

func expected(m member, of func(analyze.Expected) float64, print func(float64) string) string {
	if m.Expected == nil {
		return ""
	}
	return print(of(*m.Expected))
}

func direction(d *analyze.Direction) cell {
	if d == nil {
		return cell{Text: none}
	}
	var known []string
	if d.IOPS != (analyze.IOPS{}) {
		known = append(known, iops(d.IOPS.Mean)+" IOPS")
	}
	if d.ThroughputMiBps > 0 {
		known = append(known, mibps(d.ThroughputMiBps)+" MiB/s")
	}
	c := cell{Text: strings.Join(known, ", ")}
	if len(known) == 0 {
		c.Text = none
	}
	if d.Latency != nil {
		c.Note = fmt.Sprintf("mean %s ms, p99 %s ms", figure(d.Latency.Mean), optional(d.Latency.P99, figure))
	}
	return c
}

// price is a line of the cost table.
type price struct{ Configuration, Used, Sustained, Burst, MiBps, Monthly string }

func prices(options []cost.Option) []price {
	lines := make([]price, len(options))
	for i, o := range options {
		lines[i] = price{
			Configuration: o.Volume.String(), Used: strings.Join(o.Used, ", "),
			Sustained: iops(float64(o.Sustained)), Burst: none,
			MiBps: decimals(o.Throughput.MiBps(), 1), Monthly: o.Monthly.String(),
		}
		if o.BurstFor > 0 {
			lines[i].Burst = fmt.Sprintf("%s for %s", iops(float64(o.Burst)), span(o.BurstFor.Seconds()))
		}
	}
	return lines
}

// check is a line of the table of checks.
type check struct {
	Text, Phase, Expected, Measured string
	OK                              bool
}

var checkWords = map[string]struct{ name, unit string }{
	"littles-law":  {"Little's law", " ms"},
	"series-total": {"Series", " IOPS"},
}

func (r Report) checks() []check {
	lines := make([]check, len(r.Document.Checks))
	for i, c := range r.Document.Checks {
		words, ok := checkWords[c.Code]
		if !ok {
			words.name = c.Code
		}
		text := words.name
		if c.Text != "" {
			text += ": " + c.Text
		}
		lines[i] = check{Text: text, Phase: c.Volume + " " + c.Phase,
			Expected: figure(c.Expected) + words.unit, Measured: figure(c.Measured) + words.unit, OK: c.OK}
	}
	return lines
}

// failedChecks counts the checks that do not hold.
func failedChecks(checks []check) int {
	n := 0
	for _, c := range checks {
		if !c.OK {
			n++
		}
	}
	return n
}

// fact is a line of a list of names and values.
type fact struct{ Name, Value string }

// when prints an instant, and nothing where it is not known.
func when(t time.Time, layout string) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(layout)
}

func (r Report) environment() []fact {
	e := r.Run.Environment
	facts := []fact{
		{"Run", r.Document.Run.ID},
		{"Started", when(r.Document.Run.Started, "2 January 2006, 15:04:05 UTC")},
		{"Tool", r.Run.Tool},
		{"Target", string(r.Document.Run.Target)},
		{"fio", e.FioVersion},
		{"Engine", e.Engine},
		{"Device", e.Device},
		{"Instance", listed(e.Instance, e.InstanceID, e.Region)},
		{"System", strings.TrimSpace(e.OS + " " + e.Kernel)},
		{"CPU", e.CPU},
		{"Clock source", e.Clock},
	}
	seen := map[fact]bool{}
	for _, reading := range r.Readings {
		for _, f := range []fact{{"Read from", reading.Source.File}, {"Written by", reading.Tool}} {
			if !seen[f] {
				seen[f] = true
				facts = append(facts, f)
			}
		}
	}
	if r.Run.Finished != nil {
		facts = append(facts, fact{"Took", span(r.Run.Finished.Sub(r.Run.Started).Seconds())})
	}
	if e.CPUs > 0 {
		facts = append(facts, fact{"CPUs", fmt.Sprint(e.CPUs)})
	}
	for _, v := range r.Document.Volumes {
		facts = append(facts, fact{"Volume " + v.Name, v.Configuration}, fact{"Device of " + v.Name, r.storage(v.Name)})
	}
	facts = append(facts, clusterFacts(e.Cluster)...)
	if p, ok := r.prices(); ok {
		facts = append(facts, fact{"Prices", fmt.Sprintf("%s (%s), on demand, as of %s", p.Location, p.Region, r.pricesDate())})
	}
	var known []fact
	for _, f := range facts {
		if f.Value != "" {
			known = append(known, f)
		}
	}
	return known
}

// storage says what a volume was reached through: its device, how the kernel queues for it, and the file system on it.
func (r Report) storage(volume string) string {
	st, d := r.Run.Environment.Storage[volume], r.Run.Devices[volume]
	labelled := func(label, value string) string {
		if value == "" {
			return ""
		}
		return label + " " + value
	}
	queue, request := "", ""
	if st.QueueRequests > 0 {
		queue = units.Thousands(float64(st.QueueRequests)) + " requests queued"
	}
	if st.MaxRequestKiB > 0 {
		request = "requests of at most " + (units.Bytes(st.MaxRequestKiB) * units.KiB).String()
	}
	id := d.VolumeID
	if id == "" {
		id = labelled("serial", d.Serial)
	}
	return listed(st.Device, d.Model, id, labelled("made of", strings.Join(st.Members, " and ")), labelled("scheduler", st.Scheduler), queue, request,
		st.WriteCache, st.FileSystem, labelled("mounted with", st.MountOptions))
}

// listed joins what is known with commas.
func listed(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), ", ")
}

// clusterFacts say where claims were measured.
func clusterFacts(c *result.Cluster) []fact {
	if c == nil {
		return nil
	}
	facts := []fact{
		{"Kubernetes", c.Version}, {"Namespace", c.Namespace}, {"Node", c.Node}, {"Zone", c.Zone}, {"Image", c.Image}, {"Image digest", c.ImageDigest},
	}
	for _, v := range c.Volumes {
		var parts []string
		for _, part := range []fact{{"claim", v.Claim}, {"volume", v.Volume}, {"", v.Handle}, {"class", v.Class}, {"by", strings.TrimSpace(v.Driver + " " + v.DriverVersion)}} {
			if part.Value != "" {
				parts = append(parts, strings.TrimSpace(part.Name+" "+part.Value))
			}
		}
		facts = append(facts, fact{"Claim of " + v.Name, strings.Join(parts, ", ")})
	}
	return facts
}
