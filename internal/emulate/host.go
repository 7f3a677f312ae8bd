package emulate

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"ebscope/internal/ebs"
	"ebscope/internal/model"
)

// Host is the emulated instance: the clock that its volumes share, and the limits that they have in common.
type Host struct {
	mu       sync.Mutex
	clock    clock
	instance *model.Instance // nil where the instance limits nothing
	volumes  map[string]*volume
}

// NewHost returns a host whose clock stands at zero. limits may be nil: the instance then limits nothing. compress is
// as in Config.
func NewHost(limits *ebs.Instance, compress float64) *Host {
	h := &Host{volumes: map[string]*volume{}}
	if limits != nil {
		h.instance = model.NewInstance(*limits, compress)
	}
	return h
}

// Start lets the clock run with real time from now on.
func (h *Host) Start() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.clock.running() {
		return errRunning
	}
	h.clock.start(time.Now())
	return nil
}

// BeginPhase arms the clock: the next I/O on any of the host's volumes starts it.
func (h *Host) BeginPhase() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.clock.running() {
		return errRunning
	}
	h.clock.armed = true
	return nil
}

// EndPhase stops the clock at the completion of the phase's last I/O. Without any I/O it has not moved.
func (h *Host) EndPhase() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clock.stop()
}

// Rest moves a clock that stands on by d: credits accrue and rate buckets fill.
func (h *Host) Rest(d time.Duration) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.clock.running() {
		return errRunning
	}
	if d < 0 {
		return fmt.Errorf("a rest of %v: time does not go back", d)
	}
	h.clock.elapsed += d
	return nil
}

var errRunning = errors.New("the host's clock is running; end the phase first")

// Now returns the clock's reading.
func (h *Host) Now() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.clock.read(time.Now())
}

// State is a host whose clock stands, with all its volumes. It can be stored as JSON and restored by another process.
type State struct {
	Clock    time.Duration          `json:"clock_ns"`
	Instance *model.State           `json:"instance,omitempty"`
	Volumes  map[string]model.State `json:"volumes"`
}

// State returns the present state.
func (h *Host) State() State {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.state(h.clock.read(time.Now()))
}

func (h *Host) state(now time.Duration) State {
	s := State{Clock: now, Volumes: map[string]model.State{}}
	if h.instance != nil {
		i := h.instance.State(now)
		s.Instance = &i
	}
	for name, v := range h.volumes {
		s.Volumes[name] = v.model.State(now)
	}
	return s
}

// Restore puts the host and its attached volumes back into a stored state. The state must be of the same instance and
// the same volumes; otherwise an error says what differs, and nothing changes.
func (h *Host) Restore(s State) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.clock.running() {
		return errRunning
	}
	before := h.state(h.clock.elapsed)
	if err := h.restore(s); err != nil {
		return errors.Join(err, h.restore(before))
	}
	return nil
}

func (h *Host) restore(s State) error {
	if (s.Instance != nil) != (h.instance != nil) || h.instance != nil && !h.instance.Restore(*s.Instance) {
		return errors.New("the stored state is of another instance type or compression")
	}
	for name, v := range h.volumes {
		if stored, ok := s.Volumes[name]; !ok || !v.model.Restore(stored) {
			return fmt.Errorf("the stored state is of another configuration of volume %s", name)
		}
	}
	h.clock = clock{elapsed: s.Clock}
	return nil
}

// attach adds a volume.
func (h *Host) attach(cfg Config) (*volume, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.volumes[cfg.Name] != nil {
		return nil, fmt.Errorf("volume %s: the host has a volume of that name already", cfg.Name)
	}
	v := &volume{
		name: cfg.Name, host: h,
		model:   model.NewVolume(cfg.catalog().Performance(cfg.Volume), max(1, cfg.Compress), h.instance),
		latency: newSampler(cfg.service(), cfg.Seed), failAfter: cfg.FailAfter,
	}
	h.volumes[cfg.Name] = v
	return v, nil
}
