package cloud_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	watch "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ebscope/internal/cloud"
	"ebscope/internal/ebs"
	"ebscope/internal/fleet"
	"ebscope/test/fakeaws"
)

// A second opinion on EC2's form: moto, another fake, written by others.
func TestInstancesOfMoto(t *testing.T) {
	account := moto(t)
	all, err := account.Instances(t.Context(), "us-east-1", nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 500 {
		t.Errorf("%d instance types", len(all))
	}
	found := map[string]ebs.Instance{}
	for _, i := range all {
		found[i.Type] = i
	}
	for _, name := range []string{"m5.large", "m5.xlarge", "c5.large", "m5.24xlarge", "t3.medium"} {
		want, err := ebs.Embedded().Instance(name)
		if err != nil {
			t.Fatal(err)
		}
		want.Source, want.Date, want.MaximumVolumes = cloud.InstancesSource, "", found[name].MaximumVolumes
		if found[name] != want {
			t.Errorf("moto says %+v, the catalog %+v", found[name], want)
		}
	}
}

// What holds of our own fake holds of moto too.
func TestVolumesOfMoto(t *testing.T) {
	account := moto(t)
	volumesHold(t, place{account: account, region: seoul, settle: func(time.Duration) {}, create: createBySDK(t)})
	if _, lost := account.Inventory(t.Context(), "123456789012", []string{"us-east-1"}); len(lost) != 1 || lost[0].Operation != "cloudwatch:DescribeAlarms" {
		t.Errorf("moto does not know CloudWatch's new protocol, but %+v", lost)
	}
}

// createBySDK makes volumes with the SDK, which finds its endpoint in the environment as an account does.
func createBySDK(t *testing.T) func(t *testing.T, size int, tags map[string]string) fleet.VolumeID {
	t.Helper()
	c, err := config.LoadDefaultConfig(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	client := ec2.NewFromConfig(c, func(o *ec2.Options) { o.Region = seoul })
	return func(t *testing.T, size int, tags map[string]string) fleet.VolumeID {
		input := &ec2.CreateVolumeInput{Size: aws.Int32(int32(size)), VolumeType: types.VolumeTypeGp2, AvailabilityZone: aws.String(seoul + "a")}
		for key, value := range tags {
			input.TagSpecifications = []types.TagSpecification{{ResourceType: types.ResourceTypeVolume, Tags: []types.Tag{{Key: aws.String(key), Value: aws.String(value)}}}}
		}
		v, err := client.CreateVolume(t.Context(), input)
		if err != nil {
			t.Fatal(err)
		}
		return fleet.VolumeID(aws.ToString(v.VolumeId))
	}
}

func TestAlarmsOfMoto(t *testing.T) {
	account := moto(t)
	cloud.SpeakQuery(account, seoul)
	client := cloud.Watch(account, seoul)
	for _, name := range []string{"ebscope-by-hand", "other"} {
		if _, err := client.PutMetricAlarm(t.Context(), &cloudwatch.PutMetricAlarmInput{AlarmName: aws.String(name), Namespace: aws.String("AWS/EBS"),
			MetricName: aws.String("BurstBalance"), Statistic: "Minimum", ComparisonOperator: "LessThanThreshold", Threshold: aws.Float64(1),
			Period: aws.Int32(60), EvaluationPeriods: aws.Int32(1)}); err != nil {
			t.Fatal(err)
		}
	}
	alarmsHold(t, account)
}

// Three data points in the last hour, in the first, second and last of its 12 steps; of two in one step the sum.
func TestMetricsOfMoto(t *testing.T) {
	account := moto(t)
	cloud.SpeakQuery(account, seoul)
	w, err := cloud.LatestWindow(time.Now(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	dimensions := []watch.Dimension{{Name: aws.String("VolumeId"), Value: aws.String("vol-1")}}
	var data []watch.MetricDatum
	for _, point := range []struct {
		after time.Duration
		value float64
	}{{0, 10}, {6 * time.Minute, 20}, {8 * time.Minute, 22}, {56 * time.Minute, 30}} {
		data = append(data, watch.MetricDatum{MetricName: aws.String("VolumeReadOps"), Dimensions: dimensions, Timestamp: aws.Time(w.Start.Add(point.after)), Value: aws.Float64(point.value)})
	}
	if _, err := cloud.Watch(account, seoul).PutMetricData(t.Context(), &cloudwatch.PutMetricDataInput{Namespace: aws.String("AWS/EBS"), MetricData: data}); err != nil {
		t.Fatal(err)
	}
	volumes := []fleet.Volume{{ID: "vol-1", Setting: fleet.Setting{Type: "gp2", SizeGiB: 100}}}
	lost, err := account.Metrics(t.Context(), fleet.Region{Name: seoul}, volumes, w, cloud.DefaultQuota, func(m fleet.Metrics) error {
		want := fleet.NewSeries(12)
		want[0], want[1], want[11] = 10, 42, 30
		if diff := cmp.Diff(want, m.ReadOps, cmpopts.EquateNaNs()); diff != "" || m.WriteOps != nil {
			t.Error(diff)
		}
		return nil
	})
	if err != nil || len(lost) > 0 {
		t.Error(lost, err)
	}
}

// moto opens an account in a moto that is started for the test.
func moto(t *testing.T) cloud.Account {
	t.Helper()
	path, err := exec.LookPath("moto_server")
	if err != nil {
		t.Skip("moto_server is missing; pip install 'moto[server]' provides it")
	}
	address := start(t, path)
	server := fakeaws.New() // for its environment
	t.Cleanup(server.Close)
	server.URL = "http://" + address
	for key, value := range environment(server) {
		t.Setenv(key, value)
	}
	account, err := cloud.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return account
}

// start runs moto on a free port for as long as the test lasts, and returns its address.
func start(t *testing.T, path string) string {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	free.Close()
	ctx, cancel := context.WithCancel(context.Background())
	moto := exec.CommandContext(ctx, path, "-H", host, "-p", port)
	// moto does not start well with the empty variables of our own environment.
	moto.Env = slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, "AWS_") })
	if err := moto.Start(); err != nil {
		cancel()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = moto.Wait() // killed
	})
	for range 300 {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			return address
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Skip("moto_server does not listen within half a minute; moto_server -p 5000 shows why")
	return ""
}
