package migrate_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"ebscope/internal/cloud"
	"ebscope/internal/cluster"
	"ebscope/internal/ebs"
	"ebscope/internal/fleet"
	"ebscope/internal/migrate"
	"ebscope/internal/migration"
	"ebscope/test/fakeaws"
)

// childPlan is the variable that tells a child of TestKilled its plan.
const childPlan = "CHILD_PLAN"

func TestApply(t *testing.T) {
	s := stage(t, 30, 0, migration.Rules{BatchSize: 7})
	s.server.Lag = 2
	if err := s.apply(); err != nil {
		t.Fatal(err)
	}
	s.holds()
	if c := migrate.Count(&s.plan, s.read()); c.Done != 30 || c.Steps != 30 {
		t.Errorf("%+v", c)
	}
	// Done again it does nothing.
	before := s.server.Requests(fakeaws.EC2)
	if err := s.apply(); err != nil {
		t.Fatal(err)
	}
	if n := s.server.Requests(fakeaws.EC2) - before; n != 0 {
		t.Errorf("%d requests for a plan that is done", n)
	}
	// A batch begins once the one before is completed: 30 in batches of 7 are 5 waves.
	waves := map[time.Time]bool{}
	for _, c := range s.server.Calls("ModifyVolume") {
		waves[c.At.Truncate(5*time.Minute)] = true
	}
	if len(waves) < 5 {
		t.Errorf("sent in %d waves, want at least 5", len(waves))
	}
}

// By class, one by EC2 alone, and the default class.
func TestApplyInACluster(t *testing.T) {
	s := stage(t, 5, 4, migration.Rules{})
	if err := s.apply(); err != nil {
		t.Fatal(err)
	}
	s.holds()
	if s.cluster.changes != 4 || len(s.cluster.classes) != 1 {
		t.Errorf("%d claims changed, classes %v", s.cluster.changes, s.cluster.classes)
	}
	if d := s.cluster.defaults; len(d) != 1 || d[0] != "ebscope-gp3" || s.cluster.storage["ebscope-gp3"].Parameters["type"] != "gp3" {
		t.Errorf("default %v of %v", d, s.cluster.storage)
	}
	// Back again: gp2 by its class, and by EC2.
	carried, underWay := migrate.Carried(&s.plan, s.read())
	if len(carried) != 5 || underWay != 0 {
		t.Fatalf("%d carried out, %d under way", len(carried), underWay)
	}
	s.use(migration.Reverse(s.plan, s.digest, carried, ebs.Embedded()))
	s.journal += ".rollback"
	if err := s.apply(); err != nil {
		t.Fatal(err)
	}
	all, err := s.account.Volumes(t.Context(), seoul, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range all {
		if v.Type != ebs.GP2 || v.IOPS != 300 || v.SizeGiB != 100 {
			t.Errorf("%s went back to %v", v.ID, v.Setting)
		}
	}
}

// What AWS answers, and what comes of it. A lost answer is looked up; nothing is sent twice.
func TestFaults(t *testing.T) {
	for name, tt := range map[string]struct {
		fault    fakeaws.Fault
		outcome  migrate.Outcome
		requests int
	}{
		"lost after the change":  {fakeaws.Fault{Lose: fakeaws.Answer}, migrate.Done, 1},
		"lost before the change": {fakeaws.Fault{Lose: fakeaws.Request}, migrate.Done, 2},
		"internal error":         {fakeaws.Fault{Status: 500, Code: "InternalError"}, migrate.Done, 2},
		"throttled":              {fakeaws.Fault{Status: 503, Code: "RequestLimitExceeded"}, migrate.Done, 2},
		"key gone":               {fakeaws.Fault{Code: "KMSKeyNotAccessibleException"}, migrate.Failed, 1},
		"quota":                  {fakeaws.Fault{Code: "MaxIOPSLimitExceeded"}, migrate.Failed, 1},
		"refused":                {fakeaws.Fault{Code: "InvalidParameterCombination"}, migrate.Failed, 1},
		"busy":                   {fakeaws.Fault{Code: "IncorrectModificationState"}, migrate.Postponed, 1},
		"gone":                   {fakeaws.Fault{Code: "InvalidVolume.NotFound"}, migrate.Refused, 1},
		"too often":              {fakeaws.Fault{Code: "VolumeModificationRateExceeded", Message: "You can modify the volume again at 2026-12-02T10:00:00Z."}, migrate.Postponed, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := stage(t, 3, 0, migration.Rules{FailureBudget: 1})
			id := s.plan.Steps[1].Volume
			tt.fault.Service, tt.fault.Action, tt.fault.Resource = fakeaws.EC2, "ModifyVolume", string(id)
			s.server.Fail(tt.fault)
			err := s.apply()
			state := s.state(id)
			if state.Outcome != tt.outcome {
				t.Errorf("%s (%s), want %s; %v", state.Outcome, state.Text, tt.outcome, err)
			}
			if part := (*migrate.PartError)(nil); errors.As(err, &part) == (tt.outcome == migrate.Done) {
				t.Errorf("ended with %v", err)
			}
			n := 0
			for _, c := range s.server.Calls("ModifyVolume") {
				if c.Parameters["VolumeId"] == string(id) {
					n++
				}
			}
			if n != tt.requests {
				t.Errorf("%d requests, want %d", n, tt.requests)
			}
			if tt.outcome == migrate.Done {
				s.holds()
			}
			if name == "too often" && !state.Until.Equal(time.Date(2026, 12, 2, 10, 0, 0, 0, time.UTC)) {
				t.Errorf("until %v", state.Until)
			}
		})
	}
}

