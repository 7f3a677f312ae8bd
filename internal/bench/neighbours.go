package bench

import (
	"fmt"
	"slices"

	"ebscope/internal/device"
	"ebscope/internal/result"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

// What others may do beside a phase without a word: a file system's journal, a log.
const (
	quietShare = 0.01 // of what the phase did
	quietIOPS  = 5
	quietRate  = units.MiBPerSecond / 10
)

// neighbours says what other programs did on the disk of a phase's volume while it ran, and on the other disks of the
// machine, which have the instance's limits in common with it. own is fio's count, moved the kernel's of every disk.
func neighbours(phase workload.Phase, own result.Direction, storage result.Storage, moved device.Traffic) (told []string) {
	disk, known := moved[storage.Device]
	if !known || own.Runtime <= 0 {
		return nil
	}
	asked := own.IOs * pieces(phase.BlockSize, storage)
	if n := rateOf(disk.IOs-asked, disk.Bytes-own.Bytes, own); n.tells(own) {
		told = append(told, fmt.Sprintf("other programs did %s on %s meanwhile. The volume's limits held for all together; measure it alone.", n, storage.Device))
	}
	if !disk.Hardware {
		return told // other disks may be what it is made of
	}
	var ios int64
	var bytes units.Bytes
	for name, other := range moved {
		if other.Hardware && name != storage.Device && !slices.Contains(storage.Members, name) {
			ios, bytes = ios+other.IOs, bytes+other.Bytes
		}
	}
	if n := rateOf(ios, bytes, own); n.tells(own) {
		told = append(told, fmt.Sprintf("programs did %s on other disks of this machine meanwhile, which have the instance's limits in common with the volume.", n))
	}
	return told
}

// pieces is how many requests the kernel makes of one I/O: as many as the device's largest makes necessary.
func pieces(block units.Bytes, storage result.Storage) int64 {
	largest := units.Bytes(storage.MaxRequestKiB) * units.KiB
	if largest <= 0 {
		return 1
	}
	return int64((block + largest - 1) / largest)
}

// rate is what others did a second.
type rate struct {
	iops       units.IOPS
	throughput units.Throughput
}

func rateOf(ios int64, bytes units.Bytes, own result.Direction) rate {
	seconds := own.Runtime.Seconds()
	return rate{units.IOPS(float64(max(0, ios)) / seconds), units.Throughput(float64(max(0, bytes)) / seconds)}
}

// tells is whether the rate is worth a word beside what the phase did.
func (r rate) tells(own result.Direction) bool {
	return r.iops > max(quietIOPS, quietShare*own.IOPS) || r.throughput > max(quietRate, quietShare*own.Throughput)
}

func (r rate) String() string { return fmt.Sprintf("%v and %.1f MiB/s", r.iops, r.throughput.MiBps()) }
