package alarm_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ebscope/internal/alarm"
	"ebscope/internal/ebs"
	"ebscope/internal/fleet"
)

// A 100 GiB gp2 volume has a baseline of 300 IOPS. At its peak of 3,000, 300 s use up (3,000 − 300) × 300 = 810,000 of
// 5.4 million credits: 15 %.
func TestWarningAtPeak(t *testing.T) {
	p := plan(inSeoul(volume("vol-1", ebs.GP2, 100)), reads("vol-1", 3000))
	w := find(t, p, "ebscope-vol-1-burst-balance")
	want := fleet.Alarm{Name: "ebscope-vol-1-burst-balance", Namespace: "AWS/EBS", Metric: "BurstBalance", Dimensions: map[string]string{"VolumeId": "vol-1"},
		Statistic: "Minimum", Comparison: "LessThanOrEqualToThreshold", Threshold: 15, PeriodS: 60, EvaluationPeriods: 1, DatapointsToAlarm: 1,
		MissingData: "missing", Actions: []string{pager}}
	if diff := cmp.Diff(want, w.Alarm); diff != "" {
		t.Error(diff)
	}
	if w.Action != alarm.Create || w.WarningS == nil || *w.WarningS != 300 || *w.WarningAtBurstS != 300 || w.Because != "at its peak of 3,000 IOPS" {
		t.Errorf("%+v", w)
	}
	if got, want := names(p), []string{"ebscope-i-1-byte-balance", "ebscope-i-1-io-balance", "ebscope-vol-1-burst-balance",
		"ebscope-vol-1-iops-exceeded", "ebscope-vol-1-throughput-exceeded"}; !cmp.Equal(got, want) {
		t.Errorf("alarms %v", got)
	}
}

func TestThresholds(t *testing.T) {
	for _, tt := range []struct {
		name          string
		volume        fleet.Volume
		peak          float64 // 4 KiB reads a second; 0: nothing observed
		threshold     float64
		warn, atBurst float64
		because       string
	}{
		// (1,000 − 300) × 300 ÷ 5.4 million = 3.889 %, up to 3.9: 300 × 3.9 ÷ 3.889 = 301 s, and at the burst rate 300 × 3.9 ÷ 15 = 78.
		{"lower peak", volume("vol-1", ebs.GP2, 100), 1000, 3.9, 301, 78, "at its peak of 1,000 IOPS"},
		{"nothing observed", volume("vol-1", ebs.GP2, 100), 0, 15, 300, 300, "at its burst rate of 3,000 IOPS"},
		{"below the baseline", volume("vol-1", ebs.GP2, 100), 200, 15, 300, 300, "at its burst rate (its peak never uses the credits up) of 3,000 IOPS"},
		// Baseline 100 up to 33 GiB: 2,900 × 300 ÷ 5.4 million = 16.11 %, up to 16.2: 301.66 s.
		{"small", volume("vol-1", ebs.GP2, 8), 0, 16.2, 302, 302, "at its burst rate of 3,000 IOPS"},
		// st1 of 1 TiB: 40 MiB/s, 250 while it bursts, 1 TiB of credits. (250 − 40) × 300 ÷ 1,048,576 = 6.008 %, up to 6.1: 304.58 s.
		{"st1", volume("vol-1", ebs.ST1, 1024), 0, 6.1, 305, 305, "at its burst rate of 250 MiB/s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var metrics []fleet.Metrics
			if tt.peak > 0 {
				metrics = append(metrics, reads("vol-1", tt.peak))
			}
			w := find(t, plan(inSeoul(tt.volume), metrics...), "ebscope-vol-1-burst-balance")
			if w.Alarm.Threshold != tt.threshold || *w.WarningS != tt.warn || *w.WarningAtBurstS != tt.atBurst || w.Because != tt.because {
				t.Errorf("threshold %v, warns %v s and %v s, %q", w.Alarm.Threshold, *w.WarningS, *w.WarningAtBurstS, w.Because)
			}
		})
	}
}

