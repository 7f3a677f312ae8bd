package alarm_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"ebscope/internal/alarm"
	"ebscope/internal/ebs"
	"ebscope/internal/fleet"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// small is a plan that has each kind.
func small() alarm.Plan {
	return plan(inSeoul(volume("vol-0a1", ebs.GP2, 100), volume("vol-0b2", ebs.ST1, 500)), reads("vol-0a1", 3000))
}

func TestEmit(t *testing.T) {
	for form, file := range map[alarm.Form]string{
		alarm.CloudFormation: "ebscope-alarms-123456789012-ap-northeast-2.yaml",
		alarm.Terraform:      "ebscope-alarms-123456789012-ap-northeast-2.tf",
		alarm.PrometheusRule: "ebscope-alarms-123456789012-ap-northeast-2.rules.yaml",
	} {
		p := small()
		files, err := alarm.Emit(&p, form)
		if err != nil || len(files) != 1 || files[0].Name != file {
			t.Fatalf("%s: %v, %v", form, files, err)
		}
		golden := filepath.Join("testdata", file)
		if *update {
			if err := os.WriteFile(golden, files[0].Content, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(files[0].Content)); diff != "" {
			t.Errorf("%s (go test ./internal/alarm -update rewrites it): %s", file, diff)
		}
	}
	p := small()
	if _, err := alarm.Emit(&p, "pulumi"); err == nil {
		t.Error("an unknown form is written")
	}
}

// What is written says the same as the plan, as a reader of YAML sees it.
func TestEmittedCloudFormation(t *testing.T) {
	p := small()
	files, err := alarm.Emit(&p, alarm.CloudFormation)
	if err != nil {
		t.Fatal(err)
	}
	var template struct {
		AWSTemplateFormatVersion string
		Resources                map[string]struct {
			Type       string
			Properties struct {
				AlarmName  string
				Threshold  float64
				Dimensions []struct{ Name, Value string }
			}
		}
	}
	if err := yaml.Unmarshal(files[0].Content, &template); err != nil {
		t.Fatal(err)
	}
	r := template.Resources["EbscopeVol0a1BurstBalance"]
	if template.AWSTemplateFormatVersion != "2010-09-09" || len(template.Resources) != len(p.Alarms) || r.Type != "AWS::CloudWatch::Alarm" ||
		r.Properties.AlarmName != "ebscope-vol-0a1-burst-balance" || r.Properties.Threshold != 15 || r.Properties.Dimensions[0].Value != "vol-0a1" {
		t.Errorf("%+v", template)
	}
}

func TestEmittedRules(t *testing.T) {
	p := small()
	files, err := alarm.Emit(&p, alarm.PrometheusRule)
	if err != nil {
		t.Fatal(err)
	}
	var object struct {
		APIVersion, Kind string
		Spec             struct {
			Groups []struct {
				Name  string
				Rules []struct {
					Alert, Expr, For string
					Labels           map[string]string
				}
			}
		}
	}
	if err := yaml.Unmarshal(files[0].Content, &object); err != nil || object.Kind != "PrometheusRule" || len(object.Spec.Groups) != 1 {
		t.Fatalf("%+v, %v", object, err)
	}
	for _, r := range object.Spec.Groups[0].Rules {
		switch {
		case r.Alert == "EBSBurstBalanceLow" && r.Labels["volume_id"] == "vol-0a1":
			want := `last_over_time(aws_ebs_burst_balance_minimum{volume_id="vol-0a1"}[15m]) <= 15` + "\n" +
				`or last_over_time(aws_ebs_burst_balance_minimum{dimension_VolumeId="vol-0a1"}[15m]) <= 15`
			if r.Expr != want || r.For != "" {
				t.Errorf("%s for %q", r.Expr, r.For)
			}
		case r.Alert == "EBSVolumeIOPSExceeded" && (!strings.Contains(r.Expr, "aws_ebs_csi_exceeded_iops_seconds_total") || r.For != "300s"):
			t.Errorf("%s for %q", r.Expr, r.For)
		}
	}
}

// A stack has at most 500 resources: 3 alarms each of 167 volumes, and 2 of their instance, are 503.
func TestEmitManyAndSeveralRegions(t *testing.T) {
	var volumes []fleet.Volume
	for i := range 167 {
		volumes = append(volumes, volume(fleet.VolumeID("vol-"+string(rune('a'+i/26))+string(rune('a'+i%26))), ebs.GP2, 100))
	}
	s := inSeoul(volumes...)
	s.Regions = append(s.Regions, fleet.Region{Account: account, Name: "us-east-1", Volumes: []fleet.Volume{volume("vol-us", ebs.GP2, 100)}})
	p := plan(s)
	files, err := alarm.Emit(&p, alarm.Terraform)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, f := range files {
		counts[f.Name] = strings.Count(string(f.Content), `resource "aws_cloudwatch_metric_alarm"`)
	}
	want := map[string]int{"ebscope-alarms-123456789012-ap-northeast-2-1.tf": 500, "ebscope-alarms-123456789012-ap-northeast-2-2.tf": 3, "ebscope-alarms-123456789012-us-east-1.tf": 3}
	if diff := cmp.Diff(want, counts); diff != "" {
		t.Error(diff)
	}
}
