package cloud_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ebscope/internal/cloud"
	"ebscope/internal/fleet"
	"ebscope/test/fakeaws"
)

const seoul = "ap-northeast-2"

func gp2(size int) fakeaws.Volume {
	return fakeaws.Volume{Setting: fakeaws.Setting{Type: "gp2", Size: size}}
}

func gp3(size, iops, throughput int64) fleet.Setting {
	return fleet.Setting{Type: "gp3", SizeGiB: size, IOPS: iops, ThroughputMiBps: throughput}
}

// place is an AWS that a test can put volumes into: the fake, or moto.
type place struct {
	account cloud.Account
	region  string
	create  func(t *testing.T, size int, tags map[string]string) fleet.VolumeID // a gp2 volume
	settle  func(time.Duration)                                                 // lets time go by
}

func fakePlace(t *testing.T) (place, *fakeaws.Server) {
	account, server := open(t)
	return place{account: account, region: seoul, settle: server.Advance, create: func(_ *testing.T, size int, tags map[string]string) fleet.VolumeID {
		v := gp2(size)
		v.Tags = tags
		return fleet.VolumeID(server.AddVolume(seoul, v))
	}}, server
}

// What holds of the fake and of moto.
func volumesHold(t *testing.T, p place) {
	ctx := t.Context()
	id := p.create(t, 100, map[string]string{"team": "ads"})
	other := p.create(t, 50, nil)
	v, err := p.account.Volume(ctx, p.region, id)
	if err != nil {
		t.Fatal(err)
	}
	// gp2 gives 3 IOPS a GiB, which moto leaves out.
	if v.Type != "gp2" || v.SizeGiB != 100 || v.IOPS != 300 && v.IOPS != 0 || v.Tags["team"] != "ads" || v.State != "available" {
		t.Errorf("read %#v", v)
	}
	if _, found, err := p.account.Modification(ctx, p.region, id); err != nil || found {
		t.Errorf("a modification of a volume that has none: %v, %v", found, err)
	}
	change := cloud.Change{Volume: id, Target: gp3(120, 4000, 250)}
	m, err := p.account.ModifyVolume(ctx, p.region, change)
	if err != nil {
		t.Fatal(err)
	}
	if m.Volume != id || m.Original.Type != "gp2" || m.Original.SizeGiB != 100 || m.Target != change.Target {
		t.Errorf("modification %+v", m)
	}
	p.settle(24 * time.Hour)
	if m, found, err := p.account.Modification(ctx, p.region, id); err != nil || !found || m.State != "completed" || m.Target != change.Target || m.Progress != 100 {
		t.Errorf("after a day: %+v, %v, %v", m, found, err)
	}
	if v, err = p.account.Volume(ctx, p.region, id); err != nil || v.Setting != change.Target {
		t.Errorf("read back %+v, %v", v.Setting, err)
	}
	some, err := p.account.Volumes(ctx, p.region, []fleet.VolumeID{id, "vol-00000000000000bad", other})
	if err != nil || len(some) != 2 {
		t.Errorf("two of three volumes: %d, %v", len(some), err)
	}
	if _, err := p.account.Volume(ctx, p.region, "vol-00000000000000bad"); !errors.Is(err, cloud.ErrNoVolume) {
		t.Errorf("no such volume: %v", err)
	}
	if _, err := p.account.ModifyVolume(ctx, p.region, cloud.Change{Volume: "vol-00000000000000bad", Target: gp3(10, 3000, 125)}); !errors.Is(err, cloud.ErrNoVolume) {
		t.Errorf("modify no such volume: %v", err)
	}
	if who, err := p.account.Identity(ctx); err != nil || who != "123456789012" {
		t.Errorf("account %q, %v", who, err)
	}
	regions, lost, err := p.account.Regions(ctx, "123456789012", []string{"us-e*-1", p.region})
	if diff := cmp.Diff([]string{p.region, "us-east-1"}, regions); diff != "" || len(lost) > 0 || err != nil {
		t.Errorf("regions %v, %v, %v", regions, lost, err)
	}
}