func TestWhoHasAlarms(t *testing.T) {
	xen := volume("vol-xen", ebs.GP2, 100)
	xen.Attachments[0].Instance = "i-xen"
	idle := volume("vol-idle", ebs.GP2, 100)
	idle.Attachments, idle.State = nil, "available"
	going := volume("vol-going", ebs.GP2, 100)
	going.State = "deleting"
	s := inSeoul(going, volume("vol-big", ebs.GP2, 1000), volume("vol-gp3", ebs.GP3, 100), volume("vol-io2", ebs.IO2, 100), xen, idle)
	s.Regions[0].Instances = []fleet.Instance{{ID: "i-1", Type: "m5.24xlarge"}, {ID: "i-xen", Type: "c4.2xlarge"}, {ID: "i-bare", Type: "m5.xlarge"}, {ID: "i-gone", Type: "m5.xlarge", State: "terminated"}}
	p := plan(s)
	// 1,000 GiB have no credits, and are told when they hold back; m5.24xlarge does not burst; c4 is on Xen, where there are
	// no checks; i-bare has no volumes.
	want := []string{"ebscope-vol-big-iops-exceeded", "ebscope-vol-big-throughput-exceeded", "ebscope-vol-idle-burst-balance", "ebscope-vol-xen-burst-balance"}
	if diff := cmp.Diff(want, names(p)); diff != "" {
		t.Error(diff)
	}
	w := find(t, p, "ebscope-vol-big-iops-exceeded")
	wanted := fleet.Alarm{Name: "ebscope-vol-big-iops-exceeded", Namespace: "AWS/EBS", Metric: "VolumeIOPSExceededCheck",
		Dimensions: map[string]string{"VolumeId": "vol-big", "InstanceId": "i-1"}, Statistic: "Maximum", Comparison: "GreaterThanOrEqualToThreshold",
		Threshold: 1, PeriodS: 60, EvaluationPeriods: 5, DatapointsToAlarm: 5, MissingData: "missing", Actions: []string{pager}}
	if diff := cmp.Diff(wanted, w.Alarm); diff != "" || w.WarningS != nil {
		t.Error(diff)
	}
}

// An instance's balance comes every 5 minutes, so that the alarm is set for 5 + 5 of the 30 minutes: 33.33 %, up to 33.4.
func TestInstanceBalances(t *testing.T) {
	w := find(t, plan(inSeoul(volume("vol-1", ebs.GP3, 100))), "ebscope-i-1-io-balance")
	want := fleet.Alarm{Name: "ebscope-i-1-io-balance", Namespace: "AWS/EC2", Metric: "EBSIOBalance%", Dimensions: map[string]string{"InstanceId": "i-1"},
		Statistic: "Minimum", Comparison: "LessThanOrEqualToThreshold", Threshold: 33.4, PeriodS: 300, EvaluationPeriods: 1, DatapointsToAlarm: 1,
		MissingData: "missing", Actions: []string{pager}}
	if diff := cmp.Diff(want, w.Alarm); diff != "" || *w.WarningS != 601 { // 600 × 33.4 ÷ 33.33 = 601.2
		t.Error(diff, *w.WarningS)
	}
}

// A full bucket of 100 GiB lasts 5.4 million ÷ 2,700 = 2,000 s at 3,000 IOPS; half an hour is shorter than that, an hour is not.
func TestWarningsThatCannotBe(t *testing.T) {
	o := alarm.Options{Warn: time.Hour, Kinds: alarm.Kinds}
	p := planWith(inSeoul(volume("vol-1", ebs.GP2, 100)), o)
	if len(p.Alarms) != 2 || len(p.Without) != 3 || !strings.Contains(p.Without[0].Because, "does not last 1h0m0s") {
		t.Errorf("alarms %v, without %+v", names(p), p.Without)
	}
	o.Warn = 30 * time.Minute
	if p = planWith(inSeoul(volume("vol-1", ebs.GP2, 100)), o); find(t, p, "ebscope-vol-1-burst-balance").Alarm.Threshold != 90 {
		t.Error("1,800 of 2,000 s are not 90 %")
	}
}

