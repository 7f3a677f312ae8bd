//go:build linux

package migrate

import (
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"slices"
	"testing"
	"time"

	"ebscope/internal/fleet"
	"ebscope/internal/migration"
	"ebscope/test/fakeaws"
)

// The parts follow each other, and the last looks at what all of them have asked for.
func TestFleet(t *testing.T) {
	u := newUser(t)
	t.Run("there and back until AWS says no", u.thereAndBack)
	t.Run("the cluster has moved on", u.movedOn)
	t.Run("infeasible", u.infeasible)
	t.Run("killed", u.killed)
	t.Run("rights", u.rights)
}

const oldSet = `{"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db", "namespace": "shop"}, "spec": {"replicas": 0,
"selector": {"matchLabels": {"app": "db"}}, "template": {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [{"name": "db", "image": "db"}]}},
"volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {"storageClassName": "gp2-csi", "accessModes": ["ReadWriteOnce"],
"resources": {"requests": {"storage": "100Gi"}}}}]}}`

// journey are the volumes that go there and back.
type journey struct {
	*user
	data, other, big, legacy, kept volume
	moved                          []volume // all but kept
}

const namespaces = "shop,crm"

func (u *user) thereAndBack(t *testing.T) {
	j := journey{user: u.in(t)}
	j.data, j.other = j.volume("shop", "data", 100, false), j.volume("crm", "data", 100, false) // of one name
	j.big = j.volume("shop", "big", 171, false)
	j.legacy, j.kept = j.volume("shop", "legacy", 100, true), j.volume("shop", "kept", 100, false)
	j.moved = []volume{j.data, j.other, j.big, j.legacy}
	j.kept.mark()
	j.write("set.json", oldSet)
	j.kubectl("apply", "--filename="+j.file("set.json"))

	j.scanned()
	byHand := j.alarmed()
	j.planned()
	j.run("migrate", "apply", "plan.json", "--poll", poll).expect(t, 0)
	j.areGP3(1)
	j.sentOnce()
	if got := j.defaults(); !slices.Equal(got, []string{"ebscope-gp3"}) {
		t.Errorf("the default classes are %v, want ebscope-gp3 alone", got)
	}
	j.alarmsFollow(byHand)

	j.run("migrate", "rollback", "plan.json", "--poll", poll).expect(t, 0, "The credits that they had are lost")
	j.areGP2(2)
	if got := j.defaults(); !slices.Equal(got, []string{"ebscope-gp3"}) {
		t.Errorf("the default classes are %v, want ebscope-gp3 alone still", got)
	}
	j.again()
	j.slotUsedUp()
}

// scanned reads the fleet with the rights of a scan.
func (j *journey) scanned() {
	j.Helper()
	as := *j.user
	as.kubeconfig = j.accountOf(scanner)
	var d fleet.Document
	if err := json.Unmarshal([]byte(as.run("scan", "--region", "ap-*", "--namespace", namespaces, "--window", "1h", "-o", "json").expect(j, 0).stdout), &d); err != nil {
		j.Fatal(err)
	}
	found := map[string]string{}
	for _, r := range d.Volumes {
		found[r.Namespace+"/"+r.Claim] = string(r.ID) + " " + string(r.Type)
		if inTree := slices.ContainsFunc(r.Findings, func(f fleet.Finding) bool { return f.Code == fleet.InTreePV }); inTree != (string(r.ID) == j.legacy.id) {
			j.Errorf("%s is in-tree: %v", r.ID, inTree)
		}
	}
	want := map[string]string{}
	for _, v := range append(slices.Clone(j.moved), j.kept) {
		want[v.claim()] = v.id + " gp2"
	}
	if !maps.Equal(found, want) {
		j.Errorf("found %v, want %v", found, want)
	}
	codes := map[fleet.Code]bool{}
	for _, f := range d.Findings {
		codes[f.Code] = true
	}
	for _, code := range []fleet.Code{fleet.TwoDefaultClasses, fleet.TemplateGP2} {
		if !codes[code] {
			j.Errorf("not found: %s; found %v", code, codes)
		}
	}
}

