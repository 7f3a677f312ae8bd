package runner_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ebscope/internal/cluster/runner"
	"ebscope/internal/fio/output"
)

func (b *box) path(parts ...string) string {
	return filepath.Join(append([]string{b.results}, parts...)...)
}

func (b *box) read(parts ...string) string {
	b.t.Helper()
	text, err := os.ReadFile(b.path(parts...))
	must(b.t, err)
	return string(text)
}

func (b *box) mark(folder string) (m runner.Mark) {
	b.t.Helper()
	must(b.t, json.Unmarshal([]byte(b.read("phases", folder, runner.MarkFile)), &m))
	return m
}

// folders lists what is below phases/.
func (b *box) folders() (all []string) {
	b.t.Helper()
	entries, err := os.ReadDir(b.path("phases"))
	must(b.t, err)
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func equal[T any](t *testing.T, what string, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestWholeRun(t *testing.T) {
	inEachShell(t, func(t *testing.T, b *box) {
		b.layoutAndReads("5", "1")
		p := b.start()
		equal(t, "exit code", runner.ExitDone, p.exit())
		equal(t, "events", []string{"pod-started",
			"phase-started 01-gp2-layout", "phase-ended 01-gp2-layout",
			"phase-started 02-gp2-randread-qd1", "phase-ended 02-gp2-randread-qd1",
			"phase-started 03-gp2-randread-qd1-again", "phase-ended 03-gp2-randread-qd1-again", "run-done"}, p.told())
		if e := p.events[3]; e.Index != 2 || e.Pod != "pod-1" || e.Node != `node "1"` {
			t.Errorf("event %+v", e)
		}
		// A follower sees the rate within a phase of 5 s.
		if !slices.ContainsFunc(p.lines, func(l string) bool { return strings.Contains(l, "IOPS][eta") }) {
			t.Error("there is no status line")
		}
		for _, line := range p.lines {
			_, isEvent := runner.ParseEvent(line)
			if isEvent != strings.HasPrefix(line, "{") || !isEvent && !strings.HasPrefix(line, "Jobs: ") || strings.Contains(line, "\r") {
				t.Errorf("line %q is neither an event nor a status", line)
			}
		}
		equal(t, "folders", []string{"01-gp2-layout", "02-gp2-randread-qd1", "03-gp2-randread-qd1-again"}, b.folders())
		m, err := output.ReadPhase(b.path("phases", "02-gp2-randread-qd1"))
		must(t, err)
		// 500 IOPS for 5 s; a busy machine may come to less.
		if m.Total.IOs < 2000 || m.Total.IOs > 2600 || len(m.IOPS) < 8 {
			t.Errorf("%d I/Os and %d points of half a second", m.Total.IOs, len(m.IOPS))
		}
		mark := b.mark("02-gp2-randread-qd1")
		if took := mark.Ended.Sub(mark.Started); took < 5*time.Second || took > patience {
			t.Errorf("the phase took %v, want 5 s and fio's start", took)
		}
		mark.Started, mark.Ended = time.Time{}, time.Time{}
		equal(t, "mark", runner.Mark{Pod: "pod-1", Node: `node "1"`}, mark)
		// The second phase rests for 1.1 s. Times are in whole seconds, so that a second at least is seen.
		if rested := b.mark("03-gp2-randread-qd1-again").Started.Sub(b.mark("02-gp2-randread-qd1").Ended); rested < time.Second {
			t.Errorf("it rested for %v", rested)
		}
		var record runner.PodRecord
		must(t, json.Unmarshal([]byte(b.read(runner.PodsDir, "pod-1.json")), &record))
		if record.UID != "uid-1" || record.Node != `node "1"` || record.CPUs < 1 || record.Kernel == "" || !strings.HasPrefix(record.FioVersion, "3.") ||
			time.Since(record.Started) > 2*patience {
			t.Errorf("record %+v", record)
		}
		if _, err := os.Stat(b.file()); !os.IsNotExist(err) {
			t.Errorf("the test file is left: %v", err)
		}

		// Once more, in an image without fio: there is nothing left to do.
		must(t, os.Remove(filepath.Join(b.bin, "fio")))
		again := b.start()
		equal(t, "exit code", runner.ExitDone, again.exit())
		equal(t, "events", []string{"pod-started", "phase-kept 01-gp2-layout", "phase-kept 02-gp2-randread-qd1",
			"phase-kept 03-gp2-randread-qd1-again", "run-done"}, again.told())
	})
}

func TestLostPod(t *testing.T) {
	inEachShell(t, func(t *testing.T, b *box) {
		b.layoutAndReads("3", "1")
		lost := b.start()
		lost.awaitEvent(runner.PhaseStarted, "02-gp2-randread-qd1")
		lost.kill()
		equal(t, "folders", []string{"01-gp2-layout", "02-gp2-randread-qd1.running"}, b.folders())
		kept := b.read("phases", "01-gp2-layout", runner.MarkFile)

		b.pod = "pod-2"
		p := b.start()
		equal(t, "exit code", runner.ExitDone, p.exit())
		equal(t, "events", []string{"pod-started", "phase-kept 01-gp2-layout", "phase-cut 02-gp2-randread-qd1",
			"phase-started 02-gp2-randread-qd1", "phase-ended 02-gp2-randread-qd1",
			"phase-started 03-gp2-randread-qd1-again", "phase-ended 03-gp2-randread-qd1-again", "run-done"}, p.told())
		equal(t, "folders", []string{"01-gp2-layout", "02-gp2-randread-qd1", "02-gp2-randread-qd1.cut1", "03-gp2-randread-qd1-again"}, b.folders())
		equal(t, "mark of the finished phase", kept, b.read("phases", "01-gp2-layout", runner.MarkFile))
		equal(t, "pod of the phase that was cut", "pod-2", b.mark("02-gp2-randread-qd1").Pod)
		var cut runner.Mark
		must(t, json.Unmarshal([]byte(b.read("phases", "02-gp2-randread-qd1.cut1", runner.StartFile)), &cut))
		equal(t, "pod of the attempt", "pod-1", cut.Pod)
	})
}

// TestLostAfterTheMark loses the pod between a phase's mark and the folder's final name.
func TestLostAfterTheMark(t *testing.T) {
	inEachShell(t, func(t *testing.T, b *box) {
		b.layoutAndReads("1", "1")
		equal(t, "exit code", runner.ExitDone, b.start().exit())
		must(t, os.Rename(b.path("phases", "03-gp2-randread-qd1-again"), b.path("phases", "03-gp2-randread-qd1-again.running")))
		must(t, os.Remove(b.path(runner.DoneFile)))
		p := b.start()
		equal(t, "exit code", runner.ExitDone, p.exit())
		equal(t, "events", []string{"pod-started", "phase-kept 01-gp2-layout", "phase-kept 02-gp2-randread-qd1",
			"phase-kept 03-gp2-randread-qd1-again", "run-done"}, p.told())
	})
}

func TestAskedToEnd(t *testing.T) {
	inEachShell(t, func(t *testing.T, b *box) {
		b.layoutAndReads("50", "1")
		evicted := b.start()
		evicted.await("a status line", func(l string) bool { return strings.Contains(l, "IOPS][eta") && strings.Contains(l, "[r(1)]") })
		must(t, evicted.cmd.Process.Signal(syscall.SIGTERM))
		equal(t, "exit code", runner.ExitAsked, evicted.exit())
		equal(t, "last event", runner.PhaseCut, evicted.last().Kind)
		equal(t, "folders", []string{"01-gp2-layout", "02-gp2-randread-qd1.cut1"}, b.folders())
		// fio has written what it had measured.
		m, err := output.ReadPhase(b.path("phases", "02-gp2-randread-qd1.cut1"))
		must(t, err)
		if m.Total.IOs < 100 || b.mark("02-gp2-randread-qd1.cut1").Exit == 0 {
			t.Errorf("%d I/Os, mark %+v", m.Total.IOs, b.mark("02-gp2-randread-qd1.cut1"))
		}

		// Another pod is asked to end while it rests.
		b.plan.Phases[1].Rest = time.Hour
		resting := b.start()
		resting.awaitEvent(runner.PhaseKept, "01-gp2-layout")
		must(t, resting.cmd.Process.Signal(syscall.SIGTERM))
		equal(t, "exit code", runner.ExitAsked, resting.exit())
		equal(t, "folders", []string{"01-gp2-layout", "02-gp2-randread-qd1.cut1"}, b.folders())
	})
}

// TestTwoPods starts a pod while the one before it still works.
func TestTwoPods(t *testing.T) {
	inEachShell(t, func(t *testing.T, b *box) {
		if _, err := os.Stat(filepath.Join(b.bin, "flock")); err != nil {
			b.link("flock")
		}
		b.layoutAndReads("2", "1")
		first := b.start()
		first.awaitEvent(runner.PodStarted, "")
		var waiting [2]*pod
		for i := range waiting {
			waiting[i] = b.start()
			waiting[i].await("that it waits", func(l string) bool { return strings.HasPrefix(l, "another pod still works") })
		}
		must(t, waiting[0].cmd.Process.Signal(syscall.SIGTERM))
		equal(t, "exit code of one that is asked to end", runner.ExitAsked, waiting[0].exit())
		equal(t, "exit code of the first", runner.ExitDone, first.exit())
		equal(t, "exit code of the second", runner.ExitDone, waiting[1].exit())
		equal(t, "events of the second", []string{"pod-started", "phase-kept 01-gp2-layout", "phase-kept 02-gp2-randread-qd1",
			"phase-kept 03-gp2-randread-qd1-again", "run-done"}, waiting[1].told())
	})
}
