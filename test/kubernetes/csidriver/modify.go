package main

import (
	"context"
	"errors"
	"log"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"
	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// ControllerModifyVolume has EC2 change a volume, and returns once the change is in force: EC2 may still be optimizing then.
// As from the EBS CSI driver, a setting that EC2 does not accept is InvalidArgument, which is final, and other refusals are
// Internal, upon which it is asked again.
func (d *driver) ControllerModifyVolume(ctx context.Context, req *csi.ControllerModifyVolumeRequest) (*csi.ControllerModifyVolumeResponse, error) {
	wanted, err := parse(req.GetVolumeId(), req.GetMutableParameters())
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	if err := d.modify(ctx, wanted); err != nil {
		log.Printf("volume %s: %v", req.GetVolumeId(), err)
		return nil, status.Errorf(code(err), "Could not modify volume %q: %v", req.GetVolumeId(), err)
	}
	log.Printf("volume %s is as %v", req.GetVolumeId(), req.GetMutableParameters())
	return &csi.ControllerModifyVolumeResponse{}, nil
}

// parse reads the parameters of a class.
func parse(volume string, parameters map[string]string) (*ec2.ModifyVolumeInput, error) {
	wanted := &ec2.ModifyVolumeInput{VolumeId: aws.String(volume)}
	for key, value := range parameters {
		var number **int32
		switch key {
		case "type":
			wanted.VolumeType = types.VolumeType(value)
			continue
		case "iops":
			number = &wanted.Iops
		case "throughput":
			number = &wanted.Throughput
		default:
			return nil, errors.New("unknown parameter " + key)
		}
		n, err := strconv.ParseInt(value, 10, 32)
		if err != nil {
			return nil, err
		}
		*number = aws.Int32(int32(n))
	}
	return wanted, nil
}

// code is what csi-resizer is told.
func code(err error) codes.Code {
	var refused smithy.APIError
	if errors.As(err, &refused) {
		switch refused.ErrorCode() {
		case "InvalidParameterValue", "InvalidParameterCombination", "InvalidParameter":
			return codes.InvalidArgument
		case "InvalidVolume.NotFound":
			return codes.NotFound
		}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return codes.DeadlineExceeded
	}
	return codes.Internal
}

// modify changes a volume that is not so already, nor on its way there.
func (d *driver) modify(ctx context.Context, wanted *ec2.ModifyVolumeInput) error {
	found, err := d.ec2.DescribeVolumes(ctx, &ec2.DescribeVolumesInput{VolumeIds: []string{*wanted.VolumeId}})
	if err != nil {
		return err
	}
	is := found.Volumes[0]
	if is.VolumeType == wanted.VolumeType && keeps(is.Iops, wanted.Iops) && keeps(is.Throughput, wanted.Throughput) {
		return nil
	}
	latest, err := d.latest(ctx, *wanted.VolumeId)
	if err != nil {
		return err
	}
	onItsWay := latest != nil && latest.ModificationState == types.VolumeModificationStateModifying && latest.TargetVolumeType == wanted.VolumeType &&
		keeps(latest.TargetIops, wanted.Iops) && keeps(latest.TargetThroughput, wanted.Throughput)
	if !onItsWay {
		if _, err := d.ec2.ModifyVolume(ctx, wanted); err != nil {
			return err
		}
	}
	return d.await(ctx, *wanted.VolumeId)
}

// keeps says whether a figure is what is wanted, which nil leaves as it is.
func keeps(is, wanted *int32) bool { return wanted == nil || is != nil && *is == *wanted }

// await waits until the volume's change is in force.
func (d *driver) await(ctx context.Context, volume string) error {
	for {
		latest, err := d.latest(ctx, volume)
		if err != nil {
			return err
		}
		if latest != nil {
			switch latest.ModificationState {
			case types.VolumeModificationStateOptimizing, types.VolumeModificationStateCompleted:
				return nil
			case types.VolumeModificationStateFailed:
				return errors.New("EC2 gave the change up: " + aws.ToString(latest.StatusMessage))
			}
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// latest is the newest change of a volume, nil where it had none.
func (d *driver) latest(ctx context.Context, volume string) (*types.VolumeModification, error) {
	all, err := d.ec2.DescribeVolumesModifications(ctx, &ec2.DescribeVolumesModificationsInput{VolumeIds: []string{volume}})
	var none smithy.APIError
	if errors.As(err, &none) && none.ErrorCode() == "InvalidVolumeModification.NotFound" {
		return nil, nil
	}
	if err != nil || len(all.VolumesModifications) == 0 {
		return nil, err
	}
	latest := slices.MaxFunc(all.VolumesModifications, func(a, b types.VolumeModification) int { return a.StartTime.Compare(*b.StartTime) })
	return &latest, nil
}
