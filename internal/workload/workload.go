// Package workload describes what is run: phases of I/O, one after another, on named volumes. A profile is the
// whole of it. Profiles come as YAML, from the ones that ship or from a user.
package workload

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"ebscope/internal/ebs"
	"ebscope/internal/lazy"
	"ebscope/internal/model"
	"ebscope/internal/units"
)

// Profile is a benchmark: volumes and the phases run on them, one after another in order, except those that are to run
// together.
type Profile struct {
	Name        string      `json:"name"`
	Description string      `json:"description,omitempty"`
	Instance    string      `json:"instance,omitempty"` // EC2 instance type whose limits all volumes share; empty: no such limit
	Region      string      `json:"region"`             // for prices
	FileSize    units.Bytes `json:"file_size_bytes"`    // test file of each volume
	// Gap is the time between the end of one fio run and the first I/O of the next, in which every volume earns.
	Gap     time.Duration `json:"gap_ns"`
	Volumes []Volume      `json:"volumes"`
	Stripes []Stripe      `json:"stripes,omitempty"`
	Phases  []Phase       `json:"phases"`
	// Table is a tool whose table the report prints as well; empty: none.
	Table Table `json:"table,omitempty"`
}

// Table names the tool whose table people know.
type Table string

// CrystalDiskMark measures disks of Windows. Its table has sequential and random I/O by block size, queue depth and jobs.
const CrystalDiskMark Table = "crystaldiskmark"

// Volume is one volume under test.
type Volume struct {
	Name   string     `json:"name"`
	Config ebs.Volume `json:"config"`
	// Balance is the share of burst credits at the start, from 0 to 1. It sets an emulated or simulated volume and is
	// only an assumption about a real one.
	Balance float64 `json:"balance"`
	// Latency is the service latency of an emulated or simulated volume; empty: model.DefaultLatency.
	Latency model.Latency `json:"latency,omitempty"`
	// Kinds is the service latency by kind of I/O, where that is known; it takes the place of Latency. See Service.
	Kinds model.Service `json:"latency_by_kind,omitempty"`
	// Restored is set where the volume was made from a snapshot and nothing on it has been touched yet.
	Restored *FirstTouch `json:"restored,omitempty"`
}

// ServiceLatency returns the volume's own latency curve, or the default where it has none.
func (v Volume) ServiceLatency() model.Latency {
	if v.Latency == nil {
		return model.DefaultLatency
	}
	return v.Latency
}

// Service returns the volume's service latency by kind of I/O: one curve for all where no more is known.
func (v Volume) Service() model.Service {
	if v.Kinds == nil {
		return model.Service{{Latency: v.ServiceLatency()}}
	}
	return v.Kinds
}

// WritesOnly says whether the pattern does not read.
func (p Pattern) WritesOnly() bool { return p == Write || p == RandWrite }

// Pattern is an access pattern in fio's notation (its option rw).
type Pattern string

// The patterns.
const (
	Read      Pattern = "read"
	Write     Pattern = "write"
	RandRead  Pattern = "randread"
	RandWrite Pattern = "randwrite"
	ReadWrite Pattern = "rw"
	RandRW    Pattern = "randrw"
)

// Mixed says whether the pattern both reads and writes.
func (p Pattern) Mixed() bool { return p == ReadWrite || p == RandRW }

// Random says whether the offsets are random.
func (p Pattern) Random() bool { return p == RandRead || p == RandWrite || p == RandRW }

// Phase is one measurement on one volume, or on one stripe.
type Phase struct {
	Name       string      `json:"name"`
	Volume     string      `json:"volume"` // or stripe, by name
	Pattern    Pattern     `json:"rw"`
	BlockSize  units.Bytes `json:"block_size_bytes"`
	QueueDepth int         `json:"queue_depth"` // outstanding I/Os of each job
	Jobs       int         `json:"jobs"`
	// ReadPercent is the share of reads of a mixed pattern, 0 to 100.
	ReadPercent int `json:"read_percent,omitempty"`
	// Duration is how long the phase runs. Zero: until the test file has been written or read once.
	Duration time.Duration `json:"duration_ns"`
	// Rest is an idle time before the phase, on top of the profile's gap.
	Rest time.Duration `json:"rest_ns,omitempty"`
	// ThinkTime is how long a job waits after an I/O has completed before it issues its next one.
	ThinkTime time.Duration `json:"think_time_ns,omitempty"`
	// RateIOPS is the application's own limit, over all jobs: the n-th I/O is due n ÷ RateIOPS after the start. Zero: none.
	RateIOPS units.IOPS `json:"rate_iops,omitempty"`
	// Together names a group: the phases of a group follow each other in the profile and start at the same time.
	Together string `json:"together,omitempty"`
	// Sweep names the sweep that the phase is a step of; empty: none. Its steps differ in pattern, block size, jobs and depth.
	Sweep string `json:"sweep,omitempty"`
}

