// Package simulate runs a profile on model volumes in virtual time, I/O by I/O: the prediction that a measured run is
// held against, and a benchmark where there is nothing to measure.
//
// It is a closed loop, as fio's is: each phase keeps its number of I/Os in flight and issues the next one as soon as
// one completes. An I/O completes when the model admits it, but never before its service latency has passed.
package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"ebscope/internal/ebs"
	"ebscope/internal/model"
	"ebscope/internal/result"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

// Source is what simulated measurements name as their origin.
const Source = "model"

// Phase is the prediction for one phase of a profile. Its times are those of the compressed run.
type Phase struct {
	// Start and End are the first issue and the last completion, on the clock that all volumes share.
	Start, End  time.Duration
	Measurement result.Measurement
	// Credits is the burst balance at Start and End; nil where the volume has no credit bucket.
	Credits *result.Credits
	// Dry is when, counted from Start, the first I/O had to wait for credits; nil where none did.
	Dry *time.Duration
}

// Run simulates the profile, which is stated uncompressed, within the limits of a catalog, with every time constant divided by compress. Volumes rest,
// and earn credits, while others are measured. The result has a phase for each of the profile's, and is the same each
// time. It fails on a profile, a compress below 1 or a service latency that is not valid.
func Run(catalog *ebs.Catalog, profile workload.Profile, compress float64, service model.Latency) ([]Phase, error) {
	if err := profile.Validate(catalog); err != nil {
		return nil, fmt.Errorf("simulate profile %s: %w", profile.Name, err)
	}
	if !(compress >= 1) || math.IsInf(compress, 1) {
		return nil, fmt.Errorf("simulate profile %s: compress %v must be a number from 1 up", profile.Name, compress)
	}
	if err := service.Validate(); err != nil {
		return nil, fmt.Errorf("simulate profile %s: %w", profile.Name, err)
	}
	volumes, err := newVolumes(catalog, profile, compress)
	if err != nil {
		return nil, fmt.Errorf("simulate profile %s: %w", profile.Name, err)
	}
	profile = profile.Compressed(compress)
	// Any seed does; a fixed one makes predictions repeatable.
	source := rand.New(rand.NewPCG(1, 2))
	var clock time.Duration
	phases := make([]Phase, 0, len(profile.Phases))
	for i, p := range profile.Phases {
		if i > 0 {
			clock += profile.Gap
		}
		clock += p.Rest
		l := loop{
			volume: volumes[p.Volume], phase: p, fileSize: profile.FileSize,
			start: clock, service: service, slowest: service.Quantile(1), random: source,
			record: newRecorder(p, workload.Window(compress)),
		}
		phases = append(phases, l.run())
		clock = phases[i].End
	}
	return phases, nil
}

func newVolumes(catalog *ebs.Catalog, profile workload.Profile, compress float64) (map[string]*model.Volume, error) {
	var instance *model.Instance
	if profile.Instance != "" {
		limits, err := catalog.Instance(profile.Instance)
		if err != nil {
			return nil, err
		}
		instance = model.NewInstance(limits, compress)
	}
	volumes := make(map[string]*model.Volume, len(profile.Volumes))
	for _, v := range profile.Volumes {
		volumes[v.Name] = model.NewVolume(catalog.Performance(v.Config), compress, instance)
		volumes[v.Name].SetCredits(0, v.Balance)
	}
	return volumes, nil
}

// loop runs one phase.
type loop struct {
	volume   *model.Volume
	phase    workload.Phase
	fileSize units.Bytes
	start    time.Duration
	service  model.Latency
	slowest  time.Duration // of service
	random   *rand.Rand
	record   *recorder
	dry      *time.Duration
}

func (l *loop) run() Phase {
	p := Phase{Start: l.start}
	if l.volume.CreditCapacity() > 0 {
		p.Credits = &result.Credits{Start: max(0, l.volume.Credits(l.start))}
	}
	// Like fio, a phase stops to issue at its deadline, or after one pass over the file, and waits for what is in flight.
	left, deadline := int64(math.MaxInt64), l.start+l.phase.Duration
	if l.phase.Duration == 0 {
		left = int64((l.fileSize + l.phase.BlockSize - 1) / l.phase.BlockSize)
		deadline = math.MaxInt64
	}
	batch := min(int64(l.phase.Outstanding()), left)
	left -= batch
	flight := newFlight(int(batch))
	for range batch {
		flight.push(l.issue(l.start))
	}
	for !flight.empty() {
		p.End = flight.pop()
		if left > 0 && p.End < deadline {
			left--
			flight.push(l.issue(p.End))
		}
	}
	p.Measurement = l.record.measurement(p.End - l.start)
	p.Dry = l.dry
	if p.Credits != nil {
		p.Credits.End = max(0, l.volume.Credits(p.End))
	}
	return p
}

// issue sends an I/O to the volume at time t and returns when it will complete.
func (l *loop) issue(t time.Duration) time.Duration {
	admit := l.volume.Admit
	if !l.phase.Pattern.Random() {
		admit = l.volume.AdmitSequential
	}
	admission := admit(t, l.phase.BlockSize)
	if (admission.Limit == model.VolumeBaselineIOPS || admission.Limit == model.VolumeBaselineThroughput) && l.dry == nil {
		dry := admission.At - l.start
		l.dry = &dry
	}
	// Most I/Os of a busy volume wait for admission beyond the longest service latency: no need to look theirs up.
	u, at := l.random.Float64(), admission.At
	if at < t+l.slowest {
		at = max(at, t+l.service.Quantile(u))
	}
	read := !l.phase.Pattern.Mixed() || l.random.IntN(100) < l.phase.ReadPercent
	l.record.add(at-l.start, at-t, read)
	return at
}
