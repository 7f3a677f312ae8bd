// Package bench runs a profile on a target, phase after phase, into a run directory that survives a crash: raw
// results are kept as fio wrote them, and the record is replaced atomically after every phase, so that a run that was
// cut goes on where it stopped.
package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"ebscope/internal/device"
	"ebscope/internal/ebs"
	"ebscope/internal/fio/job"
	"ebscope/internal/fio/output"
	"ebscope/internal/fio/process"
	"ebscope/internal/result"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

// target is what the phases run on.
type target interface {
	// open makes every volume ready and returns the file or device that fio uses for each, by volume name. state is what
	// end returned for the last finished phase of a resumed run, nil for a new one.
	open(ctx context.Context, state json.RawMessage) (filenames map[string]string, err error)
	// begin is called when a phase is about to start, gap after the last one and after its rest; end when it is over, and
	// begin has succeeded. begin returns the volume's burst balance, nil where it is not known.
	begin(ctx context.Context, phase workload.Phase, gap time.Duration) (*units.Ops, error)
	end(volume string) (ending, error)
	// close gives everything back. Files stay if keep is true, for a resume.
	close(ctx context.Context, keep bool) error
}

// ending is what a target knows at the end of a phase.
type ending struct {
	credits *units.Ops      // the volume's burst balance, nil where it is not known
	state   json.RawMessage // for a resume
	stalled time.Duration   // for how long the machine that emulates the volume stood still
}

// Progress hears how a run comes along. Calls come one at a time.
type Progress interface {
	// PhaseStarted says which phase of how many begins and how long it and the rest of the run will take.
	PhaseStarted(index, total int, phase workload.Phase, takes, remaining time.Duration)
	// PhaseAt reports the phase's present rate.
	PhaseAt(process.Progress)
	// PhaseEnded gives the result of the phase; err says why there is none.
	PhaseEnded(m *result.Measurement, err error)
}

// Bench runs what a run directory asks for.
type Bench struct {
	Fio      process.Fio
	Progress Progress
	Now      func() time.Time
	// Devices holds the device of each volume, for a run on the device target. The caller gives them back.
	Devices map[string]*device.Claim
}

// Run runs every phase of the directory's run that is not done yet, in order. It stops at the first that fails, and
// when ctx is cancelled. What was measured by then is in the run directory.
func (b Bench) Run(ctx context.Context, d *Directory) error {
	catalog, err := d.Run.Limits()
	if err != nil {
		return err
	}
	r := &running{Bench: b, dir: d.Path, run: &d.Run, catalog: catalog, target: b.targetOf(d, catalog)}
	filenames, err := r.target.open(ctx, r.lastState())
	if err == nil {
		err = r.phases(ctx, filenames)
	}
	if err == nil {
		now := b.Now().UTC()
		d.Run.Finished = &now
	}
	// Giving volumes back must happen even when the user has interrupted, but not for ever.
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeDeadline)
	defer cancel()
	return errors.Join(err, r.target.close(closing, err != nil), d.Run.Save(d.Path))
}

func (b Bench) targetOf(d *Directory, catalog *ebs.Catalog) target {
	switch d.Run.Target {
	case result.Path:
		return pathTarget{run: d.Run}
	case result.Device:
		return &deviceTarget{run: d.Run, claims: b.Devices}
	default:
		return &emulatedTarget{run: d.Run, catalog: catalog, dir: d.Path}
	}
}

// running is a run on its way.
type running struct {
	Bench
	dir     string
	run     *result.Run
	catalog *ebs.Catalog
	target  target
}

// closeDeadline bounds unmounting and detaching, which take milliseconds unless something holds the device.
const closeDeadline = 30 * time.Second

