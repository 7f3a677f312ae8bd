package claims

import (
	"cmp"

	"ebscope/internal/cost"
	"ebscope/internal/ebs"
)

// rule holds a stated rule against the least volume of its type that gives what the rule is about.
func (j *judge) rule() {
	r := j.Rule
	if r == nil {
		return
	}
	t, err := j.catalog.VolumeType(r.Type)
	if err != nil {
		return // resolve has found it
	}
	least, why, err := cost.Least(cost.Need{IOPS: r.IOPS, Throughput: r.Throughput}, t, j.catalog)
	switch {
	case err != nil:
		j.find(Impossible, Limits, "No %s volume gives that: %v.", r.Type, err)
	case r.LeastIOPS > 0 && !t.IOPS.Provisioned:
		j.find(Impossible, Ratio, "IOPS are not set on %s; they follow from the size.", r.Type)
	case r.LeastIOPS > 0:
		j.compare(r.LeastIOPS.String(), least.IOPS.String(), cmp.Compare(r.LeastIOPS, least.IOPS), why)
	default:
		size := func(v ebs.Volume) string { return ebs.Volume{Type: r.Type, Size: v.Size}.String() }
		j.compare(size(ebs.Volume{Size: r.LeastSize}), size(least), cmp.Compare(r.LeastSize, least.Size), why)
	}
}

// compare holds a stated least value against the computed one, given their order. AWS refuses what is short by the least,
// so there is no tolerance.
func (j *judge) compare(stated, computed string, order int, why string) {
	switch {
	case order > 0:
		j.find(Impossible, Ratio, "It does not take %s: %s do (%s).", stated, computed, why)
	case order < 0:
		j.find(Impossible, Ratio, "%s do not do: it takes %s (%s).", stated, computed, why)
	default:
		j.find(Possible, Ratio, "It takes %s (%s).", computed, why)
	}
}