// planned plans, and checks the plan.
func (j *journey) planned() {
	j.Helper()
	p, steps := j.plan("plan.json", namespaces)
	for _, want := range []struct {
		volume
		action migration.Action
		class  string
	}{
		{j.data, migration.ByClass, "ebscope-gp3-3000-125"}, {j.other, migration.ByClass, "ebscope-gp3-3000-125"},
		{j.big, migration.ByClass, "ebscope-gp3-3000-250"}, {j.legacy, migration.ByAWS, ""},
	} {
		if s := steps[want.claim()]; string(s.Volume) != want.id || s.Action != want.action || s.Class != want.class || len(s.BlockedBy) > 0 {
			j.Errorf("%s: %+v, want %s %s", want.claim(), s, want.action, want.class)
		}
	}
	// 171 GiB in Seoul: gp2 171 × 0.114 = 19.494; gp3 171 × 0.0912 + 125 MiB/s above 125 × 0.0456 = 15.5952 + 5.7 = 21.2952.
	if s := steps[j.big.claim()]; s.Difference == nil || s.Difference.String() != "1.8012" || s.Cheaper == nil {
		j.Errorf("171 GiB: difference %v, cheaper %v; want 1.8012 more a month, and a cheaper choice", s.Difference, s.Cheaper)
	}
	if s := steps[j.kept.claim()]; len(s.BlockedBy) != 1 || s.BlockedBy[0].Code != migration.OptedOut {
		j.Errorf("kept: %+v, want it opted out", s.BlockedBy)
	}
	if len(p.Defaults) != 1 || p.Defaults[0].To != "ebscope-gp3" || p.Defaults[0].Create == nil || !slices.Equal(p.Defaults[0].From, []string{inTreeClass, csiClass}) {
		j.Errorf("default classes: %+v", p.Defaults)
	}
	if len(p.Templates) != 1 || p.Templates[0].StatefulSet != "db" {
		j.Errorf("templates: %+v", p.Templates)
	}
}

// areGP3 checks that all are gp3 after so many changes, and kept is not.
func (j *journey) areGP3(changes int) {
	j.Helper()
	j.data.is(gp3(3000, 125), changes, "ebscope-gp3-3000-125")
	j.other.is(gp3(3000, 125), changes, "ebscope-gp3-3000-125")
	j.big.is(gp3(3000, 250), changes, "ebscope-gp3-3000-250")
	j.legacy.is(gp3(3000, 125), changes, "")
	j.kept.is(gp2(300), 0, "")
}

func (j *journey) areGP2(changes int) {
	j.Helper()
	j.data.is(gp2(300), changes, "ebscope-gp2")
	j.other.is(gp2(300), changes, "ebscope-gp2")
	j.big.is(gp2(513), changes, "ebscope-gp2")
	j.legacy.is(gp2(300), changes, "")
}

// sentOnce checks who asked EC2 for the first change, and that it named IOPS and throughput.
func (j *journey) sentOnce() {
	j.Helper()
	for _, v := range j.moved {
		all := v.requests()
		if len(all) != 1 || all[0].Parameters["Iops"] == "" || all[0].Parameters["Throughput"] == "" {
			j.Errorf("%s: requests %+v, want one with IOPS and throughput", v.claim(), all)
		} else if ours := all[0].Key == fakeaws.UserKey; ours != v.inTree {
			j.Errorf("%s was changed by %s; ebscope itself changes what is in-tree, and the driver the rest", v.claim(), all[0].Key)
		}
	}
}

// alarmed makes alarms, beside two that somebody else made, which it returns.
func (j *journey) alarmed() map[string]fakeaws.Alarm {
	j.Helper()
	for _, name := range []string{"pager", "ebscope-" + j.data.id + "-by-hand"} {
		aws.AddAlarm(seoul, fakeaws.Alarm{AlarmName: name, Namespace: "AWS/EBS", MetricName: "BurstBalance", Threshold: 7})
	}
	byHand := aws.Alarms(seoul)
	j.run("alarm", "plan", "--kinds", "burst-balance", "--window", "0", "--out", "alarms.json").expect(j, 0, "<= 15 % 300 s")
	j.run("alarm", "apply", "alarms.json").expect(j, 0, "5 created")
	// 100 GiB: 3,000 IOPS take 2,700 credits a second of 5.4 million: 15 % last 300 s.
	if a, made := aws.Alarms(seoul)[alarmOf(j.data)]; !made || a.Threshold != 15 || a.ComparisonOperator != "LessThanOrEqualToThreshold" {
		j.Errorf("the alarm of 100 GiB: %+v", a)
	}
	return byHand
}

