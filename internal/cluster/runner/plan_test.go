package runner_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ebscope/internal/cluster/runner"
	"ebscope/internal/units"
)

func plan() runner.Plan {
	return runner.Plan{Phases: []runner.Phase{
		{Name: "01-gp2-layout", Takes: 40 * time.Second, File: "/volumes/gp2/ebscope test.dat", Size: 20 * units.GiB, Layout: true, Remove: true},
		{Name: "02-gp2-randread-qd32", Rest: 1500 * time.Millisecond, Takes: 45 * time.Minute, File: "/devices/gp2", Size: 20 * units.GiB},
	}}
}

func TestPlan(t *testing.T) {
	text, err := plan().Text()
	if err != nil {
		t.Fatal(err)
	}
	// 20 GiB are 21474836480 bytes; times are in milliseconds.
	want := "ebscope-plan\t1\t2\n" +
		"01-gp2-layout\t0\t40000\t1\t1\t21474836480\t/volumes/gp2/ebscope test.dat\n" +
		"02-gp2-randread-qd32\t1500\t2700000\t0\t0\t21474836480\t/devices/gp2\n"
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("plan file (-want +got):\n%s", diff)
	}
	got, err := runner.ParsePlan(text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(plan(), got); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
}

func TestPlanThatAShellCannotRead(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*runner.Phase)
		want   string
	}{
		{"a tab in the name", func(p *runner.Phase) { p.Name = "01\tx" }, "no name of a folder"},
		{"a path for a name", func(p *runner.Phase) { p.Name = "../x" }, "no name of a folder"},
		{"no name", func(p *runner.Phase) { p.Name = "" }, "no name of a folder"},
		{"the name of an attempt", func(p *runner.Phase) { p.Name = "01-x.cut1" }, "no name of a folder"},
		{"the name of another phase", func(p *runner.Phase) { p.Name = "02-gp2-randread-qd32" }, "two phases"},
		{"a line break in the path", func(p *runner.Phase) { p.File = "/volumes/a\nb" }, "control characters"},
		{"a relative path", func(p *runner.Phase) { p.File = "a" }, "absolute path"},
		{"no size", func(p *runner.Phase) { p.Size = 0 }, "no size"},
		{"a size that no shell can hold", func(p *runner.Phase) { p.Size = 1e15 }, "no size"},
		{"a negative rest", func(p *runner.Phase) { p.Rest = -1 }, "negative"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := plan()
			tt.change(&p.Phases[0])
			if _, err := p.Text(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestParsePlanRefuses(t *testing.T) {
	text, err := plan().Text()
	if err != nil {
		t.Fatal(err)
	}
	good := string(text)
	for name, bad := range map[string]string{
		"empty":              "",
		"cut":                good[:len(good)-1],
		"a line is missing":  good[:strings.LastIndex(good[:len(good)-1], "\n")+1],
		"a newer form":       strings.Replace(good, "\t1\t2", "\t2\t2", 1),
		"a negative number":  strings.Replace(good, "1500", "-1500", 1),
		"an octal number":    strings.Replace(good, "1500", "01500", 1),
		"a third switch":     strings.Replace(good, "\t1\t1\t2147", "\t1\t2\t2147", 1),
		"a field is missing": strings.Replace(good, "1500\t", "", 1),
	} {
		if p, err := runner.ParsePlan([]byte(bad)); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("%s: plan %+v, error %v", name, p, err)
		}
	}
}

func FuzzParsePlan(f *testing.F) {
	text, err := plan().Text()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Add("ebscope-plan\t1\t0\n")
	f.Add("ebscope-plan\t1\t00\n") // no shell's number
	f.Fuzz(func(t *testing.T, text string) {
		p, err := runner.ParsePlan([]byte(text))
		if err != nil {
			return
		}
		// What is read can be written, and is the same then, but for two phases of one name.
		if again, err := p.Text(); err == nil && string(again) != text {
			t.Errorf("%q was read and written as %q", text, again)
		}
	})
}
