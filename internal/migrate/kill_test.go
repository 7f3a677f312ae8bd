//go:build unix

package migrate_test

import (
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"ebscope/internal/cloud"
	"ebscope/internal/ebs"
	"ebscope/internal/migrate"
	"ebscope/internal/migration"
)

var kills = flag.Int("kills", 100, "at how many random points TestKilled kills the program")

// TestKilled kills a program that carries out a plan, again and again, and lets it finish then: the end state is the plan's,
// and no volume was changed twice.
func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute; run without -short: go test ./internal/migrate")
	}
	const seed = 6
	random := rand.New(rand.NewPCG(seed, seed))
	for killed := 0; killed < *kills && !t.Failed(); {
		s := stage(t, 200, 0, migration.Rules{BatchSize: 40})
		s.server.Lag = 2
		s.server.Limit("ModifyVolume", 4, 60)
		plan := filepath.Join(t.TempDir(), "plan.json")
		f, err := os.Create(plan)
		if err == nil {
			err = migration.Write(f, s.plan)
		}
		if err != nil || f.Close() != nil {
			t.Fatal("save the plan:", err)
		}
		for finished := false; !finished; {
			child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChild$")
			child.Env = append(os.Environ(), childPlan+"="+plan, "CHILD_JOURNAL="+s.journal)
			if err := child.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- child.Wait() }()
			after := time.Duration(50+random.IntN(500)) * time.Millisecond
			if killed >= *kills {
				after = time.Hour
			}
			select {
			case err := <-ended:
				if err != nil {
					t.Fatalf("the child failed: %v", err)
				}
				finished = true
			case <-time.After(after):
				_ = child.Process.Kill()
				<-ended
				killed++
			}
		}
		s.holds()
		if c := migrate.Count(&s.plan, s.read()); c.Done != 200 {
			t.Errorf("the journal says %+v", c)
		}
	}
}

// TestChild is the program that is killed.
func TestChild(t *testing.T) {
	path := os.Getenv(childPlan)
	if path == "" {
		t.Skip("the program that TestKilled starts; run: go test -run TestKilled ./internal/migrate")
	}
	account, err := cloud.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	plan, digest, err := migration.Read(f, ebs.Embedded())
	if err != nil {
		t.Fatal(err)
	}
	journal, err := migrate.OpenJournal(os.Getenv("CHILD_JOURNAL"), digest, "test")
	if err != nil {
		t.Fatal(err)
	}
	if err := migrate.Apply(t.Context(), &plan, account, nil, journal, migrate.Options{Poll: 20 * time.Millisecond, Settle: 2 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
}