func alarmOf(v volume) string { return "ebscope-" + v.id + "-burst-balance" }

// alarmsFollow checks that after the migration only kept has an alarm, and those made by hand are as they were.
func (j *journey) alarmsFollow(byHand map[string]fakeaws.Alarm) {
	j.Helper()
	j.run("alarm", "plan", "--kinds", "burst-balance", "--window", "0", "--out", "alarms-2.json").expect(j, 0)
	j.run("alarm", "apply", "alarms-2.json").expect(j, 0, "4 deleted")
	left := aws.Alarms(seoul)
	if _, there := left[alarmOf(j.kept)]; !there {
		j.Error("the volume that stays gp2 has no alarm any more")
	}
	delete(left, alarmOf(j.kept))
	if !reflect.DeepEqual(left, byHand) {
		j.Errorf("alarms %+v, want those made by hand %+v", left, byHand)
	}
}

// again uses the third and the fourth change within 24 hours.
func (j *journey) again() {
	j.Helper()
	_, steps := j.plan("plan-2.json", namespaces, "--journal", "plan.json.journal", "--journal", "plan.json.rollback.journal")
	for _, v := range j.moved {
		if s := steps[v.claim()]; s.SlotsUsed != 2 || len(s.BlockedBy) > 0 {
			j.Errorf("%s: %d slots used, %+v; want 2", v.claim(), s.SlotsUsed, s.BlockedBy)
		}
	}
	j.run("migrate", "apply", "plan-2.json", "--poll", poll).expect(j, 0)
	j.areGP3(3)
	j.run("migrate", "rollback", "plan-2.json", "--poll", poll).expect(j, 0)
	j.areGP2(4)
}

// slotUsedUp asks for a fifth change: planned with the journals, without them, and once a slot is free.
func (j *journey) slotUsedUp() {
	j.Helper()
	free := map[string]time.Time{}
	last := time.Time{}
	for _, v := range j.moved {
		free[v.claim()] = aws.Modifications(v.id)[0].Start.Add(24 * time.Hour)
		last = latest(last, free[v.claim()])
	}
	journals := []string{}
	for _, name := range []string{"plan.json.journal", "plan.json.rollback.journal", "plan-2.json.journal", "plan-2.json.rollback.journal"} {
		journals = append(journals, "--journal", name)
	}
	_, steps := j.plan("plan-3.json", namespaces, journals...)
	for _, v := range j.moved {
		if b := steps[v.claim()].BlockedBy; len(b) != 1 || b[0].Code != migration.NoSlot || !b[0].Until.Equal(free[v.claim()]) {
			j.Errorf("%s: blocked by %+v, want no slot until %v", v.claim(), b, free[v.claim()])
		}
	}

	// EC2 tells the latest change alone: only when it is asked does it say no.
	j.plan("plan-4.json", namespaces)
	told := j.run("migrate", "apply", "plan-4.json", "--poll", poll).expect(j, 5, "4 volumes have to wait")
	status := j.status("plan-4.json")
	for _, v := range j.moved {
		s := status[v.claim()]
		if s.State != "postponed" || !s.Until.Equal(free[v.claim()]) {
			j.Errorf("%s is %s until %v, want postponed until %v: %s", v.claim(), s.State, s.Until, free[v.claim()], s.Text)
		}
		told.expect(j, 5, "until "+free[v.claim()].UTC().Format(time.RFC3339))
		if n := len(aws.Modifications(v.id)); n != 4 {
			j.Errorf("%s was changed %d times, want 4", v.claim(), n)
		}
	}

	aws.Advance(last.Sub(aws.Now()) + time.Second)
	for _, v := range []volume{j.data, j.other, j.big} { // csi-resizer tries again by itself
		eventually(j, time.Minute, v.claim()+" is changed", v.inForce)
	}
	j.run("migrate", "apply", "plan-4.json", "--poll", poll).expect(j, 0)
	j.areGP3(5)
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// write writes a file into the user's directory.
func (u *user) write(name, text string) {
	u.Helper()
	if err := os.WriteFile(u.file(name), []byte(text), 0o644); err != nil {
		u.Fatal(err)
	}
}
