package nvmestats_test

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ebscope/internal/nvmestats"
	"ebscope/internal/units"
)

// page builds a page from little-endian numbers at offsets.
func page(size int, u32 map[int]uint32, u64 map[int]uint64) []byte {
	b := make([]byte, size)
	for at, v := range u32 {
		binary.LittleEndian.PutUint32(b[at:], v)
	}
	for at, v := range u64 {
		binary.LittleEndian.PutUint64(b[at:], v)
	}
	return b
}

// counters are those that both kinds of volumes have, each of another value.
func counters() map[int]uint64 {
	return map[int]uint64{8: 100, 16: 200, 24: 409600, 32: 819200, 40: 56_400, 48: 112_800,
		56: 1_000_000, 64: 2_000_000, 72: 3_000_000, 80: 4_000_000, 88: 7,
		512: 2, 520: 0, 528: 512, 544: 512, 552: 1024, // two bins of reads: 8 + 24 bytes apart
		2056: 1, 2064: 1024, 2072: 2048}
}

func TestEBS(t *testing.T) {
	got, err := nvmestats.Decode(page(nvmestats.PageSize,
		map[int]uint32{0: 0x3C23B510, 536: 60, 560: 40, 2080: 200}, counters()))
	if err != nil {
		t.Fatal(err)
	}
	const us = time.Microsecond
	want := nvmestats.Page{
		Kind: nvmestats.EBS,
		Read: nvmestats.Direction{Operations: 100, Bytes: 409600, Time: 56_400 * us,
			Latencies: []nvmestats.Bin{{Lower: 0, Upper: 512 * us, Count: 60}, {Lower: 512 * us, Upper: 1024 * us, Count: 40}}},
		Write: nvmestats.Direction{Operations: 200, Bytes: 819200, Time: 112_800 * us,
			Latencies: []nvmestats.Bin{{Lower: 1024 * us, Upper: 2048 * us, Count: 200}}},
		Volume:      nvmestats.Exceeded{IOPS: time.Second, Throughput: 2 * time.Second},
		Instance:    nvmestats.Exceeded{IOPS: 3 * time.Second, Throughput: 4 * time.Second},
		QueueLength: 7,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Two ranges of sizes, 0 to 4 KiB and 4 to 8 KiB, in the one bin of the writes. Counts of range i begin at 4096 + 512 i, those
// of writes 256 behind those of reads.
func TestInstanceStore(t *testing.T) {
	u64 := counters()
	u64[4096], u64[4352], u64[4608], u64[4864] = 70, 150, 30, 50
	got, err := nvmestats.Decode(page(nvmestats.DetailSize,
		map[int]uint32{0: 0xEC2C0D7E, 4: 1, 3600: 2, 3604: 4096, 3608: 8192}, u64))
	if err != nil {
		t.Fatal(err)
	}
	sized := func(small, large uint64) []nvmestats.Sized {
		bin := nvmestats.Bin{Lower: 1024 * time.Microsecond, Upper: 2048 * time.Microsecond}
		a, b := bin, bin
		a.Count, b.Count = small, large
		return []nvmestats.Sized{{Above: 0, UpTo: 4 * units.KiB, Bins: []nvmestats.Bin{a}}, {Above: 4 * units.KiB, UpTo: 8 * units.KiB, Bins: []nvmestats.Bin{b}}}
	}
	if got.Kind != nvmestats.InstanceStore || got.QueueLength != 7 {
		t.Errorf("%+v", got)
	}
	if diff := cmp.Diff(sized(70, 30), got.Read.BySize); diff != "" {
		t.Error("reads:", diff)
	}
	if diff := cmp.Diff(sized(150, 50), got.Write.BySize); diff != "" {
		t.Error("writes:", diff)
	}
}

func TestMalformed(t *testing.T) {
	const ebs, store = 0x3C23B510, 0xEC2C0D7E
	for name, tt := range map[string]struct {
		page []byte
		want string
	}{
		"short":         {make([]byte, 4095), "4095 bytes"},
		"another disk":  {make([]byte, 4096), "neither an EBS volume"},
		"many bins":     {page(4096, map[int]uint32{0: ebs}, map[int]uint64{512: 65}), "65 bins"},
		"bin backwards": {page(4096, map[int]uint32{0: ebs}, map[int]uint64{512: 1, 520: 9, 528: 8}), "before it begins"},
		"long time":     {page(4096, map[int]uint32{0: ebs}, map[int]uint64{56: 1 << 63}), "a time of"},
		"many ranges":   {page(8192, map[int]uint32{0: store, 4: 1, 3600: 9}, nil), "9 ranges"},
		"sizes fall":    {page(8192, map[int]uint32{0: store, 4: 1, 3600: 2, 3604: 8, 3608: 4}, nil), "range of I/O sizes"},
	} {
		_, err := nvmestats.Decode(tt.page)
		var form *nvmestats.FormError
		if !errors.As(err, &form) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

// Whatever a device gives is decoded or refused, and no bin ends before it begins.
func FuzzDecode(f *testing.F) {
	f.Add(page(4096, map[int]uint32{0: 0x3C23B510, 536: 60}, counters()))
	f.Add(page(8192, map[int]uint32{0: 0xEC2C0D7E, 4: 1, 3600: 2, 3604: 4096, 3608: 8192}, counters()))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := nvmestats.Decode(b)
		if err != nil {
			return
		}
		for _, bin := range append(p.Read.Latencies, p.Write.Latencies...) {
			if bin.Upper < bin.Lower || bin.Lower < 0 {
				t.Errorf("bin %+v", bin)
			}
		}
	})
}
