package bench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"ebscope/internal/ebs"
	"ebscope/internal/emulate"
	"ebscope/internal/fio/process"
	"ebscope/internal/result"
	"ebscope/internal/workload"
)

// Plan is what a user asks to run.
type Plan struct {
	Profile  workload.Profile
	Catalog  *ebs.Catalog // the limits that hold
	Compress float64      // 1: not compressed
	Target   result.Target
	Paths    map[string]string // directory of each volume, for the path target
	// Devices is the device of each volume, for the device target.
	Devices map[string]result.BlockDevice
	Runs    string // folder in which the run directory is made
	Tool    string // name and version of the program
	Command string // that repeats the run
	Engine  string // fio's ioengine
	// Repeat is the place of the run among several of the plan; nil: there is one.
	Repeat *result.Repeat
}

// DeclinedError says that a run cannot be made here, or would do harm; nothing was changed.
type DeclinedError struct{ Reason string }

func (e *DeclinedError) Error() string { return e.Reason }

func decline(format string, args ...any) error {
	return &DeclinedError{Reason: fmt.Sprintf(format, args...)}
}

// shortestPhase is what fio needs to give a phase a mean and a shape.
const shortestPhase = 500 * time.Millisecond

// Validate checks a plan without touching anything.
func (p Plan) Validate() error {
	if err := p.Profile.Validate(p.Catalog); err != nil {
		return err
	}
	if !(p.Compress >= 1 && p.Compress <= result.MaxCompress) {
		return fmt.Errorf("--compress %v: use 1 (not compressed) to %d", p.Compress, int(result.MaxCompress))
	}
	if p.Compress > emulate.MaxCompress && p.Target == result.Emulated {
		return fmt.Errorf("--compress %v: an emulated volume takes at most %v", p.Compress, float64(emulate.MaxCompress))
	}
	if p.Compress != 1 && (p.Target == result.Path || p.Target == result.Device) {
		return errors.New("--compress works on emulated and simulated volumes only: the credit bucket of a real volume cannot be shrunk; leave it out, or use --target emulated")
	}
	if reason := p.Profile.SimulatedOnly(); reason != "" && p.Target != result.Simulated {
		return fmt.Errorf("%s; use ebscope simulate", reason)
	}
	if p.Target != result.Device {
		if err := p.Profile.LaidOut(); err != nil {
			return err
		}
	}
	if p.Target == result.Simulated { // what follows is about fio
		return nil
	}
	for _, phase := range p.Profile.Compressed(p.Compress).Phases {
		if process.Synchronous(p.Engine) && phase.QueueDepth > 1 && !phase.Layout() {
			return fmt.Errorf("--engine %s keeps no queue, but %s on %s has queue depth %d: use an engine that does, such as %s, or give the phase queue_depth 1 and jobs",
				p.Engine, phase.Name, phase.Volume, phase.QueueDepth, process.DefaultEngine)
		}
		if phase.Duration > 0 && phase.Duration < shortestPhase {
			return fmt.Errorf("--compress %v leaves %v for %s on %s; fio needs %v: use a smaller one",
				p.Compress, phase.Duration, phase.Name, phase.Volume, shortestPhase)
		}
	}
	return nil
}

// ID names a run of the plan that starts now.
func (p Plan) ID(now time.Time) string {
	return fmt.Sprintf("%s-%s-%s", now.UTC().Format("20060102T150405Z"), p.Profile.Name, p.Target)
}

// Record is the record of a run of the plan in which nothing has been measured yet.
func (p Plan) Record(id string, environment result.Environment, now time.Time) result.Run {
	run := result.Run{
		Form: result.Form, Tool: p.Tool, ID: id, Target: p.Target, Started: now.UTC(),
		Compress: p.Compress, Profile: p.Profile, Catalog: p.Catalog.Added(), Paths: p.Paths, Devices: p.Devices, Command: p.Command,
		Repeat: p.Repeat, Environment: environment,
	}
	for i, phase := range p.Profile.Phases {
		run.Phases = append(run.Phases, result.Phase{
			Index: i + 1, Name: phase.Name, Volume: phase.Volume, Dir: result.PhaseDir(i+1, phase), State: result.Pending})
	}
	return run
}