// No credentials, or no permission, is no volume's fault: it ends the run with nothing failed, and the next goes on.
func TestDenied(t *testing.T) {
	s := stage(t, 40, 0, migration.Rules{})
	s.server.Fail(fakeaws.Fault{Service: fakeaws.EC2, Action: "ModifyVolume", Code: "UnauthorizedOperation", Times: 16})
	if err := s.apply(); !errors.Is(err, cloud.ErrDenied) {
		t.Fatalf("ended with %v", err)
	}
	if c := migrate.Count(&s.plan, s.read()); c.Failed != 0 || c.Pending < 24 {
		t.Errorf("%+v", c)
	}
	s.server.Fail() // the rest of the faults is used up by further runs
	for range 16 {
		if err := s.apply(); err == nil {
			break
		}
	}
	s.holds()
}

// With a budget of 2 the third failure stops: of 100 volumes that all fail few more are tried than are sent at once.
func TestFailureBudget(t *testing.T) {
	s := stage(t, 100, 0, migration.Rules{FailureBudget: 2})
	s.server.Fail(fakeaws.Fault{Service: fakeaws.EC2, Action: "ModifyVolume", Code: "MaxIOPSLimitExceeded", Times: fakeaws.Always})
	var budget *migrate.BudgetError
	if err := s.apply(); !errors.As(err, &budget) || budget.Failed < 3 || budget.Failed > 2+16 {
		t.Fatalf("ended with %v", err)
	}
	n := len(s.server.Calls("ModifyVolume"))
	if err := s.apply(); !errors.As(err, &budget) {
		t.Errorf("again: %v", err)
	}
	if more := len(s.server.Calls("ModifyVolume")) - n; more != 0 {
		t.Errorf("%d more requests after the budget was spent", more)
	}
}

// EBS gives up a change that it began.
func TestFailedModification(t *testing.T) {
	s := stage(t, 2, 0, migration.Rules{})
	id := s.plan.Steps[0].Volume
	s.server.FailModification(string(id), "not enough capacity")
	if err := s.apply(); err == nil {
		t.Error("ended well")
	}
	if state := s.state(id); state.Outcome != migrate.Failed || !strings.Contains(state.Text, "not enough capacity") {
		t.Errorf("%+v", state)
	}
	s.options.RetryFailed = true
	if err := s.apply(); err != nil {
		t.Error(err)
	}
}

