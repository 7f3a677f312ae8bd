package output

import (
	"errors"
	"fmt"
	"math"
	"time"

	"ebscope/internal/fio"
	"ebscope/internal/result"
	"ebscope/internal/units"
)

// Codes of the warnings that this package gives.
const (
	fioMessage           = "fio-message"           // a line that fio printed beside its results
	latencyNotMeasured   = "latency-not-measured"  // fio was told not to
	bandwidthContradicts = "bandwidth-contradicts" // fio states it twice, and not the same
	bytesUnknown         = "bytes-unknown"         // their unit cannot be told
	noIO                 = "no-io"                 // nothing was read or written
	seriesMissing        = "series-missing"        // no averaged log
	seriesDiffers        = "series-differs"        // the log's mean is not the summary's
	latencyMissing       = "latency-missing"       // no latency log
)

// review is what is doubtful about figures.
type review struct {
	doubts   []string // figures that cannot be, and are unknown therefore
	warnings []result.Warning
}

func (r *review) doubt(format string, args ...any) {
	r.doubts = append(r.doubts, fmt.Sprintf(format, args...))
}

func (r *review) warn(code, format string, args ...any) {
	r.warnings = append(r.warnings, result.Warning{Code: code, Text: fmt.Sprintf(format, args...)})
}

// Measurement returns the summaries of the document, all its jobs taken together; series come from the logs. It fails
// where fio did no I/O, or where a figure cannot be. It does not look at error codes: see Err.
func (d Document) Measurement() (result.Measurement, error) {
	m := result.Measurement{Source: d.Version}
	for _, line := range d.Messages {
		m.Warnings = append(m.Warnings, result.Warning{Code: fioMessage, Text: line})
	}
	var r review
	some := d.measure(&m, &r)
	if len(r.doubts) > 0 {
		return result.Measurement{}, errors.New(r.doubts[0])
	}
	if !some {
		return result.Measurement{}, fmt.Errorf("fio did no reads or writes%s", quote(d.Messages))
	}
	m.Warnings = append(m.Warnings, r.warnings...)
	return m, nil
}

func quote(messages []string) string {
	if len(messages) == 0 {
		return ""
	}
	return fmt.Sprintf("; it says: %s", messages[len(messages)-1])
}

// measure takes all jobs together, and says whether they read or wrote.
func (d Document) measure(m *result.Measurement, r *review) bool {
	kind := d.kind()
	var reads, writes, all []result.Direction
	for _, job := range d.jobs {
		add := func(from direction, name string, to *[]result.Direction) {
			if from.some() {
				*to = append(*to, from.convert(d, fmt.Sprintf("job %q, %s", job.name, name), kind, r))
			}
		}
		parts := len(reads) + len(writes)
		add(job.read, "read", &reads)
		add(job.write, "write", &writes)
		if parts == len(reads)+len(writes) || job.mixed.some() {
			add(job.mixed, "mixed", &all)
		} else {
			all = append(all, tail(reads, job.read.some())...)
			all = append(all, tail(writes, job.write.some())...)
		}
	}
	if len(all) == 0 {
		return false
	}
	unstated := d.option("rw") == "" && d.option("readwrite") == ""
	if len(reads) > 0 && len(writes) > 0 || unstated { // else the pattern tells which of them the total is
		m.Read, m.Write = together(reads), together(writes)
	}
	m.Total = result.Together(all)
	switch l := m.Total.Latency; {
	case l.Mean == 0 && l.Max == 0:
		r.warn(latencyNotMeasured, "fio did not measure latency (gtod_reduce or disable_lat)")
	case len(l.Percentiles) == 0:
		r.warn(result.PercentilesMissing, "fio reported no percentiles of all I/Os together, nor histograms (json+) to work them out from")
	}
	return true
}

// together is nil where there is nothing.
func together(parts []result.Direction) *result.Direction {
	if len(parts) == 0 {
		return nil
	}
	sum := result.Together(parts)
	return &sum
}

// tail is the last of a list, or nothing.
func tail(list []result.Direction, wanted bool) []result.Direction {
	if !wanted {
		return nil
	}
	return list[len(list)-1:]
}

