package compare

import (
	"maps"
	"slices"
)

// difference is a fact that has two values.
type difference struct{ name, a, b string }

// unstated stands for what a side does not say of its workload.
const unstated = "not stated"

// ofWorkload are the facts that differ where one side alone states them: what the other ran is not known to be the same.
var ofWorkload = []string{"rw", "block size", "iodepth", "jobs", "reads", "runtime", "ioengine", "direct", "size", "rate"}

// halfStated returns the facts of the workload that one side alone knows.
func halfStated(a, b []Fact) (found []difference) {
	value := func(facts []Fact, name string) string {
		if i := slices.IndexFunc(facts, func(f Fact) bool { return f.Name == name }); i >= 0 {
			return facts[i].Value
		}
		return unstated
	}
	for _, name := range ofWorkload {
		x, y := value(a, name), value(b, name)
		if x != y && (x == unstated || y == unstated) {
			found = append(found, difference{name, x, y})
		}
	}
	return found
}

// unset stands for an option that was left at its default.
const unset = "not set"

func (d *Document) differ(phase, volume string, baseline, other Subject, f difference) {
	d.Differences = append(d.Differences,
		Difference{Phase: phase, Volume: volume, Baseline: baseline.Name, Subject: other.Name, Option: f.name, A: f.a, B: f.b})
}

// differing returns the facts that both sides know and that differ.
func differing(a, b []Fact) (found []difference) {
	for _, x := range a {
		i := slices.IndexFunc(b, func(y Fact) bool { return y.Name == x.Name })
		if i >= 0 && b[i].Value != x.Value {
			found = append(found, difference{x.Name, x.Value, b[i].Value})
		}
	}
	return found
}

// isFact says which options are among the facts, where they are compared by their meaning and not by how they are written.
// The others here say where something is, or how it is reported, and change no figure.
var isFact = map[string]bool{
	"rw": true, "readwrite": true, "bs": true, "blocksize": true, "iodepth": true, "numjobs": true, "rwmixread": true, "rwmixwrite": true,
	"rate": true, "rate_iops": true, "ioengine": true, "direct": true, "size": true, "runtime": true, "timeout": true, "ramp_time": true,
	"name": true, "filename": true, "directory": true, "description": true, "output": true, "output-format": true, "status-interval": true,
	"write_iops_log": true, "write_lat_log": true, "write_bw_log": true, "write_hist_log": true, "log_avg_msec": true, "log_hist_msec": true,
	"per_job_logs": true, "group_reporting": true, "percentile_list": true, "stonewall": true, "wait_for_previous": true,
}

// differences returns what differs between the two phases of a pair.
func (p pair) differences() []difference {
	found := append(differing(p.a.Facts, p.b.Facts), halfStated(p.a.Facts, p.b.Facts)...)
	if p.a.Options == nil || p.b.Options == nil {
		return found
	}
	names := slices.Collect(maps.Keys(p.a.Options))
	for name := range p.b.Options {
		if _, both := p.a.Options[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		a, b := stated(p.a.Options, name), stated(p.b.Options, name)
		if a != b && !isFact[name] {
			found = append(found, difference{name, a, b})
		}
	}
	return found
}

func stated(options map[string]string, name string) string {
	value, ok := options[name]
	switch {
	case !ok:
		return unset
	case value == "":
		return "set"
	default:
		return value
	}
}