func TestMovedOn(t *testing.T) {
	s := stage(t, 4, 2, migration.Rules{})
	claimed, alone := s.plan.Steps[0], s.plan.Steps[2]
	s.cluster.claims[claimed.Claim].UID = "another"
	// By hand to another setting, and to the very one.
	for i, to := range []fleet.Setting{{Type: ebs.GP3, SizeGiB: 150, IOPS: 3000, ThroughputMiBps: 125}, s.plan.Steps[3].To} {
		if _, err := s.account.ModifyVolume(t.Context(), seoul, cloud.Change{Volume: s.plan.Steps[2+i].Volume, Target: to}); err != nil {
			t.Fatal(err)
		}
	}
	s.server.Advance(24 * time.Hour)
	if err := s.apply(); err == nil {
		t.Error("ended well")
	}
	for id, want := range map[fleet.VolumeID]struct {
		outcome migrate.Outcome
		text    string
	}{
		claimed.Volume:         {migrate.Refused, "UID another"},
		alone.Volume:           {migrate.Refused, "the volume is gp3 150 GiB"},
		s.plan.Steps[3].Volume: {migrate.Already, "already"},
		s.plan.Steps[1].Volume: {migrate.Done, "gp3 100 GiB"},
	} {
		if state := s.state(id); state.Outcome != want.outcome || !strings.Contains(state.Text, want.text) {
			t.Errorf("%s: %s (%s), want %s (%s)", id, state.Outcome, state.Text, want.outcome, want.text)
		}
	}
}

// Four changes in a day, and a fifth that has to wait until the first is a day old; by EC2 and by class.
// A volume that was deleted since the plan was made is left, the others are changed.
func TestDeletedVolume(t *testing.T) {
	s := stage(t, 2, 0, migration.Rules{})
	const gone = "vol-00000000deadbeef0"
	s.plan.Steps[0].Volume = gone
	var part *migrate.PartError
	if err := s.apply(); !errors.As(err, &part) || part.Refused != 1 || part.Failed != 0 {
		t.Errorf("ended with %v", err)
	}
	if state := s.state(gone); state.Outcome != migrate.Refused || !strings.Contains(state.Text, "does not exist any more") {
		t.Errorf("%s (%s)", state.Outcome, state.Text)
	}
	if state := s.state(s.plan.Steps[1].Volume); state.Outcome != migrate.Done {
		t.Errorf("the other one: %s (%s)", state.Outcome, state.Text)
	}
	for _, c := range s.server.Calls("ModifyVolume") {
		if c.Parameters["VolumeId"] == gone {
			t.Errorf("asked of EC2: %+v", c)
		}
	}
}

func TestNoSlot(t *testing.T) {
	s := stage(t, 2, 1, migration.Rules{})
	s.server.Run(0)
	began := s.server.Now().Truncate(time.Second) // as EC2 says it
	for i := range 4 {
		for _, step := range s.plan.Steps {
			to := step.From
			if i%2 == 0 {
				to = fleet.Setting{Type: ebs.GP3, SizeGiB: 100, IOPS: 4000, ThroughputMiBps: 200}
			}
			if _, err := s.account.ModifyVolume(t.Context(), seoul, cloud.Change{Volume: step.Volume, Target: to}); err != nil {
				t.Fatal(err)
			}
		}
		s.server.Advance(time.Hour)
	}
	if err := s.apply(); err == nil {
		t.Error("ended well")
	}
	for _, step := range s.plan.Steps {
		if state := s.state(step.Volume); state.Outcome != migrate.Postponed || !state.Until.Equal(began.Add(24*time.Hour)) {
			t.Errorf("%s %s: %s until %v (%s), want %v", step.Action, step.Name(), state.Outcome, state.Until, state.Text, began.Add(24*time.Hour))
		}
	}
}

