package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"ebscope/internal/bench"
	"ebscope/internal/device"
	"ebscope/internal/result"
	"ebscope/internal/workload"
)

// deviceOptions are those of --target device.
type deviceOptions struct {
	devices     map[string]string // by volume
	destructive []string
}

// validate checks what does not need the devices themselves.
func (o deviceOptions) validate(target string) error {
	if result.Target(target) != result.Device {
		if len(o.devices) > 0 {
			return errors.New("--device is for --target device; add that, or leave out --device")
		}
		if len(o.destructive) > 0 {
			return errors.New("--destructive is for --target device; leave it out")
		}
		return nil
	}
	if len(o.devices) == 0 {
		return errors.New("--target device needs a device for at least one volume: --device NAME=/dev/…")
	}
	return nil
}

// devicesOf gives each volume its device, by absolute path. What the devices say of themselves is filled in once they are held.
func (o deviceOptions) devicesOf() (map[string]result.BlockDevice, error) {
	paths, err := absolute("device", "device", o.devices)
	if err != nil {
		return nil, err
	}
	devices := map[string]result.BlockDevice{}
	for name, path := range paths {
		devices[name] = result.BlockDevice{Name: path}
	}
	return devices, nil
}

// deviceClaims are the devices of a run, held.
type deviceClaims map[string]*device.Claim

// claimDevices holds the devices that a profile's volumes have. Nothing is held where it fails, and no device has been written
// to. destructive are the devices that the user has named a second time, for their data to be lost.
func claimDevices(ctx context.Context, profile workload.Profile, devices map[string]result.BlockDevice, destructive []string, stderr io.Writer) (held deviceClaims, err error) {
	held = deviceClaims{}
	defer func() {
		if err != nil {
			err = errors.Join(err, held.close())
			held = nil
		}
	}()
	confirmed, err := namedAgain(destructive, devices)
	if err != nil {
		return held, err
	}
	for _, v := range profile.Volumes {
		d, ok := devices[v.Name]
		if !ok {
			continue // a run on another target
		}
		for other, claim := range held {
			if claim.Overlaps(d.Name) {
				return held, declineDevice("volumes %s and %s are both on %s; give each a device of its own", other, v.Name, claim.Device().Path)
			}
		}
		writes := profile.Writes(v.Name)
		claim, err := device.This().Claim(ctx, d.Name, device.Use{Write: writes, Length: profile.FileSize})
		if err != nil {
			return held, fmt.Errorf("volume %s: %w", v.Name, err)
		}
		held[v.Name] = claim
		found := claim.Device()
		if d.Size > 0 && (d.Serial != found.Serial || d.Model != found.Model || d.Size != found.Size) {
			return held, declineDevice("volume %s: the run began on another device than %s; attach that one again, or start a new run", v.Name, found)
		}
		devices[v.Name] = result.BlockDevice{Name: d.Name, Model: found.Model, Serial: found.Serial, VolumeID: found.VolumeID, Size: found.Size}
		what := "is only read"
		if writes {
			what = fmt.Sprintf("its first %v are overwritten", profile.FileSize)
		}
		fmt.Fprintf(stderr, "ebscope: %s is %s: %s\n", v.Name, found, what)
		if writes && !confirmed[d.Name] {
			return held, declineDevice("volume %s: the profile writes to %s, and what it holds is lost; name the device again to allow that: --destructive %s", v.Name, d.Name, quoted(d.Name))
		}
	}
	return held, nil
}

func declineDevice(format string, args ...any) error {
	return &bench.DeclinedError{Reason: fmt.Sprintf(format, args...)}
}

// namedAgain returns the devices that --destructive names. One that the run does not use is a mistake.
func namedAgain(destructive []string, devices map[string]result.BlockDevice) (map[string]bool, error) {
	again := map[string]bool{}
	for _, text := range destructive {
		path, err := absolute("destructive", "device", map[string]string{"": text})
		if err != nil {
			return nil, usageError{err}
		}
		if !slices.ContainsFunc(slices.Collect(maps.Values(devices)), func(d result.BlockDevice) bool { return d.Name == path[""] }) {
			return nil, usage("--destructive %s: the run has no such device; write it as in --device", text)
		}
		again[path[""]] = true
	}
	return again, nil
}

// undone is the profile of a run with the phases only that have no result yet.
func undone(run result.Run) workload.Profile {
	profile := run.Profile
	profile.Phases = nil
	for i, phase := range run.Profile.Phases {
		if run.Phases[i].State != result.Done {
			profile.Phases = append(profile.Phases, phase)
		}
	}
	return profile
}

// destructiveAgain are the options without which a run on devices does not go on.
func destructiveAgain(run result.Run) (options string) {
	profile := undone(run)
	for _, v := range profile.Volumes {
		if d, ok := run.Devices[v.Name]; ok && profile.Writes(v.Name) {
			options += " --destructive " + quoted(d.Name)
		}
	}
	return options
}

func (c deviceClaims) close() error {
	var errs []error
	for _, claim := range c {
		errs = append(errs, claim.Close())
	}
	return errors.Join(errs...)
}
