package fakeaws_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/smithy-go"

	"ebscope/test/fakeaws"
)

// A volume's whole life over the wire, as a CSI driver leads it.
func TestLifeOfAVolume(t *testing.T) {
	server := fakeaws.New()
	t.Cleanup(server.Close)
	for _, e := range server.Environment() {
		key, value, _ := strings.Cut(e, "=")
		t.Setenv(key, value)
	}
	c, err := config.LoadDefaultConfig(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	client, ctx := ec2.NewFromConfig(c), t.Context()
	create := &ec2.CreateVolumeInput{AvailabilityZone: aws.String("ap-northeast-2a"), Size: aws.Int32(10), VolumeType: "gp3", ClientToken: aws.String("pvc-1")}
	v, err := client.CreateVolume(ctx, create)
	if err != nil || aws.ToInt32(v.Iops) != 3000 || aws.ToInt32(v.Throughput) != 125 || v.State != "available" {
		t.Fatalf("%+v, %v", v, err)
	}
	if again, err := client.CreateVolume(ctx, create); err != nil || *again.VolumeId != *v.VolumeId {
		t.Errorf("the same token: %v, %v", again, err)
	}
	attach := &ec2.AttachVolumeInput{VolumeId: v.VolumeId, InstanceId: aws.String("i-1"), Device: aws.String("/dev/sdf")}
	_, err = client.AttachVolume(ctx, attach)
	wants(t, err, "InvalidInstanceID.NotFound")
	server.AddMachine("ap-northeast-2", fakeaws.Machine{ID: "i-1", Type: "m5.xlarge"})
	if _, err := client.AttachVolume(ctx, attach); err != nil {
		t.Error(err)
	}
	_, err = client.AttachVolume(ctx, attach)
	wants(t, err, "VolumeInUse")
	_, err = client.DeleteVolume(ctx, &ec2.DeleteVolumeInput{VolumeId: v.VolumeId})
	wants(t, err, "VolumeInUse")
	if now, _ := server.VolumeNow(*v.VolumeId); len(now.Attachments) != 1 || now.Attachments[0].Device != "/dev/sdf" {
		t.Errorf("%+v", now)
	}
	if _, err := client.DetachVolume(ctx, &ec2.DetachVolumeInput{VolumeId: v.VolumeId}); err != nil {
		t.Error(err)
	}
	if _, err := client.DeleteVolume(ctx, &ec2.DeleteVolumeInput{VolumeId: v.VolumeId}); err != nil {
		t.Error(err)
	}
	_, err = client.DescribeVolumes(ctx, &ec2.DescribeVolumesInput{VolumeIds: []string{*v.VolumeId}})
	wants(t, err, "InvalidVolume.NotFound")
}

// gp2 → gp3 without IOPS and throughput: 500 GiB get 3,000 IOPS and 250 MiB/s, 2,000 GiB 6,000 IOPS (3 a GiB), 100 GiB 128 MiB/s.
func TestModifyWithoutPerformance(t *testing.T) {
	server := fakeaws.New()
	t.Cleanup(server.Close)
	for _, e := range server.Environment() {
		key, value, _ := strings.Cut(e, "=")
		t.Setenv(key, value)
	}
	c, err := config.LoadDefaultConfig(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	client := ec2.NewFromConfig(c)
	for size, want := range map[int][2]int32{500: {3000, 250}, 2000: {6000, 250}, 100: {3000, 128}} {
		id := server.AddVolume("ap-northeast-2", fakeaws.Volume{Setting: fakeaws.Setting{Type: "gp2", Size: size}})
		m, err := client.ModifyVolume(t.Context(), &ec2.ModifyVolumeInput{VolumeId: aws.String(id), VolumeType: "gp3"})
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]int32{aws.ToInt32(m.VolumeModification.TargetIops), aws.ToInt32(m.VolumeModification.TargetThroughput)}; got != want {
			t.Errorf("%d GiB become %v, want %v", size, got, want)
		}
	}
}

func wants(t *testing.T, err error, code string) {
	t.Helper()
	var api smithy.APIError
	if !errors.As(err, &api) || api.ErrorCode() != code {
		t.Errorf("error %v, want %s", err, code)
	}
}
