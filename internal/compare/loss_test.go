package compare

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A phase that failed, or is missing, keeps no threshold.
func TestLostPhases(t *testing.T) {
	run := course(1, 0, constant(20, 100)...)
	broken := Phase{Name: "k", Unfit: "it failed with error 28: no space", Workload: random4k}
	cut := Phase{Name: "k", Unfit: "it was cut short", Workload: random4k}
	other := Phase{Name: "other", Workload: Workload{Pattern: "write"}, Runs: []Run{run}}
	for name, tt := range map[string]struct {
		b    []Phase
		on   string
		want []string
	}{
		"failed":             {[]Phase{phase("j", run), broken}, "iops<-5%", []string{"k: failed in b"}},
		"cut":                {[]Phase{phase("j", run), cut}, "iops<-5%", []string{"k: no result in b"}},
		"missing":            {[]Phase{phase("j", run)}, "iops<-5%,p99>+10%", []string{"k: missing in b"}},
		"its phase":          {[]Phase{phase("j", run), broken}, "k:iops<-5%", []string{"k: failed in b"}},
		"all":                {[]Phase{other}, "iops<-5%", []string{"j: missing in b", "k: missing in b"}},
		"another phase":      {[]Phase{phase("j", run), broken}, "j:iops<-5%", []string{}},
		"nothing is missing": {[]Phase{phase("j", run), phase("k", run)}, "iops<-5%", []string{}},
	} {
		thresholds, err := ParseThresholds(tt.on)
		if err != nil {
			t.Fatal(err)
		}
		d := Compare(of("a", phase("j", run), phase("k", run)), []Subject{of("b", tt.b...)}, thresholds)
		if diff := cmp.Diff(tt.want, d.Regressions); diff != "" || d.Regression != (len(tt.want) > 0) {
			t.Errorf("%s: regression %v\n%s", name, d.Regression, diff)
		}
	}
}

// What the baseline itself lacks is nobody's loss.
func TestLossOfTheBaseline(t *testing.T) {
	thresholds, err := ParseThresholds("iops<-5%")
	if err != nil {
		t.Fatal(err)
	}
	run := course(1, 0, constant(20, 100)...)
	d := Compare(of("a", phase("j", run), Phase{Name: "k", Unfit: "it failed"}), []Subject{of("b", phase("j", run), phase("k", run))}, thresholds)
	if d.Regression {
		t.Errorf("regressions: %q", d.Regressions)
	}
}
