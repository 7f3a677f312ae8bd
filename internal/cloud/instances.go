package cloud

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"ebscope/internal/ebs"
	"ebscope/internal/units"
)

// InstancesSource is what the instance types name as their source.
const InstancesSource = "EC2 API, DescribeInstanceTypes"

// pageSize is the most that AWS returns at once.
const pageSize = 100

// Instances returns the EBS limits of the instance types that a region has, or of the named ones. Old types without
// optimized EBS have none and are left out.
func (a Account) Instances(ctx context.Context, region string, names []string) ([]ebs.Instance, error) {
	var all []ebs.Instance
	if len(names) == 0 {
		return a.instancePages(ctx, region, &ec2.DescribeInstanceTypesInput{MaxResults: aws.Int32(pageSize)})
	}
	for some := range slices.Chunk(names, pageSize) {
		input := &ec2.DescribeInstanceTypesInput{}
		for _, name := range some {
			input.InstanceTypes = append(input.InstanceTypes, types.InstanceType(name))
		}
		found, err := a.instancePages(ctx, region, input)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

func (a Account) instancePages(ctx context.Context, region string, input *ec2.DescribeInstanceTypesInput) ([]ebs.Instance, error) {
	var all []ebs.Instance
	var so paging
	for pages := ec2.NewDescribeInstanceTypesPaginator(a.ec2(region), input); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err == nil {
			err = so.next(page.NextToken)
		}
		if err != nil {
			return nil, fmt.Errorf("instance types of %s: %w", region, meaning(err))
		}
		for _, info := range page.InstanceTypes {
			if info.EbsInfo == nil || info.EbsInfo.EbsOptimizedInfo == nil {
				continue
			}
			instance, err := instanceOf(info)
			if err != nil {
				return nil, fmt.Errorf("instance types of %s: %w", region, err)
			}
			all = append(all, instance)
		}
	}
	return all, nil
}

func instanceOf(info types.InstanceTypeInfo) (ebs.Instance, error) {
	limits := info.EbsInfo.EbsOptimizedInfo
	i := ebs.Instance{
		Type:               string(info.InstanceType),
		BaselineIOPS:       units.IOPS(aws.ToInt32(limits.BaselineIops)),
		MaximumIOPS:        units.IOPS(aws.ToInt32(limits.MaximumIops)),
		BaselineThroughput: units.Throughput(aws.ToInt32(limits.BaselineBandwidthInMbps)) * units.MegabitPerSecond,
		MaximumThroughput:  units.Throughput(aws.ToInt32(limits.MaximumBandwidthInMbps)) * units.MegabitPerSecond,
		Hypervisor:         string(info.Hypervisor),
		MaximumVolumes:     int(aws.ToInt32(info.EbsInfo.MaximumEbsAttachments)),
		Source:             InstancesSource,
	}
	if !(i.BaselineIOPS > 0 && i.BaselineIOPS <= i.MaximumIOPS && i.BaselineThroughput > 0 && i.BaselineThroughput <= i.MaximumThroughput) {
		return ebs.Instance{}, fmt.Errorf("%w: the EBS limits of %s are %v to %v and %v to %v", errUnexpectedForm,
			i.Type, i.BaselineIOPS, i.MaximumIOPS, i.BaselineThroughput, i.MaximumThroughput)
	}
	return i, nil
}
