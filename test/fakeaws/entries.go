package fakeaws

import (
	"encoding/json"
	"fmt"
)

// Instance is an instance type as EC2 describes it. BaseMbps of 0: it has no optimized EBS.
type Instance struct {
	Type, Hypervisor                     string
	BaseMbps, MaxMbps, BaseIOPS, MaxIOPS int
	Attachments                          int // 0: not stated
}

// Catalog has a type that bursts, one that does not, one on bare metal, an old one without optimized EBS and one that is new.
func Catalog() []Instance {
	return []Instance{
		{"m5.xlarge", "nitro", 1150, 4750, 6000, 18750, 27},
		{"m5.24xlarge", "nitro", 19000, 19000, 80000, 80000, 27},
		{"m5.metal", "", 19000, 19000, 80000, 80000, 31},
		{"t1.micro", "xen", 0, 0, 0, 0, 0},
		{"x9.huge", "nitro", 40000, 60000, 160000, 240000, 0},
	}
}

func (i Instance) xml() string {
	text := fmt.Sprintf(`
        <item>
            <currentGeneration>true</currentGeneration>
            <instanceType>%s</instanceType>
            <bareMetal>%v</bareMetal>`, i.Type, i.Hypervisor == "")
	if i.Hypervisor != "" {
		text += fmt.Sprintf(`
            <hypervisor>%s</hypervisor>`, i.Hypervisor)
	}
	text += `
            <ebsInfo>
                <encryptionSupport>supported</encryptionSupport>`
	if i.BaseMbps > 0 {
		text += fmt.Sprintf(`
                <ebsOptimizedSupport>default</ebsOptimizedSupport>
                <ebsOptimizedInfo>
                    <baselineBandwidthInMbps>%d</baselineBandwidthInMbps>
                    <baselineIops>%d</baselineIops>
                    <baselineThroughputInMBps>%g</baselineThroughputInMBps>
                    <maximumBandwidthInMbps>%d</maximumBandwidthInMbps>
                    <maximumIops>%d</maximumIops>
                    <maximumThroughputInMBps>%g</maximumThroughputInMBps>
                </ebsOptimizedInfo>`, i.BaseMbps, i.BaseIOPS, float64(i.BaseMbps)/8, i.MaxMbps, i.MaxIOPS, float64(i.MaxMbps)/8)
	} else {
		text += `
                <ebsOptimizedSupport>unsupported</ebsOptimizedSupport>`
	}
	if i.Attachments > 0 {
		text += fmt.Sprintf(`
                <maximumEbsAttachments>%d</maximumEbsAttachments>`, i.Attachments)
	}
	return text + `
            </ebsInfo>
        </item>`
}

// Product is an entry of the price list.
type Product struct {
	Region, Location, LocationType, Family, UsageType, API, Unit, Currency, Price string
}

func (p Product) attribute(field string) string {
	return map[string]string{"regionCode": p.Region, "productFamily": p.Family, "volumeApiName": p.API}[field]
}

func (p Product) json() string {
	sku := fmt.Sprintf("SKU%08X", len(p.UsageType)*31+int(p.UsageType[len(p.UsageType)-1]))
	type object map[string]any
	text, err := json.Marshal(object{
		"product": object{
			"productFamily": p.Family, "sku": sku,
			"attributes": object{
				"regionCode": p.Region, "servicecode": "AmazonEC2", "servicename": "Amazon Elastic Compute Cloud",
				"usagetype": p.UsageType, "volumeApiName": p.API, "location": p.Location, "locationType": p.LocationType,
			},
		},
		"serviceCode": "AmazonEC2",
		"terms": object{"OnDemand": object{sku + ".JRTCKXETXF": object{
			"priceDimensions": object{sku + ".JRTCKXETXF.6YS6EN2CT7": object{
				"unit": p.Unit, "beginRange": "0", "endRange": "Inf", "description": "per " + p.Unit, "appliesTo": []string{},
				"rateCode": sku + ".JRTCKXETXF.6YS6EN2CT7", "pricePerUnit": object{p.Currency: p.Price},
			}},
			"sku": sku, "effectiveDate": "2026-09-01T00:00:00Z", "offerTermCode": "JRTCKXETXF", "termAttributes": object{},
		}}},
		"version": "20260902174400", "publicationDate": "2026-09-02T17:44:00Z",
	})
	if err != nil {
		panic(err) // strings only
	}
	return string(text)
}

