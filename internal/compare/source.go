package compare

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"ebscope/internal/analyze"
	"ebscope/internal/result"
)

// OfRun makes a subject of a run, which was analyzed; measured has an entry for each phase of its profile, nil where it is
// not done. A volume, where one is named, is the only one that is taken; the name must be one of the run's.
func OfRun(name string, run result.Run, document analyze.Document, measured []*result.Measurement, volume string) Subject {
	s := Subject{Name: name, Target: string(run.Target), Compress: max(1, run.Compress), Facts: facts(
		targetFact, string(run.Target),
		"compressed", compression(run.Compress),
		"instance", run.Profile.Instance,
		"fio", run.Environment.FioVersion,
		"kernel", run.Environment.Kernel,
		"CPU", run.Environment.CPU,
	)}
	volumes := map[string]string{}
	for _, v := range document.Volumes {
		volumes[v.Name] = v.Configuration
	}
	for i, spec := range run.Profile.Phases {
		if volume != "" && spec.Volume != volume {
			continue
		}
		w := Workload{string(spec.Pattern), spec.BlockSize, spec.QueueDepth, spec.Jobs}
		p := Phase{Name: spec.Name, Volume: spec.Volume, Workload: w, Compress: run.Compress}
		p.Facts = append(facts("volume", volumes[spec.Volume]), workloadFacts(w, spec.ReadPercent, spec.Duration)...)
		p.Facts = append(p.Facts, facts("ioengine", run.Environment.Engine, "size", run.Profile.FileSize.String(),
			"rest before", spec.Rest.String(), "think time", spec.ThinkTime.String(), "rate", spec.RateIOPS.String())...)
		if c := document.Phases[i].Credits; c != nil && c.Start != nil && c.Capacity > 0 {
			p.Facts = append(p.Facts, Fact{"burst balance at the start", balance(*c.Start / c.Capacity)})
		}
		state := run.Phases[i].State
		switch {
		case state != result.Done:
			p.Unfit = unfit(state, run.Phases[i].Error)
		case measured[i] == nil:
		case spec.Layout():
			p.Unfit = "it only lays out the test file"
		default:
			r := Run{Measurement: *measured[i], Duration: spec.Duration}
			if run.Compress > 1 {
				r.Duration = time.Duration(float64(spec.Duration) / run.Compress)
			}
			r.Levels = levels(document.Phases[i])
			r.distrust(document.Phases[i])
			p.Runs = []Run{r}
		}
		s.Phases = append(s.Phases, p)
	}
	return s
}

// balance states a share of credits coarsely: two runs never start with quite the same.
func balance(share float64) string {
	const step = 5 // percent
	return fmt.Sprintf("%.0f %%", step*math.Round(100*share/step))
}

func compression(k float64) string {
	if k == 1 {
		return "no"
	}
	return fmt.Sprintf("%g times", k)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// failed begins what is said of a phase that failed.
const failed = "it failed"

func unfit(state result.State, reason string) string {
	text := map[result.State]string{
		result.Failed: failed, result.Cut: "it was cut short", result.Running: "it was cut short", result.Pending: "it was not run",
	}[state]
	if reason != "" {
		text += ": " + reason
	}
	return text
}

// facts makes facts of names and values; an empty value is not known.
func facts(pairs ...string) (all []Fact) {
	for pair := range slices.Chunk(pairs, 2) {
		if pair[1] != "" {
			all = append(all, Fact{pair[0], pair[1]})
		}
	}
	return all
}

// workloadFacts are the facts that every kind of result states in its own way.
func workloadFacts(w Workload, readPercent int, duration time.Duration) []Fact {
	count := func(n int) string {
		if n == 0 {
			return ""
		}
		return strconv.Itoa(n)
	}
	block, read, runtime := "", "", ""
	if w.BlockSize > 0 {
		block = w.BlockSize.String()
	}
	if readPercent > 0 {
		read = fmt.Sprintf("%d %%", readPercent)
	}
	if duration > 0 {
		runtime = duration.String()
	}
	return facts("rw", w.Pattern, "block size", block, "iodepth", count(w.QueueDepth), "jobs", count(w.Jobs), "reads", read, "runtime", runtime)
}

// Repeats makes one subject of several that repeat each other: each of their phases is a run of the phase of the same name
// and volume of the first.
func Repeats(name string, all []Subject) Subject {
	s := all[0]
	s.Name = name
	s.Phases = slices.Clone(s.Phases)
	targets := []string{s.Target}
	for _, other := range all[1:] {
		if !slices.Contains(targets, other.Target) {
			targets = append(targets, other.Target)
			s.Target = strings.Trim(strings.Join(targets, " and "), " ")
		}
		if other.Compress != s.Compress {
			s.Compress = 0
		}
		for _, p := range other.Phases {
			i := slices.IndexFunc(s.Phases, func(q Phase) bool { return q.Name == p.Name && q.Volume == p.Volume })
			switch {
			case i < 0:
				s.Phases = append(s.Phases, p)
			case s.Phases[i].Unfit != "":
				s.Phases[i] = p
			case p.Unfit == "":
				s.Phases[i].Runs = append(slices.Clone(s.Phases[i].Runs), p.Runs...)
			}
		}
	}
	return s
}
