package device

import "ebscope/internal/units"

// Traffic is what disks have moved, by the kernel's names of them.
type Traffic map[string]Moved

// Moved is what went through a disk: reads and writes, as they were asked for, before the kernel merged any.
type Moved struct {
	IOs      int64
	Bytes    units.Bytes
	Hardware bool // a disk of the machine, and not one that is made of others
}

// Since is what was moved after an earlier time. Disks that were not there then are left out.
func (t Traffic) Since(earlier Traffic) Traffic {
	moved := Traffic{}
	for name, now := range t {
		if before, ok := earlier[name]; ok {
			moved[name] = Moved{now.IOs - before.IOs, now.Bytes - before.Bytes, now.Hardware}
		}
	}
	return moved
}