func TestVolumesOfTheFake(t *testing.T) {
	p, _ := fakePlace(t)
	volumesHold(t, p)
	p.create = createBySDK(t)
	volumesHold(t, p)
}

// modifying → optimizing → completed: 10 s, and 6 h a TiB, so a quarter of that for 256 GiB.
func TestModificationOverTime(t *testing.T) {
	account, server := open(t)
	id := fleet.VolumeID(server.AddVolume(seoul, gp2(256)))
	if _, err := account.ModifyVolume(t.Context(), seoul, cloud.Change{Volume: id, Target: gp3(256, 3000, 125)}); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		forth    time.Duration
		state    string
		progress int64
		isType   string
	}{
		{0, "modifying", 0, "gp2"},
		{9 * time.Second, "modifying", 0, "gp2"},
		{time.Second, "optimizing", 0, "gp3"},
		{45 * time.Minute, "optimizing", 50, "gp3"},
		{45 * time.Minute, "completed", 100, "gp3"},
	} {
		server.Advance(step.forth)
		m, _, err := account.Modification(t.Context(), seoul, id)
		if err != nil || m.State != step.state || m.Progress != step.progress {
			t.Errorf("after %v more: %s, %d %%, %v; want %s, %d %%", step.forth, m.State, m.Progress, err, step.state, step.progress)
		}
		if v, err := account.Volume(t.Context(), seoul, id); err != nil || string(v.Type) != step.isType {
			t.Errorf("%s: the volume is %s, %v", step.state, v.Type, err)
		}
	}
}

// The fifth change within 24 hours is refused until the first is a day old.
func TestFourModificationsADay(t *testing.T) {
	account, server := open(t)
	id := fleet.VolumeID(server.AddVolume(seoul, gp2(10)))
	began := server.Now()
	modify := func(iops int64) error {
		_, err := account.ModifyVolume(t.Context(), seoul, cloud.Change{Volume: id, Target: gp3(10, iops, 125)})
		return err
	}
	for n := range int64(4) {
		if err := modify(3000 + n); err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			if err := modify(3500); !errors.Is(err, cloud.ErrBusy) {
				t.Errorf("while it is modifying: %v", err)
			}
		}
		server.Advance(time.Hour)
	}
	var rate *cloud.RateError
	if err := modify(4000); !errors.As(err, &rate) || !errors.Is(err, cloud.ErrTooOften) || !rate.Until.Equal(began.Add(24*time.Hour)) {
		t.Fatalf("the fifth: %v, want it until %v", err, began.Add(24*time.Hour))
	}
	server.Advance(20*time.Hour - time.Second) // 23:59:59 after the first
	if err := modify(4000); !errors.Is(err, cloud.ErrTooOften) {
		t.Errorf("a second too early: %v", err)
	}
	server.Advance(time.Second)
	if err := modify(4000); err != nil {
		t.Error(err)
	}
	if n := len(server.Modifications(string(id))); n != 5 {
		t.Errorf("%d modifications, want 5", n)
	}
}

func TestRefusedSettings(t *testing.T) {
	account, server := open(t)
	id := fleet.VolumeID(server.AddVolume(seoul, gp2(20)))
	for want, target := range map[string]fleet.Setting{
		"Iops to volume size ratio of 750.000000 is too high; maximum is 500": gp3(20, 15000, 125),
		"iops ratio of 0.333333 is too high; maximum is 0.250000":             gp3(20, 3000, 1000),
		"Volume iops of 90000 is too high; maximum is 80000":                  gp3(2000, 90000, 125),
		"Volume throughput of 100 is too low; minimum is 125":                 gp3(20, 3000, 100),
		"smaller than existing size":                                          gp3(19, 3000, 125),
		"too large for volume type gp2":                                       {Type: "gp2", SizeGiB: 16385},
		`type "gp9"`:                                                          {Type: "gp9", SizeGiB: 20},
	} {
		_, err := account.ModifyVolume(t.Context(), seoul, cloud.Change{Volume: id, Target: target})
		if !errors.Is(err, cloud.ErrRefused) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), string(id)) {
			t.Errorf("%+v: %v, want %q", target, err, want)
		}
	}
	if n := len(server.Modifications(string(id))); n != 0 {
		t.Errorf("%d modifications", n)
	}
	// What EC2 states of a gp2 volume can be sent back to it: IOPS is left out.
	if _, err := account.ModifyVolume(t.Context(), seoul, cloud.Change{Volume: id, Target: fleet.Setting{Type: "gp2", SizeGiB: 30, IOPS: 100}}); err != nil {
		t.Error(err)
	}
	for _, c := range server.Calls("ModifyVolume") {
		if c.Parameters["VolumeType"] == "gp2" && c.Parameters["Iops"] != "" {
			t.Errorf("sent %v", c.Parameters)
		}
	}
}

