package migrate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"ebscope/internal/fleet"
)

// Kind says what a journal's entry is.
type Kind string

// The kinds. What is about to be changed is on disk, as an intent, before it is changed.
const (
	Begin   Kind = "begin"    // a run of the command begins
	Object  Kind = "object"   // a class is about to be made, or the default to be moved
	Intent  Kind = "intent"   // a volume is about to be changed
	Sent    Kind = "sent"     // it is accepted
	NotMade Kind = "not-made" // an intent came to nothing, and may be tried again
	Ended   Kind = "outcome"  // how it ended
)

// Outcome is how a step ended.
type Outcome string

// The outcomes.
const (
	Done       Outcome = "done"       // changed, completed, and read back
	Already    Outcome = "already"    // it was so before
	Failed     Outcome = "failed"     // counts against the failure budget
	Infeasible Outcome = "infeasible" // the driver refuses it for good; counts likewise
	Refused    Outcome = "refused"    // the volume or claim is no longer what the plan was made for: not touched
	Postponed  Outcome = "postponed"  // it cannot be changed now, but later
)

// Entry is a line of a journal.
type Entry struct {
	At     time.Time      `json:"at"` // by this machine's clock
	Kind   Kind           `json:"kind"`
	Plan   string         `json:"plan,omitempty"` // digest; of Begin
	Tool   string         `json:"tool,omitempty"`
	Volume fleet.VolumeID `json:"volume_id,omitempty"`
	// Before is when the volume's latest modification began before this change, Start when this one did: EC2's times.
	Before  time.Time `json:"before,omitzero"`
	Start   time.Time `json:"start,omitzero"`
	Outcome Outcome   `json:"outcome,omitempty"`
	Until   time.Time `json:"until,omitzero"` // of Postponed, where it is known
	Text    string    `json:"text,omitempty"`
}

// State is what a journal says of one volume.
type State struct {
	Volume  fleet.VolumeID
	Kind    Kind // of its last entry
	Before  time.Time
	Start   time.Time
	Outcome Outcome
	Until   time.Time
	Text    string
	At      time.Time
}

// UnderWay says whether the volume may be being changed.
func (s State) UnderWay() bool { return s.Kind == Intent || s.Kind == Sent }

// Journal is the record of a plan's changes, a JSON object a line. A line is on disk before what it announces is done, so
// that whatever ends the program, the next run knows what may have been changed.
type Journal struct {
	mu     sync.Mutex
	file   *os.File
	lock   *flock.Flock
	states map[fleet.VolumeID]State
	starts map[fleet.VolumeID][]time.Time
	begun  bool
	now    func() time.Time
}

// Errors about journals.
var (
	ErrLocked    = errors.New("another ebscope is at work with it")
	ErrOtherPlan = errors.New("it belongs to another plan, or the plan was edited since: make a new plan file")
)

// OpenJournal opens the journal of a plan, or begins it. Only one program at a time has it.
func OpenJournal(path, digest, tool string) (*Journal, error) {
	wrong := func(err error) error { return fmt.Errorf("journal %s: %w", path, err) }
	lock := flock.New(path + ".lock")
	if ok, err := lock.TryLock(); err != nil {
		return nil, wrong(err)
	} else if !ok {
		return nil, wrong(ErrLocked)
	}
	j := &Journal{lock: lock, states: map[fleet.VolumeID]State{}, starts: map[fleet.VolumeID][]time.Time{}, now: time.Now}
	fail := func(err error) (*Journal, error) { return nil, errors.Join(wrong(err), j.Close()) }
	var err error
	if j.file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return fail(err)
	}
	whole, err := j.replay(j.file, digest)
	if err != nil {
		return fail(err)
	}
	// A line that was cut short announced nothing that was done.
	if err := j.file.Truncate(whole); err != nil {
		return fail(err)
	}
	if _, err := j.file.Seek(whole, io.SeekStart); err != nil {
		return fail(err)
	}
	if err := j.write(Entry{Kind: Begin, Plan: digest, Tool: tool}); err != nil {
		return fail(err)
	}
	if err := syncDirectory(filepath.Dir(path)); err != nil {
		return fail(err)
	}
	return j, nil
}

// ReadJournal reads a journal as it is just now. One that does not exist is empty. Without a digest it may be of any plan.
func ReadJournal(path, digest string) (*Journal, error) {
	j := &Journal{states: map[fleet.VolumeID]State{}, starts: map[fleet.VolumeID][]time.Time{}, now: time.Now}
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return j, nil
	}
	if err == nil {
		_, err = j.replay(f, digest)
		_ = f.Close() // it was only read
	}
	if err != nil {
		return nil, fmt.Errorf("journal %s: %w", path, err)
	}
	return j, nil
}

// replay reads all lines, and returns where the last whole one ends.
func (j *Journal) replay(r io.Reader, digest string) (whole int64, err error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return 0, err
	}
	for n := 1; ; n++ {
		end := bytes.IndexByte(text[whole:], '\n')
		if end < 0 {
			return whole, nil
		}
		var e Entry
		if err := json.Unmarshal(text[whole:whole+int64(end)], &e); err != nil {
			return 0, fmt.Errorf("line %d: %w", n, err)
		}
		if n == 1 && e.Kind != Begin {
			return 0, fmt.Errorf("line 1: this is no journal: it begins with %q, not %q", e.Kind, Begin)
		}
		if e.Kind == Begin && digest != "" && e.Plan != digest {
			return 0, ErrOtherPlan
		}
		j.take(e)
		whole += int64(end) + 1
	}
}

// take follows an entry.
func (j *Journal) take(e Entry) {
	if e.Kind == Begin {
		j.begun = true
	}
	if e.Volume == "" {
		return
	}
	s := j.states[e.Volume]
	s.Volume, s.Kind, s.At = e.Volume, e.Kind, e.At
	switch e.Kind {
	case Intent:
		s.Before, s.Start, s.Outcome, s.Until, s.Text = e.Before, time.Time{}, "", time.Time{}, ""
	case Sent:
		s.Start = e.Start
		if !e.Start.IsZero() {
			j.starts[e.Volume] = append(j.starts[e.Volume], e.Start)
		}
	case Ended:
		s.Outcome, s.Until, s.Text = e.Outcome, e.Until, e.Text
	default:
	}
	j.states[e.Volume] = s
}

// write puts an entry on disk before it returns.
func (j *Journal) write(e Entry) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	e.At = j.now().UTC()
	line, err := json.Marshal(e)
	if err == nil {
		_, err = j.file.Write(append(line, '\n'))
	}
	if err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		return &JournalError{err}
	}
	j.take(e)
	return nil
}

// JournalError says that the journal could not be written. Nothing is changed after that.
type JournalError struct{ Err error }

func (e *JournalError) Error() string {
	return fmt.Sprintf("write the journal: %v; nothing further is changed", e.Err)
}
func (e *JournalError) Unwrap() error { return e.Err }

// State returns what is known of a volume, false where nothing is.
func (j *Journal) State(id fleet.VolumeID) (State, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	s, ok := j.states[id]
	return s, ok
}

// Begun says whether the plan was ever begun.
func (j *Journal) Begun() bool { return j.begun }

// Starts returns when changes of volumes began, by EC2's clock.
func (j *Journal) Starts() map[fleet.VolumeID][]time.Time { return j.starts }

// Close lets other programs have the journal.
func (j *Journal) Close() error {
	var err error
	if j.file != nil {
		err = j.file.Close()
	}
	if j.lock != nil {
		err = errors.Join(err, j.lock.Unlock())
	}
	return err
}
