package cli

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"ebscope/internal/bench"
	"ebscope/internal/ebs"
	"ebscope/internal/fio/process"
	"ebscope/internal/result"
	"ebscope/internal/workload"
)

func newPlan(o benchOptions, catalog *ebs.Catalog, given func(flag string) bool, stderr io.Writer) (bench.Plan, error) {
	profile, err := loadProfile(catalog, o.profile)
	if err != nil {
		return bench.Plan{}, err
	}
	if profile, err = override(profile, o.volumes); err != nil {
		return bench.Plan{}, err
	}
	if o.latency != "" && result.Target(o.target) != result.Emulated {
		return bench.Plan{}, errors.New("--latency-profile is for emulated volumes: others have a latency of their own; leave it out")
	}
	if profile, err = withLatencies(profile, o.latency, stderr); err != nil {
		return bench.Plan{}, err
	}
	plan := bench.Plan{
		Profile: profile, Catalog: catalog, Compress: o.compress, Target: result.Target(o.target), Paths: o.paths, Runs: o.runs,
		Tool: tool(), Engine: o.engine,
	}
	switch {
	case o.repeat < 1 || o.repeat > maxRepeat:
		return plan, fmt.Errorf("--repeat %d: use 1 to %d", o.repeat, maxRepeat)
	case o.repeat > 1:
		plan.Repeat = &result.Repeat{Index: 1, Of: o.repeat}
	}
	if err := o.device.validate(o.target); err != nil {
		return plan, err
	}
	switch plan.Target {
	case result.Emulated:
		if !given("compress") && o.profile == defaultProfile {
			plan.Compress = defaultCompress
		}
		if len(o.paths) > 0 {
			return plan, errors.New("--path is for --target path; add that, or leave out --path")
		}
	case result.Path:
		if len(o.paths) == 0 {
			return plan, errors.New("--target path needs a directory for at least one volume: --path NAME=DIR")
		}
		if plan.Profile, err = profile.Only(o.paths); err != nil {
			return plan, err
		}
		if plan.Paths, err = absolute("path", "directory", o.paths); err != nil {
			return plan, err
		}
	case result.Device:
		if plan.Profile, err = profile.Only(o.device.devices); err != nil {
			return plan, err
		}
		if plan.Devices, err = o.device.devicesOf(); err != nil {
			return plan, err
		}
	case result.Kubernetes:
		if !given("engine") {
			plan.Engine = process.LinuxEngine // fio runs in a pod
		}
	default:
		return plan, fmt.Errorf("--target %q: use emulated, path, device or kubernetes", o.target)
	}
	plan.Command = benchCommand(o, plan)
	return plan, plan.Validate()
}

// loadProfile finds a profile by name or, where the name is that of a file, reads it.
func loadProfile(catalog *ebs.Catalog, name string) (workload.Profile, error) {
	if !strings.ContainsAny(name, "/\\") && !strings.HasSuffix(name, ".yaml") && !strings.HasSuffix(name, ".yml") {
		return workload.Shipped(catalog, name)
	}
	text, err := readLimited(name, maxProfile)
	if err != nil {
		return workload.Profile{}, fmt.Errorf("read the profile: %w", err)
	}
	p, err := workload.Parse(catalog, text)
	if err != nil {
		return workload.Profile{}, fmt.Errorf("profile %s: %w", name, err)
	}
	return p, nil
}

// absolute makes the paths of a flag, each of which names a directory or a device, absolute, so that a run can be resumed from anywhere.
func absolute(flag, what string, paths map[string]string) (map[string]string, error) {
	all := map[string]string{}
	for name, dir := range paths {
		if dir == "" {
			return nil, fmt.Errorf("--%s %s= names no %s", flag, name, what)
		}
		path, err := filepath.Abs(dir)
		if err != nil {
			return nil, fmt.Errorf("--%s %s=%s: %w", flag, name, dir, err)
		}
		all[name] = path
	}
	return all, nil
}

// benchCommand writes down the command that repeats a run.
func benchCommand(o benchOptions, plan bench.Plan) string {
	parts := []string{"ebscope bench", "--profile " + quoted(o.profile), "--target " + o.target}
	if plan.Compress != 1 || plan.Target == result.Emulated {
		parts = append(parts, fmt.Sprintf("--compress %g", plan.Compress))
	}
	for _, v := range plan.Profile.Volumes {
		if dir, ok := o.paths[v.Name]; ok {
			parts = append(parts, "--path "+quoted(v.Name+"="+dir))
		}
		if device, ok := o.device.devices[v.Name]; ok {
			parts = append(parts, "--device "+quoted(v.Name+"="+device))
		}
	}
	for _, device := range o.device.destructive {
		parts = append(parts, "--destructive "+quoted(device))
	}
	for _, v := range o.volumes {
		parts = append(parts, "--volume "+quoted(v))
	}
	if o.latency != "" {
		parts = append(parts, "--latency-profile "+quoted(o.latency))
	}
	if o.engine != process.DefaultEngine {
		parts = append(parts, "--engine "+o.engine)
	}
	if o.repeat > 1 {
		parts = append(parts, fmt.Sprintf("--repeat %d", o.repeat))
	}
	if plan.Target == result.Kubernetes {
		parts = append(parts, o.kubernetes.words()...)
	}
	return strings.Join(parts, " ") + o.catalog
}