// A lost answer is never followed by the same request: what became of it is read.
func TestLostAnswers(t *testing.T) {
	for _, tt := range []struct {
		name  string
		fault fakeaws.Fault
		made  bool
	}{
		{"connection ends after the change", fakeaws.Fault{Lose: fakeaws.Answer}, true},
		{"connection ends before the change", fakeaws.Fault{Lose: fakeaws.Request}, false},
		{"internal error", fakeaws.Fault{Status: http.StatusInternalServerError, Code: "InternalError"}, false},
		{"service unavailable", fakeaws.Fault{Status: http.StatusServiceUnavailable, Code: "Unavailable"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			account, server := open(t)
			cloud.Impatient(account)
			server.Lag = 3
			id := fleet.VolumeID(server.AddVolume(seoul, gp2(100)))
			change := cloud.Change{Volume: id, Target: gp3(100, 3000, 128)}
			tt.fault.Service, tt.fault.Action = fakeaws.EC2, "ModifyVolume"
			server.Fail(tt.fault)
			if _, err := account.ModifyVolume(t.Context(), seoul, change); !errors.Is(err, cloud.ErrUncertain) {
				t.Fatalf("error %v, want it to be uncertain", err)
			}
			if n := len(server.Calls("ModifyVolume")); n != 1 {
				t.Errorf("%d requests, want 1", n)
			}
			m, made, err := account.Made(t.Context(), seoul, change)
			if err != nil || made != tt.made || made && m.State != "modifying" {
				t.Errorf("made: %v (%+v), %v", made, m, err)
			}
		})
	}
}

