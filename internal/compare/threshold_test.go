package compare

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestParseThresholds(t *testing.T) {
	got, err := ParseThresholds("iops<-5%, p99>+10%,randread:qd1:mean > 2.5 %")
	want := []Threshold{
		{Metric: IOPS, Below: true, Percent: -5},
		{Metric: LatencyP99, Percent: 10},
		{Phase: "randread:qd1", Metric: LatencyMean, Percent: 2.5},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Threshold{})); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	for text, want := range map[string]string{
		"":                 "column 1: a threshold is missing",
		"iops<-5%,":        "column 10: a threshold is missing",
		"iops<-5%,p99=10%": `column 10: "p99=10%" has no < or >`,
		"iops<-5%,ms>3%":   `column 10: "ms" is no metric`,
		"ä:iops<5":         `column 8: "5" is no change in percent`,
		"p50>NaN%":         `column 5: "NaN%" is no change in percent`,
		"p50<-101%":        `column 5: "-101%" is no change in percent`,
	} {
		_, err := ParseThresholds(text)
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "iops<-5%,p99>+10%") {
			t.Errorf("%q: error %v, want %s with an example", text, err, want)
		}
	}
}

func FuzzParseThresholds(f *testing.F) {
	for _, seed := range []string{"iops<-5%,p99>+10%", "a:b:mean>1e3%", ",", "<>%", "ü<1%"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all, err := ParseThresholds(text)
		var syntax *SyntaxError
		switch {
		case err == nil && len(all) != strings.Count(text, ",")+1:
			t.Errorf("%d thresholds of %q", len(all), text)
		case err != nil && !errors.As(err, &syntax):
			t.Errorf("error %v", err)
		case err != nil && (syntax.Column < 1 || syntax.Column > len([]rune(text))+1):
			t.Errorf("column %d of %q", syntax.Column, text)
		}
	})
}

func row(phase string, metric Metric, ratio float64, method Method, significant bool) Row {
	return Row{Phase: phase, Metric: metric, A: 1, B: ratio, Ratio: &ratio, Method: method, Significant: significant}
}

// A change past a threshold is a regression where it is proved, or cannot be tested.
func TestJudge(t *testing.T) {
	for name, tt := range map[string]struct {
		row      Row
		on       string
		want     bool
		unjudged int
	}{
		"proved":          {row("x", IOPS, 0.94, Bootstrap, true), "iops<-5%", true, 0},
		"not past":        {row("x", IOPS, 0.96, Bootstrap, true), "iops<-5%", false, 0},
		"chance":          {row("x", IOPS, 0.5, Bootstrap, false), "iops<-5%", false, 0},
		"untested":        {row("x", IOPS, 0.94, Untested, false), "iops<-5%", true, 0},
		"higher":          {row("x", LatencyP99, 1.11, WindowRanks, true), "p99>+10%", true, 0},
		"the other way":   {row("x", LatencyP99, 0.5, WindowRanks, true), "p99>+10%", false, 0},
		"its phase":       {row("x", IOPS, 0.5, Bootstrap, true), "x:iops<-5%", true, 0},
		"another phase":   {row("x", IOPS, 0.5, Bootstrap, true), "y:iops<-5%", false, 1},
		"no such figure":  {row("x", IOPS, 0.5, Bootstrap, true), "p99>+10%", false, 1},
		"one of the two":  {row("x", IOPS, 0.5, Bootstrap, true), "p99>+10%,iops<-5%", true, 1},
		"nothing to fail": {row("x", IOPS, 0.5, Bootstrap, true), "iops<-50%", false, 0},
	} {
		thresholds, err := ParseThresholds(tt.on)
		if err != nil {
			t.Fatal(err)
		}
		d := Document{Rows: []Row{tt.row}}
		d.judge(thresholds)
		if d.Regression != tt.want || d.Rows[0].Regression != tt.want || len(d.Regressions) > 0 != tt.want || len(d.Unjudged) != tt.unjudged {
			t.Errorf("%s: regression %v, %q, unjudged %q", name, d.Regression, d.Regressions, d.Unjudged)
		}
	}
}

// A change of just the threshold is not past it, whichever way floating point rounds it; one of a hundredth of a percent more is.
func TestJudgeAtTheThreshold(t *testing.T) {
	for percent := 1; percent <= 20; percent++ {
		for _, tt := range []struct {
			on     string
			metric Metric
			b      float64 // of 1,000
			want   bool
		}{
			{fmt.Sprintf("iops<-%d%%", percent), IOPS, 1000 - 10*float64(percent), false},
			{fmt.Sprintf("iops<-%d%%", percent), IOPS, 1000 - 10*float64(percent) - 0.1, true},
			{fmt.Sprintf("p99>+%d%%", percent), LatencyP99, 1000 + 10*float64(percent), false},
			{fmt.Sprintf("p99>+%d%%", percent), LatencyP99, 1000 + 10*float64(percent) + 0.1, true},
		} {
			thresholds, err := ParseThresholds(tt.on)
			if err != nil {
				t.Fatal(err)
			}
			d := Document{Rows: []Row{row("x", tt.metric, tt.b/1000, Untested, false)}}
			if d.judge(thresholds); d.Regression != tt.want {
				t.Errorf("%v against 1,000, %s: regression %v", tt.b, tt.on, d.Regression)
			}
		}
	}
}