// What the driver refuses for good is final, and rollback lets the claim ask for what it had.
func TestInfeasible(t *testing.T) {
	s := stage(t, 2, 2, migration.Rules{})
	first := s.plan.Steps[0]
	s.cluster.refuses[first.Claim] = "unknown parameter"
	if err := s.apply(); err == nil {
		t.Error("ended well")
	}
	if state := s.state(first.Volume); state.Outcome != migrate.Infeasible || !strings.Contains(state.Text, "unknown parameter") {
		t.Errorf("%+v", state)
	}
	plan, digest := s.plan, s.digest
	changes := s.cluster.changes
	s.options.RetryFailed = true
	if err := s.apply(); err == nil || s.cluster.changes != changes {
		t.Errorf("it was tried again: %v", err)
	}
	carried, _ := migrate.Carried(&s.plan, s.read())
	s.use(migration.Reverse(s.plan, s.digest, carried, ebs.Embedded()))
	s.journal += ".rollback"
	if err := s.apply(); err != nil {
		t.Fatal(err)
	}
	if claim := s.cluster.claims[first.Claim]; claim.AttributesClass != "" || claim.Infeasible() || !claim.Withdrawn() {
		t.Errorf("the claim asks for %q, %+v", claim.AttributesClass, claim.Modify)
	}
	if n := len(s.server.Modifications(string(first.Volume))); n != 0 {
		t.Errorf("the volume was changed %d times", n)
	}
	// Once the cause is gone, the same plan anew does it. The other volume was taken back to gp2 by a class.
	delete(s.cluster.refuses, first.Claim)
	s.plan, s.digest, s.journal = plan, digest, s.journal+".anew"
	if err := s.apply(); err == nil || s.state(first.Volume).Outcome != migrate.Done || s.state(s.plan.Steps[1].Volume).Outcome != migrate.Refused {
		t.Errorf("%+v, %+v; error %v", s.state(first.Volume), s.state(s.plan.Steps[1].Volume), err)
	}
}

// A class of the plan's name with other parameters is given to no claim: it would make another volume of it.
func TestClassWithOtherParameters(t *testing.T) {
	s := stage(t, 2, 1, migration.Rules{})
	step := s.plan.Steps[0]
	s.cluster.classes[step.Class] = fleet.AttributesClass{Name: step.Class, Driver: fleet.EBSDriver, Parameters: map[string]string{"type": "io2", "iops": "64000"}}
	var part *migrate.PartError
	if err := s.apply(); !errors.As(err, &part) || part.Objects != 1 || part.Refused != 1 {
		t.Errorf("%v", err)
	}
	if state := s.state(step.Volume); state.Outcome != migrate.Refused || !strings.Contains(state.Text, step.Class) || s.cluster.changes != 0 {
		t.Errorf("%+v, %d changes of claims", state, s.cluster.changes)
	}
	// Once it is gone the plan goes on.
	delete(s.cluster.classes, step.Class)
	if err := s.apply(); err != nil {
		t.Fatal(err)
	}
	s.holds()
}

// What is left in a claim's status of an attempt before is not taken for the answer to a new one.
func TestStaleClaimStatus(t *testing.T) {
	for name, test := range map[string]struct {
		status, target, why string
		modifying           bool
		want                migrate.Outcome
	}{
		"refused before":           {cluster.ModifyInfeasible, "", "unknown parameter", false, migrate.Done},
		"refused now":              {cluster.ModifyInfeasible, "", "unknown parameter", true, migrate.Infeasible},
		"another refused before":   {cluster.ModifyInfeasible, "other", "unknown parameter", true, migrate.Done},
		"a slot that is free now":  {cluster.ModifyInProgress, "", "maximum modification rate … again at 2026-11-30T12:00:00Z", true, migrate.Done},
		"a slot that is not yet":   {cluster.ModifyInProgress, "", "maximum modification rate … again at 2999-11-30T12:00:00Z", true, migrate.Postponed},
		"a slot that is not known": {cluster.ModifyInProgress, "", "VolumeModificationRateExceeded", true, migrate.Postponed},
	} {
		t.Run(name, func(t *testing.T) {
			s := stage(t, 1, 1, migration.Rules{})
			step := s.plan.Steps[0]
			target := test.target
			if target == "" {
				target = step.Class
			}
			stale := *s.cluster.claims[step.Claim]
			stale.AttributesClass, stale.Modify = step.Class, &fleet.ModifyStatus{Target: target, Status: test.status}
			stale.Conditions = []cluster.ClaimCondition{{Type: "ModifyVolumeError", Message: test.why, True: true}, {Type: "ModifyingVolume", True: test.modifying}}
			s.cluster.stale[step.Claim] = staleClaim{stale, 3}
			_ = s.apply() // the journal says how it ended
			if state := s.state(step.Volume); state.Outcome != test.want {
				t.Errorf("%+v, want %s", state, test.want)
			}
		})
	}
}

