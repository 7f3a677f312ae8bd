package ebs

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"sync"

	"ebscope/internal/units"
)

// Instance is what an EC2 instance type allows all its EBS volumes together. AWS states throughput for 128 KiB
// and IOPS for 16 KiB I/O. Where the baseline is below the maximum, the maximum holds for 30 minutes at least once
// every 24 hours (EC2 user guide, "EBS-optimized instance types").
type Instance struct {
	Type                                  string
	BaselineIOPS, MaximumIOPS             units.IOPS
	BaselineThroughput, MaximumThroughput units.Throughput
	Source, Date                          string
}

// Bursts says whether the instance's EBS limits fall after half an hour.
func (i Instance) Bursts() bool {
	return i.BaselineIOPS < i.MaximumIOPS || i.BaselineThroughput < i.MaximumThroughput
}

// Prices are the monthly EBS prices of one region, in USD. AWS writes GB and bills GiB.
type Prices struct {
	Region, Location string
	GP2PerGiB        units.USD
	GP3PerGiB        units.USD
	GP3PerIOPS       units.USD // above 3,000
	GP3PerMiBps      units.USD // above 125
	Date             string
}

// UnknownError says that a catalog has no entry of that name, and which names come near it.
type UnknownError struct {
	Kind, Name string
	Near       []string
}

func (e *UnknownError) Error() string {
	s := fmt.Sprintf("unknown %s %q", e.Kind, e.Name)
	if len(e.Near) > 0 {
		s += "; did you mean " + strings.Join(e.Near, ", ") + "?"
	}
	return s
}

// LookupInstance finds an instance type by its API name, such as "m5.xlarge".
func LookupInstance(name string) (Instance, error) { return lookup("instance type", name, instances()) }

// LookupPrices finds a region's prices by its code, such as "ap-northeast-2".
func LookupPrices(region string) (Prices, error) { return lookup("region", region, prices()) }

//go:embed catalog/instances.csv
var instancesCSV string

//go:embed catalog/prices.csv
var pricesCSV string

var instances = sync.OnceValue(func() map[string]Instance {
	return read(instancesCSV, func(r record) (string, Instance) {
		return r.text("type"), Instance{
			Type:               r.text("type"),
			BaselineIOPS:       units.IOPS(r.number("base_iops")),
			MaximumIOPS:        units.IOPS(r.number("max_iops")),
			BaselineThroughput: units.Throughput(r.number("base_mbps")) * units.MegabitPerSecond,
			MaximumThroughput:  units.Throughput(r.number("max_mbps")) * units.MegabitPerSecond,
			Source:             r.text("source"),
			Date:               r.text("date"),
		}
	})
})

var prices = sync.OnceValue(func() map[string]Prices {
	return read(pricesCSV, func(r record) (string, Prices) {
		return r.text("region"), Prices{
			Region:      r.text("region"),
			Location:    r.text("location"),
			GP2PerGiB:   units.USD(r.number("gp2_gib_month")),
			GP3PerGiB:   units.USD(r.number("gp3_gib_month")),
			GP3PerIOPS:  units.USD(r.number("gp3_iops_month")),
			GP3PerMiBps: units.USD(r.number("gp3_mibps_month")),
			Date:        r.text("date"),
		}
	})
})

// record is one row of an embedded catalog, read by column name.
type record struct {
	column map[string]int
	fields []string
}

func (r record) text(column string) string { return r.fields[r.column[column]] }

func (r record) number(column string) float64 {
	x, err := strconv.ParseFloat(r.text(column), 64)
	if err != nil {
		panic(fmt.Sprintf("embedded catalog: %s of %s: %v", column, r.fields[0], err)) // the build is broken; tests read every row
	}
	return x
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

func lookup[T any](kind, name string, entries map[string]T) (T, error) {
	if e, ok := entries[name]; ok {
		return e, nil
	}
	names := make([]string, 0, len(entries))
	for n := range entries {
		names = append(names, n)
	}
	var none T
	return none, &UnknownError{Kind: kind, Name: name, Near: near(name, names, 3)}
}

// near returns up to n names closest to the given one by edit distance, nearest first, leaving out those that
// share less than half of its letters.
func near(name string, names []string, n int) []string {
	sort.Strings(names)
	distance := make(map[string]int, len(names))
	var found []string
	for _, candidate := range names {
		d := editDistance(strings.ToLower(name), candidate)
		if d <= len(name)/2 {
			distance[candidate] = d
			found = append(found, candidate)
		}
	}
	sort.SliceStable(found, func(i, j int) bool { return distance[found[i]] < distance[found[j]] })
	return found[:min(n, len(found))]
}

func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substitute := diagonal
			if a[i] != b[j] {
				substitute++
			}
			diagonal = row[j+1]
			row[j+1] = min(substitute, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
