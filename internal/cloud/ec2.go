package cloud

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
)

// ec2Client has, of EC2's 700 operations, those that are used here. The SDK's client is kept out of sight of reflection, in
// functions: were it part of a value that becomes an interface, the linker would keep all of its operations, which make the
// program half as large again, in memory too.
type ec2Client struct {
	regions       operation[ec2.DescribeRegionsInput, ec2.DescribeRegionsOutput]
	instanceTypes operation[ec2.DescribeInstanceTypesInput, ec2.DescribeInstanceTypesOutput]
	instances     operation[ec2.DescribeInstancesInput, ec2.DescribeInstancesOutput]
	volumes       operation[ec2.DescribeVolumesInput, ec2.DescribeVolumesOutput]
	modifications operation[ec2.DescribeVolumesModificationsInput, ec2.DescribeVolumesModificationsOutput]
	modifyVolume  operation[ec2.ModifyVolumeInput, ec2.ModifyVolumeOutput]
}

type operation[In, Out any] func(context.Context, *In, ...func(*ec2.Options)) (*Out, error)

func newEC2Client(sdk *ec2.Client) ec2Client {
	return ec2Client{sdk.DescribeRegions, sdk.DescribeInstanceTypes, sdk.DescribeInstances, sdk.DescribeVolumes,
		sdk.DescribeVolumesModifications, sdk.ModifyVolume}
}

// The methods are what the SDK's paginators ask for.

func (c ec2Client) DescribeInstanceTypes(ctx context.Context, in *ec2.DescribeInstanceTypesInput, o ...func(*ec2.Options)) (*ec2.DescribeInstanceTypesOutput, error) {
	return c.instanceTypes(ctx, in, o...)
}

func (c ec2Client) DescribeInstances(ctx context.Context, in *ec2.DescribeInstancesInput, o ...func(*ec2.Options)) (*ec2.DescribeInstancesOutput, error) {
	return c.instances(ctx, in, o...)
}

func (c ec2Client) DescribeVolumes(ctx context.Context, in *ec2.DescribeVolumesInput, o ...func(*ec2.Options)) (*ec2.DescribeVolumesOutput, error) {
	return c.volumes(ctx, in, o...)
}

func (c ec2Client) DescribeVolumesModifications(ctx context.Context, in *ec2.DescribeVolumesModificationsInput, o ...func(*ec2.Options)) (*ec2.DescribeVolumesModificationsOutput, error) {
	return c.modifications(ctx, in, o...)
}
