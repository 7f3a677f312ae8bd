package report_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"ebscope/internal/report"
	"ebscope/internal/result"
)

// gathered is a report of readings: so many with a series that holds, with a summary alone, and that failed.
func gathered(t *testing.T, held, alone, broken int) report.Report {
	t.Helper()
	r := perIO(t)
	phase, reading := r.Document.Phases[0], r.Readings[0]
	r.Document.Phases, r.Readings = nil, nil
	for i := range held + alone + broken {
		p, from := phase, reading
		if i >= held {
			from.IOPS, from.LatencyMap, p.Verdict, p.Summary = nil, nil, "", "3,000 IOPS on average."
		}
		if i >= held+alone {
			p.State, from.Failure = string(result.Failed), &result.Failure{Text: []string{"no space"}}
		}
		r.Document.Phases, r.Readings = append(r.Document.Phases, p), append(r.Readings, from)
	}
	return r
}

// Of a volume that nobody knows there is no verdict, but a log shows its levels; and what failed has finished.
func TestHeadlineWithoutAVerdict(t *testing.T) {
	logged := gathered(t, 2, 0, 0)
	for i := range logged.Document.Phases {
		logged.Document.Phases[i].Verdict = ""
	}
	failed := gathered(t, 0, 0, 1)
	for want, r := range map[string]report.Report{"2 results: No fall: every level holds to the end": logged, "randread failed": failed} {
		var b bytes.Buffer
		if err := report.Markdown(&b, r); err != nil {
			t.Fatal(err)
		}
		if got := slices.Collect(strings.Lines(b.String()))[0]; !strings.HasSuffix(got, want+"\n") {
			t.Errorf("headline %q, want %q", got, want)
		}
	}
}

// That levels hold is said of series alone.
func TestHeadlineOfReadings(t *testing.T) {
	for want, r := range map[string]report.Report{
		"2 results: No fall: every level holds to the end":                                                           gathered(t, 2, 0, 0),
		"3 results: Without a log of IOPS, no level and no fall can be seen; 1 of 3 failed":                          gathered(t, 0, 2, 1),
		"4 results: No fall in 1 of 3; no level can be seen in the others, for want of a log of IOPS; 1 of 4 failed": gathered(t, 1, 2, 1),
		"2 results: all failed": gathered(t, 0, 0, 2),
	} {
		var b bytes.Buffer
		if err := report.Markdown(&b, r); err != nil {
			t.Fatal(err)
		}
		if got := slices.Collect(strings.Lines(b.String()))[0]; got != "# "+want+"\n" {
			t.Errorf("headline %q, want %q", got, want)
		}
	}
}
