package output

import (
	"fmt"
	"math"
	"time"

	"ebscope/internal/result"
	"ebscope/internal/units"
)

// Codes of the warnings that this package gives.
const (
	fioMessage         = "fio-message"         // a line that fio printed beside its results
	percentilesMissing = "percentiles-missing" // they cannot be merged without histograms
	seriesMissing      = "series-missing"      // no averaged log
	seriesDiffers      = "series-differs"      // the log's mean is not the summary's
	latencyMissing     = "latency-missing"     // no latency log
)

// Measurement returns the summaries of the document, all its jobs taken together; series come from the logs. It fails
// where fio did no I/O. It does not look at error codes: see Err.
func (d Document) Measurement() (result.Measurement, error) {
	m := result.Measurement{Source: d.Version}
	for _, line := range d.Messages {
		m.Warnings = append(m.Warnings, result.Warning{Code: fioMessage, Text: line})
	}
	var reads, writes []result.Direction
	for _, job := range d.jobs {
		for _, side := range []struct {
			from direction
			to   *[]result.Direction
			name string
		}{{job.Read, &reads, "read"}, {job.Write, &writes, "write"}} {
			if side.from.TotalIOs == 0 && side.from.IOPS == 0 {
				continue
			}
			converted, err := side.from.convert(d.kind())
			if err != nil {
				return result.Measurement{}, fmt.Errorf("job %q, %s: %w", job.Name, side.name, err)
			}
			*side.to = append(*side.to, converted)
		}
	}
	switch {
	case len(reads)+len(writes) == 0:
		return result.Measurement{}, fmt.Errorf("fio did no reads or writes%s", quote(d.Messages))
	case len(reads) > 0 && len(writes) > 0:
		read, write := together(reads), together(writes)
		m.Read, m.Write = &read, &write
	}
	m.Total = together(append(reads, writes...))
	if len(m.Total.Latency.Percentiles) == 0 {
		m.Warnings = append(m.Warnings, result.Warning{Code: percentilesMissing, Text: "fio reported no percentiles of all I/Os together, " +
			"nor histograms (json+) to work them out from"})
	}
	return m, nil
}

func quote(messages []string) string {
	if len(messages) == 0 {
		return ""
	}
	return fmt.Sprintf("; it says: %s", messages[len(messages)-1])
}

func (d direction) convert(kind string) (result.Direction, error) {
	const maxRuntime = int64(math.MaxInt64 / time.Millisecond)
	if !count(d.TotalIOs) || !count(d.Bytes) || d.Runtime < 0 || d.Runtime > maxRuntime || d.IOPS < 0 || d.BW < 0 || d.BWBytes < 0 {
		return result.Direction{}, fmt.Errorf("a count or rate is out of range: %d I/Os, %d bytes, %d ms, %v IOPS", d.TotalIOs, d.Bytes, d.Runtime, d.IOPS)
	}
	block := d.Lat
	if kind == completion {
		block = d.Clat
	}
	latency, err := block.convert(kind, d.TotalIOs)
	if err != nil {
		return result.Direction{}, err
	}
	throughput := units.Throughput(d.BWBytes)
	if throughput == 0 {
		throughput = units.Throughput(d.BW) * units.Throughput(units.KiB)
	}
	return result.Direction{
		IOs: d.TotalIOs, Bytes: units.Bytes(d.Bytes), Runtime: time.Duration(d.Runtime) * time.Millisecond,
		IOPS: units.IOPS(d.IOPS), Throughput: throughput, Latency: latency,
	}, nil
}

// count says whether a number can be a count of I/Os or bytes: one that sums and products of doubles keep exact.
func count(n int64) bool { return n >= 0 && n < 1<<53 }

// together sums directions or jobs that ran side by side.
func together(parts []result.Direction) result.Direction {
	var out result.Direction
	var latencies []result.Latency
	for _, p := range parts {
		out.IOs += p.IOs
		out.Bytes += p.Bytes
		out.Runtime = max(out.Runtime, p.Runtime)
		out.IOPS += p.IOPS
		out.Throughput += p.Throughput
		latencies = append(latencies, p.Latency)
	}
	out.Latency = merge(latencies)
	return out
}
