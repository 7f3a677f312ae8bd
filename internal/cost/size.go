package cost

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"ebscope/internal/ebs"
	"ebscope/internal/units"
)

// Fit is the cheapest volume of a type that gives what is needed.
type Fit struct {
	Option
	// SustainedThroughput is held for ever; see the function of that name.
	SustainedThroughput units.Throughput
	// Rule says what decided its size, IOPS and throughput.
	Rule string
}

// Unfit is a type that cannot give what is needed, and why.
type Unfit struct {
	Type   ebs.Type
	Reason string
}

// Month is how long a volume is billed for in a month, by the convention of AWS's own examples: 730 hours.
const Month = 730 * time.Hour

// Cheapest finds for each type the cheapest volume that gives what is needed, the cheapest first, and says of the other
// types why they cannot.
func Cheapest(need Need, types []ebs.VolumeType, catalog *ebs.Catalog, prices ebs.Prices) (fits []Fit, unfit []Unfit) {
	for _, t := range types {
		v, rule, err := Least(need, t, catalog)
		if err != nil {
			unfit = append(unfit, Unfit{t.Type, err.Error()})
			continue
		}
		option, sold := Price(catalog, v, prices)
		if !sold {
			unfit = append(unfit, Unfit{t.Type, fmt.Sprintf("not sold in %s, or its price there is not known", prices.Region)})
			continue
		}
		perf := catalog.Performance(v)
		fit := Fit{Option: option, SustainedThroughput: SustainedThroughput(perf), Rule: rule}
		if t.PricedPerIO {
			charged := units.USD(float64(need.IOPS)*Month.Seconds()) * prices.Volumes[t.Type].PerIO
			fit.Monthly += charged
			fit.Rule += fmt.Sprintf("; each I/O is charged: %v for %v all month", charged, need.IOPS)
		}
		fits = append(fits, fit)
	}
	slices.SortStableFunc(fits, func(a, b Fit) int { return cmp.Compare(a.Monthly, b.Monthly) })
	return fits, unfit
}

// Least returns the least volume of a type that gives what is needed, with the rule that decided. It costs the least too.
// The error says what the type cannot give.
func Least(need Need, t ebs.VolumeType, catalog *ebs.Catalog) (v ebs.Volume, rule string, err error) {
	s := sizing{need: need, t: t, catalog: catalog}
	if v, err = s.least(); err != nil {
		return ebs.Volume{}, "", err
	}
	return v, s.rule(v), nil
}

// sizing looks for the least volume of a type. A larger one, or one with more IOPS, never costs less.
type sizing struct {
	need    Need
	t       ebs.VolumeType
	catalog *ebs.Catalog
}

// least returns the least volume that gives what is needed. The error says what the type cannot give.
func (s sizing) least() (ebs.Volume, error) {
	if err := s.beyond(); err != nil {
		return ebs.Volume{}, err
	}
	v := ebs.Volume{Type: s.t.Type, Size: max(wholeGiB(s.need.Size.GiB()), s.t.MinSize)}
	if s.t.IOPS.Provisioned {
		v.Throughput = s.provisionedThroughput()
		v.IOPS = s.provisionedIOPS(v)
		if limit := s.t.IOPS; v.IOPS > limit.Included && limit.PerGiB > 0 {
			v.Size = max(v.Size, wholeGiB(float64(v.IOPS/limit.PerGiB)))
		}
	} else {
		v.Size = s.leastSize(v.Size, s.need.gives)
	}
	return v, s.catalog.Validate(v)
}

// beyond names what is needed and not even the largest volume of the type gives.
func (s sizing) beyond() error {
	largest := ebs.Volume{Type: s.t.Type, Size: s.t.MaxSize}
	if s.t.IOPS.Provisioned {
		largest.IOPS = s.t.IOPS.Max
	}
	if s.t.Throughput.Provisioned {
		largest.Throughput = s.t.Throughput.Max
	}
	p := s.catalog.Performance(largest)
	switch {
	case s.need.Size > s.t.MaxSize:
		return fmt.Errorf("at most %v", s.t.MaxSize)
	case !s.need.givesIOPS(p):
		return fmt.Errorf("at most %v at random", RandomIOPS(p))
	case !s.need.givesThroughput(p):
		return fmt.Errorf("at most %v for ever", SustainedThroughput(p))
	case !s.need.givesBurst(p):
		return fmt.Errorf("no burst of %v for %v", s.need.Burst, span(s.need.BurstFor))
	default:
		return nil
	}
}

// provisionedThroughput is set in whole MiB/s, zero where the type does not take it.
func (s sizing) provisionedThroughput() units.Throughput {
	limit := s.t.Throughput
	if !limit.Provisioned {
		return 0
	}
	whole := units.Throughput(math.Ceil(s.need.Throughput.MiBps()-tiny)) * units.MiBPerSecond
	return max(whole, limit.Included, limit.Min)
}

// provisionedIOPS are the least whole IOPS that give the needed IOPS and throughput.
func (s sizing) provisionedIOPS(v ebs.Volume) units.IOPS {
	limit := s.t.IOPS
	least := int(math.Ceil(float64(max(s.need.IOPS, s.need.Burst, limit.Included, limit.Min))))
	return units.IOPS(least + sort.Search(max(0, int(limit.Max)-least), func(i int) bool {
		v.IOPS = units.IOPS(least + i)
		ratio := s.t.Throughput.PerIOPS
		allowed := ratio == 0 || v.Throughput <= ratio*units.Throughput(v.IOPS)
		return allowed && s.need.givesThroughput(s.catalog.Performance(v))
	}))
}