func (r *running) phases(ctx context.Context, filenames map[string]string) error {
	profile := r.run.Profile.Compressed(r.run.Compress)
	for i := range r.run.Phases {
		if r.run.Phases[i].State == result.Done {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		phase := profile.Phases[i]
		r.Progress.PhaseStarted(i+1, len(profile.Phases), phase, Takes(r.catalog, profile, phase), r.remaining(profile, i))
		m, err := r.phase(ctx, i, profile, filenames[phase.Volume])
		r.Progress.PhaseEnded(m, err)
		if err != nil {
			return fmt.Errorf("phase %d, %s on %s: %w", i+1, phase.Name, phase.Volume, err)
		}
	}
	return nil
}

// phase runs one phase and records how it went.
func (r *running) phase(ctx context.Context, i int, profile workload.Profile, filename string) (*result.Measurement, error) {
	phase, record := profile.Phases[i], &r.run.Phases[i]
	dir := filepath.Join(r.dir, record.Dir)
	if err := setAside(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if !phase.Layout() {
		if err := job.CheckFile(filename, profile.FileSize); err != nil {
			return nil, err
		}
	}
	text, err := job.File(job.Job{
		Phase: phase, Filename: filename, Size: profile.FileSize, Engine: r.run.Environment.Engine,
		Window: workload.Window(r.run.Compress), Version: r.Fio.Version,
	})
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, result.JobFile), text, 0o644); err != nil {
		return nil, err
	}

	begin, err := r.target.begin(ctx, phase, profile.Gap)
	if err != nil {
		if ctx.Err() == nil && i > 0 {
			record.State, record.Error = result.Failed, err.Error()
		}
		return nil, errors.Join(err, r.run.Save(r.dir))
	}
	started := r.Now().UTC()
	*record = result.Phase{Index: record.Index, Name: record.Name, Volume: record.Volume, Dir: record.Dir,
		State: result.Running, Started: &started}
	if err := r.run.Save(r.dir); err != nil {
		return nil, err
	}

	before := r.traffic(phase)
	err = r.Fio.Run(ctx, dir, process.Options{
		Grace: Grace(r.catalog, profile, phase), Progress: r.Progress.PhaseAt, ReadOnly: !phase.Writes()})
	ended := r.Now().UTC()
	record.Ended = &ended
	moved := r.traffic(phase).Since(before)
	end, endErr := r.target.end(phase.Volume)
	err = errors.Join(err, endErr)
	var m *result.Measurement
	if err == nil {
		m, err = measured(dir)
	}
	switch {
	case ctx.Err() != nil && err != nil:
		record.State = result.Cut
		r.event("interrupted", fmt.Sprintf("phase %d, %s on %s, was interrupted", i+1, phase.Name, phase.Volume))
	case err != nil:
		record.State, record.Error = result.Failed, err.Error()
	default:
		record.State, record.TargetState = result.Done, end.state
		if begin != nil && end.credits != nil {
			record.Credits = &result.Credits{Start: *begin, End: *end.credits}
		}
		r.tell(fmt.Sprintf("phase %d, %s on %s", i+1, phase.Name, phase.Volume),
			neighbours(phase, m.Total, r.run.Environment.Storage[phase.Volume], moved), end.stalled)
	}
	return m, errors.Join(err, r.run.Save(r.dir))
}

// traffic is what the disks of this machine have moved, where it is known which of them a phase's volume is.
func (r *running) traffic(phase workload.Phase) device.Traffic {
	if r.run.Environment.Storage[phase.Volume].Device == "" {
		return nil
	}
	return device.This().Traffic()
}

// tell records what disturbed a phase: other programs, and this machine itself where it emulates the volume.
func (r *running) tell(phase string, others []string, stalled time.Duration) {
	for _, other := range others {
		r.event("not-alone", phase+": "+other)
	}
	if stalled >= workload.Window(r.run.Compress) {
		r.event("machine-stalled", fmt.Sprintf("%s: this machine, which emulates the volume, stood still for %v. "+
			"The volume made up for it afterwards, so the mean is right; the lowest and the highest sample and the longest latency are the machine's.",
			phase, stalled.Round(time.Millisecond)))
	}
}

func measured(dir string) (*result.Measurement, error) {
	m, err := output.ReadPhase(dir)
	if err != nil {
		return nil, err
	}
	return &m, nil
}

// setAside renames what an earlier, cut attempt at a phase left: raw files are never rewritten.
func setAside(dir string) error {
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	for n := 1; ; n++ {
		aside := fmt.Sprintf("%s.cut%d", dir, n)
		if _, err := os.Stat(aside); errors.Is(err, os.ErrNotExist) {
			return os.Rename(dir, aside)
		}
	}
}

func (r *running) event(code, text string) {
	r.run.Events = append(r.run.Events, result.Event{At: r.Now().UTC(), Code: code, Text: text})
}

// lastState returns the target's state after the last finished phase.
func (r *running) lastState() json.RawMessage {
	for _, p := range slices.Backward(r.run.Phases) {
		if p.State == result.Done {
			return p.TargetState
		}
	}
	return nil
}

// StartUp is what fio needs to start and to write its results, for the estimate of time left.
const StartUp = 600 * time.Millisecond

// Takes estimates how long a phase runs: its duration, or the time its volume needs to move the test file once.
func Takes(catalog *ebs.Catalog, profile workload.Profile, phase workload.Phase) time.Duration {
	if phase.Duration > 0 {
		return phase.Duration
	}
	return atBaseline(catalog, profile, phase, profile.FileSize)
}

// Grace is how long fio may take to end: what is in flight takes its time at the slowest rate of the volume.
func Grace(catalog *ebs.Catalog, profile workload.Profile, phase workload.Phase) time.Duration {
	const forItself = 10 * time.Second // to write its results on a busy machine
	return forItself + 2*atBaseline(catalog, profile, phase, units.Bytes(phase.Outstanding())*phase.BlockSize)
}

// atBaseline is the time that a phase's volume needs to move an amount of data without any burst.
func atBaseline(catalog *ebs.Catalog, profile workload.Profile, phase workload.Phase, amount units.Bytes) time.Duration {
	volume, _ := profile.Volume(phase.Volume)
	perf := catalog.Performance(volume.Config)
	rate := min(float64(perf.BaselineThroughput), float64(perf.Baseline)*float64(min(phase.BlockSize, perf.AccountingUnit)))
	return time.Duration(float64(amount) / rate * float64(time.Second))
}

func (r *running) remaining(profile workload.Profile, from int) (total time.Duration) {
	for i, phase := range profile.Phases[from:] {
		if r.run.Phases[from+i].State != result.Done {
			total += Takes(r.catalog, profile, phase) + StartUp
		}
	}
	return total
}