// Nor is one that does not come in time. The change was made before the answer was late.
func TestLateAnswer(t *testing.T) {
	account, server := open(t)
	cloud.Impatient(account)
	id := fleet.VolumeID(server.AddVolume(seoul, gp2(100)))
	change := cloud.Change{Volume: id, Target: gp3(100, 3000, 128)}
	server.Fail(fakeaws.Fault{Service: fakeaws.EC2, Action: "ModifyVolume", Delay: time.Minute})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for len(server.Calls("ModifyVolume")) == 0 {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	if _, err := account.ModifyVolume(ctx, seoul, change); !errors.Is(err, cloud.ErrUncertain) {
		t.Errorf("error %v, want it to be uncertain", err)
	}
	if _, made, err := account.Made(t.Context(), seoul, change); !made || err != nil {
		t.Errorf("made: %v, %v", made, err)
	}
	if n := len(server.Calls("ModifyVolume")); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
}

// An older modification with the same target is not this change.
func TestMadeBefore(t *testing.T) {
	account, server := open(t)
	cloud.Impatient(account)
	id := fleet.VolumeID(server.AddVolume(seoul, gp2(100)))
	change := cloud.Change{Volume: id, Target: gp3(100, 3000, 128)}
	m, err := account.ModifyVolume(t.Context(), seoul, change)
	if err != nil {
		t.Fatal(err)
	}
	change.Before = m.Start
	if _, made, err := account.Made(t.Context(), seoul, change); made || err != nil {
		t.Errorf("the change before: %v, %v", made, err)
	}
}

// 40 changes at once against an API that admits 10 and then 20 a second: all get through, none twice.
func TestThrottledChanges(t *testing.T) {
	account, server := open(t)
	server.Limit("ModifyVolume", 10, 20)
	var all sync.WaitGroup
	for range 40 {
		id := fleet.VolumeID(server.AddVolume(seoul, gp2(10)))
		all.Go(func() {
			if _, err := account.ModifyVolume(t.Context(), seoul, cloud.Change{Volume: id, Target: gp3(10, 3000, 125)}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	done := map[string]int{}
	for _, c := range server.Calls("ModifyVolume") {
		if c.Code == "" {
			done[c.Parameters["VolumeId"]]++
		} else if c.Code != "RequestLimitExceeded" {
			t.Errorf("answered %s", c.Code)
		}
	}
	if len(done) != 40 {
		t.Errorf("%d volumes were changed, want 40", len(done))
	}
	for id, n := range done {
		if n != 1 {
			t.Errorf("%s was changed %d times", id, n)
		}
	}
}

func TestModifyIsRefused(t *testing.T) {
	account, server := open(t)
	id := fleet.VolumeID(server.AddVolume(seoul, gp2(10)))
	change := cloud.Change{Volume: id, Target: gp3(10, 3000, 125)}
	for code, want := range map[string]error{
		"UnauthorizedOperation": cloud.ErrDenied, "MaxIOPSLimitExceeded": cloud.ErrQuota, "VolumeModificationSizeLimitExceeded": cloud.ErrQuota,
		"KMSKeyNotAccessibleException": cloud.ErrNoKey, "RequestExpired": cloud.ErrInvalid, "IncorrectState": cloud.ErrBusy,
	} {
		server.Fail(fakeaws.Fault{Service: fakeaws.EC2, Action: "ModifyVolume", Resource: string(id), Code: code})
		if _, err := account.ModifyVolume(t.Context(), seoul, change); !errors.Is(err, want) || errors.Is(err, cloud.ErrUncertain) {
			t.Errorf("%s: %v", code, err)
		}
	}
	server.Deny("ec2:ModifyVolume")
	if _, err := account.ModifyVolume(t.Context(), seoul, change); !errors.Is(err, cloud.ErrDenied) || !strings.Contains(err.Error(), "ec2:ModifyVolume") {
		t.Errorf("denied: %v", err)
	}
	// No connection comes about, so nothing was sent. (On one that was there before, nobody would know.)
	fresh, gone := open(t)
	gone.Close()
	if _, err := fresh.ModifyVolume(t.Context(), seoul, change); !errors.Is(err, cloud.ErrUnreachable) || errors.Is(err, cloud.ErrUncertain) {
		t.Errorf("nobody there: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := account.ModifyVolume(ctx, seoul, change); err == nil {
		t.Error("ended before it began")
	}
}

// A clock that is an hour wrong costs a request, which AWS refuses, and not the change.
func TestWrongClock(t *testing.T) {
	account, server := open(t)
	server.Skew = time.Hour
	id := fleet.VolumeID(server.AddVolume(seoul, gp2(10)))
	change := cloud.Change{Volume: id, Target: gp3(10, 3000, 125)}
	if _, err := account.ModifyVolume(t.Context(), seoul, change); err != nil {
		t.Error(err)
	}
	if calls := server.Calls("ModifyVolume"); len(calls) != 2 || calls[0].Code != "AuthFailure" || calls[1].Code != "" {
		t.Errorf("%+v", calls)
	}
}

// A modification that AWS begins and then fails leaves the volume as it was.
func TestFailedModification(t *testing.T) {
	account, server := open(t)
	id := fleet.VolumeID(server.AddVolume(seoul, gp2(10)))
	server.FailModification(string(id), "not enough capacity")
	if _, err := account.ModifyVolume(t.Context(), seoul, cloud.Change{Volume: id, Target: gp3(10, 3000, 125)}); err != nil {
		t.Fatal(err)
	}
	server.Advance(time.Hour)
	m, _, err := account.Modification(t.Context(), seoul, id)
	if err != nil || m.State != "failed" || m.Message != "not enough capacity" {
		t.Errorf("%+v, %v", m, err)
	}
	if v, err := account.Volume(t.Context(), seoul, id); err != nil || v.Type != "gp2" {
		t.Errorf("the volume is %s, %v", v.Type, err)
	}
}
