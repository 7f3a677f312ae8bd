package cloud

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	"github.com/aws/aws-sdk-go-v2/service/pricing/types"

	"ebscope/internal/ebs"
	"ebscope/internal/units"
)

// PricesSource is what the prices name as their source.
const PricesSource = "Price List API, GetProducts"

// families are the product families that have what EBS volumes cost.
var families = []string{"Storage", "System Operation", "Provisioned Throughput"}

// Prices returns a region's prices of the volume types of a catalog. A type whose price is not whole is left out and
// named in incomplete.
func (a Account) Prices(ctx context.Context, catalog *ebs.Catalog, region string) (prices ebs.Prices, incomplete []ebs.Type, err error) {
	found := list{region: region, rates: map[rate]units.USD{}}
	client := a.pricing()
	for _, family := range families {
		pages := pricing.NewGetProductsPaginator(client, &pricing.GetProductsInput{
			ServiceCode: aws.String("AmazonEC2"), FormatVersion: aws.String("aws_v1"), MaxResults: aws.Int32(pageSize),
			Filters: []types.Filter{
				{Type: types.FilterTypeTermMatch, Field: aws.String("regionCode"), Value: aws.String(region)},
				{Type: types.FilterTypeTermMatch, Field: aws.String("productFamily"), Value: aws.String(family)},
			},
		})
		var so paging
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err == nil {
				err = so.next(page.NextToken)
			}
			if err != nil {
				return prices, nil, fmt.Errorf("prices of %s: %w", region, meaning(err))
			}
			for _, text := range page.PriceList {
				if err := found.add(text); err != nil {
					return prices, nil, fmt.Errorf("prices of %s: %w", region, err)
				}
			}
		}
	}
	if len(found.rates) == 0 {
		return prices, nil, fmt.Errorf("%w %s", ErrUnknownRegion, region)
	}
	prices, incomplete = found.prices(catalog)
	return prices, incomplete, nil
}