// Create makes a run directory for a plan and locks it. The caller calls Release when the run is over.
func Create(plan Plan, environment result.Environment, now time.Time) (*Directory, error) {
	if err := plan.Validate(); err != nil {
		return nil, err
	}
	id := plan.ID(now)
	suffix := ""
	if plan.Repeat != nil {
		suffix = repeatSuffix(plan.Repeat.Index)
	}
	if err := os.MkdirAll(plan.Runs, 0o755); err != nil {
		return nil, decline("cannot make the folder for runs: %v; name another with --runs", err)
	}
	path := filepath.Join(plan.Runs, id+suffix)
	for n := 2; ; n++ {
		err := os.Mkdir(path, 0o755)
		if err == nil {
			return begin(path, plan, environment, now)
		}
		if !errors.Is(err, os.ErrExist) {
			return nil, decline("cannot make the run directory: %v; name another folder with --runs", err)
		}
		path = filepath.Join(plan.Runs, fmt.Sprintf("%s-%d%s", id, n, suffix))
	}
}

// begin writes the record of a plan into its run directory, which is empty, and locks it.
func begin(path string, plan Plan, environment result.Environment, now time.Time) (*Directory, error) {
	d, err := lock(path)
	if err != nil {
		return nil, err
	}
	d.Run, d.New = plan.Record(filepath.Base(path), environment, now), true
	if err := d.Run.Save(path); err != nil {
		return nil, errors.Join(err, d.Discard())
	}
	return d, nil
}

// Adopt makes the run directory of a run that takes place elsewhere, or holds it again where an earlier call has made it.
func Adopt(path string, run result.Run) (*Directory, error) {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return nil, decline("cannot make the run directory: %v; name another folder with --runs", err)
	}
	d, err := lock(path)
	if err != nil {
		return nil, err
	}
	there, err := result.Load(path)
	switch {
	case err != nil:
		d.New = true
		err = run.Save(path)
	case there.ID != run.ID:
		err = decline("%s is the directory of run %s; name another folder with --runs", path, there.ID)
	}
	if err != nil {
		return nil, errors.Join(err, d.Release())
	}
	d.Run = run
	if !d.New {
		d.Run = there
	}
	return d, nil
}

// Hold locks a run directory that is only to be read or reported on anew.
func Hold(path string) (*Directory, error) {
	if _, err := result.Load(path); err != nil { // before the lock leaves a file in what is no run directory
		return nil, err
	}
	return lock(path)
}

// Resume opens the run directory of a run that was cut. Phases that are done stay.
func Resume(path string, now time.Time) (*Directory, error) {
	d, err := Hold(path)
	if err != nil {
		return nil, err
	}
	// Another process may have gone on with it in between.
	if d.Run, err = result.Load(path); err != nil {
		return nil, errors.Join(err, d.Release())
	}
	if d.Run.Finished != nil {
		return nil, errors.Join(decline("%s is finished; there is nothing to resume: ebscope report %s shows it", path, path), d.Release())
	}
	if d.Run.Target == result.Simulated {
		return nil, errors.Join(decline("%s was simulated; simulate it again instead", path), d.Release())
	}
	for i, p := range d.Run.Phases {
		if p.State == result.Running {
			d.Run.Phases[i].State = result.Cut
		}
	}
	text := "the run was cut and resumed"
	if d.Run.Target == result.Emulated {
		text += "; volumes went on from the end of the last finished phase"
	}
	d.Run.Events = append(d.Run.Events, result.Event{At: now.UTC(), Code: "resumed", Text: text})
	return d, nil
}

// Directory is a run directory that this process alone writes.
type Directory struct {
	Path string
	Run  result.Run
	New  bool // made for this run, which nothing has been measured of before
	lock *flock.Flock
}

func lock(path string) (*Directory, error) {
	l := flock.New(filepath.Join(path, ".lock"))
	locked, err := l.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock the run directory: %w", err)
	}
	if !locked {
		return nil, decline("another process is writing %s; wait until it has finished", path)
	}
	return &Directory{Path: path, lock: l}, nil
}

// Release gives the lock back.
func (d *Directory) Release() error { return d.lock.Unlock() }

// Discard removes the run directory; it is for a run that could not start.
func (d *Directory) Discard() error {
	return errors.Join(d.Release(), os.RemoveAll(d.Path))
}
