package device

import (
	"os"
	"path/filepath"

	"github.com/prometheus/procfs/blockdevice"

	"ebscope/internal/units"
)

// sector is the unit of the kernel's counts, whatever the device's own (Documentation/admin-guide/iostats.rst).
const sector = 512

// Traffic returns what each disk has moved since the machine started. It is empty where the kernel does not tell.
func (h Host) Traffic() Traffic {
	fs, err := blockdevice.NewFS(h.Proc, h.Sys)
	if err != nil {
		return nil
	}
	all, err := fs.ProcDiskstats()
	if err != nil {
		return nil
	}
	t := Traffic{}
	for _, d := range all {
		dir := filepath.Join(h.Sys, "block", d.DeviceName)
		if _, err := os.Stat(dir); err != nil {
			continue // a partition, which its disk counts too
		}
		_, err := os.Stat(filepath.Join(dir, "device"))
		t[d.DeviceName] = Moved{
			IOs:      int64(d.ReadIOs + d.ReadMerges + d.WriteIOs + d.WriteMerges),
			Bytes:    units.Bytes(d.ReadSectors+d.WriteSectors) * sector,
			Hardware: err == nil,
		}
	}
	return t
}
