package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"ebscope/internal/fleet"
	"ebscope/test/fakeaws"
)

const (
	seoul  = "ap-northeast-2"
	busy   = fleet.VolumeID("vol-0123456789abcdef0") // gp2
	moved  = fleet.VolumeID("vol-0123456789abcdef1") // gp3
	ofBusy = "ebscope-vol-0123456789abcdef0-burst-balance"
)

// fakeAccount starts a fake of AWS, and makes it the environment's.
func fakeAccount(t *testing.T) *fakeaws.Server {
	t.Helper()
	server := fakeaws.New()
	t.Cleanup(server.Close)
	for _, e := range server.Environment() {
		key, value, _ := strings.Cut(e, "=")
		t.Setenv(key, value)
	}
	return server
}

// fleetFile saves a fleet of a 100 GiB gp2 volume that is read at 3,000 IOPS, and of a gp3 volume that still has an alarm.
func fleetFile(t *testing.T, missing ...fleet.Missing) string {
	t.Helper()
	taken := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	attached := []fleet.Attachment{{Instance: "i-0123456789abcdef0", State: "attached"}}
	s := fleet.Snapshot{Tool: "ebscope test", Taken: taken, Window: fleet.Window{Start: taken.Add(-time.Hour), Step: 5 * time.Minute, Points: 12},
		Regions: []fleet.Region{{Account: "123456789012", Name: seoul,
			Volumes: []fleet.Volume{
				{ID: busy, State: "in-use", Setting: fleet.Setting{Type: "gp2", SizeGiB: 100, IOPS: 300}, Attachments: attached},
				{ID: moved, State: "in-use", Setting: fleet.Setting{Type: "gp3", SizeGiB: 100, IOPS: 3000, ThroughputMiBps: 125}},
			},
			Instances: []fleet.Instance{{ID: "i-0123456789abcdef0", Type: "m5.xlarge", State: "running"}},
			Alarms: []fleet.Alarm{{Name: "ebscope-" + string(moved) + "-burst-balance", Namespace: "AWS/EBS", Metric: "BurstBalance",
				Dimensions: map[string]string{"VolumeId": string(moved)}, Comparison: "LessThanOrEqualToThreshold"}},
		}}}
	path := filepath.Join(t.TempDir(), "fleet.jsonl")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := fleet.NewWriter(f, s)
	if err != nil {
		t.Fatal(err)
	}
	ops, moved := slices.Repeat(fleet.Series{3000 * 300}, 12), slices.Repeat(fleet.Series{3000 * 300 * 4096}, 12)
	if err := w.Metrics(fleet.Metrics{Volume: busy, ReadOps: ops, ReadBytes: moved}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(missing); err != nil {
		t.Fatal(err)
	}
	return path
}

// ebscope runs a command.
func ebscope(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, chatter bytes.Buffer
	code = Main(t.Context(), append([]string{"ebscope"}, args...), &out, &chatter)
	return code, out.String(), chatter.String()
}

func TestAlarmPlanText(t *testing.T) {
	code, text, stderr := ebscope(t, "alarm", "plan", "--from", fleetFile(t))
	if code != exitDone || !strings.HasPrefix(text, "5 alarms with 5m of warning: 5 to create, 1 to delete.\n\nACTION") {
		t.Errorf("exit code %d\n%s%s", code, text, stderr)
	}
	for line := range strings.SplitSeq(text, "\n") {
		if utf8.RuneCountInString(line) > 80 {
			t.Errorf("wider than 80 columns: %s", line)
		}
	}
	words := strings.Join(strings.Fields(text), " ")
	for _, want := range []string{"Account and region 123456789012 ap-northeast-2", "create vol-0123456789abcdef0 burst-balance <= 15 % 300 s, at its peak of 3,000 IOPS",
		"delete vol-0123456789abcdef1 burst-balance the volume is gp3 now"} {
		if !strings.Contains(words, want) {
			t.Errorf("not said: %s\n%s", want, text)
		}
	}
}

func TestAlarmPlanApplyDelete(t *testing.T) {
	server := fakeAccount(t)
	server.AddAlarm(seoul, fakeaws.Alarm{AlarmName: "ebscope-" + string(moved) + "-burst-balance", Namespace: "AWS/EBS", MetricName: "BurstBalance",
		Tags: map[string]string{"ebscope": "alarm"}})
	server.AddAlarm(seoul, fakeaws.Alarm{AlarmName: ofBusy + "-2", Namespace: "AWS/EBS", MetricName: "BurstBalance", Threshold: 7})
	plan := filepath.Join(t.TempDir(), "alarms.json")
	code, text, stderr := ebscope(t, "alarm", "plan", "--from", fleetFile(t), "--kinds", "burst-balance", "--out", plan)
	if code != exitDone || !strings.HasSuffix(text, "ebscope alarm apply "+plan+"\n") {
		t.Fatalf("exit code %d\n%s%s", code, text, stderr)
	}
	for _, want := range []string{
		"deleted ebscope-vol-0123456789abcdef1-burst-balance in ap-northeast-2\ncreated " + ofBusy + " in ap-northeast-2\nAlarms: 1 created, 1 deleted.\n",
		"Alarms: 2 unchanged.\n",
	} {
		if code, text, stderr = ebscope(t, "alarm", "apply", plan); code != exitDone || text != want {
			t.Errorf("exit code %d\n%s%s", code, text, stderr)
		}
	}
	if made := server.Alarms(seoul)[ofBusy]; made.Threshold != 15 || made.Tags["ebscope"] != "alarm" {
		t.Errorf("%+v", made)
	}

	code, text, _ = ebscope(t, "alarm", "apply", plan, "-o", "json")
	var done alarmsDone
	if err := json.Unmarshal([]byte(text), &done); err != nil || code != exitDone || done.Schema != "ebscope.alarms-done/v1" || len(done.Results) != 2 || done.Results[0].Deed != "unchanged" {
		t.Errorf("exit code %d, %v\n%s", code, err, text)
	}
	if code, text, stderr = ebscope(t, "alarm", "delete", ofBusy+"-2"); code != exitDone || text != "Alarms: none to change.\n" || !strings.Contains(stderr, "no alarm "+ofBusy+"-2 carries ebscope's tag in ap-northeast-2") {
		t.Errorf("exit code %d\n%s%s", code, text, stderr)
	}
	if code, text, stderr = ebscope(t, "alarm", "delete", "--all", "--region", "ap-*"); code != exitDone || text != "deleted "+ofBusy+" in ap-northeast-2\nAlarms: 1 deleted.\n" {
		t.Errorf("exit code %d\n%s%s", code, text, stderr)
	}
	if left := server.Alarms(seoul); len(left) != 1 || left[ofBusy+"-2"].Threshold != 7 {
		t.Errorf("left: %v", left)
	}
	if code, text, _ = ebscope(t, "alarm", "delete", "--all"); code != exitDone || text != "Alarms: none to change.\n" {
		t.Errorf("exit code %d\n%s", code, text)
	}
}

func TestAlarmInPart(t *testing.T) {
	server := fakeAccount(t)
	plan := filepath.Join(t.TempDir(), "alarms.json")
	lost := fleet.Missing{Account: "123456789012", Region: "us-east-1", Operation: "ec2:DescribeVolumes", Reason: fleet.Denied, Text: "a permission is missing"}
	code, _, stderr := ebscope(t, "alarm", "plan", "--from", fleetFile(t, lost), "--out", plan)
	if code != exitPart || !strings.Contains(stderr, "123456789012 us-east-1 ec2:DescribeVolumes: a permission is missing") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
	server.AddAlarm(seoul, fakeaws.Alarm{AlarmName: ofBusy, Namespace: "AWS/EBS", MetricName: "BurstBalance", Threshold: 7})
	code, text, stderr := ebscope(t, "alarm", "apply", plan)
	if code != exitPart || !strings.Contains(text, "Alarms: 4 created, 1 unchanged, 1 failed.\n") || !strings.Contains(stderr, "does not carry the tag") {
		t.Errorf("exit code %d\n%s%s", code, text, stderr)
	}
	server.Deny("cloudwatch:DescribeAlarms")
	if code, _, stderr = ebscope(t, "alarm", "apply", plan); code != exitDeclined {
		t.Errorf("denied: exit code %d\n%s", code, stderr)
	}
	text2, err := os.ReadFile(plan)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other.json")
	if err := os.WriteFile(other, bytes.ReplaceAll(text2, []byte("123456789012"), []byte("210987654321")), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr = ebscope(t, "alarm", "apply", other); code != exitDeclined || !strings.Contains(stderr, "the plan is for account 210987654321") {
		t.Errorf("another account: exit code %d\n%s", code, stderr)
	}
}

func TestAlarmEmit(t *testing.T) {
	code, text, stderr := ebscope(t, "alarm", "plan", "--from", fleetFile(t), "--emit", "terraform")
	if code != exitDone || strings.Count(text, `resource "aws_cloudwatch_metric_alarm"`) != 5 {
		t.Errorf("exit code %d\n%s%s", code, text, stderr)
	}
	folder := filepath.Join(t.TempDir(), "alarms")
	if code, text, _ = ebscope(t, "alarm", "plan", "--from", fleetFile(t), "--emit", "cloudformation", "--out", folder); code != exitDone {
		t.Errorf("exit code %d", code)
	}
	name := filepath.Join(folder, "ebscope-alarms-123456789012-ap-northeast-2.yaml")
	if _, err := os.Stat(name); err != nil || text != "wrote "+name+"\n" {
		t.Error(err, text)
	}
}

func TestAlarmWrongUse(t *testing.T) {
	saved := fleetFile(t)
	for want, args := range map[string][]string{
		"--from reads nothing but its file": {"alarm", "plan", "--from", saved, "--region", seoul},
		`--window "week"`:                   {"alarm", "plan", "--window", "week"},
		"no such file":                      {"alarm", "plan", "--from", "nowhere"},
		"not a line of a snapshot":          {"alarm", "plan", "--from", "alarm_test.go"},
		"--warn 0s":                         {"alarm", "plan", "--from", saved, "--warn", "0s"},
		`--kinds "cpu": there are`:          {"alarm", "plan", "--from", saved, "--kinds", "cpu"},
		`--action "pager" is no ARN`:        {"alarm", "plan", "--from", saved, "--action", "pager"},
		`--emit "pulumi"`:                   {"alarm", "plan", "--from", saved, "--emit", "pulumi"},
		"takes names of alarms, or --all":   {"alarm", "delete"},
		`alarm "pager" is not ebscope's`:    {"alarm", "delete", "pager"},
		"takes one argument":                {"alarm", "apply"},
		"alarm_test.go: read the plan":      {"alarm", "apply", "alarm_test.go"},
	} {
		if code, _, stderr := ebscope(t, args...); code != exitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%v: exit code %d, %s", args, code, stderr)
		}
	}
}

// The account itself is read, its alarms made, and the alarm of a volume that becomes gp3 goes by the next plan.
func TestAlarmLive(t *testing.T) {
	server := fakeAccount(t)
	server.Advance(time.Since(server.Now())) // metrics are asked for up to now
	server.AddMachine(seoul, fakeaws.Machine{ID: "i-1", Type: "m5.24xlarge"})
	id := server.AddVolume(seoul, fakeaws.Volume{Setting: fakeaws.Setting{Type: "gp2", Size: 100}, Attachments: []fakeaws.Attachment{{Instance: "i-1"}}})
	of := map[string]string{"VolumeId": id}
	server.AddMetric(seoul, fakeaws.Metric{Namespace: "AWS/EBS", Name: "VolumeReadOps", Dimensions: of}, fakeaws.Constant(1000*300))
	server.AddMetric(seoul, fakeaws.Metric{Namespace: "AWS/EBS", Name: "VolumeReadBytes", Dimensions: of}, fakeaws.Constant(1000*300*4096))
	server.AddAlarm(seoul, fakeaws.Alarm{AlarmName: "ebscope-by-hand", Namespace: "AWS/EBS", MetricName: "BurstBalance", Threshold: 7})
	file := filepath.Join(t.TempDir(), "alarms.json")
	round := func(want string) {
		t.Helper()
		if code, text, stderr := ebscope(t, "alarm", "plan", "--window", "1h", "--kinds", "burst-balance", "--out", file); code != exitDone {
			t.Fatalf("exit code %d\n%s%s", code, text, stderr)
		}
		if code, text, stderr := ebscope(t, "alarm", "apply", file); code != exitDone || !strings.HasSuffix(text, want) {
			t.Fatalf("exit code %d\n%s%s", code, text, stderr)
		}
	}
	round("Alarms: 1 created.\n")
	// (1,000 − 300) × 300 ÷ 5.4 million = 3.889 %, up to 3.9.
	if made := server.Alarms(seoul)["ebscope-"+id+"-burst-balance"]; made.Threshold != 3.9 {
		t.Errorf("%+v", made)
	}
	round("Alarms: 1 unchanged.\n")
	server.ChangeVolume(id, func(v *fakeaws.Volume) {
		v.Setting = fakeaws.Setting{Type: "gp3", Size: 100, IOPS: 3000, Throughput: 125}
	})
	round("Alarms: 1 deleted.\n")
	if left := server.Alarms(seoul); len(left) != 1 || left["ebscope-by-hand"].Threshold != 7 {
		t.Errorf("left: %v", left)
	}
}
