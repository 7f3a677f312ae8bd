package migrate_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"

	"ebscope/internal/cloud"
	"ebscope/internal/cluster"
	"ebscope/internal/ebs"
	"ebscope/internal/fleet"
)

// fakeCluster is a cluster whose driver is quick: what a claim asks for, it asks of EC2 at once.
type fakeCluster struct {
	scene    *scene
	mu       sync.Mutex
	claims   map[string]*cluster.ClaimState
	volumes  map[string]fleet.VolumeID
	classes  map[string]fleet.AttributesClass
	storage  map[string]fleet.StorageClass
	refuses  map[string]string // claims whose driver refuses for good, and why
	defaults []string
	changes  int
	stale    map[string]staleClaim
}

// staleClaim is how a claim shows itself for some reads after it was changed.
type staleClaim struct {
	cluster.ClaimState
	reads int
}

func newFakeCluster(s *scene, volumes []fleet.Volume) *fakeCluster {
	f := &fakeCluster{scene: s, claims: map[string]*cluster.ClaimState{}, volumes: map[string]fleet.VolumeID{}, classes: map[string]fleet.AttributesClass{},
		storage: map[string]fleet.StorageClass{"gp2": {Name: "gp2", Provisioner: fleet.EBSDriver, Default: true, Parameters: map[string]string{"type": "gp2"}}},
		refuses: map[string]string{}, stale: map[string]staleClaim{}, defaults: []string{"gp2"}}
	for i, v := range volumes {
		name := fmt.Sprintf("data-%d", i)
		f.claims["app/"+name] = &cluster.ClaimState{Claim: fleet.Claim{UID: fleet.UID("uid-" + name), Namespace: "app", Name: name, Volume: "pv-" + name, Phase: "Bound"}}
		f.volumes["app/"+name] = v.ID
	}
	return f
}

func (f *fakeCluster) read() fleet.Cluster {
	c := fleet.Cluster{UID: "cluster-1", Name: "prod", Server: "v1.36.3", AttributesAPI: "v1",
		Drivers: []fleet.Driver{{Name: fleet.EBSDriver, Version: "v1.64.0", Resizer: "v2.3.0"}}}
	for _, s := range f.storage {
		c.Classes = append(c.Classes, s)
	}
	for key, claim := range f.claims {
		c.Claims = append(c.Claims, claim.Claim)
		c.Volumes = append(c.Volumes, fleet.PersistentVolume{UID: "pv-" + claim.UID, Name: claim.Volume, Driver: fleet.EBSDriver, Handle: string(f.volumes[key]),
			ClaimUID: claim.UID, ClaimNamespace: claim.Namespace, ClaimName: claim.Name})
	}
	return c
}

func (f *fakeCluster) EnsureAttributesClass(_ context.Context, class fleet.AttributesClass) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	was, there := f.classes[class.Name]
	if there && !maps.Equal(was.Parameters, class.Parameters) {
		return false, &cluster.DeclinedError{Action: "make class " + class.Name}
	}
	f.classes[class.Name] = class
	return !there, nil
}

func (f *fakeCluster) EnsureStorageClass(_ context.Context, class fleet.StorageClass) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, there := f.storage[class.Name]
	f.storage[class.Name] = class
	return !there, nil
}

func (f *fakeCluster) SetDefaultClass(_ context.Context, name string) ([]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	was := f.defaults
	f.defaults = []string{name}
	return was, nil
}

func (f *fakeCluster) ClaimState(_ context.Context, namespace, name string) (cluster.ClaimState, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	claim := f.claims[namespace+"/"+name]
	if claim == nil {
		return cluster.ClaimState{}, &cluster.NotFoundError{Action: "read claim", Object: name}
	}
	if old, ok := f.stale[namespace+"/"+name]; ok && claim.AttributesClass != "" && old.reads > 0 {
		old.reads--
		f.stale[namespace+"/"+name] = old
		return old.ClaimState, nil
	}
	return *claim, nil
}

func (f *fakeCluster) ChangeClaim(ctx context.Context, change cluster.ClaimChange) (cluster.ClaimState, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	claim := f.claims[change.String()]
	switch {
	case claim == nil || claim.UID != change.UID:
		return cluster.ClaimState{}, &cluster.DeclinedError{Action: "change claim"}
	case claim.AttributesClass == change.To:
		return *claim, nil
	case claim.AttributesClass != change.From:
		return *claim, &cluster.DeclinedError{Action: "change claim"}
	}
	f.changes++
	claim.AttributesClass = change.To
	refused := func(why string) cluster.ClaimCondition {
		return cluster.ClaimCondition{Type: "ModifyVolumeError", Message: why, True: true}
	}
	if why := f.refuses[change.String()]; why != "" && change.To != claim.CurrentAttributesClass {
		claim.Modify = &fleet.ModifyStatus{Target: change.To, Status: cluster.ModifyInfeasible}
		claim.Conditions = []cluster.ClaimCondition{refused(why), {Type: "ModifyingVolume", True: true}}
		return *claim, nil
	}
	if change.To == "" {
		claim.Conditions = claim.Conditions[:1] // as csi-resizer does it: status and error stay
		return *claim, nil
	}
	claim.Modify, claim.Conditions = nil, nil
	if change.To == claim.CurrentAttributesClass {
		return *claim, nil
	}
	id := f.volumes[change.String()]
	size := int64(100)
	if change.SizeBytes > 0 {
		size = change.SizeBytes >> 30
	}
	target := fleet.Setting{Type: ebs.Type(f.classes[change.To].Parameters["type"]), SizeGiB: size}
	for key, value := range f.classes[change.To].Parameters {
		switch key {
		case "iops":
			_, _ = fmt.Sscan(value, &target.IOPS)
		case "throughput":
			_, _ = fmt.Sscan(value, &target.ThroughputMiBps)
		}
	}
	if _, err := f.scene.account.ModifyVolume(ctx, seoul, cloud.Change{Volume: id, Target: target}); err != nil {
		claim.Modify = &fleet.ModifyStatus{Target: change.To, Status: cluster.ModifyInProgress}
		claim.Conditions = []cluster.ClaimCondition{{Type: "ModifyVolumeError", Message: asAWSSays(err), True: true}}
		return *claim, nil
	}
	claim.CurrentAttributesClass = change.To // the driver is content with optimizing
	return *claim, nil
}

// asAWSSays is an error in AWS's words, which the driver passes on.
func asAWSSays(err error) string {
	var rate *cloud.RateError
	if errors.As(err, &rate) {
		return rate.Message
	}
	return err.Error()
}
