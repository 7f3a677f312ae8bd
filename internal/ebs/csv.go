package ebs

import (
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"

	"ebscope/internal/units"
)

// The embedded tables of instance types and prices. They are part of the build, and tests read every row: what is
// wrong with them panics.

func readInstances() map[string]Instance {
	return read(instancesCSV, func(r record) (string, Instance) {
		return r.text("type"), Instance{
			Type:               r.text("type"),
			BaselineIOPS:       units.IOPS(r.number("base_iops")),
			MaximumIOPS:        units.IOPS(r.number("max_iops")),
			BaselineThroughput: units.Throughput(r.number("base_mbps")) * units.MegabitPerSecond,
			MaximumThroughput:  units.Throughput(r.number("max_mbps")) * units.MegabitPerSecond,
			Hypervisor:         r.text("hypervisor"),
			MaximumVolumes:     int(r.numberOrZero("attachments")),
			Source:             r.text("source"),
			Date:               r.text("date"),
		}
	})
}

func readPrices(types map[Type]VolumeType) map[string]Prices {
	return read(pricesCSV, func(r record) (string, Prices) {
		p := Prices{Region: r.text("region"), Location: r.text("location"), Volumes: map[Type]Price{}}
		for name, t := range types {
			if r.text(string(name)+"_gib_month") == "" {
				continue // not sold there, or not known
			}
			price := Price{PerGiB: units.USD(r.number(string(name) + "_gib_month")), Source: "EBS price list", Date: r.text("date")}
			if t.IOPS.Provisioned {
				rates := []units.USD{}
				for _, column := range iopsColumns(t) {
					rates = append(rates, units.USD(r.number(column)))
				}
				price.IOPS = tiers(t, rates)
			}
			if t.Throughput.Provisioned {
				price.PerMiBps, price.ThroughputAbove = units.USD(r.number(string(name)+"_mibps_month")), t.Throughput.Included
			}
			if t.PricedPerIO {
				price.PerIO = units.USD(r.number(string(name) + "_per_io"))
			}
			p.Volumes[name] = price
		}
		return p.Region, p
	})
}

// iopsColumns names the columns with the price of provisioned IOPS.
func iopsColumns(t VolumeType) []string {
	column := string(t.Type) + "_iops_month"
	if len(t.IOPS.PriceTiers) == 0 {
		return []string{column}
	}
	columns := []string{column + "_tier1"}
	for i := range t.IOPS.PriceTiers {
		columns = append(columns, fmt.Sprintf("%s_tier%d", column, i+2))
	}
	return columns
}

// tiers gives each rate the bound above which it holds. There must be a rate for each tier of the type.
func tiers(t VolumeType, rates []units.USD) []IOPSTier {
	all := []IOPSTier{{Above: t.IOPS.Included, PerIOPS: rates[0]}}
	for i, bound := range t.IOPS.PriceTiers {
		all = append(all, IOPSTier{Above: bound, PerIOPS: rates[i+1]})
	}
	return all
}

// record is one row of an embedded table, read by column name.
type record struct {
	column map[string]int
	fields []string
}

func (r record) text(column string) string { return r.fields[r.column[column]] }

func (r record) number(column string) float64 {
	x, err := strconv.ParseFloat(r.text(column), 64)
	if err != nil {
		panic(fmt.Sprintf("embedded catalog: %s of %s: %v", column, r.fields[0], err))
	}
	return x
}

func (r record) numberOrZero(column string) float64 {
	if r.text(column) == "" {
		return 0
	}
	return r.number(column)
}

func read[T any](text string, entry func(record) (string, T)) map[string]T {
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		panic("embedded catalog: " + err.Error())
	}
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	entries := make(map[string]T, len(rows)-1)
	for _, row := range rows[1:] {
		name, e := entry(record{column, row})
		entries[name] = e
	}
	return entries
}
