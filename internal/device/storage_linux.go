package device

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"

	"ebscope/internal/result"
)

// Clock is the clock source of the kernel, by which latencies are measured; empty where it is not known.
func (h Host) Clock() string {
	text, _ := os.ReadFile(filepath.Join(h.Sys, "devices/system/clocksource/clocksource0/current_clocksource"))
	return strings.TrimSpace(string(text))
}

// Storage describes what lies between a directory, or a block device, and its volume. What is not known is empty.
func (h Host) Storage(path string) result.Storage {
	var s result.Storage
	n, isDevice := numberOf(path)
	if !isDevice {
		m := h.mountOf(path)
		if m == nil {
			return s
		}
		s.FileSystem, s.MountOptions = m.FSType, options(m.Options)
		if n, isDevice = numberOf(m.Source); !isDevice {
			n = Number(m.MajorMinorVer) // "/dev/root" is no file
		}
	}
	disk := h.disk(n)
	dir, err := filepath.EvalSymlinks(h.dir(disk))
	if err != nil {
		return s
	}
	s.Device = filepath.Base(dir)
	for _, member := range h.links(disk, "slaves") {
		s.Members = append(s.Members, member.name)
	}
	slices.Sort(s.Members)
	// Of all schedulers the one in brackets is in force: "none [mq-deadline]".
	_, rest, _ := strings.Cut(h.read(disk, "queue/scheduler"), "[")
	s.Scheduler, _, _ = strings.Cut(rest, "]")
	s.QueueRequests, _ = strconv.Atoi(h.read(disk, "queue/nr_requests"))
	s.MaxRequestKiB, _ = strconv.Atoi(h.read(disk, "queue/max_sectors_kb"))
	s.WriteCache = h.read(disk, "queue/write_cache")
	return s
}

// mountOf returns the mount that a path lies on, nil where it is not known.
func (h Host) mountOf(path string) *procfs.MountInfo {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil
	}
	proc, err := procfs.NewFS(h.Proc)
	if err != nil {
		return nil
	}
	self, err := proc.Self()
	if err != nil {
		return nil
	}
	mounts, err := self.MountInfo()
	if err != nil {
		return nil
	}
	var found *procfs.MountInfo
	for _, m := range mounts {
		below := m.MountPoint == "/" || path == m.MountPoint || strings.HasPrefix(path, m.MountPoint+"/")
		// Of mounts at one place the latest is the one that is seen.
		if below && (found == nil || len(m.MountPoint) >= len(found.MountPoint)) {
			found = m
		}
	}
	return found
}

// options writes mount options as mount(8) takes them, in the order of the alphabet.
func options(all map[string]string) string {
	words := slices.Sorted(maps.Keys(all))
	for i, word := range words {
		if value := all[word]; value != "" {
			words[i] += "=" + value
		}
	}
	return strings.Join(words, ",")
}
