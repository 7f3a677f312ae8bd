// Package nvmestats decodes the statistics page (log page 0xD0) that EBS volumes and instance store volumes give on NVMe:
// counters since the volume was attached, the time for which it was asked for more than it may, and latency histograms.
//
// The layout is that of amazon-ec2-utils (ebsnvme) for EBS, and of nvme-cli's Amazon plugin for the instance store; the
// meaning of the counters is in the EBS user guide, "Detailed performance statistics".
package nvmestats

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"ebscope/internal/units"
)

// PageSize is the length of the page in bytes, and DetailSize that of an instance store, which has more behind it.
const (
	PageSize   = 4096
	DetailSize = 8192
)

// Kind says what gave a page.
type Kind string

// The kinds of volumes that have the page.
const (
	EBS           Kind = "ebs"
	InstanceStore Kind = "instance-store"
)

// The magic numbers that a page begins with.
const (
	magicEBS           = 0x3C23B510
	magicInstanceStore = 0xEC2C0D7E
)

// Page holds what a volume has counted since it was attached, and its queue at this moment.
type Page struct {
	Kind        Kind      `json:"kind"`
	Read        Direction `json:"read"`
	Write       Direction `json:"write"`
	Volume      Exceeded  `json:"volume_exceeded"`   // limits of the volume; never counted for an instance store
	Instance    Exceeded  `json:"instance_exceeded"` // limits of the instance
	QueueLength uint64    `json:"queue_length"`
}

// Direction is what was read, or written.
type Direction struct {
	Operations uint64        `json:"operations"`
	Bytes      uint64        `json:"bytes"`
	Time       time.Duration `json:"time_ns"`   // of all operations together
	Latencies  []Bin         `json:"latencies"` // of all operations
	// BySize counts operations by their size too, where the volume does: an instance store.
	BySize []Sized `json:"by_size,omitempty"`
}

// Mean is the mean latency, zero where nothing was done.
func (d Direction) Mean() time.Duration {
	if d.Operations == 0 {
		return 0
	}
	return time.Duration(float64(d.Time) / float64(d.Operations))
}

// Exceeded is the time for which more was asked for than a limit allows.
type Exceeded struct {
	IOPS       time.Duration `json:"iops_ns"`
	Throughput time.Duration `json:"throughput_ns"`
}

// Sized counts the operations larger than Above and up to UpTo by their latency.
type Sized struct {
	Above units.Bytes `json:"above_bytes"`
	UpTo  units.Bytes `json:"up_to_bytes"`
	Bins  []Bin       `json:"bins"`
}

// Bin counts the operations that took from Lower to Upper.
type Bin struct {
	Lower time.Duration `json:"lower_ns"`
	Upper time.Duration `json:"upper_ns"`
	Count uint64        `json:"count"`
}

// FormError says that a page is none that this program understands.
type FormError struct{ Reason string }

func (e *FormError) Error() string { return "NVMe statistics page: " + e.Reason }

func malformed(format string, args ...any) error {
	return &FormError{Reason: fmt.Sprintf(format, args...)}
}

// Decode reads a page. Its errors are FormErrors.
func Decode(page []byte) (Page, error) {
	if len(page) < PageSize {
		return Page{}, malformed("%d bytes, not %d", len(page), PageSize)
	}
	r := reader{page: page}
	var p Page
	switch magic := r.u32(0); magic {
	case magicEBS:
		p.Kind = EBS
	case magicInstanceStore:
		p.Kind = InstanceStore
	default:
		return Page{}, malformed("it begins with %#010x, so this is neither an EBS volume (%#010x) nor an instance store (%#010x)", magic, uint32(magicEBS), uint32(magicInstanceStore))
	}
	p.Read = Direction{Operations: r.u64(8), Bytes: r.u64(24), Time: r.micros(40)}
	p.Write = Direction{Operations: r.u64(16), Bytes: r.u64(32), Time: r.micros(48)}
	p.Volume = Exceeded{IOPS: r.micros(56), Throughput: r.micros(64)}
	p.Instance = Exceeded{IOPS: r.micros(72), Throughput: r.micros(80)}
	p.QueueLength = r.u64(88)
	p.Read.Latencies, p.Write.Latencies = r.histogram(512), r.histogram(2056)
	if p.Kind == InstanceStore && r.u32(4) == detailVersion && len(page) >= DetailSize {
		r.bySize(&p, p.Write.Latencies)
	}
	if r.err != nil {
		return Page{}, r.err
	}
	return p, nil
}

