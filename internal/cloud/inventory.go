package cloud

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"ebscope/internal/ebs"
	"ebscope/internal/fleet"
)

// The most entries that EC2 gives at once.
const (
	volumesPage   = 500
	instancesPage = 1000
)

// regionsAtOnce is how many regions are read at the same time. AWS throttles each region apart.
const regionsAtOnce = 8

// Inventory reads the volumes, instances, modifications and alarms of regions. What cannot be read is missing, and the rest
// goes on; there is no error but that. A region of which nothing could be read is not among the regions.
func (a Account) Inventory(ctx context.Context, account fleet.AccountID, regions []string) ([]fleet.Region, []fleet.Missing) {
	type outcome struct {
		region *fleet.Region
		lost   []fleet.Missing
	}
	found := make([]outcome, len(regions))
	places := make(chan struct{}, regionsAtOnce)
	var all sync.WaitGroup
	for i, name := range regions {
		all.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			found[i].region, found[i].lost = a.region(ctx, account, name)
		})
	}
	all.Wait()
	var some []fleet.Region
	var lost []fleet.Missing
	for _, one := range found {
		if one.region != nil {
			some = append(some, *one.region)
		}
		lost = append(lost, one.lost...)
	}
	return some, lost
}

// region reads all of one region, its parts at the same time.
func (a Account) region(ctx context.Context, account fleet.AccountID, name string) (*fleet.Region, []fleet.Missing) {
	r := &fleet.Region{Account: account, Name: name}
	parts := []struct {
		operation string
		read      func() error
	}{
		{"ec2:DescribeVolumes", func() (err error) { r.Volumes, err = a.Volumes(ctx, name, nil); return err }},
		{"ec2:DescribeInstances", func() (err error) { r.Instances, err = a.machines(ctx, name); return err }},
		{"ec2:DescribeVolumesModifications", func() (err error) { r.Modifications, err = a.Modifications(ctx, name, nil); return err }},
		{"cloudwatch:DescribeAlarms", func() (err error) { r.Alarms, err = a.allAlarms(ctx, name); return err }},
	}
	errs := make([]error, len(parts))
	var all sync.WaitGroup
	for i, p := range parts {
		all.Go(func() { errs[i] = p.read() })
	}
	all.Wait()
	var lost []fleet.Missing
	for i, p := range parts {
		if errs[i] != nil {
			lost = append(lost, missing(account, name, p.operation, errs[i]))
		}
	}
	if len(lost) == len(parts) && !slices.ContainsFunc(lost, func(m fleet.Missing) bool { return m.Reason != lost[0].Reason }) {
		// One fault of the whole region is told once.
		lost = lost[:1]
		if lost[0].Reason == fleet.Disabled {
			lost[0].Operation = ""
		}
	}
	if errs[0] != nil && errs[1] != nil && errs[2] != nil && errs[3] != nil {
		return nil, lost
	}
	return r, lost
}

// filterValues is the most values of a filter.
const filterValues = 200

// Volumes reads all volumes of a region, or those of the ids: one that does not exist is left out.
func (a Account) Volumes(ctx context.Context, region string, ids []fleet.VolumeID) ([]fleet.Volume, error) {
	var all []fleet.Volume
	err := byFilter(ids, func(filters []types.Filter) error {
		input := &ec2.DescribeVolumesInput{MaxResults: aws.Int32(volumesPage), Filters: filters}
		for pages := ec2.NewDescribeVolumesPaginator(a.ec2(region), input); pages.HasMorePages(); {
			page, err := pages.NextPage(ctx, a.ec2With(a.patient(region, "DescribeVolumes")))
			if err != nil {
				return fmt.Errorf("volumes of %s: %w", region, meaning(err))
			}
			for i := range page.Volumes {
				all = append(all, volumeOf(&page.Volumes[i]))
			}
		}
		return nil
	})
	return all, err
}

// Modifications reads the latest modification of each volume of a region, or of those of the ids. AWS tells no more, and
// forgets one some time after it is completed.
func (a Account) Modifications(ctx context.Context, region string, ids []fleet.VolumeID) ([]fleet.Modification, error) {
	var all []fleet.Modification
	err := byFilter(ids, func(filters []types.Filter) error {
		input := &ec2.DescribeVolumesModificationsInput{MaxResults: aws.Int32(volumesPage), Filters: filters}
		for pages := ec2.NewDescribeVolumesModificationsPaginator(a.ec2(region), input); pages.HasMorePages(); {
			page, err := pages.NextPage(ctx, a.ec2With(a.patient(region, "DescribeVolumesModifications")))
			if err != nil {
				return fmt.Errorf("volume modifications of %s: %w", region, meaning(err))
			}
			for i := range page.VolumesModifications {
				all = append(all, modificationOf(&page.VolumesModifications[i]))
			}
		}
		return nil
	})
	return all, err
}