// leastSize is the least whole number of GiB, from one on, with a performance that will do.
func (s sizing) leastSize(from units.Bytes, does func(ebs.Performance) bool) units.Bytes {
	more := sort.Search(int((s.t.MaxSize-from)/units.GiB), func(i int) bool {
		return does(s.catalog.Performance(ebs.Volume{Type: s.t.Type, Size: from + units.Bytes(i)*units.GiB}))
	})
	return from + units.Bytes(more)*units.GiB
}

// rule says what decided the least volume.
func (s sizing) rule(v ebs.Volume) string {
	if s.t.IOPS.Provisioned {
		return s.provisioningRule(v)
	}
	from := max(wholeGiB(s.need.Size.GiB()), s.t.MinSize)
	perf := s.catalog.Performance(v)
	switch {
	case v.Size == from:
		return s.sizeRule(v, fmt.Sprintf("%v give %v and %v for ever", v.Size, RandomIOPS(perf), SustainedThroughput(perf)))
	case v.Size == s.leastSize(from, s.need.givesIOPS):
		per := perGiB(s.t.IOPS.PerGiB)
		if s.t.WholeUnits {
			per = fmt.Sprintf("at random each takes %v of its %g MiB/s per TiB", s.t.AccountingUnit, s.t.Throughput.PerTiB.Baseline.MiBps())
		}
		return fmt.Sprintf("%s needs %s for %v: %s", s.t.Type, gib(v.Size), s.need.IOPS, per)
	case v.Size == s.leastSize(from, s.need.givesThroughput):
		text := fmt.Sprintf("%s needs %s for %v for ever", s.t.Type, gib(v.Size), s.need.Throughput)
		if hdd := s.t.Throughput.PerTiB.Baseline; hdd > 0 {
			return text + fmt.Sprintf(": %g MiB/s per TiB", hdd.MiBps())
		}
		return text + fmt.Sprintf(": its %v of %v", perf.Baseline, s.t.AccountingUnit)
	default:
		return fmt.Sprintf("%s needs %s for a burst of %v for %v", s.t.Type, gib(v.Size), s.need.Burst, span(s.need.BurstFor))
	}
}

func (s sizing) provisioningRule(v ebs.Volume) string {
	iops, throughput := s.t.IOPS, s.t.Throughput
	asked := units.IOPS(math.Ceil(float64(max(s.need.IOPS, s.need.Burst))))
	var rules []string
	switch {
	case v.IOPS > max(asked, iops.Included, iops.Min):
		ratio := ""
		if throughput.PerIOPS > 0 {
			ratio = fmt.Sprintf(": %g MiB/s per IOPS", throughput.PerIOPS.MiBps())
		}
		rules = append(rules, fmt.Sprintf("%v take %v%s", s.need.Throughput, v.IOPS, ratio))
	case v.IOPS > iops.Included && iops.Included > 0:
		rules = append(rules, fmt.Sprintf("%s IOPS above the %s included", units.Thousands(float64(v.IOPS-iops.Included)), units.Thousands(float64(iops.Included))))
	case iops.Included > 0:
		rules = append(rules, fmt.Sprintf("%v come with every size", iops.Included))
	case len(iops.PriceTiers) > 0 && v.IOPS > iops.PriceTiers[0]:
		rules = append(rules, fmt.Sprintf("%v provisioned, those above %s at a lower price", v.IOPS, units.Thousands(float64(iops.PriceTiers[0]))))
	default:
		rules = append(rules, fmt.Sprintf("%v provisioned", v.IOPS))
	}
	if v.Throughput > throughput.Included && throughput.Provisioned {
		rules = append(rules, fmt.Sprintf("%s MiB/s above the %s included", units.Thousands((v.Throughput-throughput.Included).MiBps()),
			units.Thousands(throughput.Included.MiBps())))
	}
	if v.Size > max(wholeGiB(s.need.Size.GiB()), s.t.MinSize) {
		rules = append(rules, fmt.Sprintf("%s needs %s for %v: %s", s.t.Type, gib(v.Size), v.IOPS, perGiB(iops.PerGiB)))
	}
	return s.sizeRule(v, strings.Join(rules, "; "))
}

// sizeRule puts in front of a rule that the type has no volume as small as asked for.
func (s sizing) sizeRule(v ebs.Volume, rule string) string {
	if v.Size == s.t.MinSize && s.need.Size < s.t.MinSize {
		return fmt.Sprintf("%s starts at %s; %s", s.t.Type, gib(s.t.MinSize), rule)
	}
	return rule
}

// tiny keeps the rounding of a division from adding a whole unit.
const tiny = 1e-9

func wholeGiB(gib float64) units.Bytes { return units.Bytes(math.Ceil(gib-tiny)) * units.GiB }

func gib(size units.Bytes) string { return units.Thousands(size.GiB()) + " GiB" }

func perGiB(iops units.IOPS) string {
	if x := float64(iops); x != math.Trunc(x) {
		return fmt.Sprintf("%g per GiB", x)
	}
	return units.Thousands(float64(iops)) + " per GiB"
}

// span prints a time without the zeros at its end: "30m", "1h".
func span(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