// reader takes little-endian numbers from a page and keeps the first fault.
type reader struct {
	page []byte
	err  error
}

func (r *reader) u32(at int) uint32 { return binary.LittleEndian.Uint32(r.page[at:]) }
func (r *reader) u64(at int) uint64 { return binary.LittleEndian.Uint64(r.page[at:]) }

// maxMicros is the longest time that a Duration holds, 292 years.
const maxMicros = uint64(1<<63-1) / 1000

// micros reads a time in microseconds.
func (r *reader) micros(at int) time.Duration {
	us := r.u64(at)
	if us > maxMicros {
		r.fail("a time of %d µs at offset %d", us, at)
		return 0
	}
	return time.Duration(us) * time.Microsecond
}

// bound reads the bound of a bin, in microseconds. The last bin has no end; it is given the longest time there is.
func (r *reader) bound(at int) time.Duration {
	return time.Duration(min(r.u64(at), maxMicros)) * time.Microsecond
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = malformed(format, args...)
	}
}

// maxBins is the number of bins that a histogram has room for.
const maxBins = 64

// histogram reads the number of bins and, for each, {u64 lower µs, u64 upper µs, u32 count, u32 reserved}.
func (r *reader) histogram(at int) []Bin {
	const binSize = 24
	n := r.u64(at)
	if n > maxBins {
		r.fail("a histogram of %d bins at offset %d; there is room for %d", n, at, maxBins)
		return nil
	}
	bins := make([]Bin, n)
	for i := range bins {
		b := at + 8 + i*binSize
		bins[i] = Bin{r.bound(b), r.bound(b + 8), uint64(r.u32(b + 16))}
		if bins[i].Upper < bins[i].Lower {
			r.fail("a bin at offset %d ends at %v, before it begins at %v", b, bins[i].Upper, bins[i].Lower)
		}
	}
	return bins
}

// Pages of detailVersion count by ranges of I/O sizes too: {u32 ranges, 8 × u32 size at which each ends} at 3600 and, from
// 4096 on, for each range 32 × u64 of reads, then as many of writes, in the bins of the histogram of all writes.
const (
	detailVersion = 1
	rangesAt      = 3600
	countsAt      = PageSize
	maxRanges     = 8
	maxShared     = 32
)

func (r *reader) bySize(p *Page, bins []Bin) {
	ranges := r.u32(rangesAt)
	if ranges > maxRanges || len(bins) > maxShared {
		r.fail("%d ranges of I/O sizes in %d bins; there is room for %d in %d", ranges, len(bins), maxRanges, maxShared)
		return
	}
	var above units.Bytes
	for i := range int(ranges) {
		upTo := units.Bytes(r.u32(rangesAt + 4 + 4*i))
		if upTo <= above {
			r.fail("a range of I/O sizes ends at %v, before it begins at %v", upTo, above)
			return
		}
		read, write := slices.Clone(bins), slices.Clone(bins)
		for b := range bins {
			read[b].Count = r.u64(countsAt + 8*(2*i*maxShared+b))
			write[b].Count = r.u64(countsAt + 8*((2*i+1)*maxShared+b))
		}
		p.Read.BySize = append(p.Read.BySize, Sized{above, upTo, read})
		p.Write.BySize = append(p.Write.BySize, Sized{above, upTo, write})
		above = upTo
	}
}
