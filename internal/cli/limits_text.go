package cli

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ebscope/internal/ebs"
	"ebscope/internal/units"
)

func volumeTypeTable(types []ebs.VolumeType) [][]string {
	rows := [][]string{{"TYPE", "SIZE", "IOPS", "MIB/S", "PROVISIONED", "BURSTS"}}
	for _, t := range types {
		provisioned, bursts := []string{}, "–"
		if t.IOPS.Provisioned {
			provisioned = append(provisioned, "IOPS")
		}
		if t.Throughput.Provisioned {
			provisioned = append(provisioned, "MiB/s")
		}
		if len(provisioned) == 0 {
			provisioned = []string{"–"}
		}
		switch {
		case t.IOPS.Burst > 0:
			bursts = t.IOPS.Burst.String()
		case t.Throughput.PerTiB.Burst > 0:
			bursts = t.Throughput.PerTiB.Burst.String() + " per TiB"
		}
		rows = append(rows, []string{
			string(t.Type), fmt.Sprintf("%v – %v", t.MinSize, t.MaxSize), span(float64(t.IOPS.Min), float64(t.IOPS.Max)),
			span(t.Throughput.Min.MiBps(), t.Throughput.Max.MiBps()), strings.Join(provisioned, ", "), bursts,
		})
	}
	return rows
}

// span prints a range, and one number where it has no lower end of its own.
func span(from, to float64) string {
	switch from {
	case to:
		return units.Thousands(to)
	case 0:
		return "≤ " + units.Thousands(to)
	default:
		return units.Thousands(from) + " – " + units.Thousands(to)
	}
}

func volumeTypeEntry(t ebs.VolumeType) [][]string {
	rows := [][]string{
		{string(t.Type), t.Title},
		{"size", fmt.Sprintf("%v to %v", t.MinSize, t.MaxSize)},
		{"IOPS", iopsRule(t.IOPS)},
		{"throughput", throughputRule(t.Throughput)},
	}
	if t.IOPS.Burst > 0 {
		rows = append(rows, []string{"burst", fmt.Sprintf("%v while credits last, where that is more; %s credits, refilled at the baseline",
			t.IOPS.Burst, units.Thousands(float64(t.IOPS.Credits)))})
	}
	unit := fmt.Sprintf("one operation for each %v begun", t.AccountingUnit)
	if t.WholeUnits {
		unit += "; at random, each uses up its whole unit of throughput"
	}
	return append(rows, []string{"accounting", unit}, []string{"source", origin(t.Source, t.Date)})
}

func iopsRule(l ebs.IOPSLimits) string {
	rule := span(float64(l.Min), float64(l.Max))
	switch {
	case l.Provisioned:
		rule += fmt.Sprintf(", provisioned, at most %s per GiB", units.Thousands(float64(l.PerGiB)))
	case l.PerGiB > 0:
		rule = fmt.Sprintf("%g per GiB, %s", float64(l.PerGiB), rule)
	case l.Min < l.Max:
		rule += fmt.Sprintf("; %s can be counted on", units.Thousands(float64(l.Min)))
	}
	if l.Included > 0 {
		rule += fmt.Sprintf("; %s included", units.Thousands(float64(l.Included)))
	}
	return rule
}

func throughputRule(l ebs.ThroughputLimits) string {
	var parts []string
	for _, s := range l.BySize {
		parts = append(parts, fmt.Sprintf("%v up to %v", s.Limit, s.UpTo))
	}
	for _, line := range l.ByIOPS {
		parts = append(parts, fmt.Sprintf("%s MiB/s per IOPS up to %v", decimal(line.PerIOPS.MiBps()), line.Max))
	}
	if hdd := l.PerTiB; hdd.Baseline > 0 {
		parts = append(parts, fmt.Sprintf("%v per TiB, bursting to %v per TiB, at most %v; %v of credits per TiB", hdd.Baseline, hdd.Burst, l.Max, hdd.Credits))
	}
	if len(parts) > 0 {
		return strings.Join(parts, ", ")
	}
	rule := span(l.Min.MiBps(), l.Max.MiBps()) + " MiB/s"
	if !l.Provisioned {
		return rule + fmt.Sprintf("; %v can be counted on", l.Min)
	}
	return rule + fmt.Sprintf(", provisioned, at most %s MiB/s per IOPS; %v included", decimal(l.PerIOPS.MiBps()), l.Included)
}

