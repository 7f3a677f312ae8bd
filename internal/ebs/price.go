package ebs

import (
	"slices"

	"ebscope/internal/units"
)

// Prices are the monthly EBS prices of one region, in USD. AWS writes GB and bills GiB.
type Prices struct {
	Region, Location string
	// Volumes has the price of each type. A type that is missing is not sold there, or its price is not known.
	Volumes map[Type]Price
}

// Price is what volumes of a type cost a month.
type Price struct {
	PerGiB units.USD
	// IOPS has the price of provisioned IOPS by tier, the lowest first; empty where IOPS are not charged.
	IOPS []IOPSTier
	// PerMiBps is charged for each MiB/s of provisioned throughput above ThroughputAbove.
	PerMiBps        units.USD
	ThroughputAbove units.Throughput
	// PerIO is charged for each I/O, zero where I/O is free.
	PerIO        units.USD
	Source, Date string
}

// IOPSTier is the price of each of the IOPS above a number, up to the next tier.
type IOPSTier struct {
	Above   units.IOPS
	PerIOPS units.USD
}

// Date returns the oldest date of the prices of some types, of all where none is named. It is empty where none has one.
func (p Prices) Date(types ...Type) string {
	var oldest string
	for name, price := range p.Volumes {
		asked := len(types) == 0 || slices.Contains(types, name)
		if asked && price.Date != "" && (oldest == "" || price.Date < oldest) {
			oldest = price.Date
		}
	}
	return oldest
}
