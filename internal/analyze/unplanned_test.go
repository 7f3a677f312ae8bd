package analyze

import (
	"strings"
	"testing"
	"time"

	"ebscope/internal/ebs"
	"ebscope/internal/result"
	"ebscope/internal/simulate"
	"ebscope/internal/workload"
)

// The run of gp2-vs-gp3 as a cluster measured it: every phase ends and starts when the model says, a second later for each
// phase before it, but for what a test changes.
func planned(t *testing.T, target result.Target) (result.Run, []simulate.Phase) {
	t.Helper()
	profile, err := workload.Shipped(ebs.Embedded(), "gp2-vs-gp3")
	if err != nil {
		t.Fatal(err)
	}
	predicted, err := simulate.Run(t.Context(), ebs.Embedded(), profile, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	run := result.Run{Target: target, Compress: 1, Profile: profile, Started: time.Date(2026, 12, 1, 6, 0, 0, 0, time.UTC)}
	for i, p := range profile.Phases {
		late := time.Duration(i) * time.Second
		start, end := run.Started.Add(predicted[i].Start+late), run.Started.Add(predicted[i].End+late)
		run.Phases = append(run.Phases, result.Phase{Index: i + 1, Name: p.Name, Volume: p.Volume, State: result.Done, Started: &start, Ended: &end})
	}
	return run, predicted
}

// warned returns the warnings of a code by the number of their phase.
func warned(d Document, code string) map[int]string {
	found := map[int]string{}
	for i, p := range d.Phases {
		for _, w := range p.Warnings {
			if w.Code == code {
				found[i+1] = w.Text
			}
		}
	}
	return found
}

func TestRestAsPlanned(t *testing.T) {
	run, predicted := planned(t, result.Kubernetes)
	d := Run(ebs.Embedded(), run, nil, predicted)
	if got := warned(d, "rested-longer"); len(got) > 0 {
		t.Errorf("warned of %v, and all rests are as planned", got)
	}
}

// The pod is lost in gp3's random writes, phase 5, and another goes on ten minutes later. gp2, which is measured in phase 6,
// has 600 s more, in which it earns 600 × 300 = 180,000 credits.
func TestRestedLonger(t *testing.T) {
	for target, want := range map[result.Target]bool{
		result.Kubernetes: true, result.KubernetesEmulated: true, result.Path: true, result.Emulated: false,
	} {
		run, predicted := planned(t, target)
		for i := 5; i < len(run.Phases); i++ {
			start, end := run.Phases[i].Started.Add(10*time.Minute), run.Phases[i].Ended.Add(10*time.Minute)
			run.Phases[i].Started, run.Phases[i].Ended = &start, &end
		}
		got := warned(Run(ebs.Embedded(), run, nil, predicted), "rested-longer")
		if !want && len(got) > 0 {
			t.Errorf("%s: warned of %v", target, got)
		}
		if want && (len(got) != 1 || !strings.Contains(got[6], "180,")) {
			t.Errorf("%s: warned of %v, want phase 6 alone, with about 180,000 credits", target, got)
		}
	}
}

func TestRestartedPhase(t *testing.T) {
	run, predicted := planned(t, result.Kubernetes)
	run.Phases[2].Cuts, run.Phases[3].Cuts = 1, 2 // gp3 has no credits to spend
	got := warned(Run(ebs.Embedded(), run, nil, predicted), "restarted")
	if len(got) != 1 || !strings.Contains(got[4], "2 times") {
		t.Errorf("warned of %v, want phase 4 alone, cut 2 times", got)
	}
}
