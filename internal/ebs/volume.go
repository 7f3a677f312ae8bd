// Package ebs holds what AWS documents about EBS: the limits of each volume type, of each instance type, and the
// prices of each region, every figure with its source and date. It measures nothing and assumes nothing about a workload.
//
// The figures are data: those that ship are embedded, and a user's catalog may add to them or override them. Whoever
// needs a limit is given a Catalog.
package ebs

import (
	"fmt"
	"strings"

	"ebscope/internal/units"
)

// Type is an EBS volume type by its API name.
type Type string

// The volume types.
const (
	GP2      Type = "gp2"
	GP3      Type = "gp3"
	IO1      Type = "io1"
	IO2      Type = "io2"
	ST1      Type = "st1"
	SC1      Type = "sc1"
	Standard Type = "standard"
)

// Volume is a volume as a customer configures it.
type Volume struct {
	Type Type        `json:"type"`
	Size units.Bytes `json:"size_bytes"`
	// IOPS and Throughput are what is provisioned. Zero means the type's default, see Catalog.Provisioned; most types take neither.
	IOPS       units.IOPS       `json:"iops,omitempty"`
	Throughput units.Throughput `json:"throughput_bytes_s,omitempty"`
}

// String prints the configuration as people say it: "gp3 100 GiB, 6,000 IOPS, 250 MiB/s". What is left to the type's
// defaults is left out.
func (v Volume) String() string {
	parts := []string{fmt.Sprintf("%s %s GiB", v.Type, units.Thousands(v.Size.GiB()))}
	if v.IOPS != 0 {
		parts = append(parts, v.IOPS.String())
	}
	if v.Throughput != 0 {
		parts = append(parts, v.Throughput.String())
	}
	return strings.Join(parts, ", ")
}

// Performance is what a volume delivers.
type Performance struct {
	// Baseline is held for ever; Burst is held while credits last, and equals Baseline where the type does not burst.
	Baseline, Burst units.IOPS
	// Provisioned says that the customer set them; otherwise they come with the type and the size.
	Provisioned bool
	// Credits is the capacity of the I/O credit bucket, zero where there is none. It refills at Baseline.
	Credits units.Ops
	// Throughput is the limit on data, while data credits last. A gp2 volume of 171 to 333 GiB reaches it only while its
	// I/O credits last: afterwards its baseline operations of at most 256 KiB give less.
	Throughput units.Throughput
	// BaselineThroughput is held for ever. It equals Throughput where the type has no data credits.
	BaselineThroughput units.Throughput
	// DataCredits is the capacity of an HDD volume's credit bucket, zero where there is none. It refills at BaselineThroughput.
	DataCredits units.Bytes
	// AccountingUnit is the largest I/O that is counted as one operation.
	AccountingUnit units.Bytes
	// WholeUnits says that a random I/O uses up data as if it were a whole number of accounting units.
	WholeUnits bool
}

// Bursts says whether the volume has an I/O credit bucket that can run dry.
func (p Performance) Bursts() bool { return p.Credits > 0 }

// BurstsData says whether the volume has a data credit bucket that can run dry.
func (p Performance) BurstsData() bool { return p.DataCredits > 0 }

// Operations returns how many operations an I/O counts as: one for each accounting unit begun. On an HDD volume, parts
// of a sequential transfer are merged first, so that they count by what they transfer.
func (p Performance) Operations(size units.Bytes, sequential bool) float64 {
	if p.WholeUnits && sequential {
		return float64(size) / float64(p.AccountingUnit)
	}
	if size <= p.AccountingUnit {
		return 1
	}
	return float64((size + p.AccountingUnit - 1) / p.AccountingUnit)
}

// Data returns how much of its throughput an I/O uses up: what it transfers, or, at random on an HDD volume, whole units.
func (p Performance) Data(size units.Bytes, sequential bool) units.Bytes {
	if p.WholeUnits && !sequential {
		return units.Bytes(p.Operations(size, false)) * p.AccountingUnit
	}
	return size
}
