package report

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/jedib0t/go-pretty/v6/table"

	"ebscope/internal/analyze"
)

// metric is a figure that is predicted and measured, and how it is printed.
type metric struct {
	label string
	print func(float64) string
}

var metrics = map[string]metric{
	"iops":          {"IOPS, mean", iops},
	"iops-fio-mean": {"IOPS, fio's mean", iops},
	"throughput":    {"MiB/s", mibps},
	"latency-mean":  {"mean latency, ms", figure},
	"latency-p50":   {"p50, ms", figure},
	"latency-p95":   {"p95, ms", figure},
	"latency-p99":   {"p99, ms", figure},
	"cliff":         {"fall, s", figure},
}

// Against writes a measured run and its prediction side by side, with the error of every figure, for a terminal of the
// given width in columns. Instants are those of the uncompressed volume.
func Against(w io.Writer, r Report, agreements []analyze.Agreement, width int, colour bool) error {
	t := terminal{Report: r, width: max(width, leastWidth), colour: colour}
	t.sentence(0, bold, fmt.Sprintf("Prediction against %s", r.Document.Run.ID))
	t.line("")
	tw := t.table(table.Row{"Phase", "Volume", "Figure", "predicted", "measured", "error"}, 3)
	last := ""
	for _, a := range agreements {
		phase, volume := clean(a.Phase), clean(a.Volume)
		if name := phase + " " + volume; name == last {
			phase, volume = "", ""
		} else {
			last = name
		}
		m := metrics[a.Metric]
		print := m.print
		if a.Metric == "cliff" {
			print = func(x float64) string { return m.print(x * r.compress()) }
		}
		tw.AppendRow(table.Row{phase, volume, m.label, optional(a.Predicted, print), optional(a.Measured, print), optional(a.ErrorPercent, signed)})
	}
	t.write(tw)
	for _, kind := range []struct {
		name    string
		metrics []string
	}{
		{"an IOPS figure", []string{"iops", "iops-fio-mean"}},
		{"a throughput", []string{"throughput"}},
		{"a mean latency", []string{"latency-mean"}},
		{"a percentile", []string{"latency-p50", "latency-p95", "latency-p99"}},
		{"the instant of a fall", []string{"cliff"}},
	} {
		if a, ok := worst(agreements, kind.metrics); ok {
			t.line(fmt.Sprintf("Largest error of %s: %s, %s of %s", kind.name, signed(*a.ErrorPercent), clean(a.Phase), clean(a.Volume)))
		}
	}
	if _, err := io.WriteString(w, t.out.String()); err != nil {
		return fmt.Errorf("write the comparison: %w", err)
	}
	return nil
}

// worst returns the agreement with the largest error among some metrics.
func worst(all []analyze.Agreement, metrics []string) (found analyze.Agreement, ok bool) {
	for _, a := range all {
		for _, m := range metrics {
			if a.Metric == m && a.ErrorPercent != nil && (!ok || math.Abs(*a.ErrorPercent) > math.Abs(*found.ErrorPercent)) {
				found, ok = a, true
			}
		}
	}
	return found, ok
}

// signed prints an error in percent: "+0.3 %".
func signed(percent float64) string {
	s := strconv.FormatFloat(math.Abs(percent), 'f', 1, 64) + " %"
	switch {
	case s == "0.0 %":
		return s
	case percent < 0:
		return "−" + s
	default:
		return "+" + s
	}
}
