package cli

import (
	"strings"
	"testing"

	"ebscope/internal/analyze"
	"ebscope/internal/report"
	"ebscope/internal/result"
)

func TestOnlyFailedRunsFail(t *testing.T) {
	failed, done := analyze.Phase{State: string(result.Failed)}, analyze.Phase{State: string(result.Done)}
	for name, tt := range map[string]struct {
		phases []analyze.Phase
		code   int
	}{
		"failed":       {[]analyze.Phase{failed, failed}, exitFailed},
		"one is done":  {[]analyze.Phase{failed, done}, exitDone},
		"none at all":  {nil, exitDone},
		"all are done": {[]analyze.Phase{done}, exitDone},
	} {
		if got := exitCode(allFailed(tt.phases)); got != tt.code {
			t.Errorf("%s: exit %d, want %d", name, got, tt.code)
		}
	}
}

// The summary counts every I/O; a mean of the series may be a little off.
func TestTableShowsTheSummary(t *testing.T) {
	phase := analyze.Phase{State: string(result.Done), IOPS: analyze.IOPS{Mean: 1001, FioMean: 1000}}
	for want, p := range map[string]analyze.Phase{"1,000": phase, "1,001": {State: phase.State, IOPS: analyze.IOPS{Mean: 1001}}} {
		var b strings.Builder
		writeReadingTable(&b, []analyze.Phase{p}, 80)
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, b.String())
		}
	}
}

// Without a pattern, the workload is what was done; with neither it is unknown.
func TestWorkloadWords(t *testing.T) {
	some := &analyze.Direction{}
	for want, p := range map[string]analyze.Phase{
		"reads": {Read: some}, "writes q4": {Write: some, QueueDepth: 4}, "rndread 4k": {RW: "randread", BlockSize: 4096}, "unknown": {Read: some, Write: some},
	} {
		if got := workloadWords(p); got != want {
			t.Errorf("workload %q, want %q", got, want)
		}
	}
}

func TestVerdictWords(t *testing.T) {
	warned := func(code string) analyze.Phase { return analyze.Phase{Warnings: []result.Warning{{Code: code}}} }
	for want, p := range map[string]analyze.Phase{"above limit": warned("above-limit"), "above EBS": warned("above-any-volume"), "–": {}} {
		if got := verdictWord(p); got != want {
			t.Errorf("verdict %q, want %q", got, want)
		}
	}
}

// A report of nothing but failed runs fails as their analysis does, and says so where there is nothing to draw.
func TestReportOfFailedRuns(t *testing.T) {
	o := reportOptions{dir: t.TempDir()}
	r := report.Report{Document: analyze.Document{Phases: []analyze.Phase{{State: string(result.Failed)}}}, Readings: []result.Reading{{Failure: &result.Failure{Code: 28}}}}
	for _, o.output = range []string{"json", "csv", "svg"} {
		var out, told strings.Builder
		if err := o.draw([]report.Report{r}, &out, &told); exitCode(err) != exitFailed {
			t.Errorf("-o %s: %v", o.output, err)
		}
	}
}
