// Package emulate turns the token-bucket model into a volume that any program can use: a file served by FUSE, and
// for root a loop device over it, which can be formatted, mounted and driven by fio like a disk.
//
// Time belongs to a Host, the emulated instance, which its volumes share. While its clock stands, I/O is served at
// once and costs nothing, so formatting, laying out files and probing spend no credits. Start lets the clock run with
// real time. A benchmark uses phases instead: BeginPhase arms the clock, the phase's first I/O starts it, EndPhase
// stops it at the completion of the last one, and Rest moves it on in between. So the clock of a compressed volume
// never sees the time that programs take to start.
//
// Reads and writes share one budget and are admitted first come, first served; they complete at the later of arrival
// plus service latency and admission. Flushes and discards are free. Everything that is mounted or attached is
// recorded first, so that Sweep can remove it after a crash.
package emulate

import (
	"fmt"
	"strings"
	"time"

	"ebscope/internal/ebs"
	"ebscope/internal/lazy"
	"ebscope/internal/model"
	"ebscope/internal/units"
)

// Config describes an emulated volume.
type Config struct {
	// Name is the volume's name: letters, digits, dot, dash and underscore. It is unique on a host.
	Name   string
	Volume ebs.Volume
	// Catalog has the limits of the volume's type. Nil means the one that ships.
	Catalog *ebs.Catalog
	// Host is the instance that the volume is attached to. Nil gives the volume a host of its own without limits.
	Host *Host
	// Compress divides every time constant of the volume: see model.NewVolume. Zero means 1.
	Compress float64
	// Image is the file that holds the volume's data. It is created, sparse, where it does not exist; an existing one
	// must have the volume's size. Empty means a temporary one, which is deleted with the volume, by Close or by Sweep.
	Image string
	// Latency is the service-latency profile. Nil means none: an I/O that no bucket holds back completes at once.
	Latency model.Latency
	// Kinds is the profile by kind of I/O; it takes the place of Latency. Nil: Latency holds for all.
	Kinds model.Service
	// Seed makes the drawn latencies repeatable.
	Seed uint64
	// FailAfter is the reading of the host's clock from which on every I/O fails with EIO, as those of a volume that has gone
	// do. Zero: none does.
	FailAfter time.Duration
	// FileOnly serves the bare FUSE file even where a loop device could be attached.
	FileOnly bool
}

// name is the form of a volume's name.
const name = `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`

var nameForm = lazy.Regexp(`^` + name + `$`)

func (c Config) validate() error {
	if !nameForm().MatchString(c.Name) {
		return fmt.Errorf("volume name %q: use up to 64 letters, digits, dots, dashes and underscores", c.Name)
	}
	if err := c.catalog().Validate(c.Volume); err != nil {
		return fmt.Errorf("volume %s: %w", c.Name, err)
	}
	if c.Compress != 0 && !(c.Compress >= 1 && c.Compress <= MaxCompress) {
		return fmt.Errorf("volume %s: compression %v must be from 1 to %v", c.Name, c.Compress, float64(MaxCompress))
	}
	if c.Latency != nil {
		if err := c.Latency.Validate(); err != nil {
			return fmt.Errorf("volume %s: %w", c.Name, err)
		}
	}
	if c.Kinds != nil {
		if err := c.Kinds.Validate(); err != nil {
			return fmt.Errorf("volume %s: %w", c.Name, err)
		}
	}
	return nil
}

// service is the profile by kind of I/O, nil where there is none.
func (c Config) service() model.Service {
	if c.Kinds == nil && c.Latency != nil {
		return model.Service{{Latency: c.Latency}}
	}
	return c.Kinds
}

func (c Config) catalog() *ebs.Catalog {
	if c.Catalog == nil {
		return ebs.Embedded()
	}
	return c.Catalog
}

// MaxCompress is the greatest compression: it keeps a rate bucket of 3,000 IOPS at least one operation deep.
const MaxCompress = 3000

// Stats is what a volume has done since it was attached, and how it stands now. I/O that was served while the clock
// stood is not counted.
type Stats struct {
	Reads, Writes           units.Ops // as EBS counts them: one per 256 KiB begun
	ReadBytes, WrittenBytes units.Bytes
	InFlight                int           // I/Os that have arrived and not completed
	Credits, CreditCapacity units.Ops     // zero where the volume has no credit bucket
	Limit                   model.Limit   // what held the latest I/O back
	Stalled                 time.Duration // how long this machine, not the volume, has kept I/Os waiting, stall by stall
	Clock                   time.Duration // the host's clock
}

// Device is an attached volume.
type Device struct {
	volume     *volume
	attachment attachment
}

// Stats returns the volume's counters.
func (d *Device) Stats() Stats { return d.volume.stats() }

// SetCredits sets the balance of the credit bucket to a fraction of its capacity, from 0 to 1. It does nothing on a
// volume without one.
func (d *Device) SetCredits(fraction float64) { d.volume.setCredits(fraction) }

// Host returns the host that the volume is attached to.
func (d *Device) Host() *Host { return d.volume.host }

// Unavailable says that this machine cannot do what was asked, whatever the volume.
type Unavailable struct {
	What string // what cannot be done
	Err  error
}

func (e *Unavailable) Error() string {
	return fmt.Sprintf("%s: %v; `ebscope bench --target path` measures a real directory, and `ebscope simulate` needs no device at all", e.What, e.Err)
}

func (e *Unavailable) Unwrap() error { return e.Err }

// Busy says that a device was taken away while something was still using it.
type Busy struct {
	Path    string
	Holders []string
}

func (e *Busy) Error() string {
	if len(e.Holders) == 0 {
		return fmt.Sprintf("%s was still in use and has been cut off", e.Path)
	}
	return fmt.Sprintf("%s was still in use and has been cut off; used by %s", e.Path, strings.Join(e.Holders, ", "))
}

// Covered says that a mount was left as it is, with its record, because unmounting it would have taken away what
// somebody else has mounted over it or below it.
type Covered struct {
	Dir string // where the mount is
	By  string // what is in the way
}

func (e *Covered) Error() string {
	return fmt.Sprintf("%s is still mounted, because %s is in the way; unmount that, then run `ebscope cleanup`", e.Dir, e.By)
}