// Outstanding is the number of I/Os in flight, over all jobs.
func (p Phase) Outstanding() int { return p.QueueDepth * p.Jobs }

// Layout says whether the phase makes the test file: one sequential write of all of it.
func (p Phase) Layout() bool { return p.Pattern == Write && p.Duration == 0 }

// Writes says whether the phase changes what the volume holds.
func (p Phase) Writes() bool { return p.Pattern != Read && p.Pattern != RandRead }

// ID names the phase within its profile: "gp2-randread-qd32".
func (p Phase) ID() string { return p.Volume + "-" + p.Name }

// Volume finds a volume by name.
func (p Profile) Volume(name string) (Volume, bool) {
	for _, v := range p.Volumes {
		if v.Name == name {
			return v, true
		}
	}
	return Volume{}, false
}

// Compressed divides every time constant of the profile by k: durations, rests, the gap and the test file. The
// volumes themselves are compressed by the model. A k of 1 changes nothing.
func (p Profile) Compressed(k float64) Profile {
	if k == 1 {
		return p
	}
	shrink := func(d time.Duration) time.Duration { return time.Duration(math.Round(float64(d) / k)) }
	p.Gap = shrink(p.Gap)
	// Whole MiB, and no smaller than a 1 MiB block at depth 32 needs.
	p.FileSize = max(32*units.MiB, (units.Bytes(float64(p.FileSize)/k)/units.MiB)*units.MiB)
	phases := make([]Phase, len(p.Phases))
	for i, phase := range p.Phases {
		// fio counts in milliseconds.
		phase.Duration = shrink(phase.Duration).Round(time.Millisecond)
		phase.Rest = shrink(phase.Rest)
		phases[i] = phase
	}
	p.Phases = phases
	return p
}

// Limits on a profile that keep a typing mistake from starting something absurd.
const (
	maxQueueDepth = 1024
	maxJobs       = 256
	maxDuration   = 7 * 24 * time.Hour
	maxPhases     = 1000
)

var nameForm = lazy.Regexp(`^[a-z0-9]([a-z0-9.-]{0,40}[a-z0-9])?$`)

// Validate checks the profile as a whole against a catalog. The error names the volume or phase and the rule.
func (p Profile) Validate(catalog *ebs.Catalog) error {
	if !nameForm().MatchString(p.Name) {
		return keyError{"name", fmt.Errorf("profile name %q: use lower-case letters, digits, dots and dashes", p.Name)}
	}
	if p.Instance != "" {
		if _, err := catalog.Instance(p.Instance); err != nil {
			return keyError{"instance", err}
		}
	}
	if _, err := catalog.Prices(p.Region); err != nil {
		return keyError{"region", err}
	}
	if p.Gap < 0 || p.Gap > maxDuration {
		return keyError{"gap", fmt.Errorf("gap %v: must be between 0 and %v", p.Gap, maxDuration)}
	}
	if p.Table != "" && p.Table != CrystalDiskMark {
		return keyError{"table", fmt.Errorf("table %q: use %s, or leave it out", p.Table, CrystalDiskMark)}
	}
	if len(p.Volumes) == 0 || len(p.Phases) == 0 {
		return fmt.Errorf("profile %s: needs at least one volume and one phase", p.Name)
	}
	if len(p.Phases) > maxPhases {
		return fmt.Errorf("profile %s: %d phases, at most %d", p.Name, len(p.Phases), maxPhases)
	}
	if p.FileSize <= 0 {
		return keyError{"file_size", fmt.Errorf("profile %s: file_size is missing: say how large the test file on each volume is, such as file_size: 1GiB", p.Name)}
	}
	if err := p.validateStripes(); err != nil {
		return err
	}
	for i, v := range p.Volumes {
		if err := p.validateVolume(catalog, i, v); err != nil {
			return entryError{"volumes", i, err}
		}
	}
	seen := map[string]bool{}
	for i, phase := range p.Phases {
		refuse := func(format string, args ...any) error {
			return entryError{"phases", i, fmt.Errorf("phase %d (%s on %s): %w", i+1, phase.Name, phase.Volume, fmt.Errorf(format, args...))}
		}
		if err := p.validatePhase(phase); err != nil {
			return refuse("%w", err)
		}
		if seen[phase.ID()] {
			return refuse("%s is measured twice on volume %s; give one another name", phase.Name, phase.Volume)
		}
		seen[phase.ID()] = true
	}
	if err := p.laidOut(p.Writes); err != nil {
		return err
	}
	return p.validateGroups()
}

