package report_test

import (
	"bytes"
	"strings"
	"testing"

	"ebscope/internal/analyze"
	"ebscope/internal/report"
)

// A page whose bandwidth fell does not say that nothing did.
func TestHeadlineOfAFallOfThroughput(t *testing.T) {
	r := perIO(t)
	p := &r.Document.Phases[0]
	p.Cliff, p.Verdict, p.Segments = nil, analyze.Unstable, nil
	p.Foreign = &analyze.Foreign{ThroughputChanges: []analyze.ThroughputChange{{AtS: 300, BeforeMiBpS: 500, AfterMiBpS: 40}}}
	var html bytes.Buffer
	if err := report.HTML(&html, r); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(html.String(), "throughput falls for no known cause</h1>") {
		_, title, _ := strings.Cut(html.String(), "<h1")
		t.Errorf("the headline is %.120s", title)
	}
}
