package cli

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"ebscope/internal/bench"
	"ebscope/internal/cluster"
	"ebscope/internal/cluster/runner"
	"ebscope/internal/ebs"
	"ebscope/internal/result"
	"ebscope/internal/workload"
)

func following(t *testing.T, pairs int, patience time.Duration) (*follower, *bytes.Buffer, chan error) {
	t.Helper()
	profile, err := workload.Shipped(ebs.Embedded(), "gp2-vs-gp3")
	if err != nil {
		t.Fatal(err)
	}
	plan := bench.Plan{Profile: profile, Catalog: ebs.Embedded(), Compress: 1, Target: result.Kubernetes}
	var out bytes.Buffer
	gaveUp := make(chan error, 1)
	f, err := newFollower(plan.Record("x", result.Environment{}, time.Now()), pairs, patience, func(err error) { gaveUp <- err }, &out)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.stop)
	return f, &out, gaveUp
}

func TestFollowerTellsAPhaseOnce(t *testing.T) {
	f, out, _ := following(t, 1, time.Hour)
	at := time.Date(2026, 12, 1, 6, 0, 0, 0, time.UTC)
	for _, e := range []runner.Event{
		{Kind: runner.PodStarted, Pod: "p1", Node: "n1"},
		{Kind: runner.PhaseStarted, Index: 3, Time: at},
		{Kind: runner.PhaseEnded, Index: 3, Time: at.Add(10 * time.Minute)},
		{Kind: runner.PhaseStarted, Index: 4, Time: at.Add(10 * time.Minute)},
	} {
		f.handle(cluster.Line{Event: e})
	}
	f.handle(cluster.PodChange{Pod: cluster.PodStatus{Name: "p1", State: cluster.PodEvicted, Reason: "EvictionByEvictionAPI"}})
	f.handle(cluster.PodChange{Pod: cluster.PodStatus{Name: "p2", State: cluster.PodRunning}, Replaces: "p1"})
	for _, e := range []runner.Event{
		{Kind: runner.PhaseKept, Index: 3}, {Kind: runner.PhaseCut, Index: 4}, {Kind: runner.PhaseStarted, Index: 4, Time: at},
		{Kind: runner.PhaseFailed, Index: 4, Text: "fio: no space left"},
	} {
		f.handle(cluster.Line{Event: e})
	}
	text := out.String()
	for want, times := range map[string]int{
		"pod p1 runs on node n1":             1,
		"gp3 randread-qd32    takes 10:00":   1,
		"gp3 randread-qd32    done":          1,
		"gp2 randread-qd32    takes 45:00":   2, // cut, and again
		"pod p1 is evicted":                  1,
		"pod p2 takes the place of p1":       1,
		"gp2 randread-qd32 was cut":          1,
		"gp2 randread-qd32    failed":        1,
		"fio: no space left":                 1,
		"12 phases on 2 volumes, kubernetes": 1,
	} {
		if n := strings.Count(text, want); n != times {
			t.Errorf("%q is said %d times, want %d, in\n%s", want, n, times, text)
		}
	}
}

func TestFollowerGivesUp(t *testing.T) {
	f, out, gaveUp := following(t, 1, 20*time.Millisecond)
	pending := cluster.PodStatus{Name: "p1", State: cluster.PodPending, Created: time.Now()}
	f.handle(cluster.PodChange{Pod: pending})
	pending.Reason, pending.Message = "Unschedulable", "0/3 nodes are available"
	f.handle(cluster.PodChange{Pod: pending})
	f.handle(cluster.PodChange{Pod: pending})
	err := <-gaveUp
	var stuck *stuckError
	if !errors.As(err, &stuck) || !strings.Contains(err.Error(), "Unschedulable: 0/3 nodes are available") {
		t.Errorf("%v, want the cluster's reason", err)
	}
	if n := strings.Count(out.String(), "waits: Unschedulable"); n != 1 {
		t.Errorf("told %d times\n%s", n, out)
	}
}

func TestFollowerWaitsNoLongerForAPodThatRuns(t *testing.T) {
	f, _, gaveUp := following(t, 1, 50*time.Millisecond)
	p := cluster.PodStatus{Name: "p1", State: cluster.PodPending, Reason: "Unschedulable", Created: time.Now()}
	f.handle(cluster.PodChange{Pod: p})
	p.State = cluster.PodRunning
	f.handle(cluster.PodChange{Pod: p})
	select {
	case err := <-gaveUp:
		t.Errorf("gave up: %v", err)
	case <-time.After(150 * time.Millisecond):
	}
}
