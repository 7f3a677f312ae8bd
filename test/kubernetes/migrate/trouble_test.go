//go:build linux

package migrate

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"ebscope/internal/migration"
	"ebscope/test/fakeaws"
)

// inForce is nil once what the claim asks for is in force.
func (v volume) inForce() error {
	c := v.read()
	if asked := text(c.Spec.VolumeAttributesClassName); asked == "" || asked != text(c.Status.CurrentVolumeAttributesClassName) || c.Status.ModifyVolumeStatus != nil {
		return fmt.Errorf("it asks for %q: %+v", asked, c.Status)
	}
	return nil
}

// What is no longer as the plan has it is left alone.
func (u *user) movedOn(t *testing.T) {
	u = u.in(t)
	const namespace = "moved"
	changed, replaced := u.volume(namespace, "changed", 100, true), u.volume(namespace, "replaced", 100, false)
	deleted, misled := u.volume(namespace, "deleted", 100, true), u.volume(namespace, "misled", 2000, false)
	_, steps := u.plan("plan.json", namespace)
	// 2,000 GiB of gp2 have 6,000 IOPS.
	const class = "ebscope-gp3-6000-250"
	if got := steps[misled.claim()].Class; got != class {
		t.Fatalf("class %q, want %s", got, class)
	}

	aws.ChangeVolume(changed.id, func(v *fakeaws.Volume) { v.Size = 120 })
	replaced.unbind()
	replaced.bind()
	aws.RemoveVolume(deleted.id)
	u.write("class.json", `{"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttributesClass", "metadata": {"name": "`+class+`"},
"driverName": "ebs.csi.aws.com", "parameters": {"type": "gp3", "iops": "16000"}}`)
	u.kubectl("apply", "--filename="+u.file("class.json"))

	u.run("migrate", "apply", "plan.json", "--poll", poll).expect(t, 5, "one of that name exists with another setting", "4 volumes are no longer what the plan was made for")
	for claim, text := range map[string]string{
		changed.claim(): "plan anew", replaced.claim(): "another one than was planned for", deleted.claim(): "does not exist", misled.claim(): class,
	} {
		if s := u.status("plan.json")[claim]; s.State != "refused" || !strings.Contains(s.Text, text) {
			t.Errorf("%s is %s: %s; want refused: %s", claim, s.State, s.Text, text)
		}
	}
	for _, v := range []volume{changed, replaced, deleted, misled} {
		if n := len(v.requests()); n != 0 {
			t.Errorf("%s was changed %d times", v.claim(), n)
		}
	}
	misled.is(gp2(6000), 0, "")

	plan, err := os.ReadFile(u.file("plan.json"))
	if err != nil {
		t.Fatal(err)
	}
	u.write("plan.json", string(bytes.Replace(plan, []byte(`"batch_size": 500`), []byte(`"batch_size": 400`), 1)))
	u.run("migrate", "apply", "plan.json").expect(t, 2, "the plan was edited since")
}

// What EC2 does not accept is final for the volume. Rollback lets the claim ask for what it had, and it can be planned again.
func (u *user) infeasible(t *testing.T) {
	u = u.in(t)
	const namespace = "infeasible"
	bad, good := u.volume(namespace, "bad", 100, false), u.volume(namespace, "good", 100, false)
	aws.Fail(fakeaws.Fault{Service: fakeaws.EC2, Action: "ModifyVolume", Resource: bad.id, Code: "InvalidParameterValue",
		Message: "gp3 is not available where the volume is", Times: fakeaws.Always})
	u.plan("plan.json", namespace)
	u.run("migrate", "apply", "plan.json", "--poll", poll).expect(t, 5, "infeasible", "gp3 is not available where the volume is", "migrate rollback")
	if s := u.status("plan.json")[bad.claim()]; s.State != "infeasible" {
		t.Errorf("%s is %s: %s", bad.claim(), s.State, s.Text)
	}
	good.is(gp3(3000, 125), 1, "ebscope-gp3-3000-125")
	_, steps := u.plan("while.json", namespace)
	if b := steps[bad.claim()].BlockedBy; len(b) != 1 || b[0].Code != migration.ClaimChanging {
		t.Errorf("as long as the claim asks for what it cannot have: %+v", b)
	}

	u.run("migrate", "rollback", "plan.json", "--poll", poll).expect(t, 0)
	bad.is(gp2(300), 0, "")
	good.is(gp2(300), 2, "ebscope-gp2")

	_, steps = u.plan("again.json", namespace)
	if b := steps[bad.claim()].BlockedBy; len(b) > 0 {
		t.Errorf("after rollback: %+v", b)
	}
	aws.Mend()
	u.run("migrate", "apply", "again.json", "--poll", poll).expect(t, 0)
	bad.is(gp3(3000, 125), 1, "ebscope-gp3-3000-125")
	good.is(gp3(3000, 125), 3, "ebscope-gp3-3000-125")
}

// However often it is killed, ebscope goes on where it was, and sends no change twice.
func (u *user) killed(t *testing.T) {
	u = u.in(t)
	const namespace = "killed"
	byClass, byAWS := u.volume(namespace, "by-class", 100, false), u.volume(namespace, "by-aws", 100, true)
	u.plan("plan.json", namespace)
	clock.hold()
	defer clock.release()
	// The change is made, and before ebscope hears of it, it is killed.
	aws.Fail(fakeaws.Fault{Service: fakeaws.EC2, Action: "ModifyVolume", Resource: byAWS.id, Delay: longest})
	begun := func() error {
		for _, v := range []volume{byClass, byAWS} {
			if len(aws.Modifications(v.id)) != 1 {
				return errors.New(v.claim() + " is not under change")
			}
		}
		return nil
	}
	for i := range 3 {
		cmd, _, stderr := u.start("migrate", "apply", "plan.json", "--poll", poll)
		eventually(t, time.Minute, "both are under change", begun)
		if i > 0 {
			time.Sleep(time.Duration(i) * time.Second) // while it finds out, and while it waits
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err == nil {
			t.Errorf("it ended before it was killed:\n%s", stderr)
		}
		if s := u.status("plan.json")[byAWS.claim()]; s.State != "under-way" {
			t.Errorf("%s is %s, want under way", byAWS.claim(), s.State)
		}
	}
	clock.release()
	u.run("migrate", "apply", "plan.json", "--poll", poll).expect(t, 0)
	for _, v := range []volume{byClass, byAWS} {
		if n := len(v.requests()); n != 1 {
			t.Errorf("%s: %d changes were sent, want 1", v.claim(), n)
		}
	}
	byClass.is(gp3(3000, 125), 1, "ebscope-gp3-3000-125")
	byAWS.is(gp3(3000, 125), 1, "")
}
