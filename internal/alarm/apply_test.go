package alarm_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ebscope/internal/alarm"
	"ebscope/internal/cloud"
	"ebscope/internal/ebs"
	"ebscope/internal/fleet"
	"ebscope/test/fakeaws"
)

// read reads Seoul as a scan does, and plans its alarms on balances of volumes.
func read(t *testing.T, a cloud.Account) alarm.Plan {
	t.Helper()
	regions, lost := a.Inventory(t.Context(), account, []string{seoul})
	if len(lost) > 0 {
		t.Fatal(lost)
	}
	return planWith(fleet.Snapshot{Taken: taken, Regions: regions}, alarm.Options{Warn: 5 * time.Minute, Kinds: []alarm.Kind{alarm.BurstBalance}, Actions: []string{pager}})
}

// apply applies a plan and counts what it did.
func apply(ctx context.Context, a alarm.Account, p alarm.Plan) (map[alarm.Deed]int, error) {
	deeds := map[alarm.Deed]int{}
	err := alarm.Apply(ctx, a, &p, func(d alarm.Done) { deeds[d.Deed]++ })
	return deeds, err
}

func gp2(server *fakeaws.Server, size int) fleet.VolumeID {
	return fleet.VolumeID(server.AddVolume(seoul, fakeaws.Volume{Setting: fakeaws.Setting{Type: "gp2", Size: size}}))
}

func changes(server *fakeaws.Server) int {
	return len(server.Calls("PutMetricAlarm")) + len(server.Calls("DeleteAlarms"))
}

