package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"ebscope/internal/affinity"
	"ebscope/internal/ebs"
	"ebscope/internal/emulate"
	"ebscope/internal/result"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

// emulatedTarget measures emulated volumes that live as long as the run. Their common clock runs from a phase's first
// I/O to its last and moves on by the stated gap and rest in between, so that fio's start-up, half a second that
// would be half a minute when compressed, is not seen.
type emulatedTarget struct {
	run     result.Run
	catalog *ebs.Catalog
	dir     string
	host    *emulate.Host
	devices map[string]*emulate.Device
	free    func()        // gives the processors back after a phase
	stalled time.Duration // of the phase's volume, before the phase
}

// imagesDir is the folder of the volumes' data in the run directory. It is there only while a run is not finished.
const imagesDir = "volumes"

const imageSuffix = ".img"

func (t *emulatedTarget) open(ctx context.Context, state json.RawMessage) (map[string]string, error) {
	images, err := filepath.Abs(filepath.Join(t.dir, imagesDir))
	if err != nil {
		return nil, err
	}
	for _, v := range t.run.Profile.Volumes {
		if _, err := os.Stat(filepath.Join(images, v.Name+imageSuffix)); state != nil && err != nil {
			return nil, decline("the data of volume %s is gone (%v), so the run cannot go on; start a new one", v.Name, err)
		}
	}
	if err := os.MkdirAll(images, 0o755); err != nil {
		return nil, err
	}
	profile := t.run.Profile.Compressed(t.run.Compress)
	// Only what fio writes takes space: an image is sparse.
	needed := profile.FileSize * units.Bytes(len(profile.Volumes))
	if err := roomFor(images, needed, used(images)); err != nil {
		return nil, err
	}
	var limits *ebs.Instance
	if profile.Instance != "" {
		instance, err := t.catalog.Instance(profile.Instance)
		if err != nil {
			return nil, err
		}
		limits = &instance
	}
	t.host, t.devices = emulate.NewHost(limits, t.run.Compress), map[string]*emulate.Device{}
	filenames := map[string]string{}
	for i, v := range profile.Volumes {
		device, err := emulate.Attach(ctx, emulate.Config{
			Name: v.Name, Volume: v.Config, Catalog: t.catalog, Host: t.host, Compress: t.run.Compress,
			Image: filepath.Join(images, v.Name+imageSuffix), Kinds: v.Service(), Seed: uint64(i + 1),
		})
		if err != nil {
			return nil, err
		}
		t.devices[v.Name], filenames[v.Name] = device, device.Path()
		device.SetCredits(v.Balance)
	}
	if state == nil {
		return filenames, nil
	}
	var s emulate.State
	if err := json.Unmarshal(state, &s); err != nil {
		return nil, fmt.Errorf("the stored state of the volumes: %w", err)
	}
	return filenames, t.host.Restore(s)
}

func (t *emulatedTarget) begin(ctx context.Context, phase workload.Phase, gap time.Duration) (_ *units.Ops, err error) {
	t.free = func() {}
	if phase.Outstanding() == 1 {
		free, rest := affinity.Confine(), affinity.Awake()
		t.free = func() { free(); rest() }
	}
	defer func() {
		if err != nil {
			t.free()
		}
	}()
	// The phases before have changed how soon the machine reacts.
	if err := t.devices[phase.Volume].Calibrate(ctx); err != nil {
		return nil, err
	}
	if err := t.host.Rest(gap + phase.Rest); err != nil {
		return nil, err
	}
	t.stalled = t.devices[phase.Volume].Stats().Stalled
	return t.credits(phase.Volume), t.host.BeginPhase()
}

func (t *emulatedTarget) end(volume string) (ending, error) {
	t.host.EndPhase()
	t.free()
	stalled := t.devices[volume].Stats().Stalled - t.stalled
	if err := t.devices[volume].Settle(); err != nil {
		return ending{}, err
	}
	state, err := json.Marshal(t.host.State())
	return ending{t.credits(volume), state, stalled}, err
}

// credits returns a volume's balance, nil where it has no bucket.
func (t *emulatedTarget) credits(volume string) *units.Ops {
	s := t.devices[volume].Stats()
	if s.CreditCapacity == 0 {
		return nil
	}
	return &s.Credits
}

func (t *emulatedTarget) close(ctx context.Context, keep bool) error {
	var errs []error
	for _, d := range t.devices {
		errs = append(errs, d.Close(ctx))
	}
	if !keep {
		errs = append(errs, os.RemoveAll(filepath.Join(t.dir, imagesDir)))
	}
	return errors.Join(errs...)
}
