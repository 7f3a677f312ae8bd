package runner_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ebscope/internal/cluster/runner"
)

func TestParseEvent(t *testing.T) {
	const line = `{"ebscope":"phase-failed","time":"2026-12-01T05:47:00Z","pod":"p","node":"n","phase":"02-x","index":2,"text":"a \"b\"","exit":1}`
	want := runner.Event{Kind: runner.PhaseFailed, Time: time.Date(2026, 12, 1, 5, 47, 0, 0, time.UTC), Pod: "p", Node: "n", Phase: "02-x",
		Index: 2, Text: `a "b"`, Exit: 1}
	for name, l := range map[string]string{
		"as it is":              line,
		"kubectl --timestamps":  "2026-12-01T05:47:00.123456789Z " + line,
		"a file of the runtime": "2026-12-01T05:47:00.123456789+01:00 stdout F " + line,
		"kubectl --prefix":      "[pod/ebscope-x/runner] " + line + "\r",
	} {
		got, ok := runner.ParseEvent(l)
		if diff := cmp.Diff(want, got); !ok || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, ok, diff)
		}
	}
	for name, l := range map[string]string{
		"nothing":          "",
		"a status of fio":  "Jobs: 1 (f=1): [r(1)][50.0%][r=16.4MiB/s][r=4202 IOPS][eta 00m:01s]",
		"torn":             line[:40],
		"another kind":     `{"ebscope":"phase-dreamt","time":"2026-12-01T05:47:00Z"}`,
		"no time":          `{"ebscope":"run-done"}`,
		"a negative index": `{"ebscope":"run-done","time":"2026-12-01T05:47:00Z","index":-1}`,
		"another's JSON":   `{"level":"info","ebscope":"run-done"}`,
	} {
		if e, ok := runner.ParseEvent(l); ok {
			t.Errorf("%s: read as %+v", name, e)
		}
	}
}

func FuzzParseEvent(f *testing.F) {
	f.Add(`2026-12-01T05:47:00Z {"ebscope":"run-done","time":"2026-12-01T05:47:00Z","pod":"p"}`)
	f.Add(`{"ebscope":"phase-ended","time":"2026-12-01T05:47:00Z","phase":"01-x","index":1e400}`)
	f.Fuzz(func(t *testing.T, line string) {
		e, ok := runner.ParseEvent(line)
		if ok && (e.Kind == "" || e.Time.IsZero() || e.Index < 0) || !ok && e != (runner.Event{}) {
			t.Errorf("%q was read as %+v, %v", line, e, ok)
		}
	})
}
