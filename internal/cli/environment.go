package cli

import (
	"context"
	"runtime"

	"ebscope/internal/bench"
	"ebscope/internal/cloud"
	"ebscope/internal/device"
	"ebscope/internal/fio/process"
	"ebscope/internal/result"
)

// environment describes the machine that a plan is run on, and what its volumes are reached through. Real volumes have
// an instance, which its metadata service knows where metadata is true.
func environment(ctx context.Context, plan bench.Plan, fio process.Fio, metadata bool) result.Environment {
	host := device.This()
	e := result.Environment{
		FioVersion: fio.Version.String(), Engine: plan.Engine, OS: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU(),
		Kernel: firstLine("/proc/sys/kernel/osrelease", ""), CPU: firstLine("/proc/cpuinfo", "model name"), Clock: host.Clock(),
	}
	if plan.Target == result.Emulated {
		e.Instance = plan.Profile.Instance
		return e
	}
	e.Storage = map[string]result.Storage{}
	for name, dir := range plan.Paths {
		e.Storage[name] = host.Storage(dir)
	}
	for name, d := range plan.Devices {
		e.Storage[name] = host.Storage(d.Name)
	}
	if !metadata {
		return e
	}
	if self, err := cloud.Self(ctx); err == nil { // most machines are no instances
		e.Instance, e.InstanceID, e.Region = self.InstanceType, self.InstanceID, self.Region
	}
	return e
}
