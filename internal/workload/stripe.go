package workload

import (
	"errors"
	"fmt"
	"slices"

	"ebscope/internal/units"
)

// Stripe is a RAID 0 array: data is laid out over its volumes in turn, a chunk of ChunkSize on each. What one I/O
// reads or writes of a volume in neighbouring chunks goes to it as one I/O, as the kernel's block layer merges it.
type Stripe struct {
	Name      string      `json:"name"`
	Volumes   []string    `json:"volumes"`
	ChunkSize units.Bytes `json:"chunk_size_bytes"`
}

// Stripe finds a stripe by name.
func (p Profile) Stripe(name string) (Stripe, bool) {
	for _, s := range p.Stripes {
		if s.Name == name {
			return s, true
		}
	}
	return Stripe{}, false
}

// Members returns the volumes that a phase on the given name uses: those of the stripe of that name, or the volume
// itself; none where there is neither.
func (p Profile) Members(name string) []Volume {
	if v, ok := p.Volume(name); ok {
		return []Volume{v}
	}
	s, _ := p.Stripe(name)
	var members []Volume
	for _, m := range s.Volumes {
		if v, ok := p.Volume(m); ok {
			members = append(members, v)
		}
	}
	return members
}

// stripeOf returns the name of the stripe that a volume is a part of, empty where it is of none.
func (p Profile) stripeOf(volume string) string {
	for _, s := range p.Stripes {
		if slices.Contains(s.Volumes, volume) {
			return s.Name
		}
	}
	return ""
}

const (
	// chunkUnit is the memory page: Linux stripes in whole ones.
	chunkUnit = 4 * units.KiB
	// maxMembers is above the number of volumes that any instance takes.
	maxMembers = 128
)

func (p Profile) validateStripes() error {
	owner := map[string]string{}
	for i, s := range p.Stripes {
		if err := p.validateStripe(i, s, owner); err != nil {
			return entryError{"stripes", i, fmt.Errorf("stripe %s: %w", s.Name, err)}
		}
	}
	return nil
}

// validateStripe checks one stripe; owner gives, and takes, the stripe of each volume.
func (p Profile) validateStripe(i int, s Stripe, owner map[string]string) error {
	if !nameForm().MatchString(s.Name) {
		return fmt.Errorf("name %q: use lower-case letters, digits, dots and dashes", s.Name)
	}
	if _, taken := p.Volume(s.Name); taken || slices.ContainsFunc(p.Stripes[:i], func(o Stripe) bool { return o.Name == s.Name }) {
		return fmt.Errorf("the name %q is used twice; every volume and stripe needs a name of its own", s.Name)
	}
	if len(s.Volumes) < 2 || len(s.Volumes) > maxMembers {
		return fmt.Errorf("RAID 0 over %d volumes; use 2 to %d", len(s.Volumes), maxMembers)
	}
	if s.ChunkSize < chunkUnit || s.ChunkSize%chunkUnit != 0 || s.ChunkSize > p.FileSize {
		return fmt.Errorf("stripe_size %v: use a multiple of %v, no larger than the test file", s.ChunkSize, chunkUnit)
	}
	part := (p.FileSize + units.Bytes(len(s.Volumes)) - 1) / units.Bytes(len(s.Volumes))
	for _, name := range s.Volumes {
		v, ok := p.Volume(name)
		if !ok {
			return fmt.Errorf("there is no volume named %q", name)
		}
		if other, taken := owner[name]; taken {
			return fmt.Errorf("volume %s is a part of stripe %s already", name, other)
		}
		owner[name] = s.Name
		if first, _ := p.Volume(s.Volumes[0]); (v.Restored == nil) != (first.Restored == nil) {
			return errors.New("restore all of its volumes from a snapshot, or none")
		}
		if part > v.Config.Size {
			return fmt.Errorf("a test file of %v puts %v on each of %d volumes, which does not fit on %v; set file_size",
				p.FileSize, part, len(s.Volumes), v.Config.Size)
		}
	}
	return nil
}