func (p Profile) validateVolume(catalog *ebs.Catalog, i int, v Volume) error {
	if !nameForm().MatchString(v.Name) {
		return fmt.Errorf("volume name %q: use lower-case letters, digits, dots and dashes", v.Name)
	}
	if slices.ContainsFunc(p.Volumes[:i], func(o Volume) bool { return o.Name == v.Name }) {
		return fmt.Errorf("volume name %q is used twice; every volume needs a name of its own", v.Name)
	}
	if err := v.validateService(); err != nil {
		return fmt.Errorf("volume %s: %w", v.Name, err)
	}
	if err := catalog.Validate(v.Config); err != nil {
		return fmt.Errorf("volume %s: %w", v.Name, err)
	}
	if !(v.Balance >= 0 && v.Balance <= 1) {
		return fmt.Errorf("volume %s: balance %v must be between 0 %% and 100 %%", v.Name, v.Balance)
	}
	if p.FileSize > v.Config.Size && p.stripeOf(v.Name) == "" {
		return fmt.Errorf("volume %s: a test file of %v does not fit on %v; set file_size", v.Name, p.FileSize, v.Config.Size)
	}
	return nil
}

func (p Profile) validatePhase(phase Phase) error {
	if !nameForm().MatchString(phase.Name) {
		return fmt.Errorf("name %q: use lower-case letters, digits, dots and dashes", phase.Name)
	}
	if p.Members(phase.Volume) == nil {
		return fmt.Errorf("there is no volume named %q", phase.Volume)
	}
	if stripe := p.stripeOf(phase.Volume); stripe != "" {
		return fmt.Errorf("volume %s is a part of stripe %s; run the phase on the stripe", phase.Volume, stripe)
	}
	switch phase.Pattern {
	case Read, Write, RandRead, RandWrite, ReadWrite, RandRW:
	default:
		return fmt.Errorf("rw %q: use read, write, randread, randwrite, rw or randrw", phase.Pattern)
	}
	switch {
	case phase.BlockSize < 512 || phase.BlockSize%512 != 0 || phase.BlockSize > p.FileSize:
		return fmt.Errorf("block_size %v: use a multiple of 512 B, no larger than the test file", phase.BlockSize)
	case phase.QueueDepth < 1 || phase.QueueDepth > maxQueueDepth:
		return fmt.Errorf("queue_depth %d: use 1 to %d", phase.QueueDepth, maxQueueDepth)
	case phase.Jobs < 1 || phase.Jobs > maxJobs:
		return fmt.Errorf("jobs %d: use 1 to %d", phase.Jobs, maxJobs)
	case phase.Pattern.Mixed() != (phase.ReadPercent > 0) || phase.ReadPercent < 0 || phase.ReadPercent > 99:
		return fmt.Errorf("read_percent %d: 1 to 99 for rw and randrw, absent for the others", phase.ReadPercent)
	case phase.Duration < 0 || phase.Duration > maxDuration || phase.Rest < 0 || phase.Rest > maxDuration:
		return fmt.Errorf("duration %v and rest %v: use 0 to %v", phase.Duration, phase.Rest, maxDuration)
	case phase.Duration > 0 && phase.Duration < time.Second:
		return fmt.Errorf("duration %v: at least 1s", phase.Duration)
	}
	return phase.validatePace()
}

// Only returns the profile with just the volumes that have an entry in paths, and the phases on them. It fails on an
// entry that is no volume of the profile.
func (p Profile) Only(paths map[string]string) (Profile, error) {
	for name := range paths {
		if _, ok := p.Volume(name); !ok {
			return Profile{}, fmt.Errorf("profile %s has no volume named %q; it has %s", p.Name, name, strings.Join(p.volumeNames(), ", "))
		}
	}
	missing := func(name string) bool { _, ok := paths[name]; return !ok }
	p.Volumes = slices.DeleteFunc(slices.Clone(p.Volumes), func(v Volume) bool { return missing(v.Name) })
	p.Phases = slices.DeleteFunc(slices.Clone(p.Phases), func(ph Phase) bool { return missing(ph.Volume) })
	p.Stripes = slices.DeleteFunc(slices.Clone(p.Stripes), func(s Stripe) bool { return slices.ContainsFunc(s.Volumes, missing) })
	p.Phases = p.ungrouped()
	return p, nil
}

func (p Profile) volumeNames() []string {
	names := make([]string, len(p.Volumes))
	for i, v := range p.Volumes {
		names[i] = v.Name
	}
	return names
}