// What is there already is kept, updated, or deleted with a reason; what is somebody else's is not in the plan.
func TestExistingAlarms(t *testing.T) {
	before := inSeoul(volume("vol-1", ebs.GP2, 100), volume("vol-2", ebs.GP2, 100), volume("vol-3", ebs.GP2, 100), volume("vol-4", ebs.GP2, 100))
	o := alarm.Options{Warn: 5 * time.Minute, Kinds: []alarm.Kind{alarm.BurstBalance}}
	first := planWith(before, o)
	after := before
	r := &after.Regions[0]
	r.Volumes = []fleet.Volume{volume("vol-1", ebs.GP2, 100), volume("vol-2", ebs.GP3, 100), volume("vol-4", ebs.GP2, 200)}
	r.Alarms = nil
	for _, w := range first.Alarms {
		made := w.Alarm
		made.ARN, made.State = "arn:…"+made.Name, "OK"
		r.Alarms = append(r.Alarms, made)
	}
	byHand := first.Alarms[1].Alarm // on vol-2
	for _, name := range []string{"ebscope-vol-2", "ebscope-vol-2-burst-balance-team", "vol-2 burst balance"} {
		byHand.Name = name
		r.Alarms = append(r.Alarms, byHand)
	}
	tagged := first.Alarms[1].Alarm
	tagged.Name, tagged.Dimensions, tagged.Tags = "ebscope-vol-9-burst-balance", map[string]string{"VolumeId": "vol-9"}, map[string]string{"team": "ads"}
	r.Alarms = append(r.Alarms, tagged)

	p := planWith(after, o)
	actions := map[string]alarm.Action{}
	for _, w := range p.Alarms {
		actions[w.Alarm.Name] = w.Action
	}
	want := map[string]alarm.Action{"ebscope-vol-1-burst-balance": alarm.Keep, "ebscope-vol-4-burst-balance": alarm.Update}
	if diff := cmp.Diff(want, actions); diff != "" {
		t.Error(diff)
	}
	// 200 GiB: (3,000 − 600) × 300 ÷ 5.4 million = 13.33 %, up to 13.4.
	if w := find(t, p, "ebscope-vol-4-burst-balance"); w.Was == nil || w.Was.Threshold != 15 || w.Alarm.Threshold != 13.4 {
		t.Errorf("%+v", w)
	}
	gone := []alarm.Removal{{account, seoul, alarm.BurstBalance, "vol-2", "ebscope-vol-2-burst-balance", "the volume is gp3 now"}, {account, seoul, alarm.BurstBalance, "vol-3", "ebscope-vol-3-burst-balance", "the volume is gone"}}
	if diff := cmp.Diff(gone, p.Delete); diff != "" {
		t.Error(diff)
	}

	r.Alarms[0].Tags = map[string]string{} // read, and not there
	p = planWith(after, o)
	if len(p.Alarms) != 1 || len(p.Without) != 1 || !strings.Contains(p.Without[0].Because, "not ebscope's") {
		t.Errorf("%v, %+v", names(p), p.Without)
	}
	// Where volumes could not be read, none of them is gone.
	after.Missing = []fleet.Missing{{Account: account, Region: seoul, Operation: "ec2:DescribeVolumes", Reason: fleet.Denied}}
	if p = planWith(after, o); len(p.Delete) > 0 || len(p.Warnings) != 1 {
		t.Errorf("deleted blindly: %+v", p.Delete)
	}
}

func TestFile(t *testing.T) {
	p := plan(inSeoul(volume("vol-2", ebs.GP2, 100), volume("vol-1", ebs.GP2, 100)))
	var first, second bytes.Buffer
	again := plan(inSeoul(volume("vol-1", ebs.GP2, 100), volume("vol-2", ebs.GP2, 100)))
	if err := alarm.Write(&first, &p); err != nil {
		t.Fatal(err)
	}
	if err := alarm.Write(&second, &again); err != nil || first.String() != second.String() {
		t.Error("the same fleet gives two plans", err)
	}
	read, err := alarm.Read(&second)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p, read); diff != "" {
		t.Error(diff)
	}
	for old, edit := range map[string]struct{ with, want string }{
		`"threshold": 15,`:                  {`"threshold": -1,`, "threshold -1: use 0 to 100"},
		`"ebscope-vol-1-burst-balance"`:     {`"pager"`, `alarm "pager": its name, metric`},
		`"VolumeId": "vol-1"`:               {`"VolumeId": "vol-9"`, "do not go together"},
		`"action": "create"`:                {`"action": "smash"`, `action "smash"`},
		`"schema": "ebscope.alarm-plan/v1"`: {`"schema": "x"`, "`ebscope alarm plan --out FILE`"},
		`"warn_s": 300`:                     {`"warn_s": 300, "more": 1`, `unknown field "more"`},
		`"region": "ap-northeast-2"`:        {`"region": ""`, "no account or no region"},
		`"period_s": 300`:                   {`"period_s": 0`, "periods of 0 s"},
		`"delete": []`:                      {`"delete": [{"account": "1", "region": "r", "kind": "burst-balance", "subject": "vol-1", "name": "pager", "because": ""}]`, `"pager", to be deleted, is not ebscope's`},
		"\"missing\": []\n}":                {"\"missing\": []\n} {", "something follows"},
	} {
		text := strings.Replace(first.String(), old, edit.with, 1)
		if text == first.String() {
			t.Fatalf("nothing to edit: %s", old)
		}
		if _, err := alarm.Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), edit.want) {
			t.Errorf("%s: error %v, want one that says %q", edit.with, err, edit.want)
		}
	}
}