// byFilter reads in as many requests as the ids need; in one, without a filter, where there are none. Ids in a filter,
// unlike ids that are asked for, make no error when one of them is gone.
func byFilter(ids []fleet.VolumeID, read func([]types.Filter) error) error {
	if ids == nil {
		return read(nil)
	}
	for some := range slices.Chunk(ids, filterValues) {
		values := make([]string, len(some))
		for i, id := range some {
			values[i] = string(id)
		}
		if err := read([]types.Filter{{Name: aws.String("volume-id"), Values: values}}); err != nil {
			return err
		}
	}
	return nil
}

func (a Account) machines(ctx context.Context, region string) ([]fleet.Instance, error) {
	var all []fleet.Instance
	input := &ec2.DescribeInstancesInput{MaxResults: aws.Int32(instancesPage)}
	for pages := ec2.NewDescribeInstancesPaginator(a.ec2(region), input); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx, a.ec2With(a.patient(region, "DescribeInstances")))
		if err != nil {
			return all, fmt.Errorf("instances of %s: %w", region, meaning(err))
		}
		for _, r := range page.Reservations {
			for i := range r.Instances {
				all = append(all, machineOf(&r.Instances[i]))
			}
		}
	}
	return all, nil
}

func volumeOf(v *types.Volume) fleet.Volume {
	found := fleet.Volume{
		ID: fleet.VolumeID(aws.ToString(v.VolumeId)), Zone: aws.ToString(v.AvailabilityZone), State: string(v.State),
		Setting:   settingOf(v.VolumeType, v.Size, v.Iops, v.Throughput),
		Encrypted: aws.ToBool(v.Encrypted), KeyID: aws.ToString(v.KmsKeyId), MultiAttach: aws.ToBool(v.MultiAttachEnabled),
		SnapshotID: aws.ToString(v.SnapshotId), FastRestored: aws.ToBool(v.FastRestored),
		InitializationMiBps: int64(aws.ToInt32(v.VolumeInitializationRate)), Created: aws.ToTime(v.CreateTime), Tags: tagsOf(v.Tags),
	}
	for _, t := range v.Attachments {
		found.Attachments = append(found.Attachments, fleet.Attachment{
			Instance: fleet.InstanceID(aws.ToString(t.InstanceId)), Device: aws.ToString(t.Device), State: string(t.State),
			Since: aws.ToTime(t.AttachTime), DeleteOnTermination: aws.ToBool(t.DeleteOnTermination)})
	}
	return found
}

func settingOf(t types.VolumeType, size, iops, throughput *int32) fleet.Setting {
	return fleet.Setting{Type: ebs.Type(t), SizeGiB: int64(aws.ToInt32(size)), IOPS: int64(aws.ToInt32(iops)), ThroughputMiBps: int64(aws.ToInt32(throughput))}
}

func modificationOf(m *types.VolumeModification) fleet.Modification {
	return fleet.Modification{
		Volume: fleet.VolumeID(aws.ToString(m.VolumeId)), State: string(m.ModificationState), Message: aws.ToString(m.StatusMessage),
		Progress: aws.ToInt64(m.Progress), Start: aws.ToTime(m.StartTime), End: aws.ToTime(m.EndTime),
		Original: settingOf(m.OriginalVolumeType, m.OriginalSize, m.OriginalIops, m.OriginalThroughput),
		Target:   settingOf(m.TargetVolumeType, m.TargetSize, m.TargetIops, m.TargetThroughput),
	}
}

func machineOf(i *types.Instance) fleet.Instance {
	found := fleet.Instance{ID: fleet.InstanceID(aws.ToString(i.InstanceId)), Type: string(i.InstanceType), Tags: tagsOf(i.Tags)}
	if i.State != nil {
		found.State = string(i.State.Name)
	}
	if i.Placement != nil {
		found.Zone = aws.ToString(i.Placement.AvailabilityZone)
	}
	return found
}

func tagsOf(tags []types.Tag) map[string]string {
	if len(tags) == 0 {
		return nil
	}
	all := make(map[string]string, len(tags))
	for _, t := range tags {
		all[aws.ToString(t.Key)] = aws.ToString(t.Value)
	}
	return all
}
