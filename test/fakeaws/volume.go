package fakeaws

import (
	"maps"
	"slices"
	"time"
)

// Setting is what ModifyVolume changes. IOPS and Throughput are 0 where the type does not let one set them.
type Setting struct {
	Type        string
	Size        int // GiB
	IOPS        int
	Throughput  int // MiB/s
	MultiAttach bool
}

// Volume is an EBS volume.
type Volume struct {
	ID string
	Setting
	Zone                 string // the region's a where it is ""
	State                string // "in-use" or "available" where it is "", as it is attached or not
	Encrypted            bool
	KMSKey, Snapshot     string
	Created              time.Time
	Tags                 map[string]string
	Attachments          []Attachment
	FastRestored         bool
	InitializationMiBps  int
	failsNext            string // why its next modification fails
	modifications        []Modification
	staleReads, oldReads int // reads that still show what was before: of modifications, of the volume
	old                  Setting
}

// Attachment is a volume's place in an instance.
type Attachment struct {
	Instance, Device    string
	DeleteOnTermination bool
}

// Machine is an EC2 instance, running unless it says otherwise.
type Machine struct {
	ID, Type, Zone, State, PrivateDNS string
	Tags                              map[string]string
}

// Modification is a change of a volume.
type Modification struct {
	Volume              string
	Original, Target    Setting
	Start, Usable, Done time.Time // Usable: the target is in force, and it goes on as optimizing
	Fails               string    // why it fails at Usable; "" where it does not
	settled             bool
}

// State returns where a modification is at a time, and how far in percent.
func (m Modification) State(now time.Time) (string, int) {
	switch {
	case now.Before(m.Usable):
		return "modifying", 0
	case m.Fails != "":
		return "failed", 0
	case now.Before(m.Done):
		return "optimizing", int(100 * now.Sub(m.Usable) / m.Done.Sub(m.Usable))
	default:
		return "completed", 100
	}
}

// region is what the account has in a region.
type region struct {
	name     string
	volumes  []*Volume // in the order in which they were made; nil where one is gone
	byID     map[string]int
	machines []Machine
	alarms   map[string]*Alarm
	metrics  map[string]Series
	tokens   map[string]string // client tokens, and the volumes that they made
}

func (s *Server) region(name string) *region {
	r := s.regions[name]
	if r == nil {
		r = &region{name: name, byID: map[string]int{}, alarms: map[string]*Alarm{}, metrics: map[string]Series{}, tokens: map[string]string{}}
		s.regions[name] = r
	}
	return r
}

func (r *region) volume(id string) *Volume {
	if i, ok := r.byID[id]; ok {
		return r.volumes[i]
	}
	return nil
}

// AddVolume makes a volume, and returns its id. What is left out is filled in as CreateVolume does.
func (s *Server) AddVolume(regionName string, v Volume) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.region(regionName)
	if v.ID == "" {
		v.ID = r.freeID()
	}
	if v.Zone == "" {
		v.Zone = regionName + "a"
	}
	if v.Created.IsZero() {
		v.Created = s.clock.now().Add(-1000 * time.Hour)
	}
	v.Setting = withDefaults(v.Setting, Setting{})
	r.add(&v)
	return v.ID
}

// AddMachine starts an instance.
func (s *Server) AddMachine(regionName string, m Machine) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.region(regionName)
	if m.Zone == "" {
		m.Zone = regionName + "a"
	}
	if m.State == "" {
		m.State = "running"
	}
	r.machines = append(r.machines, m)
}

// ChangeVolume changes a volume as somebody else would: at once, and without a modification.
func (s *Server) ChangeVolume(id string, change func(*Volume)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v, _ := s.find(id); v != nil {
		v.settle(s.clock.now())
		change(v)
	}
}

// RemoveVolume deletes a volume.
func (s *Server) RemoveVolume(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, r := s.find(id); r != nil {
		r.volumes[r.byID[id]] = nil
		delete(r.byID, id)
	}
}

// FailModification lets the next modification of a volume fail, after it was begun.
func (s *Server) FailModification(id, message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v, _ := s.find(id); v != nil {
		v.failsNext = message
	}
}

// VolumeNow returns a volume as it really is, without the delay of reads; false where there is none.
func (s *Server) VolumeNow(id string) (Volume, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, _ := s.find(id)
	if v == nil {
		return Volume{}, false
	}
	v.settle(s.clock.now())
	seen := *v
	seen.Tags, seen.Attachments = maps.Clone(v.Tags), slices.Clone(v.Attachments)
	return seen, true
}

// Modifications returns all changes of a volume, the oldest first. AWS tells the latest only.
func (s *Server) Modifications(id string) []Modification {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, _ := s.find(id)
	if v == nil {
		return nil
	}
	return slices.Clone(v.modifications)
}

func (s *Server) find(id string) (*Volume, *region) {
	for _, r := range s.regions {
		if v := r.volume(id); v != nil {
			return v, r
		}
	}
	return nil, nil
}

func (v *Volume) state() string {
	switch {
	case v.State != "":
		return v.State
	case len(v.Attachments) > 0:
		return "in-use"
	default:
		return "available"
	}
}

// settle puts a target in force whose time has come.
func (v *Volume) settle(now time.Time) {
	if len(v.modifications) == 0 {
		return
	}
	m := &v.modifications[len(v.modifications)-1]
	if !m.settled && m.Fails == "" && !now.Before(m.Usable) {
		m.settled = true
		v.old, v.Setting = v.Setting, m.Target
	}
}
