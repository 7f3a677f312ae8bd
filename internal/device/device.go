// Package device knows the raw block devices of this machine: which volume each is, what speaks against writing to it,
// and how it is held while it is measured. It reads what the kernel tells and never writes to a device.
package device

import (
	"fmt"
	"strings"

	"ebscope/internal/units"
)

// Device is a block device as the kernel describes it. What it does not say is empty.
type Device struct {
	Name   string // as the user named it
	Path   string // without symbolic links
	Number Number
	Size   units.Bytes
	// Model and Serial are what the device says of itself. VolumeID is its serial where the device is an EBS volume on NVMe.
	Model, Serial, VolumeID string
	ReadOnly                bool
}

// Number is a device's number in the kernel's form, "259:3".
type Number string

// EBSModel is the model that an EBS volume states on NVMe (EBS user guide, "Map EBS volumes to NVMe device names").
const EBSModel = "Amazon Elastic Block Store"

// volumeID reads the volume ID from the serial number of an EBS volume, which leaves out the dash: "vol0123…".
func volumeID(model, serial string) string {
	rest, ok := strings.CutPrefix(serial, "vol")
	if model != EBSModel || !ok {
		return ""
	}
	return "vol-" + strings.TrimPrefix(rest, "-")
}

// String says which device this is: "/dev/nvme1n1, Amazon Elastic Block Store, vol-0123…, 100 GiB".
func (d Device) String() string {
	parts := []string{d.Path}
	if d.Name != "" && d.Name != d.Path {
		parts[0] = fmt.Sprintf("%s (%s)", d.Name, d.Path)
	}
	parts = append(parts, orUnknown(d.Model, "model"))
	switch {
	case d.VolumeID != "":
		parts = append(parts, d.VolumeID)
	default:
		parts = append(parts, orUnknown(d.Serial, "serial"))
	}
	return strings.Join(append(parts, d.Size.String()), ", ")
}

func orUnknown(value, what string) string {
	if value == "" {
		return what + " unknown"
	}
	return value
}

// RefusedError says why a device is not measured. Not one byte of it was changed.
type RefusedError struct {
	Device  string   // as the user named it
	Reasons []string // each a sentence about the device, without subject: "is mounted at /data"
	Next    string   // what to do
}

func (e *RefusedError) Error() string {
	text := fmt.Sprintf("device %s %s", e.Device, strings.Join(e.Reasons, ", and "))
	if e.Next != "" {
		text += "; " + e.Next
	}
	return text
}

func refuse(device, next, format string, args ...any) error {
	return &RefusedError{Device: device, Reasons: []string{fmt.Sprintf(format, args...)}, Next: next}
}

// Use is what a device is wanted for.
type Use struct {
	Write  bool        // only reading otherwise
	Length units.Bytes // how much of it, from its beginning
}