// Seoul has the whole price list of ap-northeast-2, with much beside that EBS volumes are not charged by. Its usage types
// carry the prefix of the region.
func Seoul() []Product {
	const storage, operation, throughput = "Storage", "System Operation", "Provisioned Throughput"
	all := []Product{
		{Family: storage, UsageType: "EBS:VolumeUsage", API: "standard", Unit: "GB-Mo", Price: "0.0800000000"},
		{Family: storage, UsageType: "EBS:VolumeUsage.gp2", API: "gp2", Unit: "GB-Mo", Price: "0.1140000000"},
		{Family: storage, UsageType: "EBS:VolumeUsage.gp3", API: "gp3", Unit: "GB-Mo", Price: "0.0912000000"},
		{Family: storage, UsageType: "EBS:VolumeUsage.piops", API: "io1", Unit: "GB-Mo", Price: "0.1278000000"},
		{Family: storage, UsageType: "EBS:VolumeUsage.io2", API: "io2", Unit: "GB-Mo", Price: "0.1278000000"},
		{Family: storage, UsageType: "EBS:VolumeUsage.st1", API: "st1", Unit: "GB-Mo", Price: "0.0510000000"},
		{Family: storage, UsageType: "EBS:VolumeUsage.sc1", API: "sc1", Unit: "GB-Mo", Price: "0.0174000000"},
		{Family: storage, UsageType: "EBS:VolumeUsage.gp2-Outposts", API: "gp2", Unit: "GB-Mo", Price: "0.3000000000"},
		{Family: storage, UsageType: "EBS:SnapshotUsage", Unit: "GB-Mo", Price: "0.0500000000"},
		{Family: operation, UsageType: "EBS:VolumeIOUsage", API: "standard", Unit: "IOs", Price: "0.0000000800"},
		{Family: operation, UsageType: "EBS:VolumeP-IOPS.gp3", API: "gp3", Unit: "IOPS-Mo", Price: "0.0057000000"},
		{Family: operation, UsageType: "EBS:VolumeP-IOPS.piops", API: "io1", Unit: "IOPS-Mo", Price: "0.0666000000"},
		{Family: operation, UsageType: "EBS:VolumeP-IOPS.io2", API: "io2", Unit: "IOPS-Mo", Price: "0.0666000000"},
		{Family: operation, UsageType: "EBS:VolumeP-IOPS.io2.tier2", API: "io2", Unit: "IOPS-Mo", Price: "0.0466200000"},
		{Family: operation, UsageType: "EBS:VolumeP-IOPS.io2.tier3", API: "io2", Unit: "IOPS-Mo", Price: "0.0326340000"},
		// 0.0456 per MiB/s × 1,024
		{Family: throughput, UsageType: "EBS:VolumeP-Throughput.gp3", API: "gp3", Unit: "GiBps-mo", Price: "46.6944000000"},
	}
	for i := range all {
		all[i].UsageType = "APN2-" + all[i].UsageType
		all[i].Region, all[i].Location, all[i].LocationType, all[i].Currency = "ap-northeast-2", "Asia Pacific (Seoul)", "AWS Region", "USD"
	}
	return all
}

// Virginia has gp2 whole and gp3 without the price of throughput. Its usage types carry no prefix.
func Virginia() []Product {
	all := []Product{
		{Family: "Storage", UsageType: "EBS:VolumeUsage.gp2", API: "gp2", Unit: "GB-Mo", Price: "0.1000000000"},
		{Family: "Storage", UsageType: "EBS:VolumeUsage.gp3", API: "gp3", Unit: "GB-Mo", Price: "0.0800000000"},
		{Family: "System Operation", UsageType: "EBS:VolumeP-IOPS.gp3", API: "gp3", Unit: "IOPS-Mo", Price: "0.0050000000"},
	}
	for i := range all {
		all[i].Region, all[i].Location, all[i].LocationType, all[i].Currency = "us-east-1", "US East (N. Virginia)", "AWS Region", "USD"
	}
	return all
}