// some says whether there was any I/O.
func (d direction) some() bool { return d.ios != 0 || d.iops != 0 }

// convert reads a direction; where names it in doubts.
func (d direction) convert(of Document, where, kind string, r *review) result.Direction {
	figure := func(what string, x, limit float64) float64 {
		if !(x >= 0 && x < limit) {
			r.doubt("%s: %s is %v, out of range", where, what, x)
			return 0
		}
		return x
	}
	const maxCount = 1 << 53 // that sums and products of doubles keep exact
	d.ios, d.bytes = figure("total_ios", d.ios, maxCount), figure("io_bytes", d.bytes, maxCount)
	d.iops, d.runtime = figure("iops", d.iops, math.MaxFloat32), figure("runtime", d.runtime, float64(math.MaxInt64/time.Millisecond))
	d.bw, d.bwBytes = figure("bw", d.bw, math.MaxFloat32), figure("bw_bytes", d.bwBytes, math.MaxFloat32)
	out := result.Direction{IOs: int64(d.ios), Runtime: time.Duration(d.runtime * float64(time.Millisecond)), IOPS: units.IOPS(d.iops)}
	var known bool
	if out.Bytes, known = d.inBytes(of); !known {
		r.warn(bytesUnknown, "%s: whether io_bytes, %v, is in bytes or KiB cannot be told", where, d.bytes)
	}
	var agree bool
	if out.Throughput, agree = d.throughput(out.Bytes); !agree {
		r.warn(bandwidthContradicts, "%s: bw is %v KiB/s, but bw_bytes %v bytes/s; %s is taken", where, d.bw, d.bwBytes, out.Throughput)
	}
	block, name := d.total, total
	if kind == completion {
		block, name = d.clat, completion
	}
	out.Latency = block.convert(where+": "+name, kind, d.samples(block), r)
	if kind == completion && d.total.measured() {
		mean := latency{unit: d.total.unit, n: d.total.n, mean: d.total.mean, max: d.total.max}
		out.Latency.Submitted = mean.convert(where+": "+total, total, d.samples(d.total), r).Mean
	}
	return out
}

// inBytes is what was read or written. fio 2 states it in KiB, under the name of io_bytes. What was transferred in the
// runtime at the stated bandwidth tells; where that is not known, its second statement in KiB or the version does.
func (d direction) inBytes(of Document) (units.Bytes, bool) {
	const between = 1.0 / 32 // 1 and 1/1,024
	kib := false
	switch expected := max(d.bw*1024, d.bwBytes) * d.runtime / 1000; {
	case d.bytes == 0:
		return 0, true
	case expected > 0:
		kib = d.bytes/expected < between
	case d.kibibytes > 0:
		kib = d.kibibytes/d.bytes > between
	default:
		v, err := fio.ParseVersion(of.Version)
		if err != nil {
			return 0, false
		}
		kib = v.Major < 3
	}
	if kib {
		return units.Bytes(d.bytes) * units.KiB, true
	}
	return units.Bytes(d.bytes), true
}

// throughput prefers the exacter statement. Where the two differ, which fio never writes, it is the one that fits what
// was transferred.
func (d direction) throughput(bytes units.Bytes) (t units.Throughput, agree bool) {
	rounded, exact := d.bw*1024, d.bwBytes
	switch {
	case exact == 0:
		return units.Throughput(rounded), true
	case d.bw == 0 || math.Abs(rounded-exact) <= 1024+exact/1000:
		return units.Throughput(exact), true
	case d.runtime == 0:
		return units.Throughput(rounded), false
	}
	transferred := float64(bytes) / d.runtime * 1000
	if math.Abs(rounded-transferred) < math.Abs(exact-transferred) {
		return units.Throughput(rounded), false
	}
	return units.Throughput(exact), false
}

// samples is how many I/Os a latency is of. Where fio does not count them, it is what the rate gives over the runtime:
// the weight in a mean with others.
func (d direction) samples(l latency) float64 {
	switch {
	case l.n >= 0:
		return l.n
	case d.ios > 0:
		return d.ios
	default:
		return math.Round(d.iops * d.runtime / 1000)
	}
}
