package device

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"ebscope/internal/units"
)

// Host is where the kernel tells of its devices: the mount points of proc and sysfs.
type Host struct{ Proc, Sys string }

// This is the machine that the program runs on.
func This() Host { return Host{Proc: "/proc", Sys: "/sys"} }

// dir is a device's directory in sysfs.
func (h Host) dir(n Number) string { return filepath.Join(h.Sys, "dev", "block", string(n)) }

// read returns the text of a file in a device's directory, trimmed; empty where there is none.
func (h Host) read(n Number, file string) string {
	text, err := os.ReadFile(filepath.Join(h.dir(n), file))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// identify fills in what sysfs says of a device. A partition is known by its disk.
func (h Host) identify(d *Device) {
	disk := h.disk(d.Number)
	d.Model, d.Serial = h.read(disk, "device/model"), h.read(disk, "device/serial")
	if d.Serial == "" {
		d.Serial = h.read(disk, "serial") // virtio
	}
	d.VolumeID = volumeID(d.Model, d.Serial)
	d.ReadOnly = h.read(d.Number, "ro") == "1"
	var sectors units.Bytes // of 512 B, whatever the device's own are
	for _, digit := range h.read(d.Number, "size") {
		sectors = 10*sectors + units.Bytes(digit-'0')
	}
	d.Size = 512 * sectors
}

// disk returns the number of the disk that a partition is on, or the device's own where it is none.
func (h Host) disk(n Number) Number {
	if h.read(n, "partition") == "" {
		return n
	}
	dir, err := filepath.EvalSymlinks(h.dir(n))
	if err != nil {
		return n
	}
	text, err := os.ReadFile(filepath.Join(filepath.Dir(dir), "dev"))
	if err != nil {
		return n
	}
	return Number(strings.TrimSpace(string(text)))
}

// child is a device that another is made of, or that lies within it.
type child struct {
	name   string // in the kernel
	number Number
}

// partitions are those that the kernel knows on a device.
func (h Host) partitions(n Number) (found []child) {
	files, _ := filepath.Glob(filepath.Join(h.dir(n), "*", "partition"))
	for _, file := range files {
		name := filepath.Base(filepath.Dir(file))
		found = append(found, child{name, Number(h.read(n, name+"/dev"))})
	}
	return found
}

// links lists the devices in a directory of links of a device: "holders" or "slaves".
func (h Host) links(n Number, kind string) (found []child) {
	entries, _ := os.ReadDir(filepath.Join(h.dir(n), kind))
	for _, e := range entries {
		found = append(found, child{e.Name(), Number(h.read(n, filepath.Join(kind, e.Name(), "dev")))})
	}
	return found
}

// disksBelow are the disks that hold a device's data: its own, or those of the devices that it is stacked upon.
func (h Host) disksBelow(n Number) (disks []Number) {
	below := h.links(n, "slaves")
	if len(below) == 0 {
		return []Number{h.disk(n)}
	}
	for _, b := range below {
		disks = append(disks, h.disksBelow(b.number)...)
	}
	slices.Sort(disks)
	return slices.Compact(disks)
}

// touched are the devices whose data a write to a device can change: itself, its partitions, and what a loop device
// that has a block device behind it passes writes on to. The names are in the kernel's words.
func (h Host) touched(n Number) []child {
	all := append([]child{{"", n}}, h.partitions(n)...)
	if behind, ok := numberOf(h.read(n, "loop/backing_file")); ok {
		all = append(all, child{h.read(n, "loop/backing_file"), behind})
		all = append(all, h.partitions(behind)...)
	}
	return all
}

// numberOf returns the number of the block device at a path, and whether there is one.
func numberOf(path string) (Number, bool) {
	var s unix.Stat_t
	if path == "" || unix.Stat(path, &s) != nil || s.Mode&unix.S_IFMT != unix.S_IFBLK {
		return "", false
	}
	return number(s.Rdev), true
}
