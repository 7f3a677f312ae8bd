// Package pvcbench benchmarks PersistentVolumeClaims. It turns a plan into what a cluster needs to run it on its own, and
// what came out of the cluster into a run directory like any other.
package pvcbench

import (
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"time"

	"ebscope/internal/bench"
	"ebscope/internal/cluster/manifest"
	"ebscope/internal/cluster/runner"
	"ebscope/internal/fio"
	"ebscope/internal/fio/job"
	"ebscope/internal/result"
	"ebscope/internal/workload"
)

// Design completes a spec, in which the caller has said what the cluster is to be asked for, with what follows from the
// plan: the volumes' settings, job files, the runner's plan, the record and the deadline. Volumes that the spec names
// keep their Claim and Class.
func Design(plan bench.Plan, spec manifest.Spec, now time.Time) (result.Run, manifest.Spec, error) {
	if err := plan.Validate(); err != nil {
		return result.Run{}, spec, err
	}
	run := plan.Record(plan.ID(now), result.Environment{Engine: plan.Engine, Instance: plan.Profile.Instance}, now)
	spec.Run = run.ID
	volumes, err := volumesOf(plan.Profile, spec.Volumes)
	if err != nil {
		return run, spec, err
	}
	spec.Volumes = volumes
	profile := plan.Profile.Compressed(plan.Compress)
	spec.Jobs = map[string][]byte{}
	spec.Plan = runner.Plan{}
	var length time.Duration
	last := map[string]int{} // the last phase of each volume
	for i, phase := range profile.Phases {
		name, file := filepath.Base(run.Phases[i].Dir), testFile(spec, run.ID, phase.Volume)
		text, err := job.File(job.Job{
			Phase: phase, Filename: file, Size: profile.FileSize, Engine: plan.Engine,
			Window: workload.Window(plan.Compress), Version: fio.TotalLatencyPercentiles,
		})
		if err != nil {
			return run, spec, err
		}
		spec.Jobs[name] = text
		takes := bench.Takes(plan.Catalog, profile, phase)
		length += takes + phase.Rest + bench.StartUp
		spec.Plan.Phases = append(spec.Plan.Phases, runner.Phase{
			Name: name, Rest: phase.Rest, Takes: takes, File: file, Size: profile.FileSize, Layout: phase.Layout(),
		})
		last[phase.Volume] = i
	}
	if !spec.Block {
		for _, i := range last {
			spec.Plan.Phases[i].Remove = true
		}
	}
	spec.Deadline = deadline(length)
	if spec.Record, err = json.MarshalIndent(run, "", "  "); err != nil {
		return run, spec, fmt.Errorf("write the run: %w", err)
	}
	return run, spec, nil
}

// volumesOf gives every volume of a profile its place in the cluster.
func volumesOf(profile workload.Profile, placed []manifest.Volume) ([]manifest.Volume, error) {
	all := make([]manifest.Volume, len(profile.Volumes))
	for i, v := range profile.Volumes {
		all[i] = manifest.Volume{Name: v.Name, Config: v.Config}
	}
	for _, p := range placed {
		i := slices.IndexFunc(all, func(v manifest.Volume) bool { return v.Name == p.Name })
		if i < 0 {
			return nil, fmt.Errorf("the profile %s has no volume %q", profile.Name, p.Name)
		}
		all[i].Claim, all[i].Class = p.Claim, p.Class
	}
	return all, nil
}

// testFile is the file or device that fio uses for a volume, as its container sees it.
func testFile(spec manifest.Spec, run, volume string) string {
	if spec.Block {
		return path.Join(runner.DevicesDir, volume)
	}
	return path.Join(runner.VolumesDir, volume, "ebscope-"+run+".dat")
}

// deadline is when a run whose phases take so long is given up: after a pod that was lost near the end has been replaced
// and has repeated the longest of them, with a quarter of an hour for volumes and images to come.
func deadline(length time.Duration) time.Duration { return 2*length + 15*time.Minute }
