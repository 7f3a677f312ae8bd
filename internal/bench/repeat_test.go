package bench

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ebscope/internal/result"
)

// Each repeat has a directory of its own, with the plan of the first.
func TestRepeats(t *testing.T) {
	p, now := plan(t), time.Unix(1e9, 0)
	p.Repeat, p.Engine, p.Command = &result.Repeat{Index: 1, Of: 3}, "io_uring", "ebscope bench --repeat 3"
	first, err := Create(p, result.Environment{Engine: "io_uring", CPUs: 2}, now)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for d := first; d != nil; {
		names = append(names, filepath.Base(d.Path))
		if err := d.Release(); err != nil {
			t.Fatal(err)
		}
		read, err := result.Load(d.Path)
		if err != nil {
			t.Fatal(err)
		}
		want := first.Run
		want.ID, want.Repeat, want.Started = names[len(names)-1], &result.Repeat{Index: len(names), Of: 3}, read.Started
		if diff := cmp.Diff(want, read); diff != "" {
			t.Errorf("repeat %d: %s", len(names), diff)
		}
		if d, err = Next(d, now.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	const id = "20010909T014640Z-gp2-vs-gp3-emulated"
	if diff := cmp.Diff([]string{id + "-r1", id + "-r2", id + "-r3"}, names); diff != "" {
		t.Error(diff)
	}
	// After a resume of the first, the others are there.
	if d, err := Next(first, now); d != nil || err != nil {
		t.Errorf("a repeat that was made before: %v, %v", d, err)
	}
	p.Repeat = nil
	alone, err := Create(p, result.Environment{}, now)
	if err != nil {
		t.Fatal(err)
	}
	if d, err := Next(alone, now); d != nil || err != nil {
		t.Errorf("after a run that is not repeated: %v, %v", d, err)
	}
}