// 60 changes against an API that admits 5 at once and 40 a second: none is lost, none made twice, none counts as failed.
func TestThrottling(t *testing.T) {
	s := stage(t, 60, 0, migration.Rules{FailureBudget: 0})
	s.server.Limit("ModifyVolume", 5, 40)
	if err := s.apply(); err != nil {
		t.Fatal(err)
	}
	s.holds()
}

func TestMaintenanceWindow(t *testing.T) {
	s := stage(t, 3, 0, migration.Rules{Window: &migration.Window{From: "01:00", To: "02:00"}})
	now := time.Date(2026, 12, 1, 0, 59, 59, 400_000_000, time.UTC)
	began := time.Now()
	s.options.Now = func() time.Time { return now.Add(time.Since(began)) }
	if err := s.apply(); err != nil {
		t.Fatal(err)
	}
	s.holds()
	if e := s.events[0]; e.Outcome != migrate.Postponed || !strings.Contains(e.Text, "2026-12-01T01:00:00Z") {
		t.Errorf("told %+v first", e)
	}
}

func TestInterrupted(t *testing.T) {
	s := stage(t, 50, 0, migration.Rules{BatchSize: 10})
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	s.options.Tell = func(e migrate.Event) {
		if n++; n == 15 {
			cancel()
		}
	}
	if err := s.applyIn(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("ended with %v", err)
	}
	if err := s.apply(); err != nil {
		t.Fatal(err)
	}
	s.holds()
}

func TestJournal(t *testing.T) {
	s := stage(t, 2, 0, migration.Rules{})
	if err := s.apply(); err != nil {
		t.Fatal(err)
	}
	// A line that was cut short is forgotten.
	f, err := os.OpenFile(s.journal, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(`{"kind":"intent","volume_id":"` + string(s.plan.Steps[0].Volume))
	}
	if err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	if err := s.apply(); err != nil {
		t.Error(err)
	}
	if _, err := migrate.OpenJournal(s.journal, "sha256:other", "test"); !errors.Is(err, migrate.ErrOtherPlan) {
		t.Errorf("with another plan: %v", err)
	}
	held, err := migrate.OpenJournal(s.journal, s.digest, "test")
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if _, err := migrate.OpenJournal(s.journal, s.digest, "test"); !errors.Is(err, migrate.ErrLocked) {
		t.Errorf("twice: %v", err)
	}
}

// A run is killed after its claim was changed and before that was written down: the next finds the change under way.
func TestClaimWasChanged(t *testing.T) {
	s := stage(t, 1, 1, migration.Rules{})
	s.server.Run(0)
	step := s.plan.Steps[0]
	ctx, cancel := context.WithCancel(t.Context())
	s.options.Tell = func(e migrate.Event) {
		if e.Kind == migrate.Sent {
			cancel()
		}
	}
	if err := s.applyIn(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("ended with %v", err)
	}
	text, err := os.ReadFile(s.journal)
	if err != nil {
		t.Fatal(err)
	}
	before, _, found := strings.Cut(string(text), `{"at"`+`:"`+s.state(step.Volume).At.Format(time.RFC3339Nano)+`","kind":"sent"`)
	if !found {
		t.Fatalf("no line to cut in %s", text)
	}
	if err := os.WriteFile(s.journal, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	if state := s.state(step.Volume); state.Kind != migrate.Intent {
		t.Fatalf("the journal says %+v", state)
	}
	s.server.Run(10_000)
	if err := s.apply(); err != nil {
		t.Fatal(err)
	}
	s.holds()
	if s.cluster.changes != 1 || s.state(step.Volume).Outcome != migrate.Done {
		t.Errorf("the claim was changed %d times; %+v", s.cluster.changes, s.state(step.Volume))
	}
}
