package workload

import (
	"fmt"
	"slices"
)

// Writes says whether a phase changes what a volume, or a stripe, holds.
func (p Profile) Writes(volume string) bool {
	return slices.ContainsFunc(p.Phases, func(ph Phase) bool { return ph.Volume == volume && ph.Writes() })
}

// LaidOut says which phase would read blocks that were never written, which are faster than any. A profile that only
// reads is for volumes that hold data already.
func (p Profile) LaidOut() error {
	return p.laidOut(func(string) bool { return true })
}

// laidOut asks it of some volumes.
func (p Profile) laidOut(asked func(volume string) bool) error {
	written := p.restored()
	for i, phase := range p.Phases {
		written[phase.Volume] = written[phase.Volume] || phase.Layout()
		if !written[phase.Volume] && asked(phase.Volume) {
			return entryError{"phases", i, fmt.Errorf("phase %d (%s on %s): the first phase on a volume must write its test file, or never-written blocks are measured; put {name: layout, volume: %s, rw: write, block_size: 1MiB, queue_depth: 1} before it",
				i+1, phase.Name, phase.Volume, phase.Volume)}
		}
	}
	return nil
}
