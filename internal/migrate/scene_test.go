package migrate_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ebscope/internal/cloud"
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

func TestMain(m *testing.M) {
	for _, e := range fakeaws.NoCredentials() {
		if key, value, _ := strings.Cut(e, "="); os.Getenv(childPlan) == "" {
			os.Setenv(key, value)
		}
	}
	os.Exit(m.Run())
}
