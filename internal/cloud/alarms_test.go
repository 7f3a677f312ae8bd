package cloud_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ebscope/internal/cloud"
	"ebscope/internal/fleet"
	"ebscope/test/fakeaws"
)

// balance is an alarm as it is made for a 100 GiB gp2 volume.
func balance(name, volume string) fleet.Alarm {
	return fleet.Alarm{Name: name, Namespace: "AWS/EBS", Metric: "BurstBalance", Dimensions: map[string]string{"VolumeId": volume},
		Statistic: "Minimum", Comparison: "LessThanOrEqualToThreshold", Threshold: 15, PeriodS: 300, EvaluationPeriods: 1,
		DatapointsToAlarm: 1, MissingData: "notBreaching", Actions: []string{"arn:aws:sns:ap-northeast-2:123456789012:pager"}}
}

func TestAlarms(t *testing.T) {
	account, server := open(t)
	server.Page = 2
	for _, name := range []string{"ebscope-by-hand", "other"} {
		server.AddAlarm(seoul, fakeaws.Alarm{AlarmName: name, Namespace: "AWS/EBS", MetricName: "BurstBalance", Period: 60, EvaluationPeriods: 1})
	}
	alarmsHold(t, account)
	left := server.Alarms(seoul)
	if len(left) != 2 || left["ebscope-by-hand"].Period != 60 {
		t.Errorf("left: %v", left)
	}
}

// What holds of the fake and of moto, where "ebscope-by-hand" and "other" are somebody else's alarms.
func alarmsHold(t *testing.T, account cloud.Account) {
	ctx := t.Context()
	var names []string
	for n := range 5 {
		name := fmt.Sprintf("ebscope-vol-%d", n)
		names = append(names, name)
		if err := account.PutAlarm(ctx, seoul, balance(name, fmt.Sprintf("vol-%d", n))); err != nil {
			t.Fatal(err)
		}
	}
	ours, err := account.Alarms(ctx, seoul)
	if err != nil || len(ours) != 5 {
		t.Fatalf("%d alarms, want 5; %v", len(ours), err)
	}
	want := balance("ebscope-vol-0", "vol-0")
	want.ARN, want.State = "arn:aws:cloudwatch:ap-northeast-2:123456789012:alarm:ebscope-vol-0", ours[0].State
	want.Tags = map[string]string{cloud.AlarmTag: "alarm"}
	if diff := cmp.Diff(want, ours[0], cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	changed := balance("ebscope-vol-0", "vol-0")
	changed.Threshold = 20
	if err := account.PutAlarm(ctx, seoul, changed); err != nil {
		t.Error(err)
	}
	if ours, err = account.Alarms(ctx, seoul); err != nil || ours[0].Threshold != 20 {
		t.Errorf("put again: %v, %v", ours, err)
	}
	if err := account.PutAlarm(ctx, seoul, balance("ebscope-by-hand", "vol-0")); !errors.Is(err, cloud.ErrForeignAlarm) {
		t.Errorf("over an alarm made by hand: %v", err)
	}
	if err := account.DeleteAlarms(ctx, seoul, []string{"ebscope-vol-1", "ebscope-by-hand"}); !errors.Is(err, cloud.ErrForeignAlarm) {
		t.Errorf("delete one made by hand: %v", err)
	}
	if err := account.DeleteAlarms(ctx, seoul, []string{"other"}); !errors.Is(err, cloud.ErrForeignAlarm) {
		t.Errorf("delete one of another name: %v", err)
	}
	if err := account.PutAlarm(ctx, seoul, balance("pager", "vol-0")); err == nil {
		t.Error("an alarm without our prefix was made")
	}
	if ours, err = account.Alarms(ctx, seoul); err != nil || len(ours) != 5 {
		t.Errorf("%d alarms are left, want 5; %v", len(ours), err)
	}
	if err := account.DeleteAlarms(ctx, seoul, append(names, "ebscope-long-gone")); err != nil {
		t.Fatal(err)
	}
	if ours, err = account.Alarms(ctx, seoul); err != nil || len(ours) != 0 {
		t.Errorf("%d alarms are left, %v", len(ours), err)
	}
}

func TestAlarmsThatAreRefused(t *testing.T) {
	account, server := open(t)
	wrong := balance("ebscope-x", "vol-1")
	wrong.EvaluationPeriods = 1000 // 1,000 × 300 s are more than a day
	if err := account.PutAlarm(t.Context(), seoul, wrong); !errors.Is(err, cloud.ErrRefused) {
		t.Errorf("across more than a day: %v", err)
	}
	server.Deny("cloudwatch:PutMetricAlarm")
	if err := account.PutAlarm(t.Context(), seoul, balance("ebscope-x", "vol-1")); !errors.Is(err, cloud.ErrDenied) {
		t.Errorf("denied: %v", err)
	}
	// Throttled once, it is asked for anew; and an answer that is lost too: to put an alarm twice changes nothing.
	server.Fail(fakeaws.Fault{Service: fakeaws.CloudWatch, Action: "DescribeAlarms", Code: "Throttling"},
		fakeaws.Fault{Service: fakeaws.CloudWatch, Action: "DescribeAlarms", Lose: fakeaws.Answer})
	if _, err := account.Alarms(t.Context(), seoul); err != nil {
		t.Error(err)
	}
}

// 250 alarms are looked at in three requests, and one of them that is somebody else's does not keep the others from being made.
func TestManyAlarms(t *testing.T) {
	account, server := open(t)
	server.AddAlarm(seoul, fakeaws.Alarm{AlarmName: "ebscope-vol-120", Namespace: "AWS/EBS", MetricName: "BurstBalance"})
	var all []fleet.Alarm
	for n := range 250 {
		all = append(all, balance(fmt.Sprintf("ebscope-vol-%d", n), fmt.Sprintf("vol-%d", n)))
	}
	put := 0
	if err := account.PutAlarms(t.Context(), seoul, all, func(alarm fleet.Alarm, err error) error {
		switch {
		case err == nil:
			put++
		case !errors.Is(err, cloud.ErrForeignAlarm) || alarm.Name != "ebscope-vol-120":
			t.Error(alarm.Name, err)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if put != 249 || len(server.Alarms(seoul)) != 250 || len(server.Calls("DescribeAlarms")) != 3 {
		t.Errorf("%d put, %d there, %d requests", put, len(server.Alarms(seoul)), len(server.Calls("DescribeAlarms")))
	}
}
