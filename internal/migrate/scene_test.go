package migrate_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
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

const seoul = "ap-northeast-2"

// scene is an AWS, a plan for it, and where its journal is.
type scene struct {
	t       *testing.T
	server  *fakeaws.Server
	account cloud.Account
	plan    migration.Plan
	digest  string
	journal string
	cluster *fakeCluster
	options migrate.Options
	events  []migrate.Event
}

// stage has so many gp2 volumes of 100 GiB, planned to become gp3. The first inCluster of them are claims app/data-N.
// Time in it goes 10,000 times as fast: a change takes 10 s and 35 min of its own time, a fifth of a second.
func stage(t *testing.T, volumes, inCluster int, rules migration.Rules) *scene {
	t.Helper()
	s := &scene{t: t, server: fakeaws.New(), journal: filepath.Join(t.TempDir(), "plan.json.journal")}
	t.Cleanup(s.server.Close)
	for _, e := range s.server.Environment() {
		key, value, _ := strings.Cut(e, "=")
		t.Setenv(key, value)
	}
	var err error
	if s.account, err = cloud.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.server.Run(10_000)
	for range volumes {
		s.server.AddVolume(seoul, fakeaws.Volume{Setting: fakeaws.Setting{Type: "gp2", Size: 100}})
	}
	all, err := s.account.Volumes(t.Context(), seoul, nil)
	if err != nil {
		t.Fatal(err)
	}
	snapshot := fleet.Snapshot{Taken: s.server.Now(), Regions: []fleet.Region{{Account: "123456789012", Name: seoul, Volumes: all}}}
	if inCluster > 0 {
		s.cluster = newFakeCluster(s, all[:inCluster])
		snapshot.Clusters = []fleet.Cluster{s.cluster.read()}
	}
	s.make(snapshot, rules)
	s.options = migrate.Options{Poll: 20 * time.Millisecond, Settle: 2 * time.Millisecond, Account: "123456789012",
		Tell: func(e migrate.Event) { s.events = append(s.events, e) }}
	return s
}

func (s *scene) make(snapshot fleet.Snapshot, rules migration.Rules) {
	s.t.Helper()
	inventory := fleet.Join(snapshot)
	rows := fleet.NewScan(inventory, fleet.Options{Catalog: ebs.Embedded()}).Document(nil).Volumes
	s.use(migration.Make(&inventory, rows, migration.Options{Catalog: ebs.Embedded(), Rules: rules}))
}

// use takes a plan by way of its file.
func (s *scene) use(p migration.Plan) {
	s.t.Helper()
	var text bytes.Buffer
	err := migration.Write(&text, p)
	if err == nil {
		s.plan, s.digest, err = migration.Read(&text, ebs.Embedded())
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) apply() error {
	s.t.Helper()
	return s.applyIn(s.t.Context())
}

func (s *scene) applyIn(ctx context.Context) error {
	s.t.Helper()
	journal, err := migrate.OpenJournal(s.journal, s.digest, "test")
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() {
		if err := journal.Close(); err != nil {
			s.t.Error(err)
		}
	}()
	clusters := map[fleet.UID]migrate.Cluster{}
	if s.cluster != nil {
		clusters["cluster-1"] = s.cluster
	}
	return migrate.Apply(ctx, &s.plan, s.account, clusters, journal, s.options)
}

// state is what the journal says of a volume.
func (s *scene) state(id fleet.VolumeID) migrate.State {
	s.t.Helper()
	state, _ := s.read().State(id)
	return state
}

func (s *scene) read() *migrate.Journal {
	s.t.Helper()
	j, err := migrate.ReadJournal(s.journal, s.digest)
	if err != nil {
		s.t.Fatal(err)
	}
	return j
}

// holds checks that all volumes are as planned, and that none was changed twice.
func (s *scene) holds() {
	s.t.Helper()
	changed := map[string]int{}
	for _, c := range s.server.Calls("ModifyVolume") {
		if c.Code == "" && !c.Dropped {
			changed[c.Parameters["VolumeId"]]++
		}
	}
	all, err := s.account.Volumes(s.t.Context(), seoul, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	is := map[fleet.VolumeID]fleet.Setting{}
	for _, v := range all {
		is[v.ID] = v.Setting
	}
	for _, step := range s.plan.Steps {
		if len(step.BlockedBy) > 0 {
			continue
		}
		id := string(step.Volume)
		if made := len(s.server.Modifications(id)); made != 1 || changed[id] > 1 || is[step.Volume] != step.To {
			s.t.Errorf("%s is %v, changed %d times, %d requests answered; want %v", id, is[step.Volume], made, changed[id], step.To)
		}
	}
}

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
}

func newFakeCluster(s *scene, volumes []fleet.Volume) *fakeCluster {
	f := &fakeCluster{scene: s, claims: map[string]*cluster.ClaimState{}, volumes: map[string]fleet.VolumeID{}, classes: map[string]fleet.AttributesClass{},
		storage: map[string]fleet.StorageClass{"gp2": {Name: "gp2", Provisioner: fleet.EBSDriver, Default: true, Parameters: map[string]string{"type": "gp2"}}},
		refuses: map[string]string{}, defaults: []string{"gp2"}}
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
	_, there := f.classes[class.Name]
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
	if why := f.refuses[change.String()]; why != "" && change.To != claim.CurrentAttributesClass {
		claim.Modify = &fleet.ModifyStatus{Target: change.To, Status: cluster.ModifyInfeasible}
		claim.Conditions = []cluster.ClaimCondition{{Type: "ModifyVolumeError", Message: why, True: true}}
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

func TestMain(m *testing.M) {
	for _, e := range fakeaws.NoCredentials() {
		if key, value, _ := strings.Cut(e, "="); os.Getenv(childPlan) == "" {
			os.Setenv(key, value)
		}
	}
	os.Exit(m.Run())
}
