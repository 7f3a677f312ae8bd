package device

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// wipefsPlaces are where util-linux installs wipefs, outside the PATH of most users who are not root.
var wipefsPlaces = []string{"wipefs", "/usr/sbin/wipefs", "/sbin/wipefs"}

// blank refuses a device that carries data in a form that libblkid knows: file systems, partition tables, RAID, LVM,
// encryption, swap space. wipefs finds all of them, also where they contradict each other, and changes nothing unless it
// is told to.
func (h Host) blank(ctx context.Context, d Device) error {
	next := "if nothing on it is needed, remove that first: wipefs --all " + d.Path
	if parts := h.partitions(d.Number); len(parts) > 0 {
		var names []string
		for _, p := range parts {
			names = append(names, p.name)
		}
		return refuse(d.Name, next, "has partitions (%s)", strings.Join(names, ", "))
	}
	var wipefs string
	for _, place := range wipefsPlaces {
		if path, err := exec.LookPath(place); err == nil {
			wipefs = path
			break
		}
	}
	if wipefs == "" {
		return refuse(d.Name, "install util-linux", "cannot be checked for file systems: there is no wipefs")
	}
	out, err := exec.CommandContext(ctx, wipefs, "--parsable", d.Path).Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return refuse(d.Name, "", "cannot be checked for file systems: wipefs failed (%v): %s", err, strings.TrimSpace(string(exit.Stderr)))
	}
	if err != nil {
		return refuse(d.Name, "", "cannot be checked for file systems: %v", err)
	}
	found, err := signatures(string(out))
	if err != nil {
		return refuse(d.Name, "", "cannot be checked for file systems: %v", err)
	}
	if len(found) > 0 {
		return refuse(d.Name, next, "carries %s", strings.Join(found, ", "))
	}
	return nil
}

// families put what libblkid calls a signature in words. Any other is that of a file system or of something as precious.
var families = map[string]string{
	"gpt": "a partition table (gpt)", "PMBR": "a partition table (gpt)", "dos": "a partition table (dos)",
	"LVM1_member": "an LVM physical volume", "LVM2_member": "an LVM physical volume", "linux_raid_member": "a RAID member",
	"isw_raid_member": "a RAID member", "ddf_raid_member": "a RAID member", "crypto_LUKS": "an encrypted volume (LUKS)", "swap": "swap space",
}

// signatures reads what wipefs prints with --parsable: a line "offset,uuid,label,type" for each, after a comment in some
// versions.
func signatures(out string) (found []string, err error) {
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		comma := strings.LastIndex(line, ",") // a label may have some of its own
		if comma < 0 || comma == len(line)-1 {
			return nil, fmt.Errorf("wipefs says %q, which is not understood", line)
		}
		kind := line[comma+1:]
		words, known := families[kind]
		if !known {
			words = "a signature of " + kind
		}
		if !slices.Contains(found, words) {
			found = append(found, words)
		}
	}
	return found, nil
}
