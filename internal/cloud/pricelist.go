package cloud

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"ebscope/internal/ebs"
	"ebscope/internal/units"
)

// rate is something that is charged: a price list has one for each usage type.
type rate struct {
	volume ebs.Type
	what   charge
	tier   int // of IOPS, from 0
}

type charge int

const (
	size charge = iota
	iops
	throughput
	io
)

// units in which AWS states what is charged. Throughput is sold by the GiB/s.
var chargeUnits = map[charge]string{size: "GB-Mo", iops: "IOPS-Mo", throughput: "GiBps-mo", io: "IOs"}

// mibPerGiB turns a price per GiB/s into one per MiB/s.
const mibPerGiB = 1024

// usageTypes by name without the prefix that names the region ("APN2-"; us-east-1 has none). What else is stored and
// charged, such as snapshots or volumes on Outposts, has other names.
var usageTypes = map[string]rate{
	"EBS:VolumeUsage": {ebs.Standard, size, 0}, "EBS:VolumeIOUsage": {ebs.Standard, io, 0},
	"EBS:VolumeUsage.gp2": {ebs.GP2, size, 0},
	"EBS:VolumeUsage.gp3": {ebs.GP3, size, 0}, "EBS:VolumeP-IOPS.gp3": {ebs.GP3, iops, 0},
	"EBS:VolumeP-Throughput.gp3": {ebs.GP3, throughput, 0},
	"EBS:VolumeUsage.piops":      {ebs.IO1, size, 0}, "EBS:VolumeP-IOPS.piops": {ebs.IO1, iops, 0},
	"EBS:VolumeUsage.io2": {ebs.IO2, size, 0}, "EBS:VolumeP-IOPS.io2": {ebs.IO2, iops, 0},
	"EBS:VolumeP-IOPS.io2.tier2": {ebs.IO2, iops, 1}, "EBS:VolumeP-IOPS.io2.tier3": {ebs.IO2, iops, 2},
	"EBS:VolumeUsage.st1": {ebs.ST1, size, 0}, "EBS:VolumeUsage.sc1": {ebs.SC1, size, 0},
}

// product is what is read of an entry of the price list.
type product struct {
	Product struct {
		SKU        string
		Attributes struct{ UsageType, Location, LocationType, RegionCode string }
	}
	Terms struct {
		OnDemand map[string]struct {
			PriceDimensions map[string]struct {
				Unit         string
				PricePerUnit map[string]string
			}
		}
	}
}

// list is a region's price list as far as it has been read.
type list struct {
	region, location string
	rates            map[rate]units.USD
}

// add takes in an entry of the price list.
func (l *list) add(text string) error {
	var p product
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return fmt.Errorf("%w: %w", errUnexpectedForm, err)
	}
	a := p.Product.Attributes
	prefix, name, ok := strings.Cut(a.UsageType, "EBS:")
	what, known := usageTypes["EBS:"+name]
	if !ok || !known || prefix != "" && !strings.HasSuffix(prefix, "-") || a.LocationType != "AWS Region" || a.RegionCode != l.region {
		return nil
	}
	price, err := p.price(chargeUnits[what.what])
	if err != nil {
		return fmt.Errorf("%w: %s (%s): %w", errUnexpectedForm, a.UsageType, p.Product.SKU, err)
	}
	if what.what == throughput {
		price /= mibPerGiB
	}
	if before, twice := l.rates[what]; twice && before != price {
		return fmt.Errorf("%w: %s has two prices, %v and %v", errUnexpectedForm, a.UsageType, float64(before), float64(price))
	}
	l.rates[what], l.location = price, a.Location
	return nil
}

// price returns the one price on demand of a product that is charged by a unit.
func (p product) price(unit string) (units.USD, error) {
	var found []units.USD
	for _, term := range p.Terms.OnDemand {
		for _, dimension := range term.PriceDimensions {
			if !strings.EqualFold(dimension.Unit, unit) {
				return 0, fmt.Errorf("it is charged by %q, not by %s", dimension.Unit, unit)
			}
			text, ok := dimension.PricePerUnit["USD"]
			if !ok {
				return 0, fmt.Errorf("it has no price in USD")
			}
			price, err := strconv.ParseFloat(text, 64)
			if err != nil || !(price > 0 && price < 1e6) {
				return 0, fmt.Errorf("its price is %q", text)
			}
			found = append(found, units.USD(price))
		}
	}
	if len(found) != 1 {
		return 0, fmt.Errorf("it has %d prices on demand", len(found))
	}
	return found[0], nil
}

// prices puts the rates of each volume type together.
func (l *list) prices(catalog *ebs.Catalog) (prices ebs.Prices, incomplete []ebs.Type) {
	prices = ebs.Prices{Region: l.region, Location: l.location, Volumes: map[ebs.Type]ebs.Price{}}
	for _, t := range catalog.VolumeTypes() {
		price, found, whole := l.price(t)
		switch {
		case whole:
			prices.Volumes[t.Type] = price
		case found:
			incomplete = append(incomplete, t.Type)
		}
	}
	return prices, incomplete
}

// price returns the price of a type, whether the list has any of it, and whether it has all of it.
func (l *list) price(t ebs.VolumeType) (price ebs.Price, found, whole bool) {
	whole = true
	take := func(what charge, tier int) units.USD {
		p, ok := l.rates[rate{t.Type, what, tier}]
		found, whole = found || ok, whole && ok
		return p
	}
	price = ebs.Price{PerGiB: take(size, 0), Source: PricesSource}
	if t.IOPS.Provisioned {
		price.IOPS = []ebs.IOPSTier{{Above: t.IOPS.Included, PerIOPS: take(iops, 0)}}
		for i, bound := range t.IOPS.PriceTiers {
			price.IOPS = append(price.IOPS, ebs.IOPSTier{Above: bound, PerIOPS: take(iops, i+1)})
		}
	}
	if t.Throughput.Provisioned {
		price.PerMiBps, price.ThroughputAbove = take(throughput, 0), t.Throughput.Included
	}
	if t.PricedPerIO {
		price.PerIO = take(io, 0)
	}
	return price, found, whole
}
