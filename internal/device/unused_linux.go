package device

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// unused refuses a device that the system or another process uses, itself or a part of it. The reasons are those that a
// user can act on; the kernel's own answer is that of an exclusive open.
func (h Host) unused(d Device) error {
	proc, err := procfs.NewFS(h.Proc)
	if err != nil {
		return refuse(d.Name, "", "cannot be checked: %v", err)
	}
	self, err := proc.Self()
	if err != nil {
		return refuse(d.Name, "", "cannot be checked: %v", err)
	}
	mounts, err := self.MountInfo()
	if err != nil {
		return refuse(d.Name, "", "cannot be checked: the mount table: %v", err)
	}
	swaps, err := proc.Swaps()
	if err != nil && !os.IsNotExist(err) { // a kernel without swap
		return refuse(d.Name, "", "cannot be checked: the table of swap space: %v", err)
	}
	if h.holdsRoot(d, mounts) {
		return refuse(d.Name, "use a volume of its own", "is on the root disk, which this system runs from")
	}
	var reasons []string
	for _, part := range h.touched(d.Number) {
		prefix := ""
		if part.name != "" {
			prefix = "through " + part.name + " "
		}
		for _, m := range mounts {
			if Number(m.MajorMinorVer) == part.number || isAt(m.Source, part.number) {
				reasons = append(reasons, prefix+"is mounted at "+m.MountPoint)
			}
		}
		for _, s := range swaps {
			if isAt(s.Filename, part.number) {
				reasons = append(reasons, prefix+"is swapped on")
			}
		}
		for _, holder := range h.links(part.number, "holders") {
			reasons = append(reasons, prefix+"is held by "+h.kindOf(holder))
		}
		for _, loop := range h.loopsOver(part.number) {
			reasons = append(reasons, prefix+"is behind "+loop)
		}
		for _, user := range h.writers(part.number) {
			reasons = append(reasons, prefix+"is open for writing by "+user)
		}
	}
	if len(reasons) == 0 {
		return nil
	}
	return &RefusedError{Device: d.Name, Reasons: reasons, Next: "end what uses it, or use another volume"}
}

// isAt says whether a path is that of a block device of the number.
func isAt(path string, n Number) bool {
	if !strings.HasPrefix(path, "/") {
		return false
	}
	at, ok := numberOf(path)
	return ok && at == n
}

// holdsRoot says whether the device is, or lies on, a disk that the root file system is on.
func (h Host) holdsRoot(d Device, mounts []*procfs.MountInfo) bool {
	for _, m := range mounts {
		if m.MountPoint != "/" {
			continue
		}
		root := Number(m.MajorMinorVer)
		if at, ok := numberOf(m.Source); ok { // btrfs states a number that no device has
			root = at
		}
		if slices.Contains(h.disksBelow(root), h.disk(d.Number)) {
			return true
		}
	}
	return false
}

// kindOf describes a device that is stacked upon another.
func (h Host) kindOf(holder child) string {
	name, uuid := h.read(holder.number, "dm/name"), h.read(holder.number, "dm/uuid")
	switch {
	case strings.HasPrefix(uuid, "LVM-"):
		return fmt.Sprintf("LVM (%s)", name)
	case name != "":
		return fmt.Sprintf("device-mapper (%s)", name)
	case h.read(holder.number, "md/level") != "":
		return fmt.Sprintf("RAID (%s)", holder.name)
	default:
		return holder.name
	}
}

// loopsOver names the loop devices that have a block device behind them.
func (h Host) loopsOver(n Number) (names []string) {
	files, _ := filepath.Glob(filepath.Join(h.Sys, "block", "*", "loop", "backing_file"))
	for _, file := range files {
		path, err := os.ReadFile(file)
		if err == nil && isAt(strings.TrimSpace(string(path)), n) {
			names = append(names, "/dev/"+filepath.Base(filepath.Dir(filepath.Dir(file))))
		}
	}
	return names
}

// writers are the other processes that have a device open for writing, as far as this user may see. Other ebscopes are
// not counted: one keeps an emulated volume's device open, and two do not claim the same device.
func (h Host) writers(n Number) (users []string) {
	links, _ := filepath.Glob(filepath.Join(h.Proc, "[0-9]*", "fd", "*"))
	for _, link := range links {
		target, err := os.Readlink(link)
		if err != nil || !strings.HasPrefix(target, "/dev/") || !isAt(link, n) || !openForWriting(link) {
			continue
		}
		process := filepath.Dir(filepath.Dir(link))
		if h.isEbscope(process) {
			continue
		}
		name, _ := os.ReadFile(filepath.Join(process, "comm"))
		user := fmt.Sprintf("process %s (%s)", filepath.Base(process), strings.TrimSpace(string(name)))
		if !slices.Contains(users, user) {
			users = append(users, user)
		}
	}
	return users
}

func openForWriting(link string) bool {
	info, err := os.ReadFile(filepath.Join(filepath.Dir(filepath.Dir(link)), "fdinfo", filepath.Base(link)))
	if err != nil {
		return false // closed since
	}
	_, after, _ := strings.Cut(string(info), "flags:")
	var flags int
	if _, err := fmt.Sscanf(after, "%o", &flags); err != nil {
		return false
	}
	return flags&unix.O_ACCMODE != unix.O_RDONLY
}

// isEbscope says whether a process runs this same program.
func (h Host) isEbscope(process string) bool {
	own, err := os.Stat(filepath.Join(h.Proc, "self", "exe"))
	if err != nil {
		return false
	}
	theirs, err := os.Stat(filepath.Join(process, "exe"))
	return err == nil && os.SameFile(own, theirs)
}