func instanceTable(instances []ebs.Instance) [][]string {
	rows := [][]string{{"TYPE", "IOPS", "MAXIMUM", "MBPS", "MAXIMUM", "MIB/S", "MAXIMUM"}}
	for _, i := range instances {
		rows = append(rows, []string{
			i.Type, units.Thousands(float64(i.BaselineIOPS)), units.Thousands(float64(i.MaximumIOPS)),
			mbps(i.BaselineThroughput), mbps(i.MaximumThroughput), mibps(i.BaselineThroughput), mibps(i.MaximumThroughput),
		})
	}
	return rows
}

func instanceEntry(i ebs.Instance) [][]string {
	limit := func(iops units.IOPS, rate units.Throughput) string {
		return fmt.Sprintf("%v, %s Mbps = %s MiB/s", iops, mbps(rate), mibps(rate))
	}
	rows := [][]string{{i.Type}, {"baseline", limit(i.BaselineIOPS, i.BaselineThroughput)}}
	if i.Bursts() {
		rows = append(rows, []string{"maximum", limit(i.MaximumIOPS, i.MaximumThroughput) + ", for 30 min at least once in 24 h"})
	}
	if i.Hypervisor != "" {
		rows = append(rows, []string{"hypervisor", i.Hypervisor})
	}
	if i.MaximumVolumes > 0 {
		rows = append(rows, []string{"attachments", strconv.Itoa(i.MaximumVolumes)})
	}
	return append(rows, []string{"source", origin(i.Source, i.Date)})
}

func mbps(t units.Throughput) string { return units.Thousands(float64(t / units.MegabitPerSecond)) }

func mibps(t units.Throughput) string { return strconv.FormatFloat(t.MiBps(), 'f', 1, 64) }

func regionTable(regions []ebs.Prices) [][]string {
	rows := [][]string{{"REGION", "GP2", "GP3", "IO1", "IO2", "ST1", "SC1", "STANDARD", "AS OF"}}
	for _, r := range regions {
		row := []string{r.Region}
		for _, name := range []ebs.Type{ebs.GP2, ebs.GP3, ebs.IO1, ebs.IO2, ebs.ST1, ebs.SC1, ebs.Standard} {
			price := "–"
			if p, ok := r.Volumes[name]; ok {
				price = decimal(float64(p.PerGiB))
			}
			row = append(row, price)
		}
		rows = append(rows, append(row, r.Date()))
	}
	return append(rows, []string{"USD per GiB-month; – is not sold or not known. A region's name gives all of its prices."})
}

func regionEntry(r ebs.Prices) [][]string {
	rows := [][]string{{r.Region, r.Location + ", USD a month"}}
	origins := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(r.Volumes)) {
		p := r.Volumes[name]
		price := decimal(float64(p.PerGiB)) + " per GiB"
		for i, tier := range p.IOPS {
			price += ", " + decimal(float64(tier.PerIOPS))
			if i == 0 {
				price += " per IOPS"
			}
			if i > 0 || tier.Above > 0 {
				price += " above " + units.Thousands(float64(tier.Above))
			}
		}
		if p.PerMiBps > 0 {
			price += fmt.Sprintf(", %s per MiB/s above %s", decimal(float64(p.PerMiBps)), units.Thousands(p.ThroughputAbove.MiBps()))
		}
		if p.PerIO > 0 {
			price += fmt.Sprintf(", %s per million I/Os", decimal(float64(p.PerIO)*1e6))
		}
		rows = append(rows, []string{string(name), price})
		from := origin(p.Source, p.Date)
		origins[from] = append(origins[from], string(name))
	}
	for _, from := range slices.Sorted(maps.Keys(origins)) {
		of := ""
		if len(origins) > 1 {
			of = strings.Join(origins[from], ", ") + ": "
		}
		rows = append(rows, []string{"source", of + from})
	}
	return rows
}

// decimal prints a small number as it is written in a price list, without the error of binary fractions.
func decimal(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }

func origin(source, date string) string {
	if date == "" {
		return source
	}
	return source + ", " + date
}
