package bench

import (
	"slices"
	"testing"
	"time"

	"ebscope/internal/device"
	"ebscope/internal/result"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

func TestNeighbours(t *testing.T) {
	small := workload.Phase{BlockSize: 4 * units.KiB}
	large := workload.Phase{BlockSize: units.MiB}
	// For 10 s: 3,000 IOPS of 4 KiB, 120 MB/s; and 100 of 1 MiB.
	random := result.Direction{IOs: 30_000, Bytes: 30_000 * 4 * units.KiB, Runtime: 10 * time.Second, IOPS: 3000, Throughput: 3000 * 4 * 1024}
	sequential := result.Direction{IOs: 1000, Bytes: 1000 * units.MiB, Runtime: 10 * time.Second, IOPS: 100, Throughput: 100 * units.MiBPerSecond}
	nvme := result.Storage{Device: "nvme1n1", MaxRequestKiB: 256}
	array := result.Storage{Device: "md0", Members: []string{"nvme1n1", "nvme2n1"}}
	moved := func(ios int64, bytes units.Bytes) device.Moved {
		return device.Moved{IOs: ios, Bytes: bytes, Hardware: true}
	}
	for name, c := range map[string]struct {
		phase   workload.Phase
		own     result.Direction
		storage result.Storage
		moved   device.Traffic
		want    []string
	}{
		"alone": {small, random, nvme, device.Traffic{"nvme1n1": moved(30_010, 30_010*4*units.KiB)}, nil},
		// 1 MiB is 4 requests of 256 KiB.
		"alone, in pieces": {large, sequential, nvme, device.Traffic{"nvme1n1": moved(4000, 1000*units.MiB)}, nil},
		// 5,000 more in 10 s
		"another program": {small, random, nvme, device.Traffic{"nvme1n1": moved(35_000, 35_000*4*units.KiB)},
			[]string{"other programs did 500 IOPS and 2.0 MiB/s on nvme1n1 meanwhile. The volume's limits held for all together; measure it alone."}},
		"another disk": {small, random, nvme, device.Traffic{"nvme1n1": moved(30_000, 30_000*4*units.KiB), "nvme2n1": moved(10_000, 100*units.MiB)},
			[]string{"programs did 1,000 IOPS and 10.0 MiB/s on other disks of this machine meanwhile, which have the instance's limits in common with the volume."}},
		"what an array is made of": {small, random, array, device.Traffic{"md0": {IOs: 30_000, Bytes: 30_000 * 4 * units.KiB},
			"nvme1n1": moved(15_000, 15_000*4*units.KiB), "nvme2n1": moved(15_000, 15_000*4*units.KiB)}, nil},
		"a disk that is not known": {small, random, result.Storage{}, device.Traffic{"nvme1n1": moved(99_999, units.GiB)}, nil},
	} {
		if got := neighbours(c.phase, c.own, c.storage, c.moved); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
