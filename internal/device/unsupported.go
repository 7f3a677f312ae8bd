//go:build !linux

package device

import (
	"context"

	"ebscope/internal/result"
)

// Host is where the kernel tells of its devices.
type Host struct{}

// This is the machine that the program runs on.
func This() Host { return Host{} }

// Clock is the clock source of the kernel; it is not known on this system.
func (Host) Clock() string { return "" }

// Storage describes what lies between a path and its volume; nothing is known of it on this system.
func (Host) Storage(string) result.Storage { return result.Storage{} }

// Traffic returns nothing: nothing is known of it on this system.
func (Host) Traffic() Traffic { return nil }

// Claim is a device that is held. There is none on this system.
type Claim struct{}

// Claim refuses every device: what is in use can be told on Linux only.
func (Host) Claim(_ context.Context, name string, _ Use) (*Claim, error) {
	return nil, refuse(name, "measure it there, or a directory on it with --target path", "cannot be measured here: raw devices are measured on Linux only")
}

// Device describes the device.
func (*Claim) Device() Device { return Device{} }

// Check says whether the device may still be used as it was claimed.
func (*Claim) Check(context.Context) error { return nil }

// Present says whether the device is still there.
func (*Claim) Present() error { return nil }

// Overlaps says whether a name leads to the claimed device.
func (*Claim) Overlaps(string) bool { return false }

// Close gives the device back.
func (*Claim) Close() error { return nil }

// Counters reads the NVMe statistics page of a device. There is none on this system.
type Counters struct{}

// OpenCounters refuses every device.
func (Host) OpenCounters(name string) (*Counters, error) {
	return nil, refuse(name, "read it on Linux", "has no NVMe statistics that can be read here")
}

// Device describes the device.
func (*Counters) Device() Device { return Device{} }

// Page reads the page.
func (*Counters) Page() ([]byte, error) { return nil, nil }

// Close closes the device.
func (*Counters) Close() error { return nil }
