package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"

	"ebscope/internal/result"
)

// csvHeader names the columns: a row is one value of one series. time_s is the end of the window in the run's own time; compress
// times it is the volume's. The direction "total" is reads and writes together; where the logs tell them apart, rows of both
// follow.
var csvHeader = []string{"tool", "run", "target", "compress", "source", "phase", "volume", "job", "time_s", "metric", "direction", "value", "unit"}

// CSV writes every sample of the reports' series, a row each.
func CSV(w io.Writer, reports ...Report) error {
	out := csv.NewWriter(w)
	if err := out.Write(csvHeader); err != nil {
		return fmt.Errorf("write the samples: %w", err)
	}
	for _, r := range reports {
		for _, g := range r.groups() {
			for _, m := range g.Members {
				if m.done() && m.measured != nil {
					r.samples(out, g.Name, m)
				}
			}
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("write the samples: %w", err)
	}
	return nil
}

// samples writes the series of a phase. An error stays in the writer.
func (r Report) samples(out *csv.Writer, phase string, m member) {
	p := r.Parameters()
	source, job, direction := "", m.Name, "total"
	if m.reading != nil {
		source, job = m.reading.Source.File, m.reading.Job
	}
	switch { // a series of one direction only is that direction's
	case m.Read == nil && m.Write == nil && (m.RW == "read" || m.RW == "randread"):
		direction = "read"
	case m.Read == nil && m.Write == nil && (m.RW == "write" || m.RW == "randwrite"):
		direction = "write"
	}
	head := []string{p.Tool, p.Run, string(p.Target), number(p.Compress), source, phase, m.volumeName(), job}
	read, write := m.measured.ReadSeries, m.measured.WriteSeries
	for _, series := range []struct {
		metric, unit, direction string
		points                  result.Series
	}{
		{"iops", "1/s", direction, m.measured.IOPS}, {"latency_mean", "ms", direction, m.measured.Latency},
		{"throughput", "MiB/s", direction, m.throughputs()},
		{"iops", "1/s", "read", read.IOPS}, {"latency_mean", "ms", "read", read.Latency},
		{"iops", "1/s", "write", write.IOPS}, {"latency_mean", "ms", "write", write.Latency},
	} {
		for _, point := range series.points {
			if known(point.Value) == nil {
				continue
			}
			row := slices.Concat(head, []string{number(point.End.Seconds()), series.metric, series.direction, number(point.Value), series.unit})
			if out.Write(row) != nil {
				return
			}
		}
	}
}

// number prints a value for a program: with a point, in full, and no thousands.
func number(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