// An alarm of a 100 GiB volume warns 300 s before the end. Once the volume is gp3 the alarm is gone, and those beside it
// that were made by hand are as they were. All of it under the policies that ship.
func TestAlarmFollowsItsVolume(t *testing.T) {
	a, server := open(t)
	id, other := gp2(server, 100), gp2(server, 100)
	ours := "ebscope-" + string(id) + "-burst-balance"
	byHand := []fakeaws.Alarm{
		{AlarmName: string(id) + "-burst-balance", Namespace: "AWS/EBS", MetricName: "BurstBalance", Period: 60, EvaluationPeriods: 1, Threshold: 20},
		{AlarmName: ours + "-team", Namespace: "AWS/EBS", MetricName: "BurstBalance", Period: 60, EvaluationPeriods: 1, Threshold: 21},
		{AlarmName: "ebscope-" + string(other) + "-burst-balance", Namespace: "AWS/EBS", MetricName: "BurstBalance", Period: 60, EvaluationPeriods: 1, Threshold: 22},
	}
	for _, h := range byHand {
		server.AddAlarm(seoul, h)
	}
	document := func(task string) []byte {
		text, err := os.ReadFile(filepath.Join("..", "..", "docs", "aws", task+"-policy.json"))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	under := func(task string) {
		if err := server.SetPolicy(document(task)); err != nil {
			t.Fatal(err)
		}
	}

	under("scan")
	p := read(t, a)
	under("alarm")
	// The name of the other volume's alarm is taken.
	deeds, err := apply(t.Context(), a, p)
	if !errors.Is(err, cloud.ErrForeignAlarm) || deeds[alarm.Created] != 1 || deeds[alarm.Failed] != 1 {
		t.Fatalf("%v, %v", deeds, err)
	}
	made := server.Alarms(seoul)[ours]
	if made.Threshold != 15 || made.Period != 60 || made.TreatMissingData != "missing" || made.Tags[cloud.AlarmTag] != "alarm" || made.AlarmActions[0] != pager {
		t.Errorf("%+v", made)
	}
	if w := find(t, p, ours); *w.WarningS != 300 {
		t.Errorf("it warns %v s before", *w.WarningS)
	}

	before := changes(server)
	if deeds, _ = apply(t.Context(), a, p); deeds[alarm.Unchanged] != 1 || deeds[alarm.Created]+deeds[alarm.Updated]+deeds[alarm.Deleted] > 0 || changes(server) != before {
		t.Errorf("a second time: %v, %d changes", deeds, changes(server)-before)
	}

	under("migrate")
	if _, err := a.ModifyVolume(t.Context(), seoul, cloud.Change{Volume: id, Target: fleet.Setting{Type: ebs.GP3, SizeGiB: 100, IOPS: 3000, ThroughputMiBps: 128}}); err != nil {
		t.Fatal(err)
	}
	server.Advance(24 * time.Hour)
	under("scan")
	p = read(t, a)
	if want := []alarm.Removal{{account, seoul, alarm.BurstBalance, string(id), ours, "the volume is gp3 now"}}; !cmp.Equal(want, p.Delete) {
		t.Fatalf("to delete: %+v", p.Delete)
	}
	under("alarm")
	if deeds, _ = apply(t.Context(), a, p); deeds[alarm.Deleted] != 1 {
		t.Errorf("%v", deeds)
	}
	before = changes(server)
	if deeds, _ = apply(t.Context(), a, p); deeds[alarm.Deleted] != 0 || deeds[alarm.Unchanged] != 1 || changes(server) != before {
		t.Errorf("deleted again: %v", deeds)
	}
	left := server.Alarms(seoul)
	if len(left) != len(byHand) {
		t.Errorf("left: %v", left)
	}
	for _, h := range byHand {
		if left[h.AlarmName].Threshold != h.Threshold {
			t.Errorf("%s was touched: %+v", h.AlarmName, left[h.AlarmName])
		}
	}
	used := []string{"cloudwatch:TagResource", "cloudwatch:DescribeAlarms"}
	for _, c := range server.Calls("") {
		if c.Code == "AccessDenied" || c.Code == "UnauthorizedOperation" {
			t.Errorf("%s:%s is not in the policy", c.Service, c.Action)
		}
		used = append(used, c.Service+":"+c.Action)
	}
	for _, action := range []string{"cloudwatch:ListTagsForResource", "cloudwatch:PutMetricAlarm", "cloudwatch:DeleteAlarms"} {
		if !slices.Contains(used, action) {
			t.Errorf("%s is in the policy and not used", action)
		}
	}
}

// An alarm of ebscope's that is brought up to date keeps what people added to it, before the plan and after.
func TestAdditionsByHandAreKept(t *testing.T) {
	a, server := open(t)
	id := gp2(server, 100)
	name := "ebscope-" + string(id) + "-burst-balance"
	if _, err := apply(t.Context(), a, read(t, a)); err != nil {
		t.Fatal(err)
	}
	const team, solved, unknown = "arn:aws:sns:ap-northeast-2:123456789012:team", "arn:aws:sns:ap-northeast-2:123456789012:solved", "arn:aws:sns:ap-northeast-2:123456789012:unknown"
	edit := func(change func(*fakeaws.Alarm)) {
		edited := server.Alarms(seoul)[name]
		change(&edited)
		server.AddAlarm(seoul, edited)
	}
	edit(func(x *fakeaws.Alarm) {
		x.AlarmActions, x.OKActions = []string{pager, team}, []string{solved}
		x.AlarmDescription, x.ActionsEnabled = "runbook: wiki/burst", false
	})
	p := read(t, a)
	if w := find(t, p, name); w.Action != alarm.Keep {
		t.Errorf("additions alone are no change: %+v", w)
	}
	server.ChangeVolume(string(id), func(v *fakeaws.Volume) { v.Size = 200 })
	p = read(t, a)
	if w := find(t, p, name); w.Action != alarm.Update || !slices.Contains(w.Alarm.Actions, team) || !slices.Contains(w.Alarm.OKActions, solved) {
		t.Errorf("the plan does not show them: %+v", w)
	}
	edit(func(x *fakeaws.Alarm) { x.InsufficientDataActions = []string{unknown} })
	if deeds, err := apply(t.Context(), a, p); err != nil || deeds[alarm.Updated] != 1 {
		t.Fatalf("%v, %v", deeds, err)
	}
	now := server.Alarms(seoul)[name]
	want := fakeaws.Alarm{Threshold: 13.4, AlarmActions: []string{pager, team}, OKActions: []string{solved}, InsufficientDataActions: []string{unknown}, AlarmDescription: "runbook: wiki/burst"}
	slices.Sort(want.AlarmActions)
	got := fakeaws.Alarm{Threshold: now.Threshold, AlarmActions: now.AlarmActions, OKActions: now.OKActions, InsufficientDataActions: now.InsufficientDataActions,
		AlarmDescription: now.AlarmDescription, ActionsEnabled: now.ActionsEnabled}
	if diff := cmp.Diff(want, got); diff != "" { // 200 GiB: (3,000 − 600) × 300 ÷ 5.4 million = 13.33 %, up to 13.4
		t.Error(diff)
	}
}

// What AWS refuses for one alarm does not keep the others from being made; what it refuses for all ends the region.
func TestApplyInPart(t *testing.T) {
	a, server := open(t)
	first, second, third := gp2(server, 100), gp2(server, 200), gp2(server, 300)
	p := read(t, a)
	for i := range p.Alarms {
		if p.Alarms[i].Subject == string(second) {
			p.Alarms[i].Alarm.EvaluationPeriods, p.Alarms[i].Alarm.DatapointsToAlarm = 2000, 1 // more than a day, edited so
		}
	}
	deeds, err := apply(t.Context(), a, p)
	if !errors.Is(err, cloud.ErrRefused) || deeds[alarm.Created] != 2 || deeds[alarm.Failed] != 1 {
		t.Errorf("%v, %v", deeds, err)
	}
	for _, id := range []fleet.VolumeID{first, third} {
		if server.Alarms(seoul)["ebscope-"+string(id)+"-burst-balance"].Threshold == 0 {
			t.Errorf("no alarm on %s", id)
		}
	}

	quota := read(t, a)
	quota.Alarms[0].Alarm.Threshold = 50 // which needs no room
	server.Fail(fakeaws.Fault{Service: fakeaws.CloudWatch, Action: "PutMetricAlarm", Code: "LimitExceeded", Times: fakeaws.Always})
	gp2(server, 400)
	quota = read(t, a)
	if deeds, err = apply(t.Context(), a, quota); !errors.Is(err, cloud.ErrQuota) || deeds[alarm.Unchanged] != 2 || deeds[alarm.Failed] != 1 || deeds[alarm.Untried] != 1 {
		t.Errorf("no room: %v, %v", deeds, err)
	}

	server.Deny("cloudwatch:DescribeAlarms")
	if deeds, err = apply(t.Context(), a, quota); !errors.Is(err, cloud.ErrDenied) || deeds[alarm.Untried] != 4 || len(deeds) != 1 {
		t.Errorf("denied: %v, %v", deeds, err)
	}
}

func TestThrottledAndInterrupted(t *testing.T) {
	a, server := open(t)
	for range 4 {
		gp2(server, 100)
	}
	p := read(t, a)
	server.Fail(fakeaws.Fault{Service: fakeaws.CloudWatch, Action: "PutMetricAlarm", Code: "Throttling"})
	ctx, cancel := context.WithCancel(t.Context())
	made := 0
	err := alarm.Apply(ctx, a, &p, func(alarm.Done) {
		if made++; made == 2 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || made != 2 || len(server.Alarms(seoul)) != 2 {
		t.Errorf("%d made, %v", made, err)
	}
	deeds, err := apply(t.Context(), a, p)
	if err != nil || deeds[alarm.Created] != 2 || deeds[alarm.Unchanged] != 2 {
		t.Errorf("went on: %v, %v", deeds, err)
	}
}

func TestOtherAccount(t *testing.T) {
	a, server := open(t)
	gp2(server, 100)
	p := read(t, a)
	p.Alarms[0].Account = "999999999999"
	var other *alarm.AccountError
	if _, err := apply(t.Context(), a, p); !errors.As(err, &other) || other.Plan != "999999999999" || other.Credentials != account || changes(server) != 0 {
		t.Errorf("%v", err)
	}
}

func TestDelete(t *testing.T) {
	a, server := open(t)
	first := gp2(server, 100)
	gp2(server, 100)
	server.AddAlarm(seoul, fakeaws.Alarm{AlarmName: "ebscope-mine", Namespace: "AWS/EBS", MetricName: "BurstBalance"})
	if _, err := apply(t.Context(), a, read(t, a)); err != nil {
		t.Fatal(err)
	}
	deeds := map[alarm.Deed]int{}
	tell := func(d alarm.Done) { deeds[d.Deed]++ }
	if err := alarm.Delete(t.Context(), a, seoul, []string{"ebscope-" + string(first) + "-burst-balance", "ebscope-mine"}, tell); err != nil || deeds[alarm.Deleted] != 1 || deeds[alarm.Unchanged] != 1 {
		t.Errorf("named: %v, %v", deeds, err)
	}
	if err := alarm.Delete(t.Context(), a, seoul, nil, tell); err != nil || deeds[alarm.Deleted] != 2 {
		t.Errorf("all: %v, %v", deeds, err)
	}
	if left := server.Alarms(seoul); len(left) != 1 || left["ebscope-mine"].AlarmName == "" {
		t.Errorf("left: %v", left)
	}
}
