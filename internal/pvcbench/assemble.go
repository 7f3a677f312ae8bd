package pvcbench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ebscope/internal/cluster/runner"
	"ebscope/internal/fio/output"
	"ebscope/internal/result"
)

// Assemble completes a run's record from what its pods have left, which has been collected into the run directory. It does
// not save it. Results that cannot be read make their phase a failed one.
func Assemble(run result.Run, dir string) (result.Run, error) {
	pods, err := podRecords(dir)
	if err != nil {
		return run, err
	}
	for i := range run.Phases {
		if err := assemblePhase(&run.Phases[i], dir); err != nil {
			return run, err
		}
	}
	run.Events = events(run, pods, dir)
	finished := !slices.ContainsFunc(run.Phases, func(p result.Phase) bool { return p.State != result.Done })
	if last := run.Phases[len(run.Phases)-1]; finished {
		run.Finished = last.Ended
	}
	if len(pods) > 0 {
		last := pods[len(pods)-1]
		run.Environment.FioVersion, run.Environment.Kernel, run.Environment.CPUs = last.FioVersion, last.Kernel, last.CPUs
		run.Environment.OS = "linux"
	}
	return run, nil
}

// assemblePhase finds out how far a phase has come.
func assemblePhase(p *result.Phase, dir string) error {
	folder := filepath.Join(dir, p.Dir)
	p.Cuts = len(cuts(folder))
	mark, err := readMark(folder)
	switch {
	case err == nil:
		p.State, p.Started, p.Ended, p.Error = result.Done, &mark.Started, &mark.Ended, ""
		if _, err := output.ReadPhase(folder); err != nil {
			p.State, p.Error = result.Failed, err.Error()
		}
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	failed := folder + runner.FailedSuffix
	if mark, err := readMark(failed); err == nil {
		p.State, p.Started, p.Ended = result.Failed, &mark.Started, &mark.Ended
		p.Error = "fio failed: " + lastLine(filepath.Join(failed, result.StderrFile))
		if mark.Exit != 0 { // else its results say that it failed
			p.Error = fmt.Sprintf("fio failed (exit status %d): %s", mark.Exit, lastLine(filepath.Join(failed, result.StderrFile)))
		}
		return nil
	}
	p.State = result.Pending
	if p.Cuts > 0 || exists(folder+runner.RunningSuffix) {
		p.State = result.Cut
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// cuts lists the folders of attempts that pods left which were lost.
func cuts(folder string) []string {
	found, _ := filepath.Glob(folder + runner.CutSuffix + "*") // the pattern is sound: names of phases hold no wildcard
	return found
}

func readMark(folder string) (mark runner.Mark, err error) {
	return mark, readJSON(filepath.Join(folder, runner.MarkFile), &mark)
}

func readJSON(path string, into any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s is damaged: %w; collect the run again", path, err)
	}
	return nil
}

// podRecords are those of the pods that ran the phases, the first pod first.
func podRecords(dir string) ([]runner.PodRecord, error) {
	paths, _ := filepath.Glob(filepath.Join(dir, runner.PodsDir, "*.json"))
	var all []runner.PodRecord
	for _, path := range paths {
		var p runner.PodRecord
		if err := readJSON(path, &p); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	slices.SortStableFunc(all, func(a, b runner.PodRecord) int { return a.Started.Compare(b.Started) })
	return all, nil
}

// events tells what a reader must know: pods that were lost, and what that did to the volumes' burst credits.
func events(run result.Run, pods []runner.PodRecord, dir string) (all []result.Event) {
	for i, p := range pods {
		if i > 0 {
			all = append(all, result.Event{At: p.Started, Code: "pod-replaced", Text: fmt.Sprintf(
				"pod %s on node %s was lost; pod %s on node %s went on at %s", pods[i-1].Pod, pods[i-1].Node, p.Pod, p.Node, p.Started.UTC().Format(time.DateTime))})
		}
	}
	for _, p := range run.Phases {
		if p.Cuts > 0 {
			at := run.Started
			if p.Started != nil {
				at = *p.Started
			}
			all = append(all, result.Event{At: at, Code: "phase-restarted", Text: fmt.Sprintf(
				"phase %d, %s on %s, was cut %s and measured anew from its start; what was cut is kept in %s",
				p.Index, p.Name, p.Volume, times(p.Cuts), strings.Join(relative(dir, cuts(filepath.Join(dir, p.Dir))), ", "))})
		}
	}
	return all
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func relative(dir string, paths []string) (all []string) {
	for _, p := range paths {
		if r, err := filepath.Rel(dir, p); err == nil {
			all = append(all, r)
		}
	}
	return all
}

// lastLine is the last thing that fio said.
func lastLine(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return "it said nothing"
	}
	lines := strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' || r == '\r' })
	if len(lines) == 0 {
		return "it said nothing"
	}
	return lines[len(lines)-1]
}
