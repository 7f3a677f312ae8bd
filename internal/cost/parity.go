package cost

import (
	"ebscope/internal/ebs"
	"ebscope/internal/units"
)

// Parity sets a gp2 volume beside the gp3 volumes that could take its place.
type Parity struct {
	Stay    Option // the gp2 volume
	Default Option // gp3 of its size with what is included
	Equal   Option // gp3 with its performance: what a change of the type alone carries over
	// Dearer are the sizes at which parity costs more than staying, by at least half a cent a month.
	Dearer []SizeRange
}

// SizeRange is a range of sizes, both ends included.
type SizeRange struct{ From, To units.Bytes }

// Like compares a gp2 volume with gp3. It returns false where one of the types is not sold in the region.
func Like(gp2 ebs.Volume, catalog *ebs.Catalog, prices ebs.Prices) (Parity, bool) {
	var p Parity
	all := true
	price := func(v ebs.Volume) Option {
		o, sold := Price(catalog, v, prices)
		all = all && sold
		return o
	}
	p.Stay, p.Default, p.Equal = price(gp2), price(ebs.Volume{Type: ebs.GP3, Size: gp2.Size}), price(Successor(catalog, gp2))
	if !all {
		return Parity{}, false
	}
	p.Dearer = dearer(catalog, prices)
	return p, true
}

// dearer finds the sizes at which a gp3 volume at parity costs more than the gp2 volume, by comparing each.
func dearer(catalog *ebs.Catalog, prices ebs.Prices) []SizeRange {
	t, err := catalog.VolumeType(ebs.GP2)
	if err != nil {
		return nil
	}
	var ranges []SizeRange
	open := false
	for size := t.MinSize; size <= t.MaxSize; size += units.GiB {
		gp2 := ebs.Volume{Type: ebs.GP2, Size: size}
		stay, _ := Monthly(gp2, prices)
		equal, _ := Monthly(Successor(catalog, gp2), prices)
		const halfACent = 0.005
		dear := equal-stay >= halfACent
		switch {
		case dear && open:
			ranges[len(ranges)-1].To = size
		case dear:
			ranges = append(ranges, SizeRange{size, size})
		}
		open = dear
	}
	return ranges
}
