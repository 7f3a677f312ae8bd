package cloud

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"ebscope/internal/ebs"
	"ebscope/internal/fleet"
	"ebscope/internal/units"
)

// Change is what a volume is to become.
type Change struct {
	Volume fleet.VolumeID
	Target fleet.Setting
	// Before is when the volume's latest modification began, as EC2 told it before this change was sent; zero where it had
	// none. By it a modification that is this change is told from an older one, whatever this machine's clock says.
	Before time.Time
}

// ModifyVolume changes size, type, IOPS and throughput of a volume in one request, and says how AWS carries it out. EC2
// takes no client token for it, so it is sent anew only where AWS throttled it. Where the answer is lost the error is
// ErrUncertain: Made then says what became of it.
func (a Account) ModifyVolume(ctx context.Context, region string, c Change) (fleet.Modification, error) {
	input, err := inputOf(c)
	if err != nil {
		return fleet.Modification{}, err
	}
	answer, err := a.ec2(region).modifyVolume(ctx, input, a.ec2With(a.once(region, "ModifyVolume")))
	if err == nil {
		if answer.VolumeModification == nil {
			return fleet.Modification{}, fmt.Errorf("modify volume %s: %w: %w", c.Volume, ErrUncertain, errUnexpectedForm)
		}
		return modificationOf(answer.VolumeModification), nil
	}
	told := meaning(err)
	switch {
	case errors.Is(told, ErrTooOften):
		return fleet.Modification{}, &RateError{Volume: c.Volume, Until: timeIn(err.Error()), Message: err.Error()}
	case mayBeDone(err):
		return fleet.Modification{}, fmt.Errorf("modify volume %s: %w: %w", c.Volume, ErrUncertain, told)
	default:
		return fleet.Modification{}, fmt.Errorf("modify volume %s: %w", c.Volume, told)
	}
}

// inputOf leaves out what the type does not let one set: for gp2 EC2 states IOPS, but does not take them.
func inputOf(c Change) (*ec2.ModifyVolumeInput, error) {
	catalog := ebs.Embedded()
	wanted := c.Target.Config(catalog)
	if _, err := catalog.VolumeType(c.Target.Type); err != nil || c.Target.SizeGiB <= 0 || c.Target.SizeGiB > 1<<20 {
		return nil, fmt.Errorf("modify volume %s to %d GiB of type %q: %w", c.Volume, c.Target.SizeGiB, c.Target.Type, ErrRefused)
	}
	input := &ec2.ModifyVolumeInput{VolumeId: aws.String(string(c.Volume)), VolumeType: types.VolumeType(c.Target.Type),
		Size: aws.Int32(int32(c.Target.SizeGiB))}
	if wanted.IOPS > 0 {
		input.Iops = aws.Int32(int32(wanted.IOPS))
	}
	if wanted.Throughput > 0 {
		input.Throughput = aws.Int32(int32(wanted.Throughput / units.MiBPerSecond))
	}
	return input, nil
}

// readsForCertainty is how often a change is looked for before it counts as not made: EC2's reads may lag behind its
// changes. The pauses between them double, so that it is looked for over half a minute.
const readsForCertainty = 6

// Made says what became of a change whose answer was lost: the modification, or false where EC2 does not know of it after
// several reads. It is safe to send the change then: should it have been made all the same and still be under way, EC2
// refuses it as ErrBusy and counts nothing.
func (a Account) Made(ctx context.Context, region string, c Change) (fleet.Modification, bool, error) {
	pause := a.clients.pause
	for n := 1; ; n++ {
		m, found, err := a.Modification(ctx, region, c.Volume)
		if err != nil || found && c.is(m) {
			return m, err == nil, err
		}
		if n == readsForCertainty {
			return fleet.Modification{}, false, nil
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return fleet.Modification{}, false, fmt.Errorf("look for the modification of volume %s: %w", c.Volume, ctx.Err())
		}
		pause *= 2
	}
}

// is says whether a modification is this change.
func (c Change) is(m fleet.Modification) bool {
	catalog := ebs.Embedded()
	return m.Target.Config(catalog) == c.Target.Config(catalog) && m.Start.After(c.Before)
}

// Modification returns the latest modification of a volume, false where EC2 knows of none.
func (a Account) Modification(ctx context.Context, region string, id fleet.VolumeID) (fleet.Modification, bool, error) {
	all, err := a.Modifications(ctx, region, []fleet.VolumeID{id})
	if err != nil || len(all) == 0 {
		return fleet.Modification{}, false, err
	}
	latest := all[0]
	for _, m := range all[1:] {
		if m.Start.After(latest.Start) {
			latest = m
		}
	}
	return latest, true, nil
}

// Volume reads one volume.
func (a Account) Volume(ctx context.Context, region string, id fleet.VolumeID) (fleet.Volume, error) {
	all, err := a.Volumes(ctx, region, []fleet.VolumeID{id})
	if err != nil {
		return fleet.Volume{}, err
	}
	if len(all) == 0 {
		return fleet.Volume{}, fmt.Errorf("volume %s in %s: %w", id, region, ErrNoVolume)
	}
	return all[0], nil
}
