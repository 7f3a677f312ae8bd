package emulate

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// holders returns who uses the volume: processes with a file of it open, or a working directory on it, and devices
// stacked upon it. It misses what the user may not see.
func (a *attachment) holders() (holders []string) {
	inside := []string{a.place.file()}
	if a.loop != nil {
		inside = append(inside, a.loop.path())
		for _, m := range mountsOf(a.loop.number) {
			inside = append(inside, m.dir)
		}
		stacked, _ := os.ReadDir(a.loop.sysfs("holders"))
		for _, device := range stacked {
			holders = append(holders, "device "+device.Name())
		}
	}
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, process := range processes {
		pid, _ := strconv.Atoi(filepath.Base(process))
		if pid != os.Getpid() && processUses(process, inside) {
			name, _ := os.ReadFile(filepath.Join(process, "comm"))
			holders = append(holders, fmt.Sprintf("process %d (%s)", pid, strings.TrimSpace(string(name))))
		}
	}
	return holders
}

// processUses says whether a process has one of the paths, or something below it, open or as its directory.
func processUses(process string, paths []string) bool {
	links, _ := filepath.Glob(filepath.Join(process, "fd", "*"))
	links = append(links, filepath.Join(process, "cwd"), filepath.Join(process, "root"))
	return slices.ContainsFunc(links, func(link string) bool {
		target, err := os.Readlink(link)
		return err == nil && slices.ContainsFunc(paths, func(path string) bool {
			return target == path || strings.HasPrefix(target, path+"/")
		})
	})
}
